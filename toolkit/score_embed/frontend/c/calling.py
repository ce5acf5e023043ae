"""Calls the compiler and its tools: with a deadline, bounded output, and nothing of theirs left when we leave.

A few lines of C can mean gigabytes (macros of macros, a device that is included), or wait for ever (a pipe). What is
called has a process group of its own: gcc is only the one who starts the others, and Ctrl-C may have come to us alone.
It is asked to end before it is made to, for it removes its temporary files then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

_MOST_ERRORS = 1 << 20  # bytes of complaints that are read
_GRACE = 2.0  # seconds to end
_RUNNING: set[subprocess.Popen[bytes]] = set()  # called by any thread


class Late(Exception):
    """It did not end in time."""


class Said(NamedTuple):
    """`output`: a byte more than was asked for, if there was more."""

    code: int
    output: bytes
    errors: bytes


def call(command: Sequence[str], deadline: float, most: int) -> Said:
    """Run a command to its end, or until it has put out more than `most` bytes. Raises Late or OSError."""
    late = threading.Event()
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        ) as process,
    ):

        def stop() -> None:
            late.set()
            _end(process)

        watch = threading.Timer(deadline, stop)
        watch.daemon = True
        watch.start()
        _RUNNING.add(process)
        assert process.stdout is not None
        try:
            output = process.stdout.read(most + 1)
            if len(output) <= most:
                process.wait()
        finally:
            watch.cancel()
            _end(process)
            _RUNNING.discard(process)
        if late.is_set():
            raise Late
        errors.seek(0)
        return Said(process.returncode, output, errors.read(_MOST_ERRORS))


@contextlib.contextmanager
def workers() -> Iterator[ThreadPoolExecutor]:
    """Threads that call compilers. Ctrl-C comes to the main thread only: then what they have called is ended, too."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise


def end_all() -> None:
    """End what any thread has called."""
    for process in tuple(_RUNNING):
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
