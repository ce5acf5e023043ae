"""What one client says it has seen is run again by another before it counts as seen: the first test, each bug, and a
sample of all others that nobody can foretell.

A *claim* is an input and how its test ended, and of a client that might lie what it says to follow from the test.
Another client, with another key, runs it; if it agrees, the claim is confirmed. If not, a third one decides: two of
three are believed, and a client that two others contradict is at fault, whether it lies or its board is broken. Without
anybody else a claim stays unconfirmed.

Who is asked nobody can foretell, either: by their place in the table two that lie together would confirm all that each
other says.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

MOST_OPEN = 256  # claims that wait; more of a sample are let go
_PATIENCE = 30.0  # seconds for an answer
_TRIES = 4  # clients that do not answer, until a claim stays as it is


class About(Enum):
    FIRST = auto()  # everything else is derived from it
    BUG = auto()
    SAMPLE = auto()


class Settled(Enum):
    CONFIRMED = auto()
    CONTRADICTED = auto()  # by two who agree with each other
    OPEN = auto()  # nobody could say


@dataclass(frozen=True, slots=True)
class End:
    """How a test ended. `missing`: what follows from it and was not told by whoever says that it was run."""

    verdict: str
    code: int
    path: int
    mispredicted: bool = False
    missing: frozenset[bytes] = frozenset()

    def agrees(self, other: End) -> bool:
        """The same end, and a flip that both miss if any does: one has only to prove one."""
        ends = [(end.verdict, end.code, end.path, end.mispredicted, bool(end.missing)) for end in (self, other)]
        return ends[0] == ends[1] and (not self.missing or bool(self.missing & other.missing))


@dataclass(frozen=True, slots=True)
class Derived:
    """What a client says to follow from a pair: `Check` has the words. `is_answer`: of a pending flip: only this
    counts."""

    pair: bytes
    told: bytes
    until: int | None
    given_up: tuple[int, ...]
    is_answer: bool = False


@dataclass(slots=True)
class Claim:
    """`author`: as whom the client counts that says so; `key`: what its books know it by."""

    campaign: int
    about: About
    input: bytes
    end: End
    client: str
    author: str
    key: object = None
    derived: Derived | None = None
    answers: dict[str, End] = field(default_factory=dict)  # by who was asked
    asked: str = ""
    due: float = 0.0
    tries: int = 0

    def verdict(self) -> Settled | None:
        """What follows from the answers; None: one more is needed."""
        if self.end in self.answers.values():
            return Settled.CONFIRMED
        others = list(self.answers.values())
        if len(others) < 2:
            return None
        alike = any(one.agrees(other) for one, other in itertools.combinations(others, 2))
        return Settled.CONTRADICTED if alike else Settled.OPEN


class Checks:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._open: dict[int, Claim] = {}
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, claim: Claim) -> None:
        if claim.about is not About.SAMPLE or len(self._open) < MOST_OPEN:
            self._open[next(self._numbers)] = claim

    def to_ask(self, there: Mapping[str, tuple[str, int]], now: float) -> Iterator[tuple[int, Claim, str]]:
        """Claims with the client that is to run them now. `there`: clients, as whom each counts, and its campaign.

        At most one claim for each client at a time: it has tests of its own.
        """
        busy = {claim.asked for claim in self._open.values() if claim.asked and now < claim.due}
        for number, claim in self._open.items():
            if claim.asked and now < claim.due and claim.asked in there:
                continue
            claim.asked = ""
            able = [name for name in there if name not in busy and _may_say(claim, *there[name])]
            if not able or claim.tries > _TRIES:
                continue
            client = self._chance.choice(_one_of_each(able, there, self._chance))
            busy.add(client)
            claim.asked, claim.due, claim.tries = client, now + _PATIENCE, claim.tries + 1
            yield number, claim, client

    def answer(self, number: int, client: str, witness: str, end: End) -> None:
        """What this client has seen; only of what it was asked."""
        claim = self._open.get(number)
        if claim is not None and claim.asked == client and witness != claim.author:
            if claim.derived is None:
                end = replace(end, mispredicted=False, missing=frozenset())
            elif claim.derived.is_answer:
                end = replace(claim.end, mispredicted=end.mispredicted, missing=end.missing)
            claim.answers[witness] = end
            claim.asked = ""

    def settled(self, there: Mapping[str, tuple[str, int]]) -> list[tuple[Claim, Settled]]:
        """Claims of which nothing more is to be learned, and what became of them; they are forgotten."""
        found = []
        for number, claim in list(self._open.items()):
            result = claim.verdict()
            if result is None and claim.answers and not self._can_be_asked(claim, there):
                result = Settled.OPEN
            if result is None and claim.tries > _TRIES and not claim.asked:
                result = Settled.OPEN
            if result is not None:
                del self._open[number]
                found.append((claim, result))
        return found

    def has(self, campaign: int) -> bool:
        return any(claim.campaign == campaign for claim in self._open.values())

    def holds(self, campaign: int, there: Mapping[str, tuple[str, int]]) -> bool:
        """Is there a claim that somebody here can still say something about?"""
        return any(claim.campaign == campaign and self._can_be_asked(claim, there) for claim in self._open.values())

    def alone(self, there: Mapping[str, tuple[str, int]]) -> list[Claim]:
        """Claims of which nobody here can say anything."""
        return [claim for claim in self._open.values() if not self._can_be_asked(claim, there)]

    @staticmethod
    def _can_be_asked(claim: Claim, there: Mapping[str, tuple[str, int]]) -> bool:
        return claim.tries <= _TRIES and any(_may_say(claim, *who) for who in there.values())


def _one_of_each(able: list[str], there: Mapping[str, tuple[str, int]], chance: random.Random) -> list[str]:
    """A key with many clients is asked no more often than one with a single client."""
    chance.shuffle(able)
    return list({there[name][0]: name for name in able}.values())


def _may_say(claim: Claim, witness: str, campaign: int) -> bool:
    return campaign == claim.campaign and witness != claim.author and witness not in claim.answers
