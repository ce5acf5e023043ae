"""The page of one campaign: all that is known of it, for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from score_embed.contract.entry import Array
from score_embed.contract.words import Stop, Unflipped
from score_embed.report import branches as all_branches
from score_embed.report import fingerprints, kinds, text
from score_embed.report.findings import Findings
from score_embed.report.page import bugs, charts, coverage, mcdc
from score_embed.report.page.bugs import MOST_BYTES, ShownJudged, found_row
from score_embed.report.page.charts import Chart
from score_embed.report.page.coverage import MOST_ROWS, gaps, shown_functions
from score_embed.report.page.render import page
from score_embed.report.page.sources import Remark, Sources, sources
from score_embed.results import witnessed
from score_embed.results.coverage import Untaken
from score_embed.results.parts import Moment
from score_embed.results.summary import ForkRow, NotFollowed, Summary
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import ended

FILE = "report.html"  # in the campaign's folder
_MOST_CLIENTS = 64
_MOST_RATES = 60  # points of a line
_FEW, _SHORT = 4, 1.0  # moments, seconds: a campaign with less has no line to see, and need not wait for its plots
_GOOD, _FAIR, _BAD = "good", "fair", "bad"
TONES = {Stop.EXHAUSTED: _GOOD, Stop.ERROR: _BAD, Stop.KILLED: _BAD}


def document(found: Findings) -> str:
    """The HTML text."""
    branches = all_branches.of(found)
    shown = sources(found.sources.texts, branches, _remarks(found))
    summary, apart = found.summary, _judged(found, shown)
    values: dict[str, object] = {
        "found": found,
        "summary": summary,
        "end": text.ENDS[summary.stopped],
        "tone": TONES.get(summary.stopped, _FAIR),
        "bugs": _bugs(found, shown),
        "judged": apart,
        "said_apart": bugs.judged_count(apart),
        "unmatched": found.unmatched,
        "sources": shown,
        "functions": shown_functions(branches, shown, _bugs_of(found), _entries(found)),
        "gaps": gaps(branches, shown),
        "reasons": _counted(summary.unflipped),
        "words": coverage.REASONS,
        "told": coverage.MEANING,
        "decisions": mcdc.rows(found, shown),
        "vectors_told": mcdc.totals(found),
        "vector_looks": mcdc.LOOKS,
        "charts": list(_charts(found)),
        "waiting": _waiting(found),
        "again": f"score-embed run --resume {shlex.quote(str(found.folder))}"
        if summary.stopped in text.CAN_GO_ON
        else "",
        "lost": list(text.lost(found)),
        "left": _not_followed((row for row in summary.incomplete if not row.count), shown),
        "escaped": _not_followed((row for row in summary.incomplete if row.count), shown),
        "forks": _forks(summary.forks, shown),
        "times": _times(summary),
        "witness": list(witnessed.lines(summary.witness)),
        "fleet": found.fleet,
        "fleet_charts": list(_fleet_charts(found)),
        "most_clients": _MOST_CLIENTS,
        "tests": [_test(test, found.arrays, shown) for test in found.kept[:MOST_ROWS]],
        "facts": _facts(found),
    }
    return page("campaign.html", values)


def _bugs(found: Findings, shown: Sources) -> list[bugs.ShownBug]:
    known = fingerprints.known(found)
    return [found_row(found, bug, number, shown, known[number]) for number, bug in enumerate(found.bugs)]


def _judged(found: Findings, shown: Sources) -> list[ShownJudged]:
    return [bugs.judged_row(bug, line, bug.file, shown.anchor(bug.file, bug.line)) for bug, line in found.judged]


def _remarks(found: Findings) -> dict[tuple[str, int], list[Remark]]:
    """What is said of lines besides their branches."""
    made: dict[tuple[str, int], list[Remark]] = {}
    for number, bug in enumerate(found.bugs):
        if bug.place.file and bug.place.line > 0:
            remark = Remark(
                "bug",
                bug.kind,
                f"{kinds.happened(bug.kind)}: {text.inputs(bug.inputs, found.arrays)[:200]}",
                f"bug-{number + 1}",
            )
            made.setdefault((bug.place.file, bug.place.line), []).append(remark)
    for row in found.summary.incomplete:
        if row.file and row.line > 0:
            what = "not followed" if row.count else "left as written"
            often = f" ({text.times(row.count)})" if row.count else ""
            remark = Remark("lost", what, f"{text.cause(row.what)}{often}")
            made.setdefault((row.file, row.line), []).append(remark)
    for place, remark in mcdc.remarks(found):
        made.setdefault(place, []).append(remark)
    return made


def _bugs_of(found: Findings) -> Counter[tuple[str, str]]:
    return Counter((bug.place.file, bug.place.function) for bug in found.bugs)


def _entries(found: Findings) -> Callable[[str, str], int]:
    lines = {(at.file, at.function): at.line for at in found.sources.entries}
    return lambda file, function: lines.get((file, function), 0)


def _counted(unflipped: Sequence[Untaken]) -> list[tuple[str, int]]:
    return Counter(row.reason.value for row in unflipped).most_common()


def _waiting(found: Findings) -> list[tuple[str, int]]:
    """Lines with directions for which a test is known."""
    lines = Counter(
        f"{row.file}:{row.line}" for row in found.summary.unflipped if row.reason is Unflipped.WAITING
    )
    return lines.most_common(20)


# Figures -------------------------------------------------------------------------------------------------------------


def _charts(found: Findings) -> Iterator[Chart]:
    """Only where there is something to see: a line needs more than its ends."""
    moments, total = found.moments, found.summary.coverage.branches_total
    if len(moments) < _FEW or moments[-1].seconds < _SHORT:
        return
    tests = [(at.seconds, float(at.tests)) for at in moments]
    paths = [(at.seconds, float(at.paths)) for at in moments]
    yield charts.over_time("Paths and tests over time", [("paths", paths), ("tests", tests)])
    covered = [(at.seconds, float(at.covered)) for at in moments]
    yield charts.over_time("Branch directions taken, over time", [("directions", covered)], total)
    if len(found.grown) > 2:
        yield charts.over_tests("Branch directions taken, over tests", "directions", _grown(found), total)
    rates = list(_rates(moments))
    if len(rates) > 1:
        yield charts.over_time("Tests a second", [("tests a second", rates)])


def _rates(moments: Sequence[Moment]) -> Iterator[tuple[float, float]]:
    """Tests a second, of times that are long enough: the record is written now and then."""
    apart = max(_SHORT, moments[-1].seconds / _MOST_RATES)
    last = moments[0]
    for now in moments[1:]:
        if now.seconds - last.seconds >= apart:
            yield (now.seconds + last.seconds) / 2, (now.tests - last.tests) / (now.seconds - last.seconds)
            last = now


def _grown(found: Findings) -> list[tuple[float, float]]:
    """Directions taken by the tests so far, up to the last test."""
    points: list[tuple[float, float]] = []
    taken = 0
    for test, count in found.grown:
        taken += count
        points.append((float(max(1, test)), float(taken)))
    return [*points, (max(float(found.summary.runs), points[-1][0]), float(taken))]


def _fleet_charts(found: Findings) -> Iterator[Chart]:
    if found.fleet is not None:
        clients = found.fleet.clients[:_MOST_CLIENTS]
        if clients:
            yield charts.bars("Tests of each client", [(one.name, float(one.tests)) for one in clients], "tests")
            shares = [(one.name, 100 * one.busy / one.seconds if one.seconds else 0.0) for one in clients]
            yield charts.bars("Time with a test, of each client’s, %", shares, "%", 100.0)


def _times(summary: Summary) -> list[tuple[str, str, float]]:
    """Where time went: what, how much of it was asked for, seconds. The longest first."""
    solver = summary.solver
    rows = [
        (f"Solver: {layer}", text.answered(solver.by[layer]), seconds)
        for layer, seconds in solver.seconds_by.items()
        if solver.by[layer]
    ]
    named = sum(seconds for _, _, seconds in rows)
    if solver.seconds - named > 0.001:
        rows.append(("Solver: questions that were put off", "", solver.seconds - named))
    fleet = summary.fleet
    whole = sum(client.busy for client in fleet.clients) if fleet is not None else summary.seconds
    rows.append(
        ("Target, link and the rest of the host", f"{summary.runs} tests", max(0.0, whole - solver.seconds))
    )
    if fleet is not None:
        waiting = sum(client.waiting for client in fleet.clients)
        rows.append(("Clients without a test", "", waiting))
    return sorted(rows, key=lambda row: -row[2])


class _Placed(Struct, frozen=True):
    """What stands beside a line."""

    file: str
    line: int
    anchor: str
    what: str
    count: int


def _not_followed(rows: Iterable[NotFollowed], shown: Sources) -> list[_Placed]:
    return [_placed(row.file, row.line, shown, row.count, text.cause(row.what)) for row in rows]


def _forks(rows: Iterable[ForkRow], shown: Sources) -> list[_Placed]:
    return [_placed(row.file, row.line, shown, row.tests) for row in rows]


def _placed(file: str, line: int, shown: Sources, count: int, what: str = "") -> _Placed:
    return _Placed(file, line, shown.anchor(file, line), what, count)


class _Test(Struct, frozen=True):
    number: int
    outcome: str
    verdict: str
    inputs: str
    file: str
    line: int
    anchor: str
    output: str


def _test(test: TestRow, arrays: Sequence[Array], shown: Sources) -> _Test:
    inputs = text.inputs(test.inputs, arrays) or test.input[:MOST_BYTES].hex()
    file, _, line = test.place.rpartition(":")
    at = int(line) if line.isdecimal() else 0
    return _Test(
        number=test.number,
        outcome=test.outcome,
        verdict=ended(test.verdict, test.code) if test.code else test.verdict,
        inputs=inputs if len(inputs) <= 300 else f"{inputs[:300]}…",
        file=file,
        line=at,
        anchor=shown.anchor(file, at),
        output=test.output,
    )


def _facts(found: Findings) -> list[tuple[str, str]]:
    """Of what it was made."""
    summary, program = found.summary, found.program
    confined = summary.confined
    facts = [
        ("Program", program.name),
        ("Board", program.board),
        ("Sources", ", ".join(program.sources)),
        ("Entry", program.entry.name if program.entry else ""),
        ("Begun", program.began),
        ("Order, seed", f"{summary.strategy}, {summary.seed}"),
        ("Within", ", ".join(summary.within)),
        ("Working folder", found.sources.root),
        ("Results", str(Path(found.folder).absolute())),
        *((f"Version: {name}", version) for name, version in found.versions.items()),
        ("Confined by", ", ".join(confined.active) if confined is not None else ""),
        ("Not confined by", ", ".join(confined.missing) if confined is not None else ""),
    ]
    return [(name, value) for name, value in facts if value]
