"""Algorithm 2 of SCORE: take a pair, have it run, check the prediction, flip each condition from neg_limit on.

The explorer runs nothing itself: `next` hands out a pair, `record` takes what came of it. So a campaign can store
children and the finished pair together, and what is known but not done is all that a resumed campaign needs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from score_embed.contract.outcome import Finished, Verdict
from score_embed.explore.bounds import BoundedPath, Bounds
from score_embed.explore.lineage import Origin, in_common
from score_embed.explore.pair import (
    MOST_LEFT_OUT,
    ROOT,
    LeftOut,
    Pair,
    child,
    decided,
    first_pairs,
    rest,
    without,
)
from score_embed.explore.paths import PathSet
from score_embed.explore.queue import Queue
from score_embed.explore.scope import Scope
from score_embed.explore.strategy import DepthFirst
from score_embed.formula.build import binary, negate
from score_embed.formula.expr import Expr, Kind
from score_embed.solve.chain import Chain, SolverStats
from score_embed.solve.query import Result, Stopped
from score_embed.trace import hash as hashes
from score_embed.trace.path import Condition, SymbolicObject
from score_embed.trace.selects import OUTSIDE
from score_embed.trace.trail import Trail

_Notes = defaultdict[tuple[str, int], int]  # a Counter takes a microsecond to be made
_LOOK_UP = 1024  # conditions between two looks at whether the end has come
_NO_PATH = frozenset({Verdict.ASSUMPTION, Verdict.WATCHDOG, Verdict.LOST})


def _no_notes() -> _Notes:
    return defaultdict(int)


class Outcome(NamedTuple):
    """What one test brought. `new_path`: its path was not seen before (also of a mispredicted run)."""

    children: tuple[Pair, ...]  # shallowest flip first
    ranks: tuple[bytes, ...]  # of the children in the queue
    objects: tuple[SymbolicObject, ...]  # the inputs the run declared; none if it sent no events
    is_path: bool  # false if an assumption failed, or the run was cut by the watch-dog or lost
    new_path: bool
    mispredicted: bool
    notes: Mapping[tuple[str, int], int]  # (what, site) → how often: why the campaign's result is incomplete

    @property
    def redundant(self) -> bool:
        """A path seen before, although the run went as predicted."""
        return self.is_path and not self.new_path and not self.mispredicted


@dataclass(slots=True)
class _Flips:
    """What came of one path's conditions."""

    children: list[Pair] = field(default_factory=list)
    notes: _Notes = field(default_factory=_no_notes)
    unflipped: defaultdict[tuple[int, str], int] = field(default_factory=lambda: defaultdict(int))
    bytes: int = 0  # of the children's inputs
    broken_off: bool = False  # no more answers are wanted; the last child stands for what was not asked


@dataclass(slots=True)
class Tally:
    """What an explorer has counted since it was last asked."""

    notes: Counter[tuple[str, int]]  # (what, site)
    unflipped: Counter[tuple[int, str]]  # (coverage index, reason)
    divergences: int
    concretized: int
    solver: SolverStats


