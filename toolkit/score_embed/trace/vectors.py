"""The events of a run of vectors: which ways through each decision it took.

Such a run says of every condition how it came out, also where nothing is symbolic, and of nothing else. The activation in
which it stands is said where it changes, as in other runs; so conditions of a function that calls itself in the midst of a
decision are told from those of its caller. A decision that is left in its midst (by `longjmp`, or at the program's end)
gives no vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from score_embed.contract.decisions import AND, FALSE, NOT, SKIPPED, TRUE, Decision, Tree
from score_embed.contract.descriptors import Reserved
from score_embed.contract.sites import SiteKind, SiteTable
from score_embed.trace.cursor import Cursor

_State = tuple[int, int]  # which conditions were evaluated, and which of these are true: a bit for each


@dataclass(slots=True)
class Vectors:
    """What a run took. `directions`: coverage indices; `left`: decisions that were left in their midst."""

    taken: set[tuple[int, str]] = field(default_factory=set)  # the number of a decision, and the vector
    directions: set[int] = field(default_factory=set)
    left: int = 0


class Walk:
    """A decision as it is evaluated: which condition comes next, after what."""

    def __init__(self, decision: Decision) -> None:
        self._tree = decision.tree
        self._count = len(decision.conditions)
        self._constants = {n: c.constant for n, c in enumerate(decision.conditions) if c.constant is not None}
        self._known: dict[_State, int | str] = {}
        self.first = self.after((0, 0))

    def after(self, state: _State) -> int | str:
        """The condition that is evaluated next; a vector if the decision is made."""
        found = self._known.get(state)
        if found is None:
            evaluated: dict[int, bool] = {}
            needed = self._value(self._tree, state, evaluated)
            found = self._known[state] = needed if type(needed) is int else self._vector(evaluated)
        return found

    def _value(self, tree: Tree, state: _State, evaluated: dict[int, bool]) -> bool | int:
        """The truth of a part; the number of a condition (an int that is no bool) if that is needed to tell."""
        if isinstance(tree, int):
            constant = self._constants.get(tree)
            if constant is None:
                if not state[0] >> tree & 1:
                    return tree
                constant = bool(state[1] >> tree & 1)
            evaluated[tree] = constant
            return constant
        left = self._value(tree[1], state, evaluated)
        if type(left) is int:
            return left
        if tree[0] == NOT:
            return not left
        if left != (tree[0] == AND):
            return left
        assert len(tree) == 3
        return self._value(tree[2], state, evaluated)

    def _vector(self, evaluated: Mapping[int, bool]) -> str:
        return "".join(
            (TRUE if evaluated[n] else FALSE) if n in evaluated else SKIPPED for n in range(self._count)
        )


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
        under_way: dict[tuple[int, int], _State] = {}  # by decision and depth of its activation
        cursor = Cursor(self._pointer_bits)
        cursor.events = events
        while cursor.at < len(events):
            head = cursor.varint()
            ident, outcome = head >> 1, head & 1
            if ident == Reserved.FRAME:
                cursor.next_depth()
                continue
            site = self._sites.get(ident)
            if site is None or not site.is_branch:
                raise cursor.fail(f"site {ident} is no condition")
            if site.kind is SiteKind.SWITCH:
                outcome = cursor.varint()
            if outcome >= site.outcomes:
                raise cursor.fail(f"arm {outcome} of a switch")
            found.directions.add(site.coverage + outcome)
            if ident in self._member:
                number, at = self._member[ident]
                self._step(found, under_way, (number, cursor.depth), at, outcome)
        found.left += len(under_way)
        return found

    def _step(
        self, found: Vectors, under_way: dict[tuple[int, int], _State], key: tuple[int, int], at: int, outcome: int
    ) -> None:
        """A condition of a decision in an activation came out so."""
        walk = self._walks[key[0]]
        state = under_way.pop(key, None)
        if at == walk.first:
            found.left += state is not None
            state = (0, 0)
        if state is None or walk.after(state) != at:
            found.left += 1
            return
        state = state[0] | 1 << at, state[1] | outcome << at
        after = walk.after(state)
        if isinstance(after, str):
            found.taken.add((key[0], after))
        else:
            under_way[key] = state
