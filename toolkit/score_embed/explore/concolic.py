"""Algorithm 2 of SCORE: take a pair, have it run, check the prediction, flip each condition from neg_limit on.

The explorer runs nothing itself: `next` hands out a pair, `record` takes what came of it. So a campaign can store
children and the finished pair together, and what is known but not done is all that a resumed campaign needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from score_embed.explore.pair import Pair, first_pair, prefix_ids
from score_embed.explore.strategy import DepthFirst, Strategy
from score_embed.solve.build import negate
from score_embed.solve.chain import Chain, SolverStats
from score_embed.solve.query import Query, Result, Slicer
from score_embed.target.base import Finished, Verdict
from score_embed.trace.path import Condition, Path

_NO_PATH = frozenset({Verdict.ASSUMPTION, Verdict.WATCHDOG, Verdict.LOST})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one test brought. `new_path`: its path was not seen before (also of a mispredicted run)."""

    children: tuple[Pair, ...]
    is_path: bool  # false if an assumption failed, or the run was cut by the watch-dog or lost
    new_path: bool
    mispredicted: bool
    notes: Counter[tuple[str, int]]  # (what, site): why the campaign's result is incomplete

    @property
    def redundant(self) -> bool:
        """A path seen before, although the run went as predicted."""
        return self.is_path and not self.new_path and not self.mispredicted


