"""What `run` prints at its end: a table of the tests of a small campaign, the bugs, the totals."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from score_embed.cli.output import Printer, plain
from score_embed.report import criteria, fingerprints, text
from score_embed.report.findings import Findings
from score_embed.results import shown
from score_embed.results.shown import Arrays, readable
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import ended

MOST_TESTS = 50  # a campaign with more tests shows only its first few
FEW_TESTS = 10
MOST_ROWS = 10
MOST_SHOWN = 200  # characters of a value or an output; whole they are in the report and in the record
UNWRAPPED = 1000


def result(found: Findings) -> None:
    """The short form: for everything else there is `score-embed report`."""
    console = _console()
    if found.paths:
        console.print(_tests(found.paths, found.arrays))
    lines = [*text.bugs(found), *text.judged(found)]
    lines += [text.headline(found.summary), *text.lost(found), *text.short_reasons(found.summary)]
    lines += criteria.statement_totals(found.summary.statements)
    lines += [
        *criteria.mcdc_totals(found.summary.mcdc),
        *criteria.goal_lines(found.summary.goal, found.summary.within),
    ]
    _print(console, [*lines, *text.incomplete(found.summary, MOST_ROWS), f"results: {found.folder}"])


def report(found: Findings) -> None:
    """Everything."""
    _print(_console(), list(text.full(found)))


def new_bugs(campaigns: Sequence[Findings]) -> None:
    """Those that are in no baseline, of all campaigns, and how many others there are."""
    lines: list[str] = []
    for found in campaigns:
        for bug in fingerprints.new(found):
            lines += text.bug(bug, found.sources, found.folder, found.arrays)
    new = sum(len(fingerprints.new(found)) for found in campaigns)
    known = sum(len(found.bugs) for found in campaigns) - new
    _print(_console(), [*lines, f"bugs that are new: {new}; that the baseline knows: {known}"])


def _console() -> Console:
    console = Printer(highlight=False)
    # For files and pipes a line stays a line.
    return console if console.is_terminal else Printer(highlight=False, width=UNWRAPPED)


def _print(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(plain(line), soft_wrap=True)


def _tests(tests: Sequence[TestRow], arrays: Arrays = ()) -> Table:
    inputs = {test.number: readable(shown.without_answers(test.inputs), arrays) for test in tests[:MOST_TESTS]}
    names = list(dict.fromkeys(name for values in inputs.values() for name in values))
    stubbed = any(shown.is_answer(name) for test in tests[:MOST_TESTS] for name in test.inputs)
    table = Table("test")
    for name in names:
        table.add_column(plain(name))
    if stubbed:
        table.add_column("stubs")
    table.add_column("verdict")
    table.add_column("output")
    listed = tests if len(tests) <= MOST_TESTS else tests[:FEW_TESTS]
    for test in listed:
        values = [_cut(str(inputs[test.number].get(name, ""))) for name in names]
        if names and not test.inputs:  # a mispredicted test is not decoded: which byte is whose, nobody asked
            values[0] = _cut(f"raw {test.input.hex()}")
        if stubbed:
            values.append(_cut("; ".join(shown.answers(test.inputs))))
        verdict = ended(test.verdict, test.code) if test.code else test.verdict
        table.add_row(str(test.number), *values, plain(verdict), _cut(test.output))
    if len(listed) < len(tests):
        table.caption = f"the first {FEW_TESTS} tests that took a new path; all are in campaign.db"
    return table


def _cut(value: str) -> Text:
    return plain(value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}… ({len(value)} characters)")
