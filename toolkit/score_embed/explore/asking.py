"""What becomes of a flip: a pair that takes the condition's other side, a question that waits, or the reason for none.

The explorer goes down a path and comes to flips; it is told how to ask when it is made. So whoever only compares what
others have derived goes down the same path and asks otherwise (`checking.py`).
"""

from __future__ import annotations

from typing import Protocol

from score_embed.contract.words import Note, Unflipped
from score_embed.engine._core import Descent, Origin
from score_embed.explore.flips import Flips
from score_embed.explore.pair import LeftOut, Pair, child, pending_flip
from score_embed.formula.build import binary, negate
from score_embed.formula.expr import Expr, Kind
from score_embed.solve.chain import Chain
from score_embed.solve.query import Result
from score_embed.trace.trail import Condition

_HEAVY = 256  # conditions of a question: for cheap layers, too, it is not cheap then
_WHY = {Result.UNSAT: Unflipped.UNSAT, Result.UNKNOWN: Unflipped.UNKNOWN}  # there is no child


class Asks(Protocol):
    """Both put what they find into `flips`; the descent's scope is at the condition."""

    def ask_or_wait(
        self, decisions: bytes, index: int, condition: Condition, data: bytes, flips: Flips, left_out: LeftOut | None
    ) -> None:
        """A condition that a run has come to: the `index`th of its path, behind `decisions`."""

    def ask_pending(self, pair: Pair, condition: Condition, origin: Origin, flips: Flips) -> None:
        """The condition of a pair that waited. Raises Stopped."""


class Asker:
    """Asks the solver's layers: the cheap ones at once, the others when the flip's turn has come."""

    def __init__(self, chain: Chain, descent: Descent) -> None:
        self._chain, self._descent = chain, descent

    def ask_or_wait(
        self, decisions: bytes, index: int, condition: Condition, data: bytes, flips: Flips, left_out: LeftOut | None
    ) -> None:
        """What the cheap layers say; else the flip waits. A question of very many conditions waits behind the
        others."""
        descent = self._descent
        origin = Origin(descent.origin, index)
        target = other_side(condition, left_out)
        is_heavy = self._chain.may_wait and descent.weight(target) > _HEAVY
        answer = None if is_heavy else self._chain.answer_cheaply(*descent.queries(target, data))
        if answer is None:
            derived = child(decisions, data, index, condition, origin, left_out)
            flips.wait(pending_flip(derived, decisions, data, index, condition, behind=int(is_heavy)))
        else:
            derived = child(decisions, answer.apply(data), index, condition, origin, left_out)
            self._conclude(answer.result, derived, condition, target, flips)

    def ask_pending(self, pair: Pair, condition: Condition, origin: Origin, flips: Flips) -> None:
        assert pair.decided is not None
        target = other_side(condition, pair.left_out)
        answer = self._chain.solve(*self._descent.queries(target, pair.input), effort=pair.pending - 1)
        index = pair.neg_limit
        derived = child(pair.decided, answer.apply(pair.input), index, condition, origin, pair.left_out)
        if answer.result is Result.UNKNOWN and pair.pending < self._chain.efforts:
            again = (pair.decided, pair.input, index, condition, pair.pending + 1, pair.behind + 1, pair.route)
            flips.wait(pending_flip(derived, *again))
            return
        self._conclude(answer.result, derived, condition, target, flips)

    def _conclude(self, result: Result, derived: Pair, condition: Condition, target: Expr, flips: Flips) -> None:
        """The last answer to a flip: `derived` is to be run if there is an input for it."""
        if result is Result.SAT:
            flips.children.append(derived)
            if condition.is_fork:
                flips.forks.append(condition.site)
            if condition.loose:
                flips.notes[Note.OUTSIDE, condition.site] += 1
            return
        if result is Result.UNKNOWN:
            flips.notes[Note.GAVE_UP, condition.site] += 1
        reason = _WHY[result]
        if reason is Unflipped.UNSAT and (condition.fixed or self._descent.slice_of(target) & condition.forked):
            reason = Unflipped.FIXED
        flips.unflip(condition, reason)


def other_side(condition: Condition, left_out: LeftOut | None) -> Expr:
    """What holds there: of an address also that it is in none of the objects that led to this one."""
    wanted = negate(condition.formula)
    if condition.chosen and left_out and len(left_out.objects) > 1:
        wanted = binary(Kind.AND, wanted, condition.chosen.inside.none_of(left_out.objects[:-1]))
    return wanted
