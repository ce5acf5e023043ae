"""`score-embed report DIR…`: what campaigns found and what they did not reach, for people and for other tools."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from score_embed.campaign.ending import BUGS
from score_embed.cli import show, unit, words
from score_embed.errors import UsageError, printable
from score_embed.report import findings, fingerprints, fleet, gcovr, junit, lcov, sarif
from score_embed.report.findings import Findings
from score_embed.report.output import write
from score_embed.report.page import campaign, project
from score_embed.results import summary
from score_embed.results.known_bugs import read_baseline
from score_embed.results.parts import PROGRESS
from score_embed.results.storage import FILE as RECORD
from score_embed.results.store import Store
from score_embed.unit import rows

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
    folder = "folder of a campaign, such as score-out/latest, or of a run of `unit`; several with --html or --baseline"
    sub.add_argument("folders", type=words.path, nargs="+", metavar="DIR", help=folder)
    for name, (what, _) in FORMATS.items():
        sub.add_argument(f"--{name}", type=words.path, metavar="FILE", help=f"write {what}")
    sub.add_argument("--json", action="store_true", help="print the totals as JSON (as in summary.json)")
    known = (
        "bugs that are known: others are printed, and the exit code is 1 if there are any; also of several campaigns"
    )
    sub.add_argument("--baseline", type=words.path, metavar="FILE", help=known)
    wanted = "write a baseline that knows all bugs of these campaigns"
    sub.add_argument("--write-baseline", type=words.path, metavar="FILE", help=wanted)
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    wanted = {name: getattr(values, name) for name in FORMATS if getattr(values, name) is not None}
    made = [*wanted.values(), *([values.write_baseline] if values.write_baseline is not None else [])]
    if len({path.absolute() for path in made}) < len(made):
        raise UsageError("two reports would go to the same file", "command line", "Give each a file of its own.")
    known = read_baseline(values.baseline) if values.baseline is not None else None
    if len(values.folders) == 1 and not made and known is None and (run := rows.read(values.folders[0])) is not None:
        unit.told(values.folders[0], run, values.json, frozenset())
        return 0
    meant = [one for folder in values.folders for one in _campaigns(folder)]
    several = meant != values.folders or len(meant) > 1
    if several and (values.json or set(wanted) - {"html"} or not (made or known is not None)):
        hint = "Say --html FILE, --baseline FILE or --write-baseline FILE, or name one campaign."
        raise UsageError("of several campaigns there is only a page and a baseline", "command line", hint)
    folders = _explored(meant) if several else meant
    campaigns = [_read(folder) for folder in folders]
    if known is not None:  # else that of the campaign itself counts
        campaigns = [replace(found, baseline=known) for found in campaigns]
    for name, path in wanted.items():
        document = project.document(campaigns, path.parent) if several else FORMATS[name][1](campaigns[0])
        _write(path, document)
    if values.write_baseline is not None:
        _write(values.write_baseline, fingerprints.baseline(campaigns))
    if values.json:
        print(summary.text(campaigns[0].summary))
    elif not made and not several:
        show.report(campaigns[0])
    elif known is not None:
        show.new_bugs(campaigns)
    return BUGS if known is not None and any(map(fingerprints.new, campaigns)) else 0


def _campaigns(folder: Path) -> list[Path]:
    """The campaigns that a folder stands for: itself, or those of the functions that `unit` has explored there."""
    if (folder / rows.FILE).is_file():
        folder = folder / rows.CAMPAIGNS
    if (folder / RECORD).exists() or not folder.is_dir():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{RECORD}")) or [folder]


def _explored(folders: Sequence[Path]) -> list[Path]:
    """`DIR/*` names other things, too: what `unit` writes beside campaigns, and programs that could not begin. All of
    them, if there is nothing else, so that the first one says what is wrong."""
    told = []
    for folder in dict.fromkeys(folders):
        if folder.is_file():
            continue
        if folder.is_dir() and not (folder / RECORD).exists():
            print(printable(f"{folder}: left out: it holds no campaign"), file=sys.stderr)
            continue
        with Store.read(folder) as record:
            if record.get(PROGRESS) is not None:
                told.append(folder)
            else:
                print(printable(f"{folder}: left out: no test was run"), file=sys.stderr)
    return told or list(folders)


def _read(folder: Path) -> Findings:
    with Store.read(folder) as record:
        found = findings.read(record)
        if record.warning:
            print(printable(record.warning), file=sys.stderr)
    return found


def _write(path: Path, text: str) -> None:
    write(path, text)
    print(f"wrote {path}", file=sys.stderr)
