"""How much a hard question may cost, and who ends one: said here, so that Z3 is not imported before one is asked.

The first times that a question is asked it gets a share of `DEFAULT_RLIMIT`: `_efforts` of `chain.py` has the shares.
Each layer that loops has a bound of its own, in steps and never in time, so that campaigns repeat. What it leaves because
of that is counted here. A clock only ends the campaign: layers look here now and then whether it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from score_embed.contract.words import Layer
from score_embed.solve.query import Stopped

DEFAULT_RLIMIT = 20_000_000  # about ten seconds

_running: list[Callable[[], None]] = []


class Limit:
    """What a question may cost; one object for all layers of a chain.

    `rlimit`: of Z3's resource count. `trial`: it is asked for the first time: what is no more than a trial may be all.
    `again`: it was asked before with less, so that solvers that stay have given it up already. `stop`: whether no more
    answers are wanted. `gave_up`: questions that a layer left to the next because they took too many steps.
    """

    def __init__(self, rlimit: int = DEFAULT_RLIMIT) -> None:
        self.rlimit, self.trial, self.again = rlimit, False, False
        self.stop: Callable[[], bool] = lambda: False
        self.gave_up: Counter[Layer] = Counter()

    def look(self) -> None:
        """For loops that take long. Raises Stopped: the campaign has to end."""
        if self.stop():
            raise Stopped


def on_interrupt(end: Callable[[], None]) -> None:
    """From now on an interrupt is to call this, in any thread."""
    _running.append(end)


def interrupt() -> None:
    """End the running question, if any, as unknown. May be called by any thread; later questions are not affected."""
    for end in tuple(_running):
        end()
