"""Bytes to and from a target: the only I/O of the link, every wait with a deadline.

What the bytes mean, and what is asked for again where they are damaged, says `session.py`.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import serial


class LinkClosed(Exception):
    """The other end is gone."""


class Line(Protocol):
    """The host's end of a stream of bytes."""

    bytes_in: int
    bytes_out: int

    def send(self, data: bytes, deadline: float) -> bool:
        """Write all of `data`; False if time ran out. Raises LinkClosed."""

    def receive(self, deadline: float) -> bytes:
        """What has arrived, at least a byte; empty if nothing came in time. Raises LinkClosed at the end."""

    def discard(self) -> None:
        """Drop what has arrived until now: it is of an instance that is no more. Raises LinkClosed."""

    def close(self) -> None:
        """Safe to call twice."""


def _never() -> bool:
    return False


class Channel:
    """Two file descriptors (or one socket's, twice). It never blocks beyond its deadline, and reads while it writes.

    `release`: closes what the descriptors belong to, if they are somebody else's.
    """

    def __init__(self, read_fd: int, write_fd: int, release: Callable[[], None] | None = None) -> None:
        self._read_fd, self._write_fd, self._release = read_fd, write_fd, release
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._poll = select.poll()
        self._poll.register(read_fd, select.POLLIN)
        self._pending = b""
        self._beside, self._serve = -1, _never
        self._both: select.epoll | None = None
        self.bytes_in = 0
        self.bytes_out = 0

    @property
    def descriptors(self) -> tuple[int, int, int]:
        """To read from, to look at beside it (-1: nothing), to write to."""
        return self._read_fd, self._beside, self._write_fd

    def attend(self, fd: int, serve: Callable[[], bool]) -> None:
        """While it waits, call `serve` when there is something at this descriptor, until it says False."""
        self._beside, self._serve = fd, serve
        self._both = select.epoll()  # with two descriptors as quick as with one
        self._both.register(self._read_fd, select.EPOLLIN)
        self._both.register(fd, select.EPOLLIN)

    def send(self, data: bytes, deadline: float) -> bool:
        """Write all of `data`; False if time ran out. Raises LinkClosed."""
        view = memoryview(data)
        while view:
            try:
                done = os.write(self._write_fd, view)
            except BlockingIOError:
                if not self._wait_to_write(deadline):
                    return False
                continue
            except OSError as error:
                raise LinkClosed(str(error)) from None
            self.bytes_out += done
            view = view[done:]
        return True

    def receive(self, deadline: float) -> bytes:
        """What has arrived, at least a byte; empty if nothing came in time. Raises LinkClosed at the end."""
        if self._pending:
            data, self._pending = self._pending, b""
            return data
        while True:
            seconds = max(0.0, deadline - time.monotonic())
            if self._both is None:
                if not self._poll.poll(seconds * 1000):
                    return b""
            else:
                ready = self._both.poll(seconds, 2)
                if not ready:
                    return b""
                if (len(ready) > 1 or ready[0][0] != self._read_fd) and self._attended(ready):
                    continue
            data = self._read()
            if data:
                return data

    def discard(self) -> None:
        """Drop what has arrived until now: it is of an instance that is no more. Raises LinkClosed."""
        self._pending = b""
        while self._read():
            pass

    def _leave_beside(self) -> None:
        if self._both is not None:
            self._both.close()
        self._both, self._beside = None, -1

    def fileno(self) -> int:
        """What to wait for when several lines are served."""
        return self._read_fd

    def close(self) -> None:
        self._leave_beside()
        if self._release is not None:
            self._release()
            self._read_fd = self._write_fd = -1
        for fd in {self._read_fd, self._write_fd}:
            if fd >= 0:
                os.close(fd)
        self._read_fd = self._write_fd = -1

    def _read(self) -> bytes:
        try:
            data = os.read(self._read_fd, 1 << 16)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise LinkClosed(str(error)) from None
        if not data:
            raise LinkClosed("end of file")
        self.bytes_in += len(data)
        return data

    def _wait_to_write(self, deadline: float) -> bool:
        """The target may be unable to take more before we have read what it says."""
        wait = deadline - time.monotonic()
        if wait <= 0:
            return False
        beside = [self._beside] if self._beside >= 0 else []
        readable, _, _ = select.select([self._read_fd, *beside], [self._write_fd], [], wait)
        if self._read_fd in readable:
            self._pending += self._read()
        if self._beside in readable:
            self._attended([(self._beside, select.POLLIN)])
        return True

    def _attended(self, ready: Sequence[tuple[int, int]]) -> bool:
        """Do what is to be done at the other descriptor; True if nothing else is ready."""
        fds = [fd for fd, _ in ready]
        if self._beside not in fds:
            return False
        if not self._serve():
            self._leave_beside()
        return self._read_fd not in fds


class PolledChannel:
    """A port without a file descriptor (`rfc2217://`): its own thread receives, its `timeout` is the longest nap."""

    def __init__(self, port: serial.Serial) -> None:
        self._port = port
        self.bytes_in = 0
        self.bytes_out = 0

    def send(self, data: bytes, deadline: float) -> bool:
        del deadline  # it only waits for its socket
        try:
            self._port.write(data)
        except OSError as error:
            raise LinkClosed(str(error)) from None
        self.bytes_out += len(data)
        return True

    def receive(self, deadline: float) -> bytes:
        while True:
            data = self._read(1)
            if data:
                return data + self._read(self._waiting())
            if time.monotonic() >= deadline:
                return b""

    def discard(self) -> None:
        while count := self._waiting():
            self._read(count)

    def close(self) -> None:
        self._port.close()

    def _waiting(self) -> int:
        try:
            return int(self._port.in_waiting)
        except OSError as error:
            raise LinkClosed(str(error)) from None

    def _read(self, count: int) -> bytes:
        try:
            data: bytes = self._port.read(count)
        except OSError as error:
            raise LinkClosed(str(error)) from None
        self.bytes_in += len(data)
        return data


class Paced:
    """A line to a board that cannot take more than `size` bytes at once: then it gets `pause` seconds of rest."""

    def __init__(self, line: Line, size: int, pause: float) -> None:
        self._line, self._size, self._pause = line, size, pause
        self.receive, self.discard, self.close = line.receive, line.discard, line.close

    def send(self, data: bytes, deadline: float) -> bool:
        for at in range(0, len(data), self._size):
            if not self._line.send(data[at : at + self._size], deadline):
                return False
            time.sleep(self._pause)
        return True

    @property
    def bytes_in(self) -> int:
        return self._line.bytes_in

    @bytes_in.setter
    def bytes_in(self, count: int) -> None:
        self._line.bytes_in = count

    @property
    def bytes_out(self) -> int:
        return self._line.bytes_out

    @bytes_out.setter
    def bytes_out(self, count: int) -> None:
        self._line.bytes_out = count
