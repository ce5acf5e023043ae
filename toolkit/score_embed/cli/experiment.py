"""`score-embed experiment`: the experiment of SCORE's paper on a program of yours."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from score_embed import __version__, config
from score_embed.cli import words
from score_embed.errors import UsageError
from score_embed.fleet.process import experiment
from score_embed.fleet.process.experiment import Plan
from score_embed.fleet.process.hosting import devices_for
from score_embed.report import experiment as report
from score_embed.report.output import folder_of, write
from score_embed.report.page import campaign, fleets
from score_embed.results.trial import Trial

_HELP = """Explore a program with several numbers of clients, repeatedly, with other seeds, and write the tables and plots of
SCORE's paper beside its figures, and a page of them. Without --time or --max-tests each campaign goes on until every path is found. The options of `run` hold
for each campaign."""
_OURS = ("out", "resume", "seed", "clients", "json")  # not handed on as they are
MOST_CLIENTS = 256


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = _HELP
    sub.usage = "score-embed experiment [options] SOURCES... [-- CFLAGS...]"
    config.add_options(sub, without=_OURS)
    sub.add_argument(
        "--clients", type=words.counts(MOST_CLIENTS), default=[1, 2], metavar="N,…", help="numbers of clients (1,2)"
    )
    sub.add_argument("--repeats", type=words.count, default=1, metavar="N", help="trials of each number (1)")
    sub.add_argument("--seed", type=words.number, default=0, metavar="N", help="the first seed (0)")
    sub.add_argument(
        "--independent", action="store_true", help="also as many campaigns that know nothing of each other"
    )
    sub.add_argument(
        "--out", type=words.path, required=True, metavar="DIR", help="folder for campaigns, tables and plots"
    )
    sub.add_argument("--html", type=words.path, metavar="FILE", help="where its page goes (report.html in that folder)")
    sub.add_argument("sources", nargs="*", metavar="SOURCES", help="as for `run`")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    report.require()
    given = {name: value for name, value in vars(values).items() if name not in _OURS}
    settings = config.resolve(given, os.environ, Path.cwd())
    if not settings.sources:
        hint = f"Name the C files of the program, or list them in {config.PROJECT_FILE} under `sources:`."
        raise UsageError("there is no source file to explore", "command line", hint)
    ports = () if settings.port else devices_for(replace(settings, clients=max(values.clients)))
    plan = Plan(values.out, values.clients, values.repeats, values.seed, values.independent, _handed_on(values), ports)
    html = values.html or plan.folder / campaign.FILE
    folder_of(html.parent)  # not after hours
    told = {
        "Program": ", ".join(source.name for source in settings.sources),
        "Board": settings.board,
        "Options": " ".join(map(shlex.quote, plan.words)),
        "Results": str(plan.folder.absolute()),
        "Version": __version__,
    }
    trials: list[Trial] = []
    tables: Mapping[str, str] = {}
    for trial in experiment.run(plan):
        trials.append(trial)
        print(_line(trial), file=sys.stderr, flush=True)
        tables = report.tables(trials)  # after each: it may be stopped
        _write(plan.folder, tables.items())
        write(html, fleets.of_experiment(trials, told, html.parent))
    _write(plan.folder, report.figures(trials))
    print(tables["experiment.md"], end="")
    print(f"wrote {plan.folder} and {html}", file=sys.stderr)
    return 0


def _write(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    for name, text in files:
        write(folder / name, text)


def _handed_on(values: argparse.Namespace) -> list[str]:
    """The command line of each campaign, but for what is the experiment's."""
    found: list[str] = []
    for option in config.OPTIONS:
        value = getattr(values, option.field) if option.name not in _OURS else None
        if value is not None and option.is_flag:
            found.append(f"--{option.name}")
        elif value is not None:
            found += [f"--{option.name}={word}" for word in (value if option.many else [value])]
    return [*found, *values.sources, *(["--", *values.cflags] if values.cflags else [])]


def _line(trial: Trial) -> str:
    kind = "distributed" if trial.is_distributed else "independent"
    return (
        f"{trial.clients} clients, {kind}, seed {trial.seed}: {trial.tests} tests, {trial.paths} paths "
        f"in {trial.seconds:.1f} s, branches {trial.covered}/{trial.directions}"
    )
