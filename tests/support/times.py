"""What the tests of a run cost, by file.

Seconds on the wall say little where several tests share a machine; processor seconds, of the test's process and of
those that it started and waited for, are nearly the same each time.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

SHOWN = 20  # files


_elsewhere = 0.0


def add_processor_seconds(seconds: float) -> None:
    """Of a process that somebody else waited for."""
    global _elsewhere
    _elsewhere += seconds


def processor_seconds() -> float:
    """Of this process and its children that have ended, since it began."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return _elsewhere + sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(slots=True)
class Cost:
    tests: int = 0
    wall: float = 0
    processor: float = 0

    def add(self, other: Cost) -> None:
        self.tests += other.tests
        self.wall += other.wall
        self.processor += other.processor


class Times:
    """The costs of files, added up from reports."""

    def __init__(self) -> None:
        self.files: defaultdict[str, Cost] = defaultdict(Cost)

    def add(self, node: str, cost: Cost) -> None:
        self.files[node.split("::", 1)[0]].add(cost)

    def table(self) -> Iterator[str]:
        """Lines: the dearest files first, the others together, the sum."""
        ordered = sorted(self.files.items(), key=lambda item: -item[1].processor)
        rest, total = Cost(), Cost()
        yield f"{'tests':>6} {'wall':>8} {'processor':>10}"
        for number, (name, cost) in enumerate(ordered):
            total.add(cost)
            if number < SHOWN:
                yield _line(name, cost)
            else:
                rest.add(cost)
        if rest.tests:
            yield _line(f"{len(ordered) - SHOWN} other files", rest)
        yield _line("together", total)


def _line(name: str, cost: Cost) -> str:
    return f"{cost.tests:6} {cost.wall:6.1f} s {cost.processor:8.1f} s  {name}"
