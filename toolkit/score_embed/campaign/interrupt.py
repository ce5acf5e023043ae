"""Ctrl-C (and SIGTERM) as a wish: the first one lets the running test end and the campaign save, the second stops now.

A solver's question can take long, and Python's signal handlers wait for its end. So a thread watches: if a signal came
or the time is over, and the test in work does not end by itself within a moment, it ends the solver's question
(`interrupt` of `solve/query.py`). Loops of our own ask `pressing` now and then: it looks at the clock itself, because
the thread does not run while the engine does.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from score_embed.command import Thread
from score_embed.engine._core import Alarm

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 0.25  # seconds that a test may go on: most end in far less, and then nothing is left half done
_POLL = 0.1


class Interrupt:
    """`with Interrupt(hurry) as interrupt: … if interrupt.wanted: break`. `quiet`: somebody else is told, and decides.

    `hurry` makes a running question of the solver end; it is called, again and again, by another thread.
    """

    def __init__(self, hurry: Callable[[], None], quiet: bool = False) -> None:
        self.wanted = False
        # Called: is the end overdue, should also the test in work be broken off?
        self.pressing = Alarm(_PATIENCE)
        self._hurry, self._quiet = hurry, quiet
        self._before: dict[signal.Signals, Any] = {}
        self._wake, self._watched = socket.socketpair()
        self._watcher = Thread(target=self._watch, name="interrupt", daemon=True)

    def __enter__(self) -> Interrupt:
        self._wake.setblocking(False)
        self._watched.settimeout(_POLL)
        self._wakeup_before = signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._handle)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self._wake.close()  # ends the watcher
        self._watcher.join()
        self._watched.close()

    @property
    def deadline(self) -> float | None:
        """Of time.monotonic."""
        return self.pressing.deadline if self.pressing.deadline != float("inf") else None

    @deadline.setter
    def deadline(self, at: float) -> None:
        self.pressing.deadline = at

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._note()
        if self._quiet:
            self.wanted = True
            return
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        print("\nstopping after this test; once more to stop at once", file=sys.stderr, flush=True)

    def _note(self) -> None:
        """A signal came."""
        self.pressing.signalled = min(self.pressing.signalled, time.monotonic())

    def _watch(self) -> None:
        while True:
            try:
                numbers = self._watched.recv(64)  # Python writes a signal's number at once, whatever runs
                if not numbers:
                    return
                if any(number in _SIGNALS for number in numbers):
                    self._note()
            except TimeoutError:
                pass
            if self.pressing():
                self._hurry()
