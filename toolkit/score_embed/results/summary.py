"""summary.json: the totals of a campaign under fixed keys, for scripts and for `--json`.

The keys are a contract with the user's tools: add, never rename, and raise `v` when a meaning changes.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field, structs, to_builtins

from score_embed.contract.judged import Judged
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.contract.words import Layer, Note, Stop
from score_embed.errors import UsageError
from score_embed.explore.pair import Pair
from score_embed.explore.tally import TallyRows
from score_embed.results import criteria, witnessed
from score_embed.results.bugs import Bug
from score_embed.results.coverage import Coverage, Untaken
from score_embed.results.criteria import Goal, Mcdc, Statements
from score_embed.results.fleet import ToldFleet
from score_embed.results.json_text import indented
from score_embed.results.known_bugs import short_id, sort_out
from score_embed.results.pairs import MOST_SHOWN, LostTest
from score_embed.results.parts import CONFINED, FLEET, JUDGED, PROGRAM, PROGRESS, REFUSED, WITNESS, Memory
from score_embed.results.sourcemap import SourceMap
from score_embed.results.store import Store
from score_embed.results.testcase import Value
from score_embed.results.witnessed import Witnessed

FILE = "summary.json"
_REFUSED_SHOWN = 8  # calls


class LostRow(Struct, frozen=True):
    """A test of which nobody knows how it ends. `test`: its number, null if it had none; `input`: its first bytes in
    hexadecimal; `bytes`: how many there are."""

    test: int | None
    input: str
    bytes: int
    file: str
    line: int
    why: str


class ForkRow(Struct, frozen=True):
    """How many tests were made for other values of what a path has forked on, there."""

    file: str
    line: int
    tests: int


class Depth(Struct, frozen=True):
    """Conditions of a path."""

    mean: float
    max: int


class SolverTotals(Struct, frozen=True):
    """`gave_up`: which layers left a question to the next one after too many steps, and how often."""

    sat: int
    unsat: int
    unknown: int
    seconds: float
    by: dict[Layer, int]
    seconds_by: dict[Layer, float]
    gave_up: dict[Layer, int]


class BranchTotals(Struct, frozen=True):
    branches_total: int
    branches_covered: int


class JudgedLine(Struct, frozen=True):
    """What the user said: `accept` or `refuse`, of what, why, and where that is written."""

    judged: str
    what: str = field(name="as")
    why: str
    at: str


class BugRow(Struct, frozen=True, omit_defaults=True):
    """A bug as scripts see it. `id`: by which `score-hints.yaml` may name it. Of one that the user has judged it also
    has what a `JudgedLine` says."""

    kind: str
    file: str
    line: int
    function: str
    stack: tuple[str, ...]
    inputs: dict[str, Value]
    test: int
    count: int
    confirmed: bool
    witness: str
    depends: tuple[str, ...] | None
    small: str
    guess: str
    rests_on: list[str]
    id: str
    judged: str | None = None
    what: str | None = field(default=None, name="as")
    why: str | None = None
    at: str | None = None


class NotFollowed(Struct, frozen=True):
    """What makes a result incomplete. Functions left as written lose nothing by themselves (count 0): only calls with
    symbolic data do."""

    what: str
    file: str
    line: int
    count: int


class Layers(Struct, frozen=True):
    """That keep targets from this machine, and those that it does not have."""

    active: tuple[str, ...]
    missing: tuple[str, ...]


class RefusedCall(Struct, frozen=True):
    call: str
    file: str
    line: int
    count: int


class Summary(Struct, frozen=True, kw_only=True):
    """All of summary.json. What there was none of is None here and `{}` there."""

    v: int = 1
    program: str
    board: str
    strategy: str
    seed: int
    stopped: Stop
    within: tuple[str, ...]
    seconds: float
    runs: int
    paths: int
    redundant: int
    mispredicted: int
    re_asked: int
    unchecked: int
    retried: int
    lost: int
    lost_tests: tuple[LostRow, ...]
    divergences: int
    concretized: int
    forks: tuple[ForkRow, ...]
    conditions: Depth
    solver: SolverTotals
    coverage: BranchTotals
    statements: Statements | None  # None: nobody wanted them
    mcdc: Mcdc | None  # the same
    goal: Goal | None  # there was none
    bugs: tuple[BugRow, ...]
    judged: tuple[BugRow, ...]
    judged_unmatched: tuple[JudgedLine, ...]
    unflipped: tuple[Untaken, ...]
    incomplete: tuple[NotFollowed, ...]
    link: LinkCounters
    confined: Layers | None  # None: no target is a process of this machine
    refused: tuple[RefusedCall, ...]
    memory: Memory
    fleet: ToldFleet | None  # None: there was none
    witness: Witnessed | None  # none was wanted

    @property
    def is_vacuous(self) -> bool:
        """Whether a campaign came to its end without any path: what is assumed holds for no input, or no test came to
        its end, so nothing was explored."""
        return self.stopped in (Stop.EXHAUSTED, Stop.DRAINED) and not (self.paths or self.lost)


def host_rss() -> int:
    """The largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def of(record: Store) -> Summary:
    """The summary of a campaign: of its last commit, if it still runs or was killed."""
    program, progress = record.get(PROGRAM), record.get(PROGRESS)
    if program is None or progress is None:
        hint = "It runs since a moment ago: try again." if record.running else "Start a new campaign."
        raise UsageError("the campaign in this folder has run no test yet", str(record.folder), hint)
    sources, totals, tally = record.sources(), progress.totals, progress.tally
    coverage = Coverage(sources.directions, record.coverage(), sources.marks)
    passed = coverage.covered | coverage.passed
    confined, refused = record.get(CONFINED), record.get(REFUSED) or ()
    state, fleet = record.get(WITNESS), record.get(FLEET)
    lost = list(record.lost.all())
    stopped = Stop.RUNNING if record.running else progress.stopped or Stop.KILLED
    vectors = criteria.recorded(record)
    said = record.get(JUDGED)
    bugs = sort_out(witnessed.all_bugs(record.bugs(), record.found_by_witness()), said or (), sources)
    bounds = [_left(said, totals.left) for said in program.within]
    reasons = {(index, reason): count for index, reason, count in tally.unflipped}
    return Summary(
        program=program.name,
        board=program.board,
        strategy=program.strategy,
        seed=program.seed,
        stopped=stopped,
        within=(*bounds, *(confined.beyond if confined else ()), *_beyond(refused)),
        seconds=round(progress.seconds, 3),
        runs=totals.runs,
        paths=totals.paths,
        redundant=totals.redundant,
        mispredicted=totals.mispredicted,
        re_asked=totals.re_asked,
        unchecked=totals.unchecked,
        retried=totals.retried,
        lost=len(lost),
        lost_tests=tuple(map(_lost_test, lost)),
        divergences=tally.divergences,
        concretized=tally.concretized,
        forks=tuple(_forks(sources, tally.forks)),
        conditions=Depth(round(totals.conditions / max(1, totals.paths), 2), totals.longest),
        solver=_solver(tally),
        coverage=BranchTotals(coverage.total, len(coverage.covered)),
        statements=criteria.of_statements(sources, passed, stopped),
        mcdc=criteria.of_decisions(sources, vectors, stopped) if vectors else None,
        goal=criteria.goal(program.goal, sources, passed, vectors, stopped) if program.goal else None,
        bugs=tuple(_bug(bug, sources) for bug in bugs.open),
        judged=tuple(_judged(_bug(bug, sources), line) for bug, line in bugs.judged),
        judged_unmatched=tuple(JudgedLine(line.word, line.what, line.why, line.at) for line in bugs.unmatched),
        unflipped=tuple(coverage.unflipped(reasons, _waiting(record, coverage))),
        incomplete=tuple(_incomplete(sources, progress.notes, tally.notes, lost)),
        link=progress.link,
        confined=Layers(confined.active, confined.missing) if confined else None,
        refused=tuple(RefusedCall(*one) for one in refused),
        memory=progress.memory,
        fleet=ToldFleet.of(fleet) if fleet else None,
        witness=Witnessed.of(record.witness_counts(totals.paths), state) if state else None,
    )


