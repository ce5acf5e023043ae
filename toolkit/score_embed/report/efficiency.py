"""How much of each client a fleet gets: the paper's efficiency, and ours where campaigns had different times.

DV5 of the paper is: tests of the fleet, by those of one client, by the number of clients. It compares campaigns of the
same length. A campaign that came to its end has the same tests with any number of clients, only sooner. There tests a
second are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

_ABOUT_THE_SAME = 0.1  # of the shorter time


@dataclass(frozen=True)
class Yield:
    """What a fleet came to, or several of one size on average."""

    clients: int
    tests: float  # that are not redundant
    seconds: float


def dv5(some: Yield, one: Yield | None) -> float | None:
    """As the paper defines it; None if the times differ, or there is no campaign of one client."""
    if one is None or not one.tests or not some.clients or not _same(some.seconds, one.seconds):
        return None
    return some.tests / one.tests / some.clients


def by_rate(some: Yield, one: Yield | None) -> float | None:
    """The same of tests a second."""
    if one is None or not (one.tests and one.seconds and some.seconds and some.clients):
        return None
    return (some.tests / some.seconds) / (one.tests / one.seconds) / some.clients


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= _ABOUT_THE_SAME * min(one, other)
