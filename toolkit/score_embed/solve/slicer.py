"""The conditions of a path, cut down to the slice of a flip; with undo, so that it follows the trail.

The slice is made of the conditions that share input bytes, transitively, with the one being flipped; the rest of
the path stays true because its bytes keep their values. Conditions on a single byte connect nothing: they are kept as
one set of values a byte. The others are kept in groups that share bytes, found by byte and merged as conditions come, never
computed anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from score_embed.formula.domain import byte_set
from score_embed.formula.expr import Expr, bytes_of
from score_embed.solve.query import Query


@dataclass(slots=True, eq=False)
class _Group:
    """Conditions over two bytes or more, connected by shared bytes."""

    deps: int = 0
    conditions: list[Expr] = field(default_factory=list)


@dataclass(slots=True)
class _Merge:
    """What adding a condition to `group` changed."""

    group: _Group
    deps: int
    size: int
    moved: list[tuple[int, _Group | None]]  # input bytes that came to it, and from where


_Narrowing = tuple[int, int | None]  # what a condition on one byte changed: the byte, the values it had left if not all


class Slicer:
    """The conditions so far. `mark` names a state, `undo` goes back to it."""

    def __init__(self) -> None:
        self._sets: dict[int, int] = {}
        self._path: list[Expr] = []  # a condition a change
        self._group_of: dict[int, _Group] = {}  # by input byte
        self._known: set[Expr] = set()
        self._changes: list[_Merge | _Narrowing] = []

    def mark(self) -> int:
        return len(self._changes)

    def add(self, condition: Expr) -> None:
        """A condition that holds on the path. What is constant, or already known, says nothing new."""
        index = condition.only_byte
        if index >= 0:
            values = self._sets.get(index)
            self._path.append(condition)
            self._changes.append((index, values))
            holds = condition.byte_set
            holds = holds if holds >= 0 else byte_set(condition)
            self._sets[index] = holds if values is None else values & holds
        elif condition.deps and condition not in self._known:
            self._known.add(condition)
            self._path.append(condition)
            self._join(condition)

    def _join(self, condition: Expr) -> None:
        """Put it into the largest of the groups it touches, and the others with it."""
        bytes_ = bytes_of(condition.deps)
        touching = self._touched(bytes_)
        group = max(touching, key=lambda group: len(group.conditions), default=_Group())
        moved: list[tuple[int, _Group | None]] = []
        self._changes.append(_Merge(group, group.deps, len(group.conditions), moved))
        for other in touching:
            if other is not group:
                group.conditions += other.conditions
                moved += ((index, other) for index in bytes_of(other.deps))
        moved += ((index, None) for index in bytes_ if index not in self._group_of)
        for index, _ in moved:
            self._group_of[index] = group
            group.deps |= 1 << index
        group.conditions.append(condition)

    def _touched(self, bytes_: Sequence[int]) -> list[_Group]:
        """The groups of these input bytes, each once."""
        found: dict[int, _Group] = {}
        for index in bytes_:
            group = self._group_of.get(index)
            if group is not None:
                found[id(group)] = group
        return list(found.values())

    def undo(self, mark: int) -> None:
        changes = self._changes
        del self._path[mark:]
        while len(changes) > mark:
            change = changes.pop()
            if isinstance(change, tuple):
                index, values = change
                if values is None:
                    del self._sets[index]
                else:
                    self._sets[index] = values
            else:
                group = change.group
                self._known.remove(group.conditions[-1])
                del group.conditions[change.size :]
                group.deps = change.deps
                for moved, before in change.moved:
                    if before is None:
                        del self._group_of[moved]
                    else:
                        self._group_of[moved] = before

    def weight(self, target: Expr) -> int:
        """How many conditions over two bytes or more the slice of this target has."""
        return sum(len(group.conditions) for group in self._touched(bytes_of(target.deps)))

    def slice_of(self, target: Expr) -> int:
        """The input bytes of this target's slice."""
        deps = target.deps
        for group in self._touched(bytes_of(deps)):
            deps |= group.deps
        return deps

    def query(self, target: Expr, data: bytes) -> Query:
        """The question for `target` after the conditions added so far. Valid until the next change."""
        deps, index = target.deps, target.only_byte
        if index >= 0 and index not in self._group_of:  # most questions of parsers
            values = self._sets.get(index)
            return Query(target, {} if values is None else {index: values}, (), data, self._path)
        several: list[Expr] = []
        for group in self._touched(bytes_of(deps)):
            deps |= group.deps
            several = several + group.conditions if several else group.conditions
        sets = {index: self._sets[index] for index in bytes_of(deps) if index in self._sets}
        return Query(target, sets, several, data, self._path)
