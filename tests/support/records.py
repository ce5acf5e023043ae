"""A record that somebody has changed on purpose: its checksums are those of what it is now."""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import closing
from pathlib import Path

from score_embed.results import wal
from score_embed.results.checksums import PAGE, Checksums, Known


def change(folder: Path, *statements: str) -> None:
    """Execute these on the record of a campaign that nobody works on."""
    path = folder / "campaign.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
    seal(path)


def seal(path: Path) -> None:
    data = path.read_bytes()
    sums = array("I", (wal.page_sum(data[at : at + PAGE]) for at in range(0, len(data), PAGE)))
    Checksums(path, Known(sums, size=len(sums)))
