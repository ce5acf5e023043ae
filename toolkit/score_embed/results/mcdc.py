"""Modified condition/decision coverage (MC/DC): which conditions were seen to decide alone.

Two readings of it, which differ in what the other conditions may do:

* *Masking*: the condition was seen true and seen false, each time with an effect on the outcome. It has none where a later
  operand decides alone: in `a && b`, a is masked if b is false; in `a || b`, if b is true.
* *Unique cause*: there are two vectors with different outcomes that differ in this condition only. A condition that one of
  them did not evaluate may be anything in the other.

A condition with a constant value takes part in what decides, and has nothing to show itself. What constants make impossible
is told from the tree; whether anything else is, only a campaign that has run every path can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from score_embed.contract.decisions import AND, FALSE, NOT, SKIPPED, TRUE, Decision, Tree

Item = tuple[int, bool]  # a condition, and the truth with which it has decided


@dataclass(frozen=True)
class Shown:
    """What vectors show of a decision."""

    masking: frozenset[Item]
    unique: Mapping[int, tuple[str, str]] = field(default_factory=dict)  # by condition: two vectors that show it


def outcome(tree: Tree, vector: str) -> bool | None:
    """The truth of a part; None if it was not evaluated."""
    if isinstance(tree, int):
        return None if vector[tree] == SKIPPED else vector[tree] == TRUE
    left = outcome(tree[1], vector)
    if tree[0] == NOT:
        return None if left is None else not left
    assert len(tree) == 3
    right = outcome(tree[2], vector)
    return left if right is None else right


def deciding(tree: Tree, vector: str) -> set[int]:
    """The conditions that had an effect on the outcome."""
    if isinstance(tree, int):
        return set() if vector[tree] == SKIPPED else {tree}
    if tree[0] == NOT:
        return deciding(tree[1], vector)
    assert len(tree) == 3
    right = outcome(tree[2], vector)
    if right is None:
        return deciding(tree[1], vector)
    found = deciding(tree[2], vector)
    return found | deciding(tree[1], vector) if right == (tree[0] == AND) else found


def items(decision: Decision, vector: str) -> set[Item]:
    """What one vector shows."""
    return {(n, vector[n] == TRUE) for n in deciding(decision.tree, vector) if decision.conditions[n].constant is None}


def shown(decision: Decision, vectors: Iterable[str]) -> Shown:
    """What these vectors show, by both readings."""
    known = sorted(set(vectors))
    masking = frozenset(item for vector in known for item in items(decision, vector))
    unique: dict[int, tuple[str, str]] = {}
    tree = decision.tree
    results = {vector: outcome(tree, vector) for vector in known}
    for one, other in combinations(known, 2):
        if results[one] == results[other]:
            continue
        differ = [n for n, (a, b) in enumerate(zip(one, other, strict=True)) if {a, b} == {TRUE, FALSE}]
        if len(differ) == 1 and decision.conditions[differ[0]].constant is None:
            unique.setdefault(differ[0], (one, other))
    return Shown(masking, unique)


def possible(decision: Decision, fixed: Mapping[int, bool] | None = None) -> set[Item]:
    """What vectors could show, for all that constants allow; `fixed`: if these conditions have these values besides."""
    values = {n: c.constant for n, c in enumerate(decision.conditions) if c.constant is not None}
    can = _can(decision.tree, {**values, **(fixed or {})})
    return {item for found in can.values() for item in found if item[0] not in values}


def _can(tree: Tree, known: Mapping[int, bool]) -> dict[bool, set[Item]]:
    """Which truths a part can have, and with each which items it can show."""
    if isinstance(tree, int):
        return {value: {(tree, value)} for value in (False, True) if known.get(tree, value) == value}
    left = _can(tree[1], known)
    if tree[0] == NOT:
        return {not value: found for value, found in left.items()}
    assert len(tree) == 3
    right, decides = _can(tree[2], known), tree[0] != AND  # the truth with which an operand decides alone
    made: dict[bool, set[Item]] = {}
    if decides in left:
        made[decides] = set(left[decides])
    if (not decides) not in left:
        return made
    if decides in right:
        made.setdefault(decides, set()).update(right[decides])
    if (not decides) in right:
        made.setdefault(not decides, set()).update(left[not decides] | right[not decides])
    return made


def leading(decision: Decision, missing: Iterable[Item]) -> set[Item]:
    """The conditions, and their truths, that a vector which shows something of this may have."""
    wanted = set(missing)
    free = [n for n, condition in enumerate(decision.conditions) if condition.constant is None]
    return {(n, value) for n in free for value in (False, True) if wanted & possible(decision, {n: value})}


def fewest(brought: Mapping[int, frozenset[int]], most: int = 200_000) -> tuple[tuple[int, ...], bool]:
    """Tests that together bring all that any of them brings, as few as can be, and whether fewer are proved impossible.

    `brought`: by test, what it brings; `most`: steps of the exact search; after these what was found best is taken.
    """
    wanted = frozenset().union(*brought.values()) if brought else frozenset()
    rows = _undominated(brought)
    best = _greedy(rows, wanted)
    by_item: dict[int, list[int]] = {}
    for test, had in rows.items():
        for item in had:
            by_item.setdefault(item, []).append(test)
    steps = most

    def search(chosen: tuple[int, ...], left: frozenset[int]) -> None:
        nonlocal best, steps
        if not left:
            best = min(best, chosen, key=len)
            return
        largest = max(len(had & left) for had in rows.values())
        if steps <= 0 or len(chosen) + -(-len(left) // largest) >= len(best):
            return
        rarest = min(left, key=lambda item: (len(by_item[item]), item))
        for test in sorted(by_item[rarest], key=lambda test: (-len(rows[test] & left), test)):
            steps -= 1
            search((*chosen, test), left - rows[test])

    search((), wanted)
    return tuple(sorted(best)), steps > 0


def _undominated(brought: Mapping[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    """Without tests that bring nothing beside what another one brings."""
    kept: dict[int, frozenset[int]] = {}
    for test, had in sorted(brought.items(), key=lambda row: (-len(row[1]), row[0])):
        if had and not any(had <= other for other in kept.values()):
            kept[test] = had
    return kept


def _greedy(rows: Mapping[int, frozenset[int]], wanted: frozenset[int]) -> tuple[int, ...]:
    chosen: list[int] = []
    left = set(wanted)
    while left:
        test = max(rows, key=lambda test: (len(rows[test] & left), -test))
        chosen.append(test)
        left -= rows[test]
    return tuple(chosen)


def vectors_by_decision(taken: Iterable[tuple[int, str]], count: int) -> list[list[str]]:
    """The vectors of each decision, by its number."""
    found: list[list[str]] = [[] for _ in range(count)]
    for number, vector in taken:
        if 0 <= number < count:
            found[number].append(vector)
    return found


def missing(decision: Decision, seen: Sequence[str]) -> set[Item]:
    """What constants allow and no vector has shown, by masking."""
    return possible(decision) - shown(decision, seen).masking
