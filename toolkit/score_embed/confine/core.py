"""One processor for a host and its target, which work in turns: what waits on another processor is woken late.

Each host of this machine takes a processor that no other one has (a locked file says so, which the kernel releases with
the process), and targets that it starts inherit it. Who finds none left, or may not choose, runs where the kernel likes.
"""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

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
    core, lock = claimed
    with lock:
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


def _claimed(allowed: set[int]) -> tuple[int, IO[bytes]] | None:
    """A processor, and the file that keeps it from others. In no order: containers do not see each other's files."""
    folder = Path(tempfile.gettempdir()) / f"score-embed-cores-{os.getuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        for core in random.sample(sorted(allowed), len(allowed)):
            file = (folder / str(core)).open("wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                continue
            return core, file
    return None
