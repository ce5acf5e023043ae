"""The end of a session of campaigns: the summaries, the exit codes, and how to go on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from score_embed.contract.words import Stop
from score_embed.errors import NothingToExplore, TargetError, printable
from score_embed.results import summary
from score_embed.results.parts import PROGRESS
from score_embed.results.storage import storage_error
from score_embed.results.store import Store
from score_embed.results.summary import Summary

INTERRUPTED = 130
BUGS = 1
LOST = 7  # no bugs, but tests that are set aside
OPEN = 8  # neither, but a goal that is not reached, nor is the rest proved to be impossible


class Result(Struct, frozen=True):
    """What a session of a campaign came to."""

    summary: Summary
    folder: Path
    exit_code: int


def conclude(session: Callable[[], Stop | None], records: Sequence[Store]) -> list[Result]:
    """Let a session run to its end and sum up. It returns why it ended, and leaves all in the records, also if it
    raises TargetError."""
    try:
        stopped = session()
    except TargetError:
        begun = [record for record in records if record.get(PROGRESS) is not None]
        for record in begun:
            sum_up(record)
        _tell_how_to_go_on(begun)
        raise
    except KeyboardInterrupt:
        _tell_how_to_go_on(records)
        raise
    results = [_result(sum_up(record), record.folder) for record in records]
    if stopped is Stop.INTERRUPTED:
        _tell_how_to_go_on(records)
    return results


def sum_up(record: Store) -> Summary:
    """Write the summary of what is committed."""
    found = summary.of(record)
    try:
        summary.write(found, record.folder)
    except OSError as error:
        raise storage_error(error, record.folder) from error
    return found


def _result(found: Summary, folder: Path) -> Result:
    if found.stopped is Stop.INTERRUPTED:
        return Result(found, folder, INTERRUPTED)
    if found.bugs:
        return Result(found, folder, BUGS)
    return Result(found, folder, without_bugs(found))


def without_bugs(found: Summary) -> int:
    """The exit code of a campaign that came to its end, if its bugs are none, or do not count."""
    if found.is_vacuous:
        return NothingToExplore.exit_code
    if found.lost:
        return LOST
    goal = found.goal
    return OPEN if goal is not None and not goal.reached and not goal.proved else 0


def exit_code(results: Sequence[Result]) -> int:
    """Of several campaigns: interrupted comes before bugs, bugs before lost tests, these before nothing to explore,
    that before a goal that is open."""
    order = (INTERRUPTED, BUGS, LOST, NothingToExplore.exit_code, OPEN)
    return next((code for code in order if any(result.exit_code == code for result in results)), 0)


def _tell_how_to_go_on(records: Sequence[Store]) -> None:
    for record in records:
        place = printable(shlex.quote(str(record.folder)))
        print(f"continue with: score-embed run --resume {place}", file=sys.stderr)
