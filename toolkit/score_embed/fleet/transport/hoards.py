"""What somebody makes an end keep without having said anything: messages without an end.

ZeroMQ hands a message over as a whole, and a message may have any number of parts. Its limits are for one part
(MAXMSGSIZE) and for the number of messages (RCVHWM): who sends one part after the other and never the last one fills
memory. So the bytes that ZeroMQ has taken in by each connection since its last message are compared with what a message
may have, and who has sent more is cut off. ZeroMQ then forgets what it has of it.

A limit of the whole process's memory is no remedy: it would end the server, as whoever does this wants. The kinds of
sockets that know no parts are drafts of ZeroMQ's, which PyZMQ's packages do not have.
"""

from __future__ import annotations

import array
import errno
import fcntl
import itertools
import os
import socket
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import zmq
import zmq.utils.monitor

from score_embed.fleet.messages import MAX_FRAME

PATIENCE = 0.1  # seconds without a look, at most, where there is something to look at
_RECEIVED = struct.Struct("=Q"), 128  # in struct tcp_info: bytes that were received
_INFO_BYTES = 256
_TOGETHER = 32 * MAX_FRAME  # bytes of all connections
_EVERY = 0.05  # seconds between two looks …
_SHARE = 20  # … and at least so many times what one takes
_numbers = itertools.count()


class _Line(NamedTuple):
    """A connection. `taken`: bytes until its last message."""

    peer: object
    taken: int


class Hoards:
    """Of one socket that listens on tcp. `messages`: how many whole ones of a connection may wait there."""

    def __init__(self, listener: zmq.Socket[bytes], messages: int) -> None:
        self._port = int(listener.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        self._waiting = messages
        self._lines: dict[int, _Line] = {}  # by ZeroMQ's descriptor
        self._next = 0.0
        self._hand, self._none = (socket.socket(socket.AF_UNIX) for _ in range(2))
        self._listener = listener
        address = f"inproc://accepted-{next(_numbers)}"
        listener.monitor(address, zmq.EVENT_ACCEPTED)
        self._accepted = listener.context.socket(zmq.PAIR)
        self._accepted.setsockopt(zmq.RCVHWM, 0)  # who tells of connections never waits for us
        self._accepted.connect(address)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def heard(self, frame: zmq.Frame) -> None:
        """A message has come as a whole. One that was larger than all that may wait together ends its connection, too:
        it came so fast that nobody looked before its end."""
        descriptor = frame.get(zmq.SRCFD)
        if not isinstance(descriptor, int) or descriptor not in self._lines:
            return
        with suppress(OSError), self._connection(descriptor) as line:
            now, before = _Line(line.getpeername(), _taken(line)), self._lines[descriptor]
            if now.peer == before.peer and now.taken - before.taken > (3 + self._waiting) * MAX_FRAME:
                del self._lines[descriptor]
                line.shutdown(socket.SHUT_RDWR)
            else:
                self._lines[descriptor] = now

    def cut(self, drained: bool) -> None:
        """Cut off those that have sent too much since. `drained`: no whole message waits."""
        self._take_in()
        began = time.monotonic()
        if began < self._next:
            return
        sizes = {descriptor: size for descriptor in list(self._lines) if (size := self._size(descriptor)) is not None}
        most, together = (2 + (0 if drained else self._waiting)) * MAX_FRAME, sum(sizes.values())
        for descriptor in sorted(sizes, key=lambda each: sizes[each], reverse=True):
            if sizes[descriptor] <= most and (together <= _TOGETHER or not drained):
                break
            together -= sizes[descriptor]
            known = self._lines.pop(descriptor)
            with suppress(OSError), self._connection(descriptor) as line:
                if line.getpeername() == known.peer:
                    line.shutdown(socket.SHUT_RDWR)
        now = time.monotonic()
        self._next = now + max(_EVERY, _SHARE * (now - began))

    def close(self) -> None:
        self._listener.disable_monitor()
        self._accepted.close()
        self._hand.close()
        self._none.close()

    def _take_in(self) -> None:
        while self._accepted.poll(0):
            descriptor = int(zmq.utils.monitor.recv_monitor_message(self._accepted)["value"])
            with suppress(OSError), self._connection(descriptor) as line:
                self._lines[descriptor] = _Line(line.getpeername(), 0)

    def _size(self, descriptor: int) -> int | None:
        """Bytes since its last message; None: it has ended, and the number may be another's."""
        known = self._lines[descriptor]
        with suppress(OSError), self._connection(descriptor) as line:
            if line.getpeername() == known.peer:
                return _taken(line) - known.taken
        del self._lines[descriptor]
        return None

    @contextmanager
    def _connection(self, descriptor: int) -> Iterator[socket.socket]:
        """ZeroMQ's connection, by a descriptor of our own, since ZeroMQ may close its own meanwhile and the number come
        back as another's. Needs no new descriptor: there may be none. Raises OSError if it is none of this listener."""
        os.dup2(descriptor, self._hand.fileno(), inheritable=False)
        try:
            if self._hand.getsockname()[1:2] != (self._port,):
                raise OSError(errno.EBADF, "another's")
            yield self._hand
        finally:
            os.dup2(self._none.fileno(), self._hand.fileno(), inheritable=False)


def _taken(line: socket.socket) -> int:
    """Bytes that have come and do not wait in the kernel any more."""
    form, place = _RECEIVED
    (come,) = form.unpack_from(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES), place)
    waits = array.array("i", [0])
    fcntl.ioctl(line, termios.FIONREAD, waits)
    return int(come) - waits[0]
