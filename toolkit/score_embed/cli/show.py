"""The result of a campaign for people: a table of the tests of a small one, the bugs, the totals."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from score_embed.campaign import Result

MOST_TESTS = 50  # a campaign with more tests shows only its first few
FEW_TESTS = 10
MOST_ROWS = 10
UNWRAPPED = 1000


def result(found: Result) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=UNWRAPPED)  # for files and pipes: a line stays a line
    if found.tests:
        console.print(_tests(found))
    summary = found.summary
    _bugs(console, summary["bugs"], str(found.folder))
    covered, total = summary["coverage"]["branches_covered"], summary["coverage"]["branches_total"]
    console.print(
        f"{summary['program']} on {summary['board']}: {summary['stopped']} after {summary['seconds']:.1f} s; "
        f"{summary['paths']} paths in {summary['runs']} tests, branches {covered}/{total}, "
        f"bugs {len(summary['bugs'])}"
    )
    _reasons(console, summary)
    console.print(f"results: {found.folder}")


def _tests(found: Result) -> Table:
    names = list(dict.fromkeys(name for test in found.tests[:MOST_TESTS] for name in test.inputs))
    table = Table("test", *names, "verdict", "output")
    shown = found.tests if len(found.tests) <= MOST_TESTS else found.tests[:FEW_TESTS]
    for test in shown:
        values = [Text(str(test.inputs.get(name, ""))) for name in names]
        verdict = f"{test.verdict} {test.code}" if test.code and test.verdict in ("exit", "return") else test.verdict
        table.add_row(str(test.number), *values, verdict, Text(test.output))
    if len(shown) < len(found.tests):
        table.caption = f"the first {FEW_TESTS} tests that took a new path; all are in campaign.db"
    return table


def _bugs(console: Console, bugs: list[dict[str, Any]], folder: str) -> None:
    for bug in bugs:
        inputs = ", ".join(f"{name} = {value}" for name, value in bug["inputs"].items())
        sure = "" if bug["confirmed"] else " (did not happen again on a fresh target)"
        where = f"{bug['file']}:{bug['line']}" if bug["file"] else "unknown place"
        console.print(Text(f"{where}: {bug['kind']} in {bug['function'] or '?'}: {inputs}{sure}"))
        console.print(Text(f"  seen {bug['count']} times; again: score-embed replay {folder} {bug['test']}"))


def _reasons(console: Console, summary: dict[str, Any]) -> None:
    reasons = Counter(row["reason"] for row in summary["unflipped"])
    if reasons:
        text = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        console.print(f"branch directions not taken: {text} (listed in summary.json)")
    _rows(console, "left as written:", [row for row in summary["incomplete"] if not row["count"]])
    lost = [row for row in summary["incomplete"] if row["count"]]
    _rows(console, "not followed, so paths may be missing:", lost)


def _rows(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        console.print(title)
    for row in rows[:MOST_ROWS]:
        where = f"{row['file']}:{row['line']}: " if row["file"] else ""
        times = f" ({row['count']} times)" if row["count"] else ""
        console.print(Text(f"  {where}{row['what']}{times}"))
    if len(rows) > MOST_ROWS:
        console.print(f"  … and {len(rows) - MOST_ROWS} more in summary.json")
