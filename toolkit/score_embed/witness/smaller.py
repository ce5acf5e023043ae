"""A simpler input of which the second witness says the same, found by runs of its own program.

No target says here what an input consists of. So only inputs are taken that went to the same objects as the test's own:
then they lie where they lay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from score_embed.results.bugs import Place
from score_embed.results.minimising import Enough, needed, smaller
from score_embed.results.testcase import Named
from score_embed.results.witnessed import Finding
from score_embed.witness.process import Answer, Died, WitnessProcess

_MOST_KILLED = 2  # runs that did not end in time: each takes a second
Judged = Callable[[Answer], Finding | None]


class Smaller(NamedTuple):
    """`data`: of the objects up to the sanitizer's report; empty if nothing simpler does."""

    data: bytes
    depends: tuple[str, ...]
    seconds: float  # that the process was busy


class Again:
    """Whether the same report comes of an input. Raises Enough when there were enough runs."""

    def __init__(self, process: WitnessProcess, judged: Judged, until: float) -> None:
        """`until`: of the monotonic clock."""
        self._process, self._judged, self._until = process, judged, until
        self._known: tuple[str, Place] | None = None
        self._first: tuple[int, int] | None = None
        self.seconds, self._killed = 0.0, 0

    def begin(self, data: bytes, finding: Finding) -> int | None:
        """How much of the input it takes to see the finding; None if it is not seen."""
        self._known = finding.kind, finding.place
        answer = self._run(data)
        self._first = answer.used, answer.layout
        return answer.used if self._is_same(answer) else None

    def __call__(self, data: bytes) -> bool:
        return self._is_same(self._run(data))

    def _run(self, data: bytes) -> Answer:
        if time.monotonic() > self._until or self._killed > _MOST_KILLED:
            raise Enough
        try:
            answer = self._process.run(data)
        except Died:
            self._until = 0.0
            raise Enough from None
        self.seconds += answer.seconds
        self._killed += answer.was_killed
        return answer

    def _is_same(self, answer: Answer) -> bool:
        if (answer.used, answer.layout) != self._first:
            return False
        found = self._judged(answer)
        return found is not None and (found.kind, found.place) == self._known


def made_small(data: bytes, objects: Sequence[Named], finding: Finding, again: Again) -> Smaller | None:
    """None if there was no time to see it again, or it did not show."""
    try:
        used = again.begin(data, finding)
        if used is None:
            return None
        made = smaller(data, [part for part in objects if part.offset + part.size <= used], again)
        depends = needed(None, data, made, objects, again)
        if made == data:
            return Smaller(b"", depends, again.seconds)
        return Smaller(made[:used], depends, again.seconds) if again(made) else None
    except Enough:
        return None
