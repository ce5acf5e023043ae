"""The pages that commands leave in the folders of campaigns when they end.

A page is no part of what was found: whatever keeps it from being written is a warning. The libraries of pages are
imported here and not above, since they take as long as a small campaign.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from score_embed.errors import ScoreError, printable
from score_embed.report import findings
from score_embed.report.findings import Findings
from score_embed.report.output import write
from score_embed.results.storage import FILE as RECORD
from score_embed.results.store import Store


def of_campaign(folder: Path, found: Findings | None = None) -> None:
    """`found`: what is in the folder, if somebody has read it."""

    def leave() -> None:
        from score_embed.report.page import campaign

        write(folder / campaign.FILE, campaign.document(found or _read(folder)))

    _tried(folder, leave)


def of_project(folder: Path, campaigns: Sequence[Path]) -> None:
    """One for each campaign whose record is newer than its page, and one of all together, which links to them."""

    def leave() -> None:
        from score_embed.report.page import campaign, project

        for each in campaigns:
            page = each / campaign.FILE
            if not page.exists() or page.stat().st_mtime < (each / RECORD).stat().st_mtime:
                of_campaign(each)
        write(folder / campaign.FILE, project.document([_read(each) for each in campaigns], folder))

    if campaigns:
        _tried(folder, leave)


def _read(folder: Path) -> Findings:
    with Store.read(folder) as record:
        return findings.read(record)


def _tried(folder: Path, leave: Callable[[], None]) -> None:
    try:
        leave()
    except Exception as error:  # whatever it is
        what = error.what if isinstance(error, ScoreError) else f"{type(error).__name__}: {error}"
        print(
            f"{printable(str(folder))}: warning: there is no page of this campaign: {printable(what)}", file=sys.stderr
        )