class Explorer:
    """One exploration. Deterministic: the same runs in the same order give the same pairs."""

    def __init__(self, chain: Chain, seed: int, first: bytes = b"", queue: Strategy | None = None) -> None:
        self._chain, self._seed = chain, seed
        self._queue: Strategy = queue if queue is not None else DepthFirst()
        self._queue.add([first_pair(first)])
        self._paths: set[int] = set()
        self.notes: Counter[tuple[str, int]] = Counter()  # (what, site): makes the result incomplete
        self.unflipped: Counter[tuple[int, str]] = Counter()  # (coverage index, reason)
        self.divergences = 0
        self.concretized = 0

    # The queue ----------------------------------------------------------------------------------------------

    def next(self) -> Pair | None:
        """The pair to run now, or None if none is left."""
        return self._queue.take()

    def frontier(self) -> Iterable[Pair]:
        """The pairs still waiting."""
        return iter(self._queue)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def stopped(self) -> str:
        """What an empty queue means: everything was explored, or something got lost on the way."""
        return "drained" if self.notes else "exhausted"

    @property
    def solver(self) -> SolverStats:
        return self._chain.stats

    # Results ------------------------------------------------------------------------------------------------

    def record(self, pair: Pair, finished: Finished, path: Path | None) -> Outcome:
        """Book a finished run of `pair`. `path`: its events replayed; None if it sent none, or they are damaged."""
        notes: Counter[tuple[str, int]] = Counter()
        is_path = finished.verdict not in _NO_PATH
        new = is_path and finished.path_hash not in self._paths
        if new:
            self._paths.add(finished.path_hash)
        if finished.verdict in (Verdict.WATCHDOG, Verdict.LOST):
            notes[finished.verdict.value, finished.site] += 1
        children: list[Pair] = []
        lost = finished.verdict is Verdict.LOST  # then the target could not say
        as_predicted = _as_predicted(pair, finished, path)
        mispredicted = not as_predicted and not lost
        if mispredicted:
            notes["mispredicted", pair.site] += 1
        if path is None and finished.conditions and as_predicted:
            notes["trace lost", finished.site] += 1
        # From any other run nothing is derived.
        if path is not None and as_predicted and self._check(finished, path, notes):
            children = self._flip(pair, finished, path, notes)
        self.notes.update(notes)
        self._queue.add(children)
        return Outcome(tuple(children), is_path, new, mispredicted, notes)

    def _check(self, finished: Finished, path: Path, notes: Counter[tuple[str, int]]) -> bool:
        """Take over what the path says was lost, and compare it with what the target counted.

        False: the formulas do not describe the run, so nothing may be derived from it.
        """
        notes.update(path.notes)
        self.concretized += sum(count for (what, _), count in path.notes.items() if what != "divergence")
        for disagreement in path.disagreements:
            notes["value differs from its formula", disagreement.site] += 1
        if path.diverged:
            self.divergences += 1
            for index in path.diverged_elsewhere:
                self.unflipped[index, "diverged"] += 1
        elif finished.verdict is not Verdict.LOST:
            expected = (finished.conditions, finished.operand_hash)
            if (len(path.conditions), path.operand_hash) != expected:
                self.divergences += 1
                notes["operands differ from their formulas", finished.site] += 1
                return False
        self.divergences += len(path.disagreements)
        return not path.disagreements

    def _flip(self, pair: Pair, finished: Finished, path: Path, notes: Counter[tuple[str, int]]) -> list[Pair]:
        """For each condition from neg_limit on, a pair that takes its other side: shallowest first."""
        data = path.data[: finished.input_used] if finished.input_used else path.data
        # With pins, a second slicer knows the path without them: they are soft.
        strict, loose = Slicer(), Slicer() if path.pins else None
        pins = iter(path.pins)
        pin = next(pins, None)
        children: list[Pair] = []
        ids = prefix_ids(path.conditions)
        for j, (condition, ident) in enumerate(zip(path.conditions, ids, strict=True)):
            while pin is not None and pin.position <= j:
                strict.add(pin.formula)
                pin = next(pins, None)
            if j >= pair.neg_limit and condition.flippable:
                changed = self._solve(condition, strict, loose, data, notes)
                if changed is not None:
                    known = condition.hash(flipped=True)
                    children.append(Pair(ident, changed, j + 1, j + 1, known, condition.site))
            strict.add(condition.formula)
            if loose is not None:
                loose.add(condition.formula)
        return children

    def _solve(
        self,
        condition: Condition,
        strict: Slicer,
        loose: Slicer | None,
        data: bytes,
        notes: Counter[tuple[str, int]],
    ) -> bytes | None:
        """An input that takes the condition's other side, or None with the reason booked."""
        if condition.concrete:
            reason = "concrete"
        else:
            target = negate(condition.formula)
            query = strict.query(target, data)
            free: Query | None = loose.query(target, data) if loose is not None else None
            if free is not None and len(free.conditions) == len(query.conditions):
                free = None  # no pin touches the slice
            answer = self._chain.solve(query, free)
            if answer.result is Result.SAT:
                return answer.apply(data)
            reason = answer.result.value
            if answer.result is Result.UNKNOWN:
                notes["solver gave up", condition.site] += 1
        for index in condition.elsewhere:
            self.unflipped[index, reason] += 1
        return None

    # Keeping and going on -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All but the queue and the paths, which the store keeps, as plain values."""
        return {
            "seed": self._seed,
            "notes": [[*key, count] for key, count in self.notes.items()],
            "unflipped": [[*key, count] for key, count in self.unflipped.items()],
            "divergences": self.divergences,
            "concretized": self.concretized,
            "solver": self._chain.stats.to_json(),
        }

    @staticmethod
    def restore(chain: Chain, state: Mapping[str, Any], pairs: Iterable[Pair], paths: Iterable[int]) -> Explorer:
        """An explorer that goes on with the pairs known but not done."""
        explorer = Explorer(chain, state["seed"])
        explorer._queue = DepthFirst()
        explorer._queue.restore(pairs)
        explorer._paths.update(paths)
        explorer.notes.update({(what, site): count for what, site, count in state["notes"]})
        for index, why, count in state["unflipped"]:
            explorer.unflipped[index, why] = count
        explorer.divergences, explorer.concretized = state["divergences"], state["concretized"]
        chain.stats = SolverStats.from_json(state["solver"])
        return explorer


def _as_predicted(pair: Pair, finished: Finished, path: Path | None) -> bool:
    """The target's word, and the host's own look at the same hash where it can see that far."""
    if not finished.condition_match:
        return False
    if path is None or path.diverged or not pair.predicted:
        return True
    if len(path.conditions) < pair.predicted:
        return False
    return path.condition_hash(pair.predicted) == pair.condition_hash
