"""`run --regress DIR`: kept tests that end in bugs, and what the user has said of these bugs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner import score_embed

DIVIDES = """
#include "score.h"
int main(void)
{
    unsigned char a, b;
    SYM_U8(a);
    SYM_U8(b);
    if (a == 7) return 100 / (b - 9);
    return 0;
}
"""
# Another bug beside it, which the campaign did not have.
WORSE = DIVIDES.replace("return 0;", "return 50 / (a * 0);")
PLACE = "prog.c:8 division-by-zero"


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    (tmp_path / "prog.c").write_text(DIVIDES)
    done = score_embed("run", "--out", "kept", "prog.c", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    return tmp_path


def regress(folder: Path, *words: str) -> tuple[int, str]:
    done = score_embed("run", "--regress", "kept", *words, "prog.c", cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_a_bug_that_is_still_there_fails_and_is_as_before(campaign: Path) -> None:
    code, said = regress(campaign)
    assert code == 1
    assert "prog.c:8: error: an integer is divided by zero in main" in said
    assert "1 bug (1 as before)" in said


@pytest.mark.parametrize("word", ["accept", "refuse"])
def test_a_bug_that_the_user_has_judged_fails_nothing(campaign: Path, word: str) -> None:
    (campaign / "score-hints.yaml").write_text(f"{word}:\n  {PLACE}: issue 41\n")
    code, said = regress(campaign)
    assert code == 0, said
    assert "error" not in said
    assert "1 known" in said
    code, said = regress(campaign, "--json")
    assert code == 0, said
    states = [test["state"] for test in json.loads(said)["tests"]]
    assert sorted(states) == ["known", *["same"] * (len(states) - 1)]


def test_a_bug_of_the_baseline_fails_nothing(campaign: Path) -> None:
    done = score_embed("report", "kept", "--write-baseline", "known.txt", cwd=campaign)
    assert done.returncode == 0, done.stderr
    code, said = regress(campaign, "--baseline", "known.txt")
    assert code == 0, said
    assert "1 known" in said


def test_what_was_said_of_one_bug_is_not_said_of_another(campaign: Path) -> None:
    (campaign / "score-hints.yaml").write_text(f"accept:\n  {PLACE}: issue 41\n")
    (campaign / "prog.c").write_text(WORSE)
    code, said = regress(campaign)
    assert code == 1
    assert "prog.c:9: error: an integer is divided by zero in main" in said
    assert "1 known" in said
    assert "as before" not in said
