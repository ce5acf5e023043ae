"""What a confined target was refused, as the kernel tells while it happens: by whatever pointer, library or assembly it
was called, no name has to be known.

A refused call of a native target does not return at once. The kernel asks (seccomp's notifications, Linux 5.0): the
host notes what was called and from where, and answers with the error number that the call fails with. Calls that are
allowed are not asked about, so a program without refused ones is as quick as before. Nothing depends on the target: it
can neither answer nor keep the question back. When the host closes its end, calls that would have been asked about fail
with ENOSYS.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import struct
from collections import Counter
from contextlib import suppress

from score_embed.confine.numbers import of_this_machine

_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101
_QUESTION = struct.Struct("<QIIiIQ6Q")  # struct seccomp_notif: id, process, flags; number, way, address, arguments
_REPLY = struct.Struct("<QqiI")
_BY_FLAGS = ("open", "openat")  # with EACCES: the file may be read
_LOCATED = 32  # refusals of each name: then they are only counted
_STACK = 16 << 10  # bytes
UNNOTICED = "calls that nobody notices here"


# What was called, and words of the stack that may be return addresses, the innermost first; none: nobody has looked.
Refusal = tuple[str, tuple[int, ...]]


class Notice:
    """The host's end. `fd`: becomes readable when something is to be answered."""

    def __init__(self, fd: int, pid: int) -> None:
        self.fd, self._pid = fd, pid
        self._names = {
            (calls.audit, number): name for calls in of_this_machine() for name, number in calls.numbers.items()
        }
        self._seen: Counter[str] = Counter()
        self._refused: Counter[Refusal] = Counter()

    def serve(self) -> bool:
        """Answer what waits; False if nothing will be asked any more."""
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        while events := poll.poll(0):
            if not events[0][1] & select.POLLIN:
                return False
            question = bytearray(_QUESTION.size)
            try:
                fcntl.ioctl(self.fd, _RECEIVE, question)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR):
                    continue  # a signal came: it asks again
                return False
            ident, _, _, number, way, *_ = _QUESTION.unpack(question)
            name = self._names.get((way, number), f"call {number}")
            self._note(name)
            refusal = errno.EACCES if name in _BY_FLAGS else errno.EPERM
            with suppress(OSError):  # it is gone, or asks again
                fcntl.ioctl(self.fd, _ANSWER, bytearray(_REPLY.pack(ident, 0, -refusal, 0)))
        return True

    def take(self) -> Counter[Refusal]:
        """What was refused since this was last called."""
        taken, self._refused = self._refused, Counter()
        return taken

    def close(self) -> None:
        """Safe to call twice."""
        if self.fd >= 0:
            self.serve()
            os.close(self.fd)
            self.fd = -1

    def _note(self, name: str) -> None:
        self._seen[name] += 1
        is_located = self._seen[name] <= _LOCATED
        self._refused[name, _words(self._pid) if is_located else ()] += 1


def _words(pid: int) -> tuple[int, ...]:
    """Of its stack, while it waits; nothing where that cannot be read. Code lies below 4 GiB."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as now:
            stack = int(now.read().split()[-2], 16)
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(stack)
            data = memory.read(_STACK)
    except (OSError, ValueError, IndexError):
        return ()
    return tuple(word for (word,) in struct.iter_unpack("<I", data[: len(data) & ~3]) if word)
