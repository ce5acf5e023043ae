"""What is asked of the solver layers and what they answer, and how a question is cut down to its slice.

The slice of a flip is made of the conditions that share input bytes, transitively, with the negated one; the
rest of the path stays true because its bytes keep their values. The path's conditions are added one by one, so
the groups of conditions that share bytes are kept by merging, never computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from score_embed.solve.domain import FULL, byte_set, single_byte
from score_embed.solve.expr import Expr, bytes_of, evaluate


class Result(Enum):
    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Query:
    """Find input bytes that satisfy `target` and the slice: each byte in its set, and all of `several`.

    `conditions` are the formulas of the slice as they stand on the path (sets and `several` are made of them).
    """

    target: Expr
    conditions: Sequence[Expr]
    sets: Mapping[int, int]  # by input byte: the values its single-byte conditions leave
    several: Sequence[Expr]  # conditions over two bytes or more
    data: bytes  # the input of the run whose path this is

    def holds(self, data: Sequence[int]) -> bool:
        """Does this input satisfy target and slice?"""
        if any(not values >> data[index] & 1 for index, values in self.sets.items()):
            return False
        memo: dict[Expr, int] = {}
        return evaluate(self.target, data, memo) == 1 and all(evaluate(c, data, memo) for c in self.several)

    def indices(self) -> list[int]:
        """The input bytes of target and slice."""
        deps = self.target.deps
        for condition in self.several:
            deps |= condition.deps
        for index in self.sets:
            deps |= 1 << index
        return bytes_of(deps)


@dataclass(frozen=True, slots=True)
class Answer:
    """`assignment`: a value for bytes of the slice (sat); the others keep theirs. `layer`: who answered."""

    result: Result
    layer: str
    assignment: Mapping[int, int] = field(default_factory=dict)

    def apply(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for index, value in self.assignment.items():
            changed[index] = value
        return bytes(changed)


class Solver(Protocol):
    """One layer: answers itself, or asks the layer it wraps."""

    def solve(self, query: Query) -> Answer: ...


@dataclass(slots=True)
class _Group:
    """Conditions connected by shared bytes."""

    deps: int
    conditions: list[Expr]
    sets: dict[int, int]
    several: list[Expr]

    def absorb(self, other: _Group) -> None:
        self.deps |= other.deps
        self.conditions += other.conditions
        self.sets.update(other.sets)
        self.several += other.several


class Slicer:
    """The conditions of a path so far, in groups that share no byte."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    def add(self, condition: Expr) -> None:
        """A condition that holds on the path. Constants say nothing and are left out."""
        if not condition.deps:
            return
        joined = self._take(condition.deps)
        joined.deps |= condition.deps
        index = single_byte(condition)
        if index >= 0:
            joined.sets[index] = joined.sets.get(index, FULL) & byte_set(condition)
            joined.conditions.append(condition)
        elif condition not in joined.several:
            joined.several.append(condition)
            joined.conditions.append(condition)
        self._groups.append(joined)

    def _take(self, deps: int) -> _Group:
        """Remove the groups that share bytes with `deps`, merged into the largest of them."""
        touching = [group for group in self._groups if group.deps & deps]
        if not touching:
            return _Group(0, [], {}, [])
        self._groups = [group for group in self._groups if not group.deps & deps]
        touching.sort(key=lambda group: len(group.conditions), reverse=True)
        for group in touching[1:]:
            touching[0].absorb(group)
        return touching[0]

    def query(self, target: Expr, data: bytes) -> Query:
        """The question for `target` after the conditions added so far. Valid until the next `add`."""
        touching = [group for group in self._groups if group.deps & target.deps]
        if len(touching) == 1:
            group = touching[0]
            return Query(target, group.conditions, group.sets, group.several, data)
        merged = _Group(0, [], {}, [])
        for group in touching:
            merged.absorb(group)
        return Query(target, merged.conditions, merged.sets, merged.several, data)