def _solver(tally: TallyRows) -> SolverTotals:
    stats = tally.solver
    return SolverTotals(
        stats.sat,
        stats.unsat,
        stats.unknown,
        round(stats.seconds, 3),
        {layer: stats.by.get(layer, 0) for layer in Layer},
        {layer: round(stats.seconds_by.get(layer, 0.0), 3) for layer in Layer},
        {layer: stats.gave_up[layer] for layer in Layer if layer in stats.gave_up},
    )


def _left(said: str, left: Mapping[str, int]) -> str:
    """A bound of the harness, and how many tests ended because they went beyond it."""
    count = left.get(said.partition(" = ")[0], 0)
    return f"{said} ({count} {'test' if count == 1 else 'tests'} left it)" if count else said


def _beyond(refused: Iterable[tuple[str, str, int, int]]) -> tuple[str, ...]:
    """What lies beyond an exploration whose program was refused calls: each call once, with its first place."""
    first: dict[str, str] = {}
    for call, file, line, _ in refused:
        first[call] = first.get(call) or (f" at {file}:{line}" if file else "")
    if not first:
        return ()
    said = [call + at for call, at in first.items()]
    more = [f"{len(said) - _REFUSED_SHOWN} more"] if len(said) > _REFUSED_SHOWN else []
    return (f"what a confined target may do (refused: {', '.join([*said[:_REFUSED_SHOWN], *more])})",)


