"""Bytes to and from a target through file descriptors: the only I/O of the link, every wait with a deadline."""

from __future__ import annotations

import os
import select
import time


class LinkClosed(Exception):
    """The other end is gone."""


class Channel:
    """Two file descriptors (or one socket's, twice). It never blocks beyond its deadline, and reads while it writes."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._poll = select.poll()
        self._poll.register(read_fd, select.POLLIN)
        self._pending = b""
        self.bytes_in = 0
        self.bytes_out = 0

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
            if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return b""
            data = self._read()
            if data:
                return data

    def discard(self) -> None:
        """Drop what has arrived until now: it is of an instance that is no more. Raises LinkClosed."""
        self._pending = b""
        while self._read():
            pass

    def close(self) -> None:
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
        readable, _, _ = select.select([self._read_fd], [self._write_fd], [], wait)
        if readable:
            self._pending += self._read()
        return True
