"""Algorithm 2 of the SCORE paper (Kim, Kim, Rothermel: ASE 2011), sans-IO.

Take a pair, have it run, check the prediction, then flip every condition from the pair's limit on: each ψⱼ that has a
model becomes a new pair whose own limit is j + 1. So every feasible path is reached once, in whatever order the
queue is taken. Whatever keeps that from being the whole truth is noted: then the end is `drained`, not `exhausted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from score_embed.explore.pair import Pair
from score_embed.explore.prf import grow
from score_embed.explore.strategy import DepthFirst, Strategy
from score_embed.frontend.sites import Site, SiteKind
from score_embed.solve.build import negate
from score_embed.solve.chain import Chain, SolverStats
from score_embed.solve.query import Query, Result, Slicer
from score_embed.target.base import Finished, Verdict
from score_embed.trace.hash import START, mix
from score_embed.trace.path import Condition, Path

_NO_PATH = frozenset({Verdict.ASSUMPTION, Verdict.WATCHDOG, Verdict.LOST})
_CUT_SHORT = {Verdict.WATCHDOG: "stopped by the watch-dog", Verdict.LOST: "target lost during the test"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one test brought. A mispredicted test can still have taken a new path."""

    children: tuple[Pair, ...]
    new_path: bool
    redundant: bool
    mispredicted: bool


