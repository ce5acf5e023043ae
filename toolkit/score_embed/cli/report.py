"""`score-embed report DIR…`: what campaigns found and what they did not reach, for people and for other tools."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from score_embed.cli import show, words
from score_embed.errors import UsageError, printable
from score_embed.report import findings, fleet, gcovr, junit, lcov, sarif
from score_embed.report.findings import Findings
from score_embed.report.output import write
from score_embed.report.page import campaign, project
from score_embed.results.store import Store

FORMATS: Mapping[str, tuple[str, Callable[[Findings], str]]] = {
    "html": ("one HTML page with everything, also of several campaigns together", campaign.document),
    "lcov": ("branch coverage as an lcov tracefile", lcov.tracefile),
    "gcovr": ("branch coverage as gcovr's JSON, from which gcovr writes Cobertura and more", gcovr.document),
    "junit": ("tests and bugs as JUnit XML", junit.document),
    "sarif": ("bugs as SARIF 2.1.0", sarif.document),
    "workload": ("tests of a fleet's clients as a box plot (SVG)", fleet.workload_plot),
}


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Report on a campaign, finished or not. Without options the report is printed for people."
    folder = "folder of a campaign, such as score-out/latest; of several with --html"
    sub.add_argument("folders", type=words.path, nargs="+", metavar="DIR", help=folder)
    for name, (what, _) in FORMATS.items():
        sub.add_argument(f"--{name}", type=words.path, metavar="FILE", help=f"write {what}")
    sub.add_argument("--json", action="store_true", help="print the totals as JSON (as in summary.json)")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    wanted = {name: getattr(values, name) for name in FORMATS if getattr(values, name) is not None}
    if len({path.absolute() for path in wanted.values()}) < len(wanted):
        raise UsageError("two reports would go to the same file", "command line", "Give each a file of its own.")
    if len(values.folders) > 1:
        return _project(values, wanted)
    found = _read(values.folders[0])
    for name, path in wanted.items():
        _write(path, FORMATS[name][1](found))
    if values.json:
        print(json.dumps(found.summary, indent=2))
    elif not wanted:
        show.report(found)
    return 0


def _project(values: argparse.Namespace, wanted: Mapping[str, Path]) -> int:
    """One page of several campaigns."""
    if values.json or list(wanted) != ["html"]:
        hint = "Say --html FILE and nothing else, or name one campaign."
        raise UsageError("of several campaigns there is only a page", "command line", hint)
    page = wanted["html"]
    _write(page, project.document([_read(folder) for folder in values.folders], page.parent))
    return 0


def _read(folder: Path) -> Findings:
    with Store.read(folder) as record:
        found = findings.read(record)
        if record.warning:
            print(printable(record.warning), file=sys.stderr)
    return found


def _write(path: Path, text: str) -> None:
    write(path, text)
    print(f"wrote {path}", file=sys.stderr)
