"""Damages of a campaign's folder: each is noticed, or makes no difference. Never is a damaged campaign `exhausted` with
other paths than it has, and never does a command end in a traceback.

With --all two thousand damages.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from proof import FULL
from runner import score_embed

DAMAGES = 500 if FULL else 6  # of each campaign
PROGRAM = """
#include "score.h"
int main(void)
{
    unsigned char b[10];
    SYM_BYTES(b, 10);
    int n = 0;
    for (int i = 0; i < 10; i++)
        if (b[i] == 'a' + i)
            n++;
    SCORE_ASSERT(n != 9);
    return n;
}
"""
KINDS = {  # what is damaged, and how often: the record is what matters
    "campaign.db": 10,
    "campaign.db-wal": 4,
    "campaign.sums": 2,
    "image.elf": 2,
    "campaign.db-shm": 1,
    "campaign.work": 1,
    "witness.elf": 1,
    "summary.json": 1,
    "campaign.lock": 1,
    "tests": 1,
    "bugs": 1,
}


@dataclass(frozen=True)
class Made:
    """Campaigns by the way they ended, and the paths that there are."""

    folder: Path
    paths: frozenset[int]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("damages")
    (folder / "p.c").write_text(PROGRAM)
    early = {
        "whole": ("--no-witness",),
        "stopped": ("--max-tests", "400"),
        "fleet": ("--no-witness", "--max-tests", "300", "--clients", "2"),
    }
    for name, words in early.items():
        done = score_embed("run", "--out", name, *words, "p.c", cwd=folder)
        assert done.returncode in (0, 1), done.stderr
    killed(folder)
    return Made(folder, frozenset(paths_of(folder / "whole")))


def killed(folder: Path) -> None:
    """A campaign whose last commits are in SQLite's log only."""
    command = [sys.executable, "-m", "score_embed.cli.main", "run", "--out", "killed", "--no-witness", "p.c"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 120
        log = folder / "killed" / "campaign.db-wal"
        while time.monotonic() < deadline and run.poll() is None:
            if log.exists() and log.stat().st_size > 40 * 4120:
                break
            time.sleep(0.001)
        run.send_signal(signal.SIGKILL)


def paths_of(folder: Path) -> list[int]:
    with closing(sqlite3.connect(f"file:{folder / 'campaign.db'}?mode=ro", uri=True)) as db:
        return [row[0] for row in db.execute("SELECT path FROM tests WHERE is_new")]


def damage(folder: Path, rng: random.Random) -> str:
    """Flip bits of a file, cut it off, overwrite a block of it; returns what was done."""
    there = [
        name
        for name in KINDS
        if (folder / name).exists() and ((folder / name).is_dir() or (folder / name).stat().st_size)
    ]
    name = rng.choices(there, [KINDS[name] for name in there])[0]
    file = folder / name
    if file.is_dir():
        files = sorted(file.iterdir())
        if not files:
            return "nothing"
        file = rng.choice(files)
    data = bytearray(file.read_bytes())
    how = rng.choice(("flip", "flip", "cut", "block"))
    if how == "flip":
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del data[rng.choice((0, rng.randrange(len(data)), len(data) // 4096 * 4096 // 2)) :]
    else:
        at = rng.randrange(len(data)) // 512 * 512
        data[at : at + 512] = bytes([rng.choice((0, 0xFF))]) * min(512, len(data) - at)
    file.write_bytes(data)
    return f"{how} of {file.name}"


@pytest.mark.parametrize("how", ["stopped", "killed", "fleet", "whole"])
def test_damages_are_noticed_or_make_no_difference(how: str, made: Made, tmp_path: Path) -> None:
    counts = {"noticed": 0, "as it was": 0}
    for number in range(DAMAGES):
        rng = random.Random(f"{how} {number}")
        folder = tmp_path / str(number)
        shutil.copytree(made.folder / how, folder)
        what = damage(folder, rng) if number else "nothing"
        found = score_embed("run", "--resume", str(folder), "--json", cwd=tmp_path)
        said = f"{how}, {number}, {what}: {found.returncode} {found.stdout}{found.stderr}"
        assert "Traceback" not in found.stderr, said
        assert "internal error" not in found.stderr, said
        if number and found.returncode in (2, 3, 4, 74):
            counts["noticed"] += 1
            assert found.stderr.count("error:") == 1, said
        else:
            counts["as it was"] += 1
            assert found.returncode == 1, said
            assert json.loads(found.stdout)["stopped"] == "exhausted", said
            assert frozenset(paths_of(folder)) == made.paths, said
            assert json.loads(found.stdout)["paths"] == len(made.paths), said
            again = score_embed("report", str(folder), cwd=tmp_path)
            assert again.returncode == 0, said + again.stderr
            with closing(sqlite3.connect(folder / "campaign.db")) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",), said
        shutil.rmtree(folder)
    print(how, counts)
    assert counts["noticed"] or not FULL


def test_what_can_be_read_of_a_damaged_record_begins_a_new_campaign(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "o"
    shutil.copytree(made.folder / "stopped", folder)
    data = bytearray((folder / "campaign.db").read_bytes())
    for page in range(len(data) // 4096 // 2, len(data) // 4096):
        data[page * 4096 + 100] ^= 0xFF
    (folder / "campaign.db").write_bytes(data)
    assert score_embed("report", "o", cwd=tmp_path).returncode == 74
    saved = score_embed("export", "o", "--corpus", "seeds", "--damaged", cwd=tmp_path)
    assert saved.returncode == 0, saved.stderr
    assert len(list((tmp_path / "seeds").iterdir())) > 50
    again = score_embed("run", "--first", "seeds", "--out", "n", "--json", str(made.folder / "p.c"), cwd=tmp_path)
    assert json.loads(again.stdout)["stopped"] == "exhausted", again.stderr
    assert frozenset(paths_of(tmp_path / "n")) == made.paths