class Explorer:
    """One exploration: the queue, the paths seen, and the books of what was lost."""

    def __init__(self, chain: Chain, *, seed: int, first: bytes, strategy: Strategy | None = None) -> None:
        self._chain = chain
        self._seed = seed
        self._queue: Strategy = strategy or DepthFirst()
        self._queue.add([Pair(grow(seed, first, len(first)))])
        self._seen: set[int] = set()
        self.notes: Counter[tuple[str, str, int]] = Counter()  # (what, file, line): what makes the end `drained`
        self.unflipped: Counter[tuple[int, str]] = Counter()  # (coverage index, reason)
        self.divergences = 0
        self.concretized = 0

    # --- the queue -------------------------------------------------------------------------------------------

    def next(self) -> Pair | None:
        """The pair to run next; None when nothing is left."""
        return self._queue.take()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def frontier(self) -> Iterable[Pair]:
        return self._queue.pairs()

    @property
    def stopped(self) -> str:
        """How an empty queue is to be called."""
        return "drained" if self.notes else "exhausted"

    @property
    def solver(self) -> SolverStats:
        return self._chain.stats

    # --- one test --------------------------------------------------------------------------------------------

    def record(self, pair: Pair, finished: Finished, path: Path | None) -> Outcome:
        """Learn from a run of `pair`. `path` is None if the run sent no events (or was mispredicted)."""
        new, redundant = self._remember(finished)
        if finished.verdict in _CUT_SHORT:
            self._note(_CUT_SHORT[finished.verdict], None)
        if not finished.condition_match:
            return Outcome((), new, False, True)
        children: tuple[Pair, ...] = ()
        if path is not None:
            self._keep_books(finished, path)
            if finished.verdict not in _CUT_SHORT and self._trusted(finished, path):
                children = tuple(self._flip_all(pair, path))
        self._queue.add(children)
        return Outcome(children, new, redundant, False)

    def _remember(self, finished: Finished) -> tuple[bool, bool]:
        if finished.verdict in _NO_PATH:
            return False, False
        new = finished.path_hash not in self._seen
        self._seen.add(finished.path_hash)
        return new, not new

    def _keep_books(self, finished: Finished, path: Path) -> None:
        self.concretized += path.concretized
        for note in path.notes:
            self._note(note.what, note.site)

    def _trusted(self, finished: Finished, path: Path) -> bool:
        """Whether what the host believes of the run is what happened (operand check, directions)."""
        if path.divergence is not None:
            self.divergences += 1
            self._note("divergence: a formula disagrees with what happened", path.divergence)
            return True  # the path is cut there; what lies before is sound
        if path.operand_hash != finished.operand_hash:
            self.divergences += 1
            last = path.conditions[-1].site if path.conditions else None
            self._note("divergence: an operand's value is not what its formula says", last)
            return False
        return True

    def _note(self, what: str, site: Site | None) -> None:
        self.notes[what, site.file if site else "", site.line if site else 0] += 1

    # --- flips -----------------------------------------------------------------------------------------------

    def _flip_all(self, pair: Pair, path: Path) -> Iterable[Pair]:
        """ψⱼ for j = neg_limit … n; the slicers hold c₁ … cⱼ₋₁ when ψⱼ is asked."""
        loose, strict = Slicer(), Slicer()
        pins = list(path.pins)
        pinned = False
        prefix = START
        for j, condition in enumerate(path.conditions, 1):
            while pins and pins[0].before < j:
                strict.add(pins.pop(0).formula)
                pinned = True
            if j >= pair.neg_limit:
                child = self._flip(condition, path, strict, loose if pinned else None, j, prefix)
                if child is not None:
                    yield child
            prefix = _extend(prefix, condition, condition.direction)
            strict.add(condition.formula)
            if pins or pinned:
                loose.add(condition.formula)

    def _flip(
        self, condition: Condition, path: Path, strict: Slicer, loose: Slicer | None, j: int, prefix: int
    ) -> Pair | None:
        if condition.assumption and condition.direction:
            return None  # inputs that break an assumption are of no interest
        wanted = _outcomes_of_flip(condition)
        if not condition.formula.deps:
            self._count(wanted, "concrete")
            return None
        target = negate(condition.formula)
        without: Query | None = loose.query(target, path.data) if loose is not None else None
        answer = self._chain.solve(strict.query(target, path.data), without)
        if answer.result is Result.SAT:
            prediction = _extend(prefix, condition, not condition.direction)
            return Pair(answer.apply(path.data), j + 1, j, prediction)
        self._count(wanted, answer.result.value)
        if answer.result is Result.UNKNOWN:
            self._note("the solver gave up on a branch", condition.site)
        return None

    def _count(self, outcomes: Iterable[int], reason: str) -> None:
        for index in outcomes:
            self.unflipped[index, reason] += 1

    # --- resume ----------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What a resumed exploration needs besides the frontier and the paths seen; JSON values only."""
        return {
            "seed": self._seed,
            "notes": [[*key, count] for key, count in self.notes.items()],
            "unflipped": [[*key, count] for key, count in self.unflipped.items()],
            "divergences": self.divergences,
            "concretized": self.concretized,
            "solver": self._chain.stats.to_json(),
        }

    @classmethod
    def restore(
        cls, chain: Chain, state: dict[str, Any], pairs: Iterable[Pair], path_hashes: Iterable[int]
    ) -> Explorer:
        """An exploration that goes on from a record: its undone pairs, oldest first, and all paths seen."""
        chain.stats = SolverStats.from_json(state["solver"])
        explorer = cls(chain, seed=state["seed"], first=b"")
        explorer._queue.take()
        explorer._queue.add(pairs)
        explorer._seen = set(path_hashes)
        explorer.notes = Counter({(what, file, line): n for what, file, line, n in state["notes"]})
        explorer.unflipped = Counter({(index, reason): n for index, reason, n in state["unflipped"]})
        explorer.divergences = state["divergences"]
        explorer.concretized = state["concretized"]
        return explorer


def _extend(prefix: int, condition: Condition, direction: bool) -> int:
    """The condition hash after this condition with this direction."""
    prefix = mix(prefix, condition.site.id << 1 | direction)
    return mix(prefix, condition.index) if condition.site.kind is SiteKind.SWITCH else prefix


def _outcomes_of_flip(condition: Condition) -> range:
    """The coverage indices that a flip of this condition could reach."""
    site = condition.site
    if site.kind is SiteKind.SWITCH:
        if condition.direction:  # leaving this label: any later one, or none
            return range(site.coverage + condition.index + 1, site.coverage + site.outcomes)
        return range(site.coverage + condition.index, site.coverage + condition.index + 1)
    flipped = site.coverage + (not condition.direction)
    return range(flipped, flipped + 1)
