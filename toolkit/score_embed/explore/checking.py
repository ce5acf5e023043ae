"""What somebody else says to have derived from a run is derived once more, and compared.

Two who derive the flips of one path may differ honestly: one answers at once what lets the other wait, models differ,
and so do the inputs of children. So children are compared by their *marks*, which leave the input out; a flip that is
told as either child or question is not asked again. What is not told is asked here to the end: if it has an answer,
somebody has kept it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from hashlib import blake2b

from msgspec import Struct

from score_embed.contract.outcome import Finished
from score_embed.engine._core import Descent, Origin
from score_embed.explore.asking import other_side
from score_embed.explore.bounds import Bounds
from score_embed.explore.concolic import Explorer
from score_embed.explore.flips import Flips
from score_embed.explore.pair import LeftOut, Pair, asked_later, child, pending_flip, put_off, rest, rest_id
from score_embed.solve.chain import Chain
from score_embed.solve.query import Result, Stopped
from score_embed.trace.trail import Condition, Trail

MARK_BYTES = 8


def mark(pair: Pair) -> bytes:
    """All that a pair says but for its input and its rank."""
    return blake2b(pair.but(input=b"", behind=0).to_bytes(), digest_size=MARK_BYTES).digest()


class Told(Struct, frozen=True):
    """What somebody says to have derived. `until`: from this condition on it has left all to a pair of its own (None:
    it has not); `given_up`: sites of which it says that the solver gave up there, which everybody is told of anyway."""

    marks: Collection[bytes]
    until: int | None = None
    given_up: Collection[int] = ()

    def has(self, *forms: Pair) -> bool:
        """Whether a flip was told in one of its forms."""
        return any(mark(pair) in self.marks for pair in forms)


def told(pair: Pair, children: Iterable[Pair], given_up: Collection[int] = ()) -> Told:
    """What the children of a pair's run say."""
    left = [other.neg_limit for other in children if _is_rest(other, pair)]
    return Told({mark(other) for other in children}, min(left, default=None), given_up)


def _is_rest(other: Pair, pair: Pair) -> bool:
    if pair.pending:
        return other.id == asked_later(pair).id
    return other.id == rest_id(pair, other.neg_limit)


class Seen(Struct, frozen=True):
    """`missing`: marks of pairs that the run leads to and that were not told."""

    mispredicted: bool
    missing: tuple[bytes, ...]


class Checker:
    """Explores one run, to compare: its children are what nobody told, and what is left of the run."""

    def __init__(self, trail: Trail, chain: Chain, bounds: Bounds, said: Told) -> None:
        chain.decides_bytes = False  # each flip is looked at here
        self._chain, self._said = chain, said
        self._explorer = Explorer(trail, chain, bounds, asks=partial(_Compares, said))

    def check(self, pair: Pair, finished: Finished, data: bytes) -> Seen:
        """`pair` as it was given; `data`: the input of its run. Raises TraceError if its events make no sense, and
        Stopped."""
        outcome, until = self._explorer.derive(pair, finished, data), self._said.until
        if self._chain.stop():
            raise Stopped
        if outcome.mispredicted:
            return Seen(True, ())
        wanted = [other for other in outcome.children if until is None or other.neg_limit <= until]
        wanted += self._rest(pair, data, outcome.children)
        return Seen(False, tuple(dict.fromkeys(mark(other) for other in wanted if not self._said.has(other))))

    def _rest(self, pair: Pair, data: bytes, children: Sequence[Pair]) -> Sequence[Pair]:
        """What has to be told of what they left to a pair of its own."""
        until, conditions = self._said.until, self._explorer.conditions
        if until is None or not conditions:
            return ()
        if pair.pending:
            return [asked_later(pair)]
        if until < len(conditions):
            decisions = self._explorer.descent.decisions(until)
            left = rest(pair, decisions, data, until, conditions[until], Origin())
            return [left] if until != pair.neg_limit or not self._said.has(put_off(pair)) else ()
        if until in [other.neg_limit for other in children]:
            return ()  # it was left here, too: the path was followed no further
        return [pair]  # there is nothing to be left


class _Compares:
    """Flips that were told are not asked; the others are asked to the end."""

    def __init__(self, said: Told, chain: Chain, descent: Descent) -> None:
        self._said, self._chain, self._descent = said, chain, descent

    def ask_or_wait(
        self, decisions: bytes, index: int, condition: Condition, data: bytes, flips: Flips, left_out: LeftOut | None
    ) -> None:
        derived = child(decisions, data, index, condition, Origin(), left_out)
        waiting = pending_flip(derived, decisions, data, index, condition)
        self._look_for(derived, waiting, condition, data, flips)

    def ask_pending(self, pair: Pair, condition: Condition, origin: Origin, flips: Flips) -> None:
        assert pair.decided is not None
        index = pair.neg_limit
        derived = child(pair.decided, pair.input, index, condition, origin, pair.left_out)
        again = pending_flip(derived, pair.decided, pair.input, index, condition, pair.pending + 1)
        self._look_for(derived, again, condition, pair.input, flips)

    def _look_for(self, derived: Pair, waiting: Pair, condition: Condition, data: bytes, flips: Flips) -> None:
        said = self._said
        is_left = said.until is not None and waiting.neg_limit >= said.until
        if is_left or condition.site in said.given_up or said.has(derived, waiting):
            return
        target = other_side(condition, derived.left_out)
        for effort in range(self._chain.efforts):
            answer = self._chain.solve(*self._descent.queries(target, data), effort=effort)
            if answer.result is not Result.UNKNOWN:
                break
        if answer.result is Result.SAT:
            flips.children.append(derived)
