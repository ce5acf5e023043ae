"""Ctrl-C (and SIGTERM) as a wish: the first one lets the running test end and the campaign save, the second stops now."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """`with Interrupt() as interrupt: … if interrupt.wanted: break`."""

    def __init__(self) -> None:
        self.wanted = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        print("\nstopping after this test; once more to stop at once", file=sys.stderr, flush=True)
