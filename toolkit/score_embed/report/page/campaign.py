"""The page of one campaign: all that is known of it, for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score_embed.contract.entry import Array
from score_embed.contract.words import Stop, Unflipped
from score_embed.report import branches as all_branches
from score_embed.report import kinds, text
from score_embed.report.branches import Branch, Function
from score_embed.report.findings import Findings
from score_embed.report.page import charts, judged, mcdc, reasons
from score_embed.report.page.charts import Chart
from score_embed.report.page.judged import ShownJudged
from score_embed.report.page.render import page
from score_embed.report.page.sources import NEAR, Remark, Sources, directions, sources
from score_embed.results import witnessed
from score_embed.results.bugs import Bug
from score_embed.results.fleet import FleetFigures
from score_embed.results.shown import readable
from score_embed.results.store import TestRow
from score_embed.results.testcase import ended, small_stem
from score_embed.results.timeline import Moment

FILE = "report.html"  # in the campaign's folder
_MOST_ROWS = 2_000  # of a table
_MOST_BYTES = 256  # of an input that are shown
_MOST_CLIENTS = 64
_MOST_RATES = 60  # points of a line
_FEW, _SHORT = 4, 1.0  # moments, seconds: a campaign with less has no line to see, and need not wait for its plots
_GOOD, _FAIR, _BAD = "good", "fair", "bad"
TONES = {Stop.EXHAUSTED: _GOOD, Stop.ERROR: _BAD, Stop.KILLED: _BAD}


@dataclass(frozen=True)
class Shown:
    """An input's value: as it is, and in other ways to read it."""

    name: str
    value: str
    also: str


@dataclass(frozen=True)
class ShownBug:
    ident: str
    bug: Bug
    title: str  # what happened
    doubt: str
    hint: str
    anchor: str
    near: list[tuple[int, str]]  # lines around it
    inputs: list[Shown]
    commands: list[tuple[str, str]]  # what it does, and how


@dataclass(frozen=True)
class Gap:
    """Directions of a line that no test took, for one reason."""

    file: str
    line: int
    function: str
    anchor: str
    names: str
    reason: str
    why: str


@dataclass(frozen=True)
class ShownFunction:
    of: Function
    anchor: str
    bugs: int
    missing: list[tuple[str, int]]  # reason, directions


def document(found: Findings) -> str:
    """The HTML text."""
    branches = all_branches.of(found)
    shown = sources(found.sources.texts, branches, _remarks(found))
    summary, apart = found.summary, _judged(found, shown)
    values: dict[str, Any] = {
        "found": found,
        "summary": summary,
        "ended": text.ended(summary),
        "end": text.ENDS.get(summary["stopped"], ""),
        "tone": TONES.get(summary["stopped"], _FAIR),
        "bugs": [_bug(found, bug, number, shown) for number, bug in enumerate(found.bugs)],
        "judged": apart,
        "said_apart": judged.count(apart),
        "unmatched": found.unmatched,
        "sources": shown,
        "functions": shown_functions(branches, shown, _bugs_of(found), _entries(found)),
        "gaps": gaps(branches, shown),
        "reasons": _counted(summary["unflipped"]),
        "words": reasons.WORDS,
        "told": reasons.MEANING,
        "decisions": mcdc.rows(found, shown),
        "vectors_told": mcdc.totals(found),
        "vector_looks": mcdc.LOOKS,
        "charts": list(_charts(found)),
        "waiting": _waiting(found),
        "again": f"score-embed run --resume {shlex.quote(str(found.folder))}"
        if summary["stopped"] in text.CAN_GO_ON
        else "",
        "lost": list(text.lost(found)),
        "left": [_placed(row, shown) for row in summary["incomplete"] if not row["count"]],
        "escaped": [_placed(row, shown) for row in summary["incomplete"] if row["count"]],
        "forks": [_placed(row, shown) for row in summary["forks"]],
        "times": _times(summary),
        "witness": list(witnessed.lines(summary["witness"])),
        "fleet": FleetFigures.of(summary["fleet"]) if summary["fleet"] else None,
        "fleet_charts": list(_fleet_charts(found)),
        "most_clients": _MOST_CLIENTS,
        "tests": [_test(test, found.arrays) for test in found.kept[:_MOST_ROWS]],
        "facts": _facts(found),
    }
    return page("campaign.html", values)


# Bugs ----------------------------------------------------------------------------------------------------------------


