"""The ways through decisions that a campaign's tests took, for MC/DC and for a small set of tests.

Kept are all vectors, each with the first test that took it, and of each test that brought a vector or a branch
direction that was new all that it took. A set of tests that is as small as can be is chosen among these.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from msgspec import Struct

from score_embed.contract.coverage import FALSE, SKIPPED, TRUE, Decision
from score_embed.results import mcdc


class Brought(Struct, frozen=True, array_like=True):
    """What a test took that brought something new. `vectors`: by their number; `own`: the user had it before."""

    test: int
    vectors: tuple[int, ...]
    directions: tuple[int, ...]
    own: bool


class VectorState(Struct, frozen=True):
    """Of a campaign that records vectors."""

    vectors: tuple[tuple[int, str, int], ...] = ()  # the number of a decision, the vector, the first test
    brought: tuple[Brought, ...] = ()
    tests: int = 0  # that were run for their vectors
    own: int = 0  # of these, the user's
    unknown: int = 0  # tests of which the vectors are not known
    left: int = 0  # decisions that tests left in their midst


class Taken(Struct, frozen=True, array_like=True):
    """By one test. `vectors`: the number of a decision and the vector."""

    vectors: tuple[tuple[int, str], ...]
    directions: tuple[int, ...]  # coverage indices
    left: int


def require_taken(taken: Taken, decisions: Sequence[Decision], directions: Container[int]) -> None:
    """Raises ValueError if that, as somebody tells it, is nothing that a test of this program can take."""
    for number, vector in taken.vectors:
        _require_vector(number, vector, decisions)
    if not all(index in directions for index in taken.directions) or not 0 <= taken.left < 1 << 32:
        raise ValueError("a test took what the program does not have")


def require(state: VectorState, decisions: Sequence[Decision]) -> None:
    """Raises ValueError if the state, as somebody's record has it, is not of these decisions."""
    for one in decisions:
        _ = one.nodes
    for number, vector, _ in state.vectors:
        _require_vector(number, vector, decisions)
    for row in state.brought:
        if not all(0 <= number < len(state.vectors) for number in row.vectors):
            raise ValueError(f"test {row.test} has vectors that are not there")


def _require_vector(number: int, vector: str, decisions: Sequence[Decision]) -> None:
    if not 0 <= number < len(decisions):
        raise ValueError(f"there is no decision {number}")
    if len(vector) != len(decisions[number].conditions) or not {TRUE, FALSE, SKIPPED}.issuperset(vector):
        raise ValueError(f"{vector!r} is no vector of decision {number}")


def by_decision(state: VectorState, count: int) -> list[list[str]]:
    """The vectors of each of so many decisions."""
    found: list[list[str]] = [[] for _ in range(count)]
    for number, vector, _ in state.vectors:
        found[number].append(vector)
    return found


class VectorBook:
    """They are entered test by test."""

    def __init__(self, state: VectorState | None = None) -> None:
        state = state or VectorState()
        self._vectors = {(decision, vector): test for decision, vector, test in state.vectors}
        self._numbers = {vector: number for number, vector in enumerate(self._vectors)}
        self._brought = list(state.brought)
        self._directions = {index for row in state.brought for index in row.directions}
        self._tests, self._own, self._unknown, self._left = state.tests, state.own, state.unknown, state.left

    def enter(self, test: int, taken: Taken, own: bool) -> list[tuple[int, str]]:
        """What a test took; returns the vectors that are new, each with the number of its decision."""
        fresh = [vector for vector in taken.vectors if vector not in self._vectors]
        for vector in fresh:
            self._numbers[vector] = len(self._vectors)
            self._vectors[vector] = test
        is_new = bool(fresh) or not self._directions.issuperset(taken.directions)
        if is_new or own:
            self._directions.update(taken.directions)
            numbers = tuple(sorted(self._numbers[vector] for vector in taken.vectors))
            self._brought.append(Brought(test, numbers, tuple(sorted(taken.directions)), own))
        self._tests += 1
        self._own += own
        self._left += taken.left
        return fresh

    def skip(self) -> None:
        """A test of which nobody knows the vectors."""
        self._unknown += 1

    def all(self) -> list[tuple[int, str]]:
        """The vectors so far, each with the number of its decision."""
        return list(self._vectors)

    def state(self) -> VectorState:
        vectors = tuple((*vector, test) for vector, test in self._vectors.items())
        return VectorState(vectors, tuple(self._brought), self._tests, self._own, self._unknown, self._left)


def fewest_tests(
    state: VectorState, decisions: Sequence[Decision], wanted: Iterable[int]
) -> tuple[tuple[int, ...], bool]:
    """As few tests as can be that together take all directions of `wanted` that were taken and show all that was shown
    by masking, beside the user's own; and whether fewer are proved impossible among those that brought something."""
    goals: dict[object, int] = {}
    shows = [
        frozenset(goals.setdefault((number, *item), len(goals)) for item in mcdc.items(decisions[number], vector))
        for number, vector, _ in state.vectors
    ]
    counted = frozenset(wanted)
    brought: dict[int, frozenset[int]] = {}
    had: frozenset[int] = frozenset()
    for row in state.brought:
        directions = frozenset(goals.setdefault(index, len(goals)) for index in row.directions if index in counted)
        found = directions.union(*(shows[number] for number in row.vectors))
        if row.own:
            had |= found
        else:
            brought[row.test] = found
    return mcdc.fewest({test: found - had for test, found in brought.items() if found - had})
