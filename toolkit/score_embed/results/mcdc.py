"""Modified condition/decision coverage (MC/DC): which conditions were seen to decide alone.

Two readings of it, which differ in what the other conditions may do:

* *Masking*: the condition was seen true and seen false, each time with an effect on the outcome. It has none where a
  later operand decides alone: in `a && b`, a is masked if b is false; in `a || b`, if b is true.
* *Unique cause*: there are two vectors with different outcomes that differ in this condition only. A condition that one
  of them did not evaluate may be anything in the other.

A condition with a constant value takes part in what decides, and has nothing to show itself. What constants make
impossible is told from the tree; whether anything else is, only a campaign that has run every path can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from score_embed.contract.coverage import AND, FALSE, NOT, OR, SKIPPED, TRUE, Decision

_FEW = 40  # tests to be chosen: beyond that nobody tries whether fewer would do
Item = tuple[int, bool]  # a condition, and the truth with which it has decided


class Shown(Struct, frozen=True):
    """What vectors show of a decision."""

    masking: frozenset[Item]
    unique: Mapping[int, tuple[str, str]] = field(default_factory=dict)  # by condition: two vectors that show it


def values(decision: Decision, vector: str) -> list[bool | None]:
    """The truth of each node; None if it was not evaluated."""
    found: list[bool | None] = []
    for node in decision.nodes:
        if not node.op:
            found.append(None if vector[node.first] == SKIPPED else vector[node.first] == TRUE)
            continue
        left = found[node.left]
        if node.op == NOT:
            found.append(None if left is None else not left)
        else:
            right = found[node.right]
            found.append(left if right is None else right)
    return found


def items(decision: Decision, vector: str) -> set[Item]:
    """What one vector shows: the conditions that had an effect on the outcome."""
    nodes, truth = decision.nodes, values(decision, vector)
    has_effect = [False] * len(nodes)
    has_effect[-1] = True
    found: set[Item] = set()
    for number in reversed(range(len(nodes))):
        node, value = nodes[number], truth[number]
        if not has_effect[number] or value is None:
            continue
        if not node.op:
            if decision.conditions[node.first].constant is None:
                found.add((node.first, value))
        elif node.op == NOT:
            has_effect[node.left] = True
        else:
            right = truth[node.right]
            has_effect[node.left] = right is None or right == (node.op == AND)  # else the right one decides alone
            has_effect[node.right] = True
    return found


def shown(decision: Decision, vectors: Iterable[str]) -> Shown:
    """What these vectors show, by both readings."""
    known = sorted(set(vectors))
    masking = frozenset(item for vector in known for item in items(decision, vector))
    by_outcome: dict[bool | None, list[tuple[str, int, int]]] = {}
    for vector in known:
        by_outcome.setdefault(values(decision, vector)[-1], []).append(
            (vector, _bits(vector, FALSE), _bits(vector, TRUE))
        )
    unique: dict[int, tuple[str, str]] = {}
    for one, one_false, one_true in by_outcome.get(False, ()):
        for other, other_false, other_true in by_outcome.get(True, ()):
            differ = one_false & other_true | one_true & other_false
            if not differ or differ & (differ - 1):
                continue
            number = differ.bit_length() - 1
            if decision.conditions[number].constant is None:
                unique.setdefault(number, (one, other))
    return Shown(masking, unique)


def _bits(vector: str, letter: str) -> int:
    """A bit for each condition with this letter."""
    return sum(1 << number for number, had in enumerate(vector) if had == letter)


def possible(decision: Decision, fixed: Mapping[int, bool] | None = None) -> set[Item]:
    """What vectors could show, for all that constants allow; `fixed`: if these conditions have these values besides."""
    nodes = decision.nodes
    can = _can(decision, fixed or {})
    may: list[set[bool]] = [set() for _ in nodes]  # the truths that a node can have with an effect on the outcome
    may[-1] = can[-1]
    found: set[Item] = set()
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        if not node.op:
            if decision.conditions[node.first].constant is None:
                found.update((node.first, value) for value in may[number])
        elif node.op == NOT:
            may[node.left] = {not value for value in may[number]}
        else:
            decides = node.op == OR  # the truth with which an operand decides alone
            left, right = can[node.left], can[node.right]
            may[node.left] = {decides} & left & may[number]
            if (not decides) in left:
                may[node.right] = right & may[number]
                may[node.left] |= {not decides} & right & may[number]
    return found


def _can(decision: Decision, fixed: Mapping[int, bool]) -> list[set[bool]]:
    """Which truths each node can have."""
    found: list[set[bool]] = []
    for node in decision.nodes:
        if not node.op:
            constant = decision.conditions[node.first].constant
            known = fixed.get(node.first) if constant is None else constant
            found.append({False, True} if known is None else {known})
        elif node.op == NOT:
            found.append({not value for value in found[node.left]})
        else:
            decides = node.op == OR
            left, right = found[node.left], found[node.right]
            found.append(({decides} & left) | (right if (not decides) in left else set()))
    return found


def fewest(brought: Mapping[int, frozenset[int]], most: int = 200_000) -> tuple[tuple[int, ...], bool]:
    """Tests that together bring all that any of them brings, as few as can be, and whether fewer are proved impossible.

    `brought`: by test, what it brings; `most`: steps of the exact search; after these what was found best is taken.
    """
    forced, rows = _reduced(brought)
    best = _greedy(rows)
    if len(best) > _FEW:
        return tuple(sorted((*forced, *best))), False
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

    search((), frozenset(by_item))
    return tuple(sorted((*forced, *best))), steps > 0


def _reduced(brought: Mapping[int, frozenset[int]]) -> tuple[list[int], dict[int, frozenset[int]]]:
    """The tests that have to be chosen, for nobody else brings something of theirs; and what others bring beside
    these."""
    forced: list[int] = []
    rows = _undominated(brought)
    while True:
        bringers: dict[int, list[int]] = {}
        for test, had in rows.items():
            for item in had:
                bringers.setdefault(item, []).append(test)
        alone = {tests[0] for tests in bringers.values() if len(tests) == 1}
        if not alone:
            return forced, rows
        forced += alone
        had = frozenset().union(*(rows[test] for test in alone))
        rows = _undominated({test: found - had for test, found in rows.items() if test not in alone})


def _undominated(brought: Mapping[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    """Without tests that bring nothing beside what another one brings."""
    kept: dict[int, frozenset[int]] = {}
    for test, had in sorted(brought.items(), key=lambda row: (-len(row[1]), row[0])):
        if had and not any(had <= other for other in kept.values()):
            kept[test] = had
    return kept


def _greedy(rows: Mapping[int, frozenset[int]]) -> tuple[int, ...]:
    chosen: list[int] = []
    left = set().union(*rows.values())
    while left:
        test = max(rows, key=lambda test: (len(rows[test] & left), -test))
        chosen.append(test)
        left -= rows[test]
    return tuple(chosen)


def missing(decision: Decision, seen: Iterable[str]) -> set[Item]:
    """What constants allow and no vector has shown, by masking."""
    return possible(decision).difference(*(items(decision, vector) for vector in seen))
