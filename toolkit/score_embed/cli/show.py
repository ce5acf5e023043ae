"""What `run` prints at its end: a table of the tests of a small campaign, the bugs, the totals."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from score_embed.cli.grid import Grid
from score_embed.cli.output import is_plain
from score_embed.errors import printable
from score_embed.report import criteria, fingerprints, text
from score_embed.report.findings import Findings
from score_embed.results import shown
from score_embed.results.shown import Arrays, readable
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import ended

MOST_TESTS = 50  # a campaign with more tests shows only its first few
FEW_TESTS = 10
MOST_ROWS = 10
MOST_COLUMNS = 12  # inputs; a harness may have hundreds
MOST_SHOWN = 200  # characters of a value or an output; whole they are in the report and in the record


def result(found: Findings) -> None:
    """The short form: for everything else there is `score-embed report`."""
    lines = [*text.bugs(found), *text.judged(found)]
    lines += [text.headline(found.summary), *text.lost(found), *text.short_reasons(found.summary)]
    lines += criteria.statement_totals(found.summary.statements)
    lines += [
        *criteria.mcdc_totals(found.summary.mcdc),
        *criteria.goal_lines(found.summary.goal, found.summary.within),
    ]
    lines += [*text.incomplete(found.summary, MOST_ROWS), f"results: {found.folder}"]
    _print(lines, _tests(found.paths, found.arrays) if found.paths else None)


def report(found: Findings) -> None:
    """Everything."""
    _print(list(text.full(found)))


def new_bugs(campaigns: Sequence[Findings]) -> None:
    """Those that are in no baseline, of all campaigns, and how many others there are."""
    lines: list[str] = []
    for found in campaigns:
        for bug in fingerprints.new(found):
            lines += text.bug(bug, found.sources, found.folder, found.arrays)
    new = sum(len(fingerprints.new(found)) for found in campaigns)
    known = sum(len(found.bugs) for found in campaigns) - new
    _print([*lines, f"bugs that are new: {new}; that the baseline knows: {known}"])


def _print(lines: Sequence[str], table: Grid | None = None) -> None:
    """A table, and lines below it."""
    drawn = (table.lines() if table is not None else []) if is_plain() else None
    if drawn is None:
        _print_richly(lines, table)
        return
    for line in (*drawn, *map(printable, lines)):
        print(line)
    sys.stdout.flush()  # before anything that is said on the other stream


def _print_richly(lines: Sequence[str], table: Grid | None) -> None:
    from score_embed.cli import console

    printer = console.for_lines()
    if table is not None:
        printer.print(console.table(table))
    for line in lines:
        printer.print(console.plain(line), soft_wrap=True)


def _tests(tests: Sequence[TestRow], arrays: Arrays = ()) -> Grid:
    inputs = {test.number: readable(shown.without_answers(test.inputs), arrays) for test in tests[:MOST_TESTS]}
    names = list(dict.fromkeys(name for values in inputs.values() for name in values))
    stubbed = any(shown.is_answer(name) for test in tests[:MOST_TESTS] for name in test.inputs)
    each = len(names) <= MOST_COLUMNS
    varying = {name for name in names if len({str(values.get(name)) for values in inputs.values()}) > 1}
    header = ["test", *(names if each else ["inputs"]), *(["stubs"] if stubbed else []), "verdict", "output"]
    listed = tests if len(tests) <= MOST_TESTS else tests[:FEW_TESTS]
    rows = []
    for test in listed:
        own = inputs[test.number]
        if each:
            values = [_cut(str(own.get(name, ""))) for name in names]
        else:
            values = [", ".join(map(_cut, text.few(own, MOST_COLUMNS, varying)))]
        if names and not test.inputs:  # a mispredicted test is not decoded: which byte is whose, nobody asked
            values[0] = _cut(f"raw {test.input.hex()}")
        if stubbed:
            values.append(_cut("; ".join(shown.answers(test.inputs))))
        verdict = ended(test.verdict, test.code) if test.code else test.verdict
        rows.append([str(test.number), *values, verdict, _cut(test.output)])
    caption = f"the first {FEW_TESTS} tests that took a new path; all are in campaign.db"
    return Grid(header, rows, caption if len(listed) < len(tests) else "")


def _cut(value: str) -> str:
    return value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}… ({len(value)} characters)"
