"""The branches and decisions of a program, and what was seen of each. What pages and coverage files are made of.

A branch is a condition of an `if`, a loop, `&&`, `||` or `?:`, or a `switch`; a line may have several. Its directions
are each taken, or not and why; of several reasons `results/coverage.py` says which one is told.

A decision has the conditions that have not been seen to decide, by masking. It is what GCC's -fcondition-coverage
measures, and what gcovr and lcov have in their formats: a condition is covered twice, by having decided as true and by
having decided as false. Conditions that are constant have nothing to show and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from score_embed.contract.words import Unflipped, Vector
from score_embed.report import text
from score_embed.report.findings import Findings


class Side(Struct, frozen=True):
    """A direction of a branch. `reason`: of `Unflipped`, empty if it was taken; `why`: the same in a sentence."""

    name: str
    taken: bool
    reason: str = ""
    why: str = ""


class Branch(Struct, frozen=True):
    file: str
    line: int
    function: str
    sides: tuple[Side, ...]

    @property
    def taken(self) -> int:
        """How many of its directions some test took."""
        return sum(side.taken for side in self.sides)

    @property
    def is_reached(self) -> bool:
        return any(side.taken for side in self.sides)


def of(found: Findings) -> list[Branch]:
    """All branches by file and line; those of a line in the order of the program."""
    rows = iter(found.summary.unflipped)  # one for each direction not taken, by coverage index
    escaped = {(row.file, row.line) for row in found.summary.incomplete if row.count}
    sides: dict[int, list[Side]] = {}
    places: dict[int, tuple[str, int, str]] = {}
    for index, direction in sorted(found.sources.directions.items()):
        side = Side(direction.name, True)
        if index not in found.covered:
            row = next(rows)
            why = text.reason(row.reason, row.count, found.summary.stopped)
            if row.reason is Unflipped.CONCRETE and (row.file, row.line) in escaped:
                why += ", as far as it was followed"
            side = Side(direction.name, False, row.reason.value, why)
        sides.setdefault(direction.site, []).append(side)
        places[direction.site] = direction.file, direction.line, direction.function
    made = [Branch(*places[site], tuple(some)) for site, some in sides.items()]
    return sorted(made, key=lambda branch: (branch.file, branch.line))


class Function(Struct):
    """A function with branches: `line`: the first one known of it."""

    file: str
    name: str
    line: int
    taken: int = 0
    total: int = 0


def functions(branches: Sequence[Branch]) -> dict[tuple[str, str], Function]:
    """By file and name, from the top of each file."""
    found: dict[tuple[str, str], Function] = {}
    for branch in branches:
        one = found.setdefault((branch.file, branch.function), Function(branch.file, branch.function, branch.line))
        one.taken += branch.taken
        one.total += len(branch.sides)
    return found


def merged(campaigns: Sequence[Sequence[Branch]]) -> list[Branch]:
    """The branches of several campaigns together: a direction is taken if one of them took it; else the first one that
    came to the branch says why not. Branches are the same if they stand at the same line of the same function, in the
    same order, with the same directions; file names must be comparable."""
    together: dict[tuple[object, ...], Branch] = {}
    for branches in campaigns:
        seen: dict[tuple[object, ...], int] = {}
        for branch in branches:
            key = (branch.file, branch.line, branch.function, tuple(side.name for side in branch.sides))
            number = seen[key] = seen.get(key, -1) + 1
            known = together.get((*key, number))
            together[(*key, number)] = branch if known is None else _both(known, branch)
    return sorted(together.values(), key=lambda branch: (branch.file, branch.line))


def _both(one: Branch, other: Branch) -> Branch:
    told, asked = (one, other) if one.is_reached or not other.is_reached else (other, one)
    sides = tuple(
        mine if mine.taken or not theirs.taken else theirs for mine, theirs in zip(told.sides, asked.sides, strict=True)
    )
    return Branch(one.file, one.line, one.function, sides)


class Condition(Struct, frozen=True):
    """`missing`: the truths with which it has not decided."""

    text: str
    missing: frozenset[bool]


class Decision(Struct, frozen=True):
    file: str
    line: int
    function: str
    is_reached: bool
    conditions: tuple[Condition, ...]

    def missing(self, truth: bool) -> list[int]:
        """The conditions that have not decided with this truth."""
        return [number for number, condition in enumerate(self.conditions) if truth in condition.missing]


def decisions_of(found: Findings) -> list[Decision]:
    """In the order of the summary; none if the campaign recorded no vectors."""
    if found.summary.mcdc is None:
        return []
    return [
        Decision(
            row.file,
            row.line,
            row.function,
            bool(row.vectors),
            tuple(
                Condition(one.condition, frozenset(one.missing or ()))
                for one in row.conditions
                if one.masking is not Vector.CONSTANT
            ),
        )
        for row in found.summary.mcdc.table
    ]