class Explorer:
    """One exploration. Deterministic: the same runs in the same order give the same pairs."""

    def __init__(
        self,
        trail: Trail,
        chain: Chain,
        seed: int,
        first: bytes | Sequence[bytes] = b"",
        queue: Queue | None = None,
        bounds: Bounds | None = None,
        room: Callable[[int, int], bool] | None = None,
    ) -> None:
        """`first`: the input to begin with, or several; `room`: may a run that has so many children, of so many bytes, have one more?"""
        self._chain, self._seed, self._room = chain, seed, room
        self._queue = queue if queue is not None else Queue(DepthFirst())
        self._queue.add(first_pairs([first] if isinstance(first, bytes) else first))
        self._trail = trail
        self._scope = Scope(self._trail)
        self._bounded = BoundedPath(bounds if bounds is not None else Bounds())
        self._origin = Origin()  # the run that the trail is of
        self._ids = [ROOT]  # of the decisions before each condition of the trail
        self._paths = PathSet()
        self.notes: Counter[tuple[str, int]] = Counter()  # (what, site): makes the result incomplete
        self.unflipped: Counter[tuple[int, str]] = Counter()  # (coverage index, reason)
        self.divergences = 0
        self.concretized = 0

    # The queue ----------------------------------------------------------------------------------------------

    def next(self) -> Pair | None:
        """The pair to run now, or None if none is left."""
        return self._queue.take()

    def frontier(self) -> Iterable[tuple[bytes, Pair]]:
        """The pairs that wait in memory, with their ranks."""
        return iter(self._queue)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def solver(self) -> SolverStats:
        return self._chain.stats

    def stop_if(self, wanted: Callable[[], bool]) -> None:
        """Ask no further questions when this says so; what was not asked stays in the queue."""
        self._chain.stop = wanted

    # Results ------------------------------------------------------------------------------------------------

    def expected(self, pair: Pair) -> bytes:
        """The beginning of the event stream that this pair's run will most likely repeat from the last one's."""
        return self._trail.shared(self._shared_conditions(pair))

    def _shared_conditions(self, pair: Pair) -> int:
        """How many of the trail's conditions the pair's run will repeat, as far as that is known."""
        trail, last = self._trail, pair.predicted - 1
        if 0 <= last < len(trail.conditions) and trail.conditions[last].hash(flipped=True) == pair.condition_hash:
            return last
        if pair.origin is None:
            return 0
        common = in_common(pair.origin, self._origin)
        return len(trail.conditions) if common is None else common

    def record(self, pair: Pair, finished: Finished, data: bytes) -> Outcome:
        """Book a finished run of `pair` with input `data`. Raises TraceError if its events make no sense."""
        notes = _no_notes()
        is_path = finished.verdict not in _NO_PATH
        new = is_path and self._paths.add(finished.path_hash)
        lost = finished.verdict is Verdict.LOST  # then the target could not say
        if finished.verdict is Verdict.DEVICE_WAIT:
            what = "a volatile variable" if finished.code else "a device register"
            notes[f"waits for {what} at {finished.address:#x}", finished.site] += 1
        if finished.verdict in (Verdict.WATCHDOG, Verdict.LOST) or finished.why_lost:
            what = finished.verdict.value + (f": {finished.why_lost}" if finished.why_lost else "")
            notes[what, finished.site] += 1
        flips = _Flips()
        objects: tuple[SymbolicObject, ...] = ()
        as_predicted = finished.condition_match
        if as_predicted and finished.events:
            whole = self._follow(pair, finished, data, flips)
            objects = tuple(self._trail.objects)
            if whole:
                as_predicted = self._went_as_predicted(pair)
                if not as_predicted:
                    self._origin = Origin()
                # From any other run nothing is derived.
                if not (as_predicted and self._check(finished, notes)):
                    flips = _Flips()
            else:
                self._trail.rewind(b"", b"", 0)
        elif as_predicted and finished.conditions:
            notes["trace lost", pair.site] += 1
        mispredicted = not as_predicted and not lost
        if mispredicted:
            notes["mispredicted", pair.site] += 1
            self.unflipped.update((index, "mispredicted") for index in pair.targets)
        for note, count in flips.notes.items():
            notes[note] += count
        if flips.unflipped:
            self.unflipped.update(flips.unflipped)
        if notes:
            self.notes.update(notes)
        ranks = self._queue.add(flips.children)
        return Outcome(tuple(flips.children), ranks, objects, is_path, new, mispredicted, notes)

    def _follow(self, pair: Pair, finished: Finished, data: bytes, flips: _Flips) -> bool:
        """Take over the run's path; each condition from neg_limit on is flipped while descending.

        False: the end came before that of the path. Then only what is left to do is in `flips`: all of it.
        """
        asked_for = data[: finished.input_used] if finished.input_used else data
        kept = self._trail.rewind(finished.events, data, pair.neg_limit)
        self._scope.cut(kept)
        self._bounded.cut(kept)
        del self._ids[kept + 1 :]
        self._origin = pair.origin or Origin()

        begin = 0

        def visit(index: int, condition: Condition) -> None:
            nonlocal begin
            if index == pair.neg_limit:
                begin = hashes.value(condition.before)
            elif index > pair.neg_limit and index % _LOOK_UP == 0 and self._chain.stop():
                raise Stopped  # a path of a million branches takes minutes, also without questions
            self._scope.reach()
            if index >= pair.neg_limit and condition.flippable and not flips.broken_off:
                try:
                    if self._room is not None and not self._room(len(flips.children), flips.bytes):
                        raise Stopped
                    self._flip(index, condition, asked_for, flips, without(pair, index, condition))
                except Stopped:
                    flips.broken_off = True
                    before = hashes.value(condition.before)
                    flips.children.append(rest(pair, self._ids[index], asked_for, index, before, self._origin))
            self._scope.pass_by(condition)
            self._bounded.pass_by(condition)
            self._ids.append(decided(self._ids[-1], condition))

        try:
            self._trail.extend(visit)
        except Stopped:
            left = rest(pair, self._ids[pair.neg_limit], asked_for, pair.neg_limit, begin, self._origin)
            flips.children[:] = [left]
            flips.notes.clear()
            flips.unflipped.clear()
            return False
        return True

    def _went_as_predicted(self, pair: Pair) -> bool:
        """The host's own look at what was predicted, where it can see that far: not only the hash that the target compared.

        A run that found another object at an address than its pair was derived with is not the pair's.
        """
        trail = self._trail
        if trail.diverged or not pair.predicted:
            return True
        if len(trail.conditions) < pair.predicted or trail.condition_hash(pair.predicted) != pair.condition_hash:
            return False
        return self._ids[pair.predicted] == (pair.decided or pair.id)

    def _check(self, finished: Finished, notes: _Notes) -> bool:
        """Take over what the path says was lost, and compare it with what the target counted.

        False: the formulas do not describe the run, so nothing may be derived from it.
        """
        trail = self._trail
        if trail.notes:
            for note, count in trail.notes.items():
                notes[note] += count
            self.concretized += sum(count for (what, _), count in trail.notes.items() if what != "divergence")
        for disagreement in trail.disagreements:
            notes["value differs from its formula", disagreement.site] += 1
        if trail.diverged:
            self.divergences += 1
            for index in trail.diverged_elsewhere:
                self.unflipped[index, "diverged"] += 1
        elif finished.verdict is not Verdict.LOST:
            expected = (finished.conditions, finished.operand_hash)
            if (len(trail.conditions), trail.operand_hash) != expected:
                self.divergences += 1
                last = trail.conditions[-1].site if trail.conditions else finished.site
                notes["operands differ from their formulas", last] += 1
                return False
        self.divergences += len(trail.disagreements)
        return not trail.disagreements

    def _flip(
        self, index: int, condition: Condition, data: bytes, flips: _Flips, left_out: LeftOut | None = None
    ) -> None:
        """A pair that takes the condition's other side, or the reason why there is none."""
        if condition.concrete:
            reason = "concrete"
        elif condition.settled:
            reason = Result.UNSAT.value
        elif left_out and len(left_out.objects) > MOST_LEFT_OUT:
            flips.notes[OUTSIDE, condition.site] += 1
            return
        elif option := self._bounded.forbids(index, condition):
            reason = "bound"
            flips.notes[f"bound ({option})", condition.site] += 1
        else:
            answer = self._chain.solve(*self._scope.queries(_other_side(condition, left_out), data))
            if answer.result is Result.SAT:
                origin = Origin(self._origin, index)
                derived = child(self._ids[index], answer.apply(data), index, condition, origin, left_out)
                flips.children.append(derived)
                flips.bytes += len(derived.input)
                if condition.loose:
                    flips.notes[OUTSIDE, condition.site] += 1
                return
            reason = answer.result.value
            if answer.result is Result.UNKNOWN:
                flips.notes["solver gave up", condition.site] += 1
        for elsewhere in condition.elsewhere:
            flips.unflipped[elsewhere, reason] += 1

    def take_tally(self) -> Tally:
        """What was counted since this was last called; counting begins anew."""
        tally = Tally(self.notes, self.unflipped, self.divergences, self.concretized, self._chain.stats)
        self.notes, self.unflipped = Counter(), Counter()
        self.divergences = self.concretized = 0
        self._chain.stats = SolverStats()
        return tally

    # Keeping and going on -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All but the waiting pairs and the paths, which the store keeps, as plain values."""
        return {
            "seed": self._seed,
            "queue": self._queue.state(),
            "notes": [[*key, count] for key, count in self.notes.items()],
            "unflipped": [[*key, count] for key, count in self.unflipped.items()],
            "divergences": self.divergences,
            "concretized": self.concretized,
            "solver": self._chain.stats.to_json(),
        }

    def restore(self, state: Mapping[str, Any], paths: Iterable[int]) -> None:
        """Go on with the pairs that the queue's backlog knows."""
        self._seed = state["seed"]
        self._queue.restore(state["queue"])
        self._paths = PathSet(paths)
        self.notes.update({(what, site): count for what, site, count in state["notes"]})
        for index, why, count in state["unflipped"]:
            self.unflipped[index, why] = count
        self.divergences, self.concretized = state["divergences"], state["concretized"]
        self._chain.stats = SolverStats.from_json(state["solver"])


def _other_side(condition: Condition, left_out: LeftOut | None) -> Expr:
    """What holds there: of an address also that it is in none of the objects that led to this one."""
    wanted = negate(condition.formula)
    if condition.chosen and left_out:
        for base, size in left_out.objects[:-1]:
            wanted = binary(Kind.AND, wanted, negate(condition.chosen.inside(base, size)))
    return wanted
