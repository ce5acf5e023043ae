"""Conditions that are constants of C: no decision of a path, and what they leave out need not exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore

LEFT_OUT = """
#include "score.h"
int does_not_exist(void);
#define HAS(x) (sizeof(#x) == 1)
enum { OFF };

int main(void)
{
    int x;
    SYM_INT(x);
    if (HAS(THIS) && x > 2) does_not_exist();
    if (OFF) does_not_exist();
    if (!HAS(THIS) || does_not_exist()) x++;
    if (x == 3) return HAS(THIS) ? does_not_exist() : 2;
    while (HAS(THIS)) does_not_exist();
    for (; sizeof(x) != sizeof(int);) does_not_exist();
    if (sizeof(x) == sizeof(int) && !OFF) x += 2; else does_not_exist();
    return 0;
}
"""
ENDLESS = """
#include "score.h"
enum { ON = 1 };

int main(void)
{
    int x;
    SYM_INT(x);
    if (x == 1) while (sizeof(x) == sizeof(int)) ;
    if (x == 2) do { } while (ON);
    if (x == 3) while (sizeof(x) == sizeof(int) || x) ;
    if (x == 4) for (; sizeof(int) - 1 ? 1 : 0;) ;
    if (x == 5) while (sizeof(x) == 1) x++;
    return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_left_out_need_not_exist(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"a.c": LEFT_OUT}, "--board", board)
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 2)
    # The condition behind `HAS(THIS) &&` is one nobody reaches, `x == 3` the other.
    coverage = found.summary["coverage"]
    assert (coverage["branches_covered"], coverage["branches_total"]) == (2, 6)


def test_a_loop_without_an_end_is_found(tmp_path: Path) -> None:
    found = explore(tmp_path, {"a.c": ENDLESS}, "--max-branches", "1000")
    assert found.summary["stopped"] == "exhausted"
    hangs = sorted((bug["line"], *bug["inputs"].values()) for bug in found.summary["bugs"] if bug["kind"] == "hang")
    first = ENDLESS.splitlines().index("    if (x == 1) while (sizeof(x) == sizeof(int)) ;") + 1
    assert hangs == [(first + n, n + 1) for n in range(4)]
