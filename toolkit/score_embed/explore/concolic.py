"""Algorithm 2 of SCORE: a pair was run; check the prediction, flip each condition from neg_limit on.

The explorer runs nothing and queues nothing: `derive` takes what came of a run and returns the flips of its path, `ask`
answers one of them. Flips that the cheap layers answer are pairs to run at once; the others are *pending*: they wait in
the same work list, and are asked when their turn comes. A question that is too hard comes back with a larger limit,
behind all others. So a campaign can store children and the finished pair together, and what is known but not done is
all that a resumed campaign needs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence

from score_embed.contract.outcome import Finished, Verdict
from score_embed.contract.words import Layer, Note, Unflipped
from score_embed.engine._core import Derived, Descent, Followed, Glance, Origin, reasons_are
from score_embed.explore.asking import Asker, Asks
from score_embed.explore.bounds import BoundedPath, Bounds
from score_embed.explore.flips import Flips, Notes, Outcome, Route, Routes, no_notes
from score_embed.explore.pair import (
    MOST_LEFT_OUT,
    Known,
    LeftOut,
    Pair,
    is_astray_elsewhere,
    put_off,
    rest,
    set_aside,
    without,
)
from score_embed.explore.tally import Tally
from score_embed.formula.expr import Expr
from score_embed.solve.chain import Chain, SolverStats
from score_embed.solve.query import Answer, Result
from score_embed.trace.trail import Condition, SymbolicObject, Trail

_LAST_CLASS = 255  # of pairs that were put off
_NO_PATH = frozenset({Verdict.ASSUMPTION, Verdict.WATCHDOG, Verdict.LOST})

reasons_are(Unflipped.CONCRETE, Unflipped.FIXED, Unflipped.UNSAT)


class Explorer:
    """One exploration. Deterministic: the same runs in the same order give the same pairs."""

    def __init__(
        self,
        trail: Trail,
        chain: Chain,
        bounds: Bounds | None = None,
        room: tuple[int, int] | None = None,
        asks: Callable[[Chain, Descent], Asks] = Asker,
    ) -> None:
        """`room`: with so many children, or so many bytes of their inputs, a run leaves a pair for the rest. `asks`:
        what becomes of a flip."""
        self._chain, self._room = chain, room
        self._trail = trail
        self._routes = Routes()
        self._bounded = BoundedPath(bounds if bounds is not None else Bounds())
        self._descent = Descent(self._bounded)
        self._asks = asks(chain, self._descent)
        self._followed: Derived | None = None  # the engine's loop has followed the run that is derived from next
        trail.register(self._descent)
        self._heed()
        self.notes: Counter[tuple[str, int]] = Counter()  # (what, site): makes the result incomplete
        self.unflipped: Counter[tuple[int, Unflipped]] = Counter()  # (coverage index, reason)
        self.divergences = 0
        self.concretized = 0
        self.forks: Counter[int] = Counter()  # by site: tests for another value of it

    @property
    def trail(self) -> Trail:
        return self._trail

    @property
    def descent(self) -> Descent:
        return self._descent

    @property
    def conditions(self) -> Sequence[Condition]:
        """Of the path that was followed last."""
        return self._trail.conditions

    def stop_if(self, wanted: Callable[[], bool], pause: float | None = None) -> None:
        """Ask no further questions when this says so; what was not asked waits. `pause`: seconds for which it is not
        asked again."""
        self._chain.stop = wanted if pause is None else Glance(wanted, pause)
        self._heed()

    def _heed(self) -> None:
        """Tell the descent how flips are derived."""
        chain = self._chain
        self._descent.heed(
            stop=chain.stop,
            room=self._room,
            decides_bytes=chain.decides_bytes,
            may_wait=chain.may_wait,
            checked=chain.check is not None,
        )

    def expected(self, pair: Pair) -> bytes:
        """The beginning of the event stream that this pair's run will most likely repeat from the last one's."""
        return self._trail.shared(self._shared_conditions(pair))

    def _shared_conditions(self, pair: Pair) -> int:
        """How many of the trail's conditions the pair's run will repeat, as far as that is known."""
        return self._descent.shared(self._trail, pair)

    def derive(self, pair: Pair, finished: Finished, data: bytes) -> Outcome:
        """What follows from a run of `pair` with input `data`. Raises TraceError if its events make no sense."""
        notes = no_notes()
        is_path = finished.verdict not in _NO_PATH
        lost = finished.verdict is Verdict.LOST  # then the target could not say
        if finished.verdict is Verdict.DEVICE_WAIT:
            waits = Note.WAITS_FOR_VARIABLE if finished.code else Note.WAITS_FOR_DEVICE
            notes[waits.of(finished.address), finished.site] += 1
        if finished.verdict is Verdict.WATCHDOG or (finished.why_lost and not lost):
            why = finished.why_lost
            notes[Note.ENDED.of(finished.verdict, why) if why else finished.verdict, finished.site] += 1
        flips = Flips()
        objects: tuple[SymbolicObject, ...] = ()
        as_predicted = finished.condition_match
        left = set_aside(pair, data) if lost else None
        if as_predicted and finished.events:
            derived, self._followed = self._followed or self._follow(pair, finished, data), None
            objects = tuple(self._trail.objects)
            if derived.followed is not Followed.IN_VAIN:
                as_predicted = self._descent.went_as_predicted(self._trail, pair) and self._has_flip(pair)
                if not as_predicted:
                    self._descent.origin = Origin()
                # From any other run nothing is derived.
                if as_predicted and self._check(finished, notes, derived.followed is Followed.WHOLE):
                    flips = self.flips_of(derived)
                    if lost:
                        left = self._left(pair, data, derived)
            else:
                flips = Flips([self._all_of_it(pair, finished, data)])
                self._trail.rewind(b"", b"", 0)
                left = None
        elif as_predicted and finished.conditions:
            notes[Note.TRACE_LOST, pair.site] += 1
        mispredicted = not as_predicted and not lost
        if mispredicted:
            notes[Note.MISPREDICTED, pair.site] += 1
            self.unflipped.update((index, Unflipped.MISPREDICTED) for index in pair.targets)
        self._book(flips, notes)
        return Outcome(tuple(flips.children), objects, is_path, mispredicted, notes, left)

    def take_over(self, derived: Derived) -> None:
        """The run that is derived from next was followed already, with this."""
        self._followed = derived

    def settle(self, derived: Derived) -> None:
        """Book what came of a run that went as it should; its children are the engine's business."""
        self._book(self.flips_of(derived), no_notes())

    def depends(self, finished: Finished) -> tuple[str, ...] | None:
        """The names of the inputs that the path of the run that was derived from last depends on: what its last
        conditions ask for first. None: the path was not followed to its end."""
        trail = self._trail
        if trail.diverged or trail.counted != finished.conditions:
            return None
        formulas = itertools.chain(
            (condition.formula for condition in reversed(trail.conditions)),
            (pin.formula for pin in reversed(trail.pins)),
        )
        names: dict[str, None] = {}
        asked = 0  # a mask of input bytes
        for formula in formulas:
            fresh = formula.deps & ~asked
            if fresh:
                asked |= fresh
                for item in trail.objects:
                    if fresh >> item.offset & ((1 << item.size) - 1):
                        names.setdefault(item.name)
        return tuple(names)

    def _left(self, pair: Pair, data: bytes, derived: Derived) -> Pair | None:
        """What is to be repeated of a lost run; None if that waits already, or its one flip was answered."""
        trail, known = self._trail, self._trail.length
        if derived.followed is not Followed.WHOLE or derived.broken_off or (pair.pending and known > pair.neg_limit):
            return None
        decisions = self._descent.decisions(known)
        return set_aside(pair, data, Known(known, decisions, trail.counted, trail.condition_hash(known)))

    def _book(self, flips: Flips, notes: Notes) -> None:
        """Count what came of flips, beside other notes, which get theirs."""
        for note, count in flips.notes.items():
            notes[note] += count
        if flips.unflipped:
            self.unflipped.update(flips.unflipped)
        self.forks.update(flips.forks)
        if notes:
            self.notes.update(notes)

    def ask(self, pair: Pair) -> Outcome | None:
        """The answer to a pending flip: its child, itself again with a larger limit, or nothing.

        None: nobody here remembers the path that it is of, so its run has to be repeated first. Raises Stopped.
        """
        route, index = pair.route, pair.neg_limit
        if route is None or index >= len(route):
            return None
        self._descent.go_to(route, index)
        flips, notes = Flips(), no_notes()
        assert pair.origin is not None
        self._asks.ask_pending(pair, route.condition(index), pair.origin, flips)
        self._book(flips, notes)
        return Outcome(tuple(flips.children), (), False, False, notes)

    def _follow(self, pair: Pair, finished: Finished, data: bytes) -> Derived:
        """Take over the run's path; each condition from neg_limit on is flipped while descending."""
        kept = self._trail.rewind(finished.events, data, pair.neg_limit)
        try:
            return self._descent.follow(self._trail, pair, _asked_for(finished, data), kept, self)
        finally:
            self.count()

    def count(self) -> None:
        """What the engine has answered by itself since this was last called."""
        self._chain.stats.count_byte_sets(*self._descent.take_counts())

    def _all_of_it(self, pair: Pair, finished: Finished, data: bytes) -> Pair:
        """What is to be done once more of a run that was followed in vain."""
        first = self._descent.first(self._trail)
        if first is None:
            return put_off(pair)
        before, condition = first
        return rest(pair, before, _asked_for(finished, data), pair.neg_limit, condition, self._descent.origin)

    def flips_of(self, derived: Derived) -> Flips:
        """What came of a run's conditions. Those that wait keep its path."""
        flips: Flips = derived.run.flips if derived.run is not None else Flips(derived.children)
        for key, count in derived.unflipped.items():
            flips.unflipped[key] += count
        if flips.waiting:
            route = self._routes.keep(Route(self._trail))
            for waiting in flips.waiting:
                waiting.keep(route)
        return flips

    def begin_run(self, pair: Pair, data: bytes, children: list[Pair]) -> _Run:
        """The engine's descent has a condition of this pair's run for which byte sets do not do."""
        return _Run(self, pair, data, Flips(children))

    def check_byte(self, target: Expr, value: int, data: bytes) -> None:
        """For tests: what byte sets say of a flip."""
        query, _ = self._descent.queries(target, data)
        answer = Answer(Result.UNSAT, Layer.DOMAIN)
        if value >= 0:
            answer = Answer(Result.SAT, Layer.DOMAIN, {target.only_byte: value})
        assert self._chain.check is not None
        self._chain.check(query, answer)

    def _has_flip(self, pair: Pair) -> bool:
        """Whether a pending flip's condition is there again."""
        return not pair.pending or self._trail.length > pair.neg_limit

    def _check(self, finished: Finished, notes: Notes, whole: bool) -> bool:
        """Take over what the path says was lost, and compare it with what the target counted, if it was followed to its
        end.

        False: the formulas do not describe the run, so nothing may be derived from it.
        """
        trail = self._trail
        if trail.notes:
            for note, count in trail.notes.items():
                notes[note] += count
            self.concretized += sum(count for (what, _), count in trail.notes.items() if what != Note.DIVERGENCE)
        for disagreement in trail.disagreements:
            notes[Note.VALUE_DIFFERS, disagreement.site] += 1
        if trail.diverged:
            self.divergences += 1
            for index in trail.diverged_elsewhere:
                self.unflipped[index, Unflipped.DIVERGED] += 1
        elif whole and finished.verdict is not Verdict.LOST:
            expected = (finished.conditions, finished.operand_hash)
            if (trail.counted, trail.operand_hash) != expected:
                self.divergences += 1
                last = trail.conditions[-1].site if trail.conditions else finished.site
                notes[Note.OPERANDS_DIFFER, last] += 1
                return False
        self.divergences += len(trail.disagreements)
        return not trail.disagreements

    def _flip(
        self, decisions: bytes, index: int, condition: Condition, data: bytes, flips: Flips, left_out: LeftOut | None
    ) -> None:
        """A pair that takes the condition's other side, the question for one, or the reason why there is none."""
        if left_out and len(left_out.objects) > MOST_LEFT_OUT and not condition.is_fork:
            flips.notes[Note.OUTSIDE, condition.site] += 1
        elif option := self._bounded.option(condition):
            flips.notes[Note.BOUND.of(option), condition.site] += 1
            flips.unflip(condition, Unflipped.BOUND)
        else:
            self._asks.ask_or_wait(decisions, index, condition, data, flips, left_out)

    @property
    def has_noted(self) -> bool:
        """Something that a result must not be told without was counted since `take_tally` was last called."""
        return bool(self.notes or self.forks or self.divergences or self.concretized)

    def take_tally(self) -> Tally:
        """What was counted since this was last called; counting begins anew."""
        tally = Tally(self.notes, self.unflipped, self.divergences, self.concretized, self._chain.stats, self.forks)
        self.notes, self.unflipped, self.forks = Counter(), Counter(), Counter()
        self.divergences = self.concretized = 0
        self._chain.stats = SolverStats()
        return tally


