"""The events of a run of vectors: which ways through each decision it took.

Such a run says of every condition how it came out, also where nothing is symbolic, and of nothing else. The activation
in which it stands is said where it changes, as in other runs; so conditions of a function that calls itself in the
midst of a decision are told from those of its caller. A decision that is left in its midst (by `longjmp`, or at the
program's end) gives no vector.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from score_embed.contract.coverage import AND, FALSE, NOT, SKIPPED, TRUE, Decision
from score_embed.contract.descriptors import Reserved
from score_embed.contract.sites import SiteKind, SiteTable
from score_embed.trace.trail import Cursor, TraceError

_Target = int | str  # the condition that is evaluated next, or how the decision comes out


class Vectors(Struct):
    """What a run took. `directions`: coverage indices; `left`: decisions that were left in their midst."""

    taken: set[tuple[int, str]] = field(default_factory=set)  # the number of a decision, and the vector
    directions: set[int] = field(default_factory=set)
    left: int = 0


class _UnderWay(Struct):
    """A decision that is being made."""

    expected: _Target
    evaluated: dict[int, bool]


class Walk:
    """A decision as it is evaluated: which condition comes next depends on the one before and how that came out."""

    def __init__(self, decision: Decision) -> None:
        self._count = len(decision.conditions)
        self._next = _targets(decision)
        self._constants = {n: c.constant for n, c in enumerate(decision.conditions) if c.constant is not None}
        self.first = self.start()[0]

    def start(self) -> tuple[_Target, dict[int, bool]]:
        """The first condition that has a probe, and what was evaluated before it."""
        evaluated: dict[int, bool] = {}
        return self._skip(0, evaluated), evaluated

    def step(self, at: int, value: bool, evaluated: dict[int, bool]) -> _Target:
        """What follows when condition `at` comes out so; `evaluated` grows."""
        evaluated[at] = value
        return self._skip(self._next[at][value], evaluated)

    def _skip(self, target: _Target, evaluated: dict[int, bool]) -> _Target:
        """Constants have no probe."""
        while isinstance(target, int) and target in self._constants:
            evaluated[target] = value = self._constants[target]
            target = self._next[target][value]
        return target

    def vector(self, evaluated: Mapping[int, bool]) -> str:
        letters = [SKIPPED] * self._count
        for number, value in evaluated.items():
            letters[number] = TRUE if value else FALSE
        return "".join(letters)


def _targets(decision: Decision) -> list[tuple[_Target, _Target]]:
    """Where each condition leads to if it is false, and if it is true."""
    nodes = decision.nodes
    target: list[tuple[_Target, _Target]] = [(FALSE, TRUE)] * len(nodes)
    found: list[tuple[_Target, _Target]] = [(FALSE, TRUE)] * len(decision.conditions)
    for number in reversed(range(len(nodes))):
        node, (if_false, if_true) = nodes[number], target[number]
        if not node.op:
            found[node.first] = if_false, if_true
        elif node.op == NOT:
            target[node.left] = if_true, if_false
        else:
            beyond = nodes[node.right].first
            target[node.left] = (if_false, beyond) if node.op == AND else (beyond, if_true)
            target[node.right] = if_false, if_true
    return found


def _damaged(what: str, cursor: Cursor) -> TraceError:
    return TraceError(what, f"event byte {cursor.at} of {len(cursor.events)}")


class VectorReader:
    """Reads the events of runs of vectors of one image."""

    def __init__(self, table: SiteTable) -> None:
        self._sites, self._pointer_bits = table.sites, table.pointer_bits
        self._walks = [Walk(decision) for decision in table.decisions]
        self._member = {
            condition.site: (number, at)
            for number, decision in enumerate(table.decisions)
            for at, condition in enumerate(decision.conditions)
            if condition.site and condition.constant is None
        }

    def read(self, events: bytes) -> Vectors:
        """Raises TraceError if they are no events of such a run."""
        found = Vectors()
        under_way: dict[tuple[int, int], _UnderWay] = {}  # by decision and depth of its activation
        cursor = Cursor(self._pointer_bits)
        cursor.events = events
        depth = 0
        while cursor.at < len(events):
            head = cursor.varint()
            ident = head >> 1
            if ident == Reserved.FRAME:
                depth = cursor.next_depth()
                continue
            site = self._sites.get(ident)
            if site is not None and site.kind is SiteKind.MARK:
                cursor.varint()
                continue
            if site is None or not site.is_branch:
                raise _damaged(f"site {ident} is no condition", cursor)
            outcome = cursor.varint()
            if outcome >= site.outcomes:
                raise _damaged(f"arm {outcome} of a switch", cursor)
            found.directions.add(site.coverage + outcome)
            if ident in self._member:
                number, at = self._member[ident]
                self._step(found, under_way, (number, depth), at, outcome)
        found.left += len(under_way)
        return found

    def _step(
        self, found: Vectors, under_way: dict[tuple[int, int], _UnderWay], key: tuple[int, int], at: int, outcome: int
    ) -> None:
        """A condition of a decision in an activation came out so."""
        walk = self._walks[key[0]]
        state = under_way.pop(key, None)
        if at == walk.first:
            found.left += state is not None
            state = _UnderWay(*walk.start())
        if state is None or state.expected != at:
            found.left += 1
            return
        state.expected = walk.step(at, bool(outcome), state.evaluated)
        if isinstance(state.expected, str):
            found.taken.add((key[0], walk.vector(state.evaluated)))
        else:
            under_way[key] = state
