"""`score-embed run`: explore a program, or continue a campaign with `--resume`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from score_embed import config
from score_embed.campaign import campaign, ending, opening
from score_embed.campaign.ending import BUGS, Result, without_bugs
from score_embed.cli import pages, show, words
from score_embed.cli.output import readers_may_leave
from score_embed.errors import UsageError
from score_embed.image.compile_commands import defining
from score_embed.report import findings, fingerprints
from score_embed.report.findings import Findings
from score_embed.results import summary
from score_embed.results.known_bugs import baseline_of
from score_embed.results.store import Store
from score_embed.results.testcase import require_folder


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Find an input for every feasible path. Options may also stand in score-embed.yaml."
    sub.usage = "score-embed run [options] SOURCES... [-- CFLAGS...]"
    config.add_options(sub)
    sub.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCES",
        help="C files of the program; .o, .a, .s and .S files are linked as they are",
    )
    sub.add_argument(
        "--regress",
        type=words.path,
        metavar="DIR",
        help="explore nothing: run the kept tests of this campaign on the program as it is now, and compare how they end",
    )
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    given = vars(values)
    if given["regress"]:
        return _regress(given)
    if given["resume"]:
        settings = resume_settings(given)
    else:
        settings = with_sources(config.resolve(given, os.environ, Path.cwd()))
    known = baseline_of(settings)  # read before anything is explored
    result = explored(settings)
    with readers_may_leave():
        tell([result], settings.json, known)
    return exit_code([result], known)


def exit_code(results: Sequence[Result], known: frozenset[str] | None) -> int:
    """Of all campaigns; bugs of the baseline do not count."""
    if known is None:
        return ending.exit_code(results)
    return ending.exit_code([replace(result, exit_code=_exit_code(result, known)) for result in results])


def _exit_code(result: Result, known: frozenset[str]) -> int:
    if result.exit_code != BUGS or fingerprints.new(_read(result.folder, known)):
        return result.exit_code
    return without_bugs(result.summary)


def _regress(given: dict[str, Any]) -> int:
    if given["resume"]:
        raise UsageError("--regress explores nothing, --resume goes on exploring", "command line", "Say one of them.")
    from score_embed.cli import regress

    settings = config.resolve(given, os.environ, Path.cwd())
    require_sources(settings)
    return regress.execute(settings, given["regress"])


def explored(settings: config.Settings) -> Result:
    """Start a campaign, or go on with the one in `settings.resume`: with one target here, or with the clients of a
    fleet, whose modules are imported only then."""
    with ExitStack() as stack:
        record = None
        if settings.resume is not None:
            record = stack.enter_context(Store.open(settings.resume))
            settings = opening.resumed_settings(record, settings)
        require_one_client(settings)
        if settings.cluster is not None:
            from score_embed.fleet.process import ray_cluster

            return ray_cluster.run(settings, record)
        if (settings.clients or 1) > 1:
            from score_embed.fleet.process import hosting

            return hosting.run(settings, record)
        return campaign.run(settings, record)


def require_one_client(settings: config.Settings) -> None:
    """Which tests of a fleet were the user's before nobody remembers."""
    if settings.have is not None and (settings.cluster is not None or (settings.clients or 1) > 1):
        raise UsageError("--have is for campaigns of one client", "command line", "Leave --clients and --cluster out.")


def with_sources(settings: config.Settings) -> config.Settings:
    """Of a new campaign. For `--entry FUNC` the file is found that defines it, if the build's files are known."""
    commands = settings.compile_commands
    if not settings.sources and settings.entry is not None and commands is not None:
        settings = replace(settings, sources=defining(commands, settings.entry))
    require_sources(settings)
    return settings


def require_sources(settings: config.Settings) -> None:
    """Of a new campaign."""
    if settings.first is not None and settings.have is not None:
        raise UsageError("--first and --have both say which tests come first", "command line", "Say one of them.")
    if settings.have is not None:
        require_folder(settings.have)
    if settings.retry_lost:
        hint = "Name the campaign whose lost tests are to be run again with --resume DIR."
        raise UsageError("--retry-lost is for a campaign that goes on", "command line", hint)
    if not settings.sources:
        hint = f"Name the C files of the program, or list them in {config.PROJECT_FILE} under `sources:`."
        raise UsageError("there is no source file to explore", "command line", hint)


def tell(results: Sequence[Result], as_json: bool, known: frozenset[str] | None = None) -> None:
    """Print what campaigns came to (several summaries as a list), and leave a page in the folder of each. `known`: the
    baseline, if there is one."""
    found: dict[Path, Findings] = {}
    try:
        if as_json:
            print(summary.text(*(result.summary for result in results)))
        else:
            for result in results:
                found[result.folder] = _read(result.folder, known)
                show.result(found[result.folder])
    finally:
        for result in results:
            pages.of_campaign(result.folder, found.get(result.folder))


def _read(folder: Path, known: frozenset[str] | None = None) -> Findings:
    with Store.read(folder) as record:
        return replace(findings.read(record, show.MOST_TESTS + 1), baseline=known)


def resume_settings(given: dict[str, object]) -> config.Settings:
    """What was explored stays as recorded; only when to stop and what to print may be said anew."""
    known = [option.field for option in config.OPTIONS] + ["sources", "cflags"]
    may = {name.replace("-", "_") for name in config.RESUMABLE}
    for field in known:
        if given.get(field) and field not in may:
            hint = f"A resumed campaign takes only --{', --'.join(config.RESUMABLE[1:])}."
            raise UsageError(f"{field.replace('_', '-')} cannot be changed on resume", "command line", hint)
    return config.resolve({field: given.get(field) for field in may})