class _Run:
    """A run while its path is followed: what the engine's descent asks of the explorer, and where the explorer puts
    what it finds."""

    __slots__ = ("_data", "_explorer", "_pair", "flips")

    def __init__(self, explorer: Explorer, pair: Pair, data: bytes, flips: Flips) -> None:
        self._explorer, self._pair, self._data, self.flips = explorer, pair, data, flips

    def flip(self, decisions: bytes, index: int, condition: Condition) -> None:
        if is_astray_elsewhere(self._pair, index, condition):
            self.flips.notes[Note.POINTER_ASTRAY, condition.site] += 1
            return
        left_out = without(self._pair, index, condition)
        self._explorer._flip(decisions, index, condition, self._data, self.flips, left_out)

    def answer(self, condition: Condition) -> None:
        """The run was repeated for its pending flip, and has come to its condition."""
        explorer, pair = self._explorer, self._pair
        explorer._asks.ask_pending(pair, condition, Origin(explorer._descent.origin, pair.neg_limit), self.flips)

    def leave(self, decisions: bytes, index: int, condition: Condition, later: bool) -> None:
        """What is left of it from this condition on; behind others, if `later`."""
        left = rest(self._pair, decisions, self._data, index, condition, self._explorer._descent.origin)
        if later:
            left = left.but(behind=min(self._pair.behind + 1, _LAST_CLASS))
        self.flips.children.append(left)


def _asked_for(finished: Finished, data: bytes) -> bytes:
    """What the program has read of its input: children are made of that."""
    return data[: finished.input_used] if finished.input_used else data
