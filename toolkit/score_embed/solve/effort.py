"""How much a hard question may cost, and who ends one: said here, so that Z3 is not imported before one is asked.

The first times that a question is asked it gets a share of `DEFAULT_RLIMIT`: `_efforts` of `chain.py` has the shares.
"""

from __future__ import annotations

from collections.abc import Callable

DEFAULT_RLIMIT = 20_000_000  # about ten seconds

_running: list[Callable[[], None]] = []


class Limit:
    """Of Z3's resource count, what a question may use; one object for all layers of a chain.

    `trial`: it is asked for the first time: what is no more than a trial may be all. `again`: it was asked before with less,
    so that solvers that stay have given it up already.
    """

    def __init__(self, rlimit: int = DEFAULT_RLIMIT) -> None:
        self.rlimit, self.trial, self.again = rlimit, False, False


def on_interrupt(end: Callable[[], None]) -> None:
    """From now on an interrupt is to call this, in any thread."""
    _running.append(end)


def interrupt() -> None:
    """End the running question, if any, as unknown. May be called by any thread; later questions are not affected."""
    for end in tuple(_running):
        end()
