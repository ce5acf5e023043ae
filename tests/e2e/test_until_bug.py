"""`--until-bug`: the first confirmed bug is the end, alone and with clients; a resumed campaign goes on from there. And
what the status line says when nothing new comes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from runner import explore, score_embed

from score_embed import config
from score_embed.campaign import campaign, status

# Two bugs, which many of 2^14 paths come to: two clients need more than the few rounds of tests after which a fleet hears
# of the first bug.
PATHS = 1 << 14
BUGS = """
#include "score.h"
int main(void)
{
    unsigned char b[14];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    SCORE_ASSERT(n != 3); /* ONE */
    if (n == 4)
        SCORE_ASSERT(b[0] != 'a'); /* TWO */
    return n;
}
"""


def resumed(folder: Path, *words: str) -> dict[str, Any]:
    done = score_embed("run", "--json", "--resume", "out", *words, cwd=folder)
    assert done.returncode == 1, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("clients", ["1", "2"])
def test_it_does_not_end_with_a_bug_that_is_known(clients: str, tmp_path: Path) -> None:
    """To the baseline; the second bug is none of it."""
    one = BUGS.replace("SCORE_ASSERT(b[0] != 'a'); /* TWO */", "n++;")
    explore(tmp_path, {"p.c": one}, "--out", "one")
    assert score_embed("report", "one", "--write-baseline", "known.txt", cwd=tmp_path).returncode == 0
    assert len((tmp_path / "known.txt").read_text().splitlines()) == 2
    how = ("--until-bug", "--baseline", "known.txt", "--clients", clients)
    assert explore(tmp_path, {"p.c": one}, "--out", "again", *how).summary["stopped"] == "exhausted"
    found = explore(tmp_path, {"p.c": BUGS}, *how).summary
    assert found["stopped"] == "bug"
    assert any("TWO" in (tmp_path / "p.c").read_text().splitlines()[bug["line"] - 1] for bug in found["bugs"])


def paths(folder: Path) -> set[int]:
    with closing(sqlite3.connect(folder / "out" / "campaign.db")) as record:
        return {row[0] for row in record.execute("SELECT path FROM tests WHERE is_new")}


@pytest.mark.parametrize("clients", ["1", "2"])
def test_it_ends_with_the_first_bug_and_goes_on_to_the_next(clients: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    assert explore(whole, {"p.c": BUGS}).summary["stopped"] == "exhausted"
    found = explore(tmp_path, {"p.c": BUGS}, "--until-bug", "--clients", clients)
    assert (found.code, found.summary["stopped"]) == (1, "bug")
    assert any(bug["confirmed"] for bug in found.summary["bugs"])
    assert found.summary["runs"] < PATHS
    if clients == "1":
        (bug,) = found.summary["bugs"]
        assert bug["test"] == found.summary["runs"]  # no test follows
    told = score_embed("report", "out", cwd=tmp_path).stdout
    assert "bug: a bug was found, and --until-bug was given" in told
    again = resumed(tmp_path, "--until-bug")
    assert again["runs"] > found.summary["runs"]
    assert (again["stopped"], len(again["bugs"])) in {("bug", 2), ("exhausted", 2)}
    done = resumed(tmp_path)
    assert (done["stopped"], len(done["bugs"])) == ("exhausted", 2)
    assert paths(tmp_path) == paths(whole)


def test_what_only_the_second_witness_sees_is_the_end_too(tmp_path: Path) -> None:
    source = BUGS.replace("int main", "#include <string.h>\nstatic char wide[32];\nint main")
    source = source.replace("[14]", "[20]").replace("SCORE_ASSERT(b[0]", "n += (b[0]")
    source = source.replace("SCORE_ASSERT(n != 3)", "memcpy(wide + 1, wide, n)")
    found = explore(tmp_path, {"p.c": source}, "--until-bug", "--time", "60s").summary
    (bug,) = found["bugs"]
    assert found["stopped"] == "bug"
    assert bug["witness"]


def test_the_status_line_says_that_nothing_new_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status, "LINE_SECONDS", 0.3)
    monkeypatch.setattr(status, "QUIET_SECONDS", 0.6)
    (tmp_path / "p.c").write_text(BUGS.replace("[14]", "[30]").replace("SCORE_ASSERT(n != 3)", "if (n == 31) n = 0"))
    campaign.run(config.Settings(sources=(tmp_path / "p.c",), out=tmp_path / "o", time=4.0, no_witness=True))
    lines = capsys.readouterr().err.splitlines()
    assert "nothing new" not in lines[0]
    assert any("nothing new for " in line for line in lines), lines