def _bug(bug: Bug, sources: SourceMap) -> BugRow:
    return BugRow(
        bug.kind,
        bug.file,
        bug.line,
        bug.function,
        bug.stack,
        bug.inputs,
        bug.test,
        bug.count,
        bug.confirmed,
        bug.witness,
        bug.depends,
        bug.small,
        bug.guess,
        bug.rests_on,
        short_id(bug, sources),
    )


def _judged(row: BugRow, line: Judged) -> BugRow:
    return structs.replace(row, judged=line.word, what=line.what, why=line.why, at=line.at)


def _lost_test(lost: LostTest) -> LostRow:
    shown = lost.input[:MOST_SHOWN].hex()
    return LostRow(lost.test, shown, len(lost.input), lost.file, lost.line, lost.why)


def _waiting(record: Store, coverage: Coverage) -> set[int]:
    """Directions that no test took yet, although one that should is known and only has to run."""
    missing = coverage.directions.keys() - coverage.covered
    found: set[int] = set()
    if not missing:
        return found
    for data in (*record.pairs.without_inputs(), *(lost.pair for lost in record.lost.all())):
        found.update(missing.intersection(Pair.from_bytes(data).targets))
    return found


def _incomplete(
    sources: SourceMap,
    noted: Iterable[tuple[str, str, int, int]],
    escaped: Iterable[tuple[str, int, int]],
    lost: Iterable[LostTest],
) -> Iterator[NotFollowed]:
    counts = Counter({(what, file, line): count for what, file, line, count in noted})
    counts.update((Note.ENDED.of(Verdict.LOST, test.why), test.file, test.line) for test in lost)
    for what, ident, count in escaped:
        at = sources.sites.get(ident)
        counts[what, at.file if at else "", at.line if at else 0] += count
    counts.update(sources.losses)
    for what, file, line in sorted({*counts, *sources.notes}):
        yield NotFollowed(what, file, line, counts[what, file, line])


def _forks(sources: SourceMap, forks: Iterable[tuple[int, int]]) -> Iterator[ForkRow]:
    counts: Counter[tuple[str, int]] = Counter()
    for site, count in forks:
        at = sources.sites.get(site)
        counts[at.file if at else "", at.line if at else 0] += count
    for file, line in sorted(counts):
        yield ForkRow(file, line, counts[file, line])


def plain(summary: Summary) -> dict[str, object]:
    """Its values as they stand in the file."""
    return {name: {} if value is None else value for name, value in to_builtins(summary).items()}


def text(*summaries: Summary) -> str:
    """The JSON of one, or a list of several."""
    made = [plain(one) for one in summaries]
    return indented(made if len(made) > 1 else made[0])


def write(summary: Summary, folder: Path) -> None:
    """Replace the file as a whole: a reader never sees half of it."""
    fresh = folder / (FILE + ".new")
    fresh.write_text(text(summary) + "\n", encoding="utf-8")
    fresh.replace(folder / FILE)
