"""One function's campaign in a process of its own: what goes wrong there costs this function only.

The process is a fork: it has all modules, and the objects that its image is linked of. It leads a group of its own, so
that Ctrl-C reaches the one process that decides; what it says goes to a file beside its campaign.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from score_embed.errors import ScoreError

_PR_SET_PDEATHSIG = 1
_INTERNAL = 70
_POLL = 0.02
_PATIENCE = 15.0  # seconds until a process that is told to end is ended


class Child:
    """A process that runs `work` and ends. `deadline`: seconds until it is ended, whatever it does."""

    def __init__(self, work: Callable[[], int], log: Path, deadline: float) -> None:
        self.log = log
        self._until = time.monotonic() + deadline
        self.late = False
        self._code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # what the child has from here stays as it is: to look for garbage in it would copy its pages
        parent = os.getpid()
        # Until the child is one of its own, an interrupt would go up through a copy of whoever made it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._pid = os.fork()
            if self._pid == 0:
                _be_child(work, log, parent, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def ended(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs. The system tells it once, this as often as it is
        asked."""
        if self._code is not None:
            return self._code
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._code = os.waitstatus_to_exitcode(status)
            return self._code
        if time.monotonic() > self._until and not self.late:
            self.late = True
            self._signal(signal.SIGKILL)
        return None

    def stop(self) -> None:
        """Ask it to end, as by Ctrl-C, and wait for that. Once it has ended its number may be another process's."""
        if self.ended() is not None:
            return
        self._signal(signal.SIGINT)
        until = time.monotonic() + _PATIENCE
        while self.ended() is None:
            if time.monotonic() > until:
                self._signal(signal.SIGKILL)
            time.sleep(_POLL)

    def _signal(self, number: signal.Signals) -> None:
        """To its group, or, before it has one, to itself."""
        with suppress(ProcessLookupError, PermissionError):
            try:
                os.killpg(self._pid, number)
            except ProcessLookupError:
                os.kill(self._pid, number)


def last_words(log: Path) -> str:
    """The error that a process ended with, if it said one."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line for line in reversed(lines) if "error: " in line), lines[-1] if lines else "")


def _be_child(work: Callable[[], int], log: Path, parent: int, mask: Iterable[int]) -> None:
    code = _INTERNAL
    try:
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(code)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        log.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (file, 1), (file, 2)):
            os.dup2(source, target)
        code = work()
    except ScoreError as error:
        print(error, file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