def _bug(found: Findings, bug: Bug, number: int, shown: Sources) -> ShownBug:
    place = bug.place
    lines = found.sources.texts.get(place.file, ())
    near = (
        range(max(1, place.line - NEAR), min(len(lines), place.line + NEAR) + 1) if 0 < place.line <= len(lines) else ()
    )
    return ShownBug(
        f"bug-{number + 1}",
        bug,
        kinds.happened(bug.kind),
        f"{text.doubt(bug)}{text.witness(bug)}".strip(),
        text.HINTS.get(bug.kind, ""),
        shown.anchor(place.file, place.line),
        [(at, lines[at - 1][:200]) for at in near],
        [_shown(name, value) for name, value in readable(bug.inputs, found.arrays).items()],
        _commands(found, bug),
    )


def _judged(found: Findings, shown: Sources) -> list[ShownJudged]:
    return [judged.row(bug, line, bug.file, shown.anchor(bug.file, bug.line)) for bug, line in found.judged]


def _commands(found: Findings, bug: Bug) -> list[tuple[str, str]]:
    """What each does, and how it is written."""
    made = [("Run it again", f"score-embed replay {shlex.quote(str(found.folder))} {bug.test}")]
    stem = next((test.stem for test in found.kept if test.number == bug.test), "")
    if stem and not found.program.whole:  # which takes its input from arguments and standard input
        how = " and with -fsanitize=address,undefined" if bug.witness else ""
        name = small_stem(bug.test) if bug.small else stem
        data = shlex.quote(str(found.folder / "bugs" / f"{name}.bin"))
        made.append((f"In a debugger, built without score-embed{how}", f"SCORE_INPUT={data} ./a.out"))
    return made


def _shown(name: str, value: int | float | str) -> Shown:
    if isinstance(value, float):
        return Shown(name, repr(value), "")
    if isinstance(value, int):
        return Shown(name, str(value), hex(value) if abs(value) > 9 else "")
    try:
        data = bytes.fromhex(value)
    except ValueError:
        return Shown(name, value[: 2 * _MOST_BYTES], "")
    more = f" … ({len(data)} bytes)" if len(data) > _MOST_BYTES else ""
    data = data[:_MOST_BYTES]
    letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in data)
    return Shown(name, data.hex(" ") + more, f"“{letters}”" if letters.strip("·") else "")


def _remarks(found: Findings) -> dict[tuple[str, int], list[Remark]]:
    """What is said of lines besides their branches."""
    made: dict[tuple[str, int], list[Remark]] = {}
    for number, bug in enumerate(found.bugs):
        if bug.place.file and bug.place.line > 0:
            remark = Remark(
                "bug", bug.kind, f"{kinds.happened(bug.kind)}: {text.inputs(bug.inputs, found.arrays)[:200]}", f"bug-{number + 1}"
            )
            made.setdefault((bug.place.file, bug.place.line), []).append(remark)
    for row in found.summary["incomplete"]:
        if row["file"] and row["line"] > 0:
            what = "not followed" if row["count"] else "left as written"
            often = f" ({text.times(row['count'])})" if row["count"] else ""
            remark = Remark("lost", what, f"{text.cause(row['what'])}{often}")
            made.setdefault((row["file"], row["line"]), []).append(remark)
    for place, remark in mcdc.remarks(found):
        made.setdefault(place, []).append(remark)
    return made


# Coverage ------------------------------------------------------------------------------------------------------------


def shown_functions(
    branches: Sequence[Branch], shown: Sources, bugs: Mapping[tuple[str, str], int], entry: Callable[[str, str], int]
) -> list[ShownFunction]:
    """`bugs`: how many by file and function; `entry`: the line where a function begins, 0 if that is not known."""
    missing: dict[tuple[str, str], Counter[str]] = {}
    for branch in branches:
        missing.setdefault((branch.file, branch.function), Counter()).update(
            side.reason for side in branch.sides if not side.taken
        )
    made = []
    for key, function in all_branches.functions(branches).items():
        anchor = shown.anchor(function.file, entry(*key)) or shown.anchor(function.file, function.line)
        made.append(ShownFunction(function, anchor, bugs.get(key, 0), missing[key].most_common()))
    return made


def _bugs_of(found: Findings) -> Counter[tuple[str, str]]:
    return Counter((bug.place.file, bug.place.function) for bug in found.bugs)


def _entries(found: Findings) -> Callable[[str, str], int]:
    lines = {(at.file, at.function): at.line for at in found.sources.entries}
    return lambda file, function: lines.get((file, function), 0)


