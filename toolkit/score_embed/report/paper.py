"""What SCORE's paper (Kim, Kim and Rothermel, ASE 2011) measured, as far as it is at hand, to stand beside our figures."""

from __future__ import annotations

from collections.abc import Iterator

NODES = 256
# Tests a second on one node and on 256 nodes of 2011.
RATES = {"ptok1": (8, 1864), "ptok2": (98, 15180), "replace": (86, 9929)}
NOT_AT_HAND = "The paper's figures for this table are not at hand."


def speed_ups() -> Iterator[tuple[str, float]]:
    """By program: how many times as many tests a second 256 nodes ran as one."""
    for program, (one, all_) in RATES.items():
        yield program, all_ / one
