"""Flips that wait until their turn comes: children run before a path is asked through, and nothing that waits is
lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from runner import explore, score_embed

from score_embed import config
from score_embed.campaign import campaign

# 2,000 questions of their own, each of which needs Z3.
PRODUCTS = """
#include "score.h"
static unsigned char b[4000];
int main(void)
{
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (int i = 0; i < 2000; i++)
        if (b[2 * i] * b[2 * i + 1] == 1147 + i % 7) n++;
    return n > 3;
}
"""
REPLACE = Path(__file__).parents[2] / "bench" / "replace.c"
# 60,000 conditions on eight bytes.
LONG = """
#include "score.h"
static unsigned char b[8];
int main(void)
{
    long n = 0;
    SYM_BYTES(b, sizeof b);
    for (long i = 0; i < 60000; i++)
        if ((b[i & 7] ^ (i & 255)) * 3 == 700 + (i >> 8)) n++;
    return n > 3;
}
"""
SORT = """
#include "score.h"
int main(void)
{
    int values[4], swaps = 0;
    SYM_BYTES(values, sizeof values);
    for (int end = 3; end > 0; end--)
        for (int i = 0; i < end; i++)
            if (values[i] > values[i + 1]) {
                int larger = values[i];
                values[i] = values[i + 1];
                values[i + 1] = larger;
                swaps++;
            }
    return swaps;
}
"""


def paths_of(folder: Path) -> set[int]:
    with closing(sqlite3.connect(f"file:{folder / 'campaign.db'}?mode=ro", uri=True)) as record:
        return {row[0] for row in record.execute("SELECT path FROM tests WHERE is_new")}


def resumed(folder: Path, *words: str) -> dict[str, Any]:
    done = score_embed("run", "--json", "--resume", "out", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("strategy", ["dfs", "bfs"])
def test_children_run_before_the_path_is_asked_through(strategy: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": PRODUCTS}, "--strategy", strategy, "--max-tests", "10").summary
    assert (found["runs"], found["paths"]) == (10, 10)
    assert sum(found["solver"]["by"].values()) < 200  # of 2,000 flips of the first path alone


def test_breadth_first_asks_for_what_it_runs(tmp_path: Path) -> None:
    """Programs that match patterns have hundreds of flips a path; they wait until it is their turn."""
    found = score_embed("run", str(REPLACE), "--strategy", "bfs", "--max-tests", "92", "--json", cwd=tmp_path)
    summary = json.loads(found.stdout)
    assert (summary["runs"], summary["paths"]) == (92, 92)
    by = summary["solver"]["by"]
    assert sum(count for layer, count in by.items() if layer not in ("domain", "equality")) <= 92
    assert summary["conditions"]["max"] > 300


def test_the_first_children_run_within_a_second(tmp_path: Path) -> None:
    """Of processor time of the host, which has asked 2,000 conditions as far as they are cheap by then."""
    (tmp_path / "p.c").write_text(PRODUCTS)
    plain = config.Settings(sources=(tmp_path / "p.c",), no_witness=True, max_tests=1)
    campaign.run(replace(plain, out=tmp_path / "built"))
    begun = time.process_time()
    found = campaign.run(replace(plain, out=tmp_path / "out", max_tests=4)).summary
    assert time.process_time() - begun < 1
    assert (found.paths, found.conditions.max) == (4, 2000)


def test_a_long_path_leaves_the_others_their_turn(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": LONG}, "--max-tests", "3", "--max-branches", "200000").summary
    assert found["paths"] == 3  # and not once more the rest of the first


@pytest.mark.parametrize("strategy", ["dfs", "bfs", "random"])
def test_what_waits_is_asked_after_a_resume(strategy: str, tmp_path: Path) -> None:
    whole = explore(tmp_path, {"p.c": SORT}, "--strategy", strategy, "--out", "whole").summary
    assert (whole["stopped"], whole["paths"], whole["re_asked"]) == ("exhausted", 24, 0)
    found = explore(tmp_path, {"p.c": SORT}, "--strategy", strategy, "--out", "out", "--max-tests", "3").summary
    while found["stopped"] == "max-tests":
        found = resumed(tmp_path, "--max-tests", "5")
    assert (found["stopped"], found["paths"], found["redundant"]) == ("exhausted", 24, 0)
    assert found["re_asked"] > 0  # nobody remembers paths of earlier sessions
    assert paths_of(tmp_path / "out") == paths_of(tmp_path / "whole")


def test_a_campaign_killed_between_a_run_and_its_questions_loses_none(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(SORT)
    command = [sys.executable, "-m", "score_embed.cli.main", "run"]
    explore(tmp_path, {"p.c": SORT}, "--out", "whole")
    words = ["p.c", "--out", "out"]
    for _ in range(4):
        with subprocess.Popen([*command, *words], cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
            begun = time.monotonic()
            while not (tmp_path / "out" / "campaign.db").exists() and time.monotonic() < begun + 60:
                time.sleep(0.01)
            time.sleep(0.2)
            running.kill()
        words = ["--resume", "out"]
    assert resumed(tmp_path)["stopped"] == "exhausted"
    assert paths_of(tmp_path / "out") == paths_of(tmp_path / "whole")