def gaps(branches: Sequence[Branch], shown: Sources) -> list[Gap]:
    """Of functions that were reached: of the others the table of functions says enough."""
    reached = {(branch.file, branch.function) for branch in branches if branch.is_reached}
    rows: dict[tuple[str, int, str, str, str], Counter[str]] = {}
    for branch in branches:
        if (branch.file, branch.function) in reached:
            for side in branch.sides:
                if not side.taken:
                    key = branch.file, branch.line, branch.function, side.reason, side.why
                    rows.setdefault(key, Counter())[side.name] += 1
    return [
        Gap(file, line, function, shown.anchor(file, line), directions(names), reason, why)
        for (file, line, function, reason, why), names in list(rows.items())[:_MOST_ROWS]
    ]


def _counted(unflipped: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return Counter(str(row["reason"]) for row in unflipped).most_common()


def _waiting(found: Findings) -> list[tuple[str, int]]:
    """Lines with directions for which a test is known."""
    lines = Counter(
        f"{row['file']}:{row['line']}" for row in found.summary["unflipped"] if row["reason"] == Unflipped.WAITING
    )
    return lines.most_common(20)


# Figures -------------------------------------------------------------------------------------------------------------


def _charts(found: Findings) -> Iterator[Chart]:
    """Only where there is something to see: a line needs more than its ends."""
    moments, total = found.moments, found.summary["coverage"]["branches_total"]
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
    return [*points, (max(float(found.summary["runs"]), points[-1][0]), float(taken))]


def _fleet_charts(found: Findings) -> Iterator[Chart]:
    if found.summary["fleet"]:
        clients = FleetFigures.of(found.summary["fleet"]).clients[:_MOST_CLIENTS]
        if clients:
            yield charts.bars("Tests of each client", [(one.name, float(one.tests)) for one in clients], "tests")
            shares = [(one.name, 100 * one.busy / one.seconds if one.seconds else 0.0) for one in clients]
            yield charts.bars("Time with a test, of each client’s, %", shares, "%", 100.0)


def _times(summary: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Where time went: what, how much of it was asked for, seconds. The longest first."""
    solver = summary["solver"]
    rows = [
        (f"Solver: {layer}", text.answered(solver["by"][layer]), float(seconds))
        for layer, seconds in solver["seconds_by"].items()
        if solver["by"][layer]
    ]
    named = sum(seconds for _, _, seconds in rows)
    if solver["seconds"] - named > 0.001:
        rows.append(("Solver: questions that were put off", "", solver["seconds"] - named))
    fleet = summary["fleet"]
    whole = sum(client["busy"] for client in fleet["clients"]) if fleet else summary["seconds"]
    rows.append(
        ("Target, link and the rest of the host", f"{summary['runs']} tests", max(0.0, whole - solver["seconds"]))
    )
    if fleet:
        waiting = sum(client["waiting"] for client in fleet["clients"])
        rows.append(("Clients without a test", "", waiting))
    return sorted(rows, key=lambda row: -row[2])


def _placed(row: Mapping[str, Any], shown: Sources) -> dict[str, Any]:
    """With a link, and in words."""
    what = text.cause(row["what"]) if "what" in row else ""
    return {**row, "what": what, "anchor": shown.anchor(row["file"], row["line"])}


def _test(test: TestRow, arrays: Sequence[Array]) -> dict[str, Any]:
    inputs = text.inputs(test.inputs, arrays) or test.input[:_MOST_BYTES].hex()
    return {
        "number": test.number,
        "outcome": test.outcome,
        "verdict": ended(test.verdict, test.code) if test.code else test.verdict,
        "inputs": inputs if len(inputs) <= 300 else f"{inputs[:300]}…",
        "place": test.place,
        "output": test.output,
    }


def _facts(found: Findings) -> list[tuple[str, str]]:
    """Of what it was made."""
    summary, program = found.summary, found.program
    confined = summary["confined"]
    facts = [
        ("Program", program.name),
        ("Board", program.board),
        ("Sources", ", ".join(program.sources)),
        ("Entry", program.entry.name if program.entry else ""),
        ("Begun", program.began),
        ("Order, seed", f"{summary['strategy']}, {summary['seed']}"),
        ("Within", ", ".join(summary["within"])),
        ("Working folder", found.sources.root),
        ("Results", str(Path(found.folder).absolute())),
        *((f"Version: {name}", version) for name, version in found.versions.items()),
        ("Confined by", ", ".join(confined.get("active", ()))),
        ("Not confined by", ", ".join(confined.get("missing", ()))),
    ]
    return [(name, value) for name, value in facts if value]
