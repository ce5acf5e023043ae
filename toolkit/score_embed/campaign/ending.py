"""The end of a session of a campaign: the summary, the exit code, and how to go on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score_embed.contract.words import Stop
from score_embed.results import summary
from score_embed.results.storage import storage_error
from score_embed.results.store import Store

INTERRUPTED = 130


@dataclass(frozen=True)
class Result:
    """What a session of a campaign came to."""

    summary: dict[str, Any]
    folder: Path
    exit_code: int


def sum_up(record: Store) -> dict[str, Any]:
    """Write the summary of what is committed."""
    found = summary.of(record)
    try:
        summary.write(found, record.folder)
    except OSError as error:
        raise storage_error(error, record.folder) from error
    return found


def result(found: dict[str, Any], folder: Path) -> Result:
    if found["stopped"] == Stop.INTERRUPTED:
        return Result(found, folder, INTERRUPTED)
    return Result(found, folder, 1 if found["bugs"] else 0)


def how_to_go_on(folder: Path) -> str:
    return f"continue with: score-embed run --resume {shlex.quote(str(folder))}"
