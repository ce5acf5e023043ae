"""One processor for a host and its target, which work in turns: what waits on another processor is woken late.

Each host of this machine takes a processor that no other one has (a socket's name says so, which the kernel takes back
with the process), and targets that it starts inherit it. Who finds none left, or may not choose, runs where the kernel
likes.
"""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NAME = "score-embed processor"
_everywhere: set[int] | None = None  # where this process may run, while it keeps to one


@contextmanager
def own_core() -> Iterator[None]:
    """This thread and what it starts keep to one processor, if there are several."""
    global _everywhere
    allowed = os.sched_getaffinity(0)
    claimed = _claimed(allowed) if len(allowed) > 1 else None
    if claimed is None:
        yield
        return
    core, claim = claimed
    with claim:
        _everywhere = allowed
        try:
            with suppress(OSError):  # a sandbox may forbid it
                os.sched_setaffinity(0, {core})
            yield
        finally:
            _everywhere = None
            with suppress(OSError):
                os.sched_setaffinity(0, allowed)


def run_everywhere() -> None:
    """In a process that was just started: it works beside its host, not in turns with it."""
    if _everywhere is not None:
        with suppress(OSError):
            os.sched_setaffinity(0, _everywhere)


def _claimed(allowed: set[int]) -> tuple[int, socket.socket] | None:
    """A processor, and what keeps it from others. In no order: containers do not see each other's."""
    for core in random.sample(sorted(allowed), len(allowed)):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0{NAME} {core}")  # in no folder: nothing is left behind
        except OSError:
            claim.close()
            continue
        return core, claim
    return None
