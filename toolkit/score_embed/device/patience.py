"""How long a silent line is waited for before the host asks again.

Too early costs a test run twice, too late costs the wait; what is right differs by a factor of a hundred between a
pipe, a UART, an adapter that delivers in bursts and a host that is busy. So it is learned: from answers that came
although they had been asked for again. What is asked for again says the session (`link/session.py`).
"""

from __future__ import annotations

_LESS = 0.9  # with it, one such answer in eight leaves things as they are


class Patience:
    """Seconds of silence, of one line."""

    def __init__(self, quick: float, first: float, most: float = 2.0) -> None:
        """`quick`: after something damaged; `first`: otherwise, the first time in a test; `most`: after that."""
        self.quick, self.first, self.most = quick, first, most
        self._least = quick

    def learn(self, *, needless: bool) -> None:
        """Something was asked for again after `quick`. Needless: then it came by itself."""
        if needless:
            self.quick = max(self._least, min(2 * self.quick, self.most / 4))
        else:
            self.quick = max(self._least, _LESS * self.quick)
