"""Checks: every kind is searched for and found with its place and input, alike on boards that trap and that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runner import explore, score_embed

TEXT = """
#include <stdint.h>
#include <stdio.h>
#include "score.h"

struct packet { uint8_t length; uint8_t data[5]; };
static struct packet stored = { 3, { 1, 2, 3 } };
static int16_t grid[3][4];
static uint8_t after[16];

static int fill(uint8_t n)
{
    uint8_t local[6];
    int i, sum = 0;
    for (i = 0; i < n; i++)
        local[i] = (uint8_t)i; /* bounds: n 7 */
    for (i = 0; i < n; i++)
        sum += local[i];
    return sum;
}

int main(void)
{
    uint8_t x, y;
    int32_t z;
    struct packet *p = &stored;
    int r = 0;
    SYM_U8(x);
    SYM_U8(y);
    SYM_INT(z);
    if (x == 1)
        r = 1000 / (y - 9); /* division */
    else if (x == 2)
        r = 1000 % (uint16_t)z; /* division */
    else if (x == 3 && y < 9)
        r = fill(y);
    else if (x == 4 && y < 4)
        r = grid[y][z & 3]; /* bounds: row */
    else if (x == 5) {
        if (y > 250)
            p = 0;
        r = p->data[0]; /* null */
    } else if (x == 6 && y < 6)
        p->data[y] = 7; /* bounds: member */
    else if (x == 7)
        r = z + 1; /* overflow */
    else if (x == 8)
        r = -z; /* overflow */
    else if (x == 9)
        r = z / -1; /* overflow */
    else if (x == 10)
        r = (int)((int64_t)z * 3) | (int)(1u << y); /* shift */
    else if (x == 11 && y == 99)
        __builtin_unreachable(); /* unreachable */
    else if (x == 12)
        r = after[y & 15] + &after[16] - after;
    printf("%d\\n", r);
    return 0;
}
"""
KINDS = {"bounds": "out-of-bounds", "division": "division-by-zero", "null": "null-dereference", "shift": "shift-range"}


def expected(*kinds: str) -> set[tuple[str, int]]:
    """What the comments of the text say: verdict and line."""
    lines = enumerate(TEXT.splitlines(), 1)
    marked = ((number, line.split("/* ")[1].split(" ")[0].strip(":")) for number, line in lines if "/* " in line)
    return {(KINDS.get(kind, kind), number) for number, kind in marked if kind in kinds}


def found(summary: dict[str, Any]) -> set[tuple[str, int]]:
    assert all(bug["confirmed"] and bug["function"] and bug["stack"] for bug in summary["bugs"])
    return {(bug["kind"], bug["line"]) for bug in summary["bugs"]}


@pytest.mark.parametrize("board", ["native", "mps2-an385", "riscv32-virt"])
def test_each_violation_is_found_where_it_is(board: str, tmp_path: Path) -> None:
    summary = explore(tmp_path, {"a.c": TEXT}, "--board", board, "--check", "all").summary
    kinds = ("bounds", "division", "null", "overflow", "shift", "unreachable")
    assert found(summary) == expected(*kinds)
    assert (summary["stopped"], summary["redundant"], summary["divergences"]) == ("exhausted", 0, 0)
    assert summary["incomplete"] == []


def test_by_default_what_firmware_does_on_purpose_is_none(tmp_path: Path) -> None:
    text = TEXT.replace("__builtin_unreachable()", 'puts("there")')
    summary = explore(tmp_path, {"a.c": text}, "--verify").summary
    assert found(summary) == expected("bounds", "division", "null")
    bugs = {bug["line"]: bug["inputs"] for bug in summary["bugs"]}
    lines = {line.strip(): number for number, line in enumerate(TEXT.splitlines(), 1)}
    assert bugs[lines["r = 1000 / (y - 9); /* division */"]]["y"] == 9
    assert bugs[lines["local[i] = (uint8_t)i; /* bounds: n 7 */"]]["y"] in (7, 8)


def test_checks_do_not_change_paths(tmp_path: Path) -> None:
    """Without a violation: the same paths and coverage, also told to check all, and none are looked for if none is
    wanted."""
    text = TEXT.replace("y - 9", "y | 1").replace("(uint16_t)z", "((uint16_t)z | 1)").replace("y < 9", "y < 6")
    text = (
        text.replace("y < 4", "y < 3")
        .replace("y > 250", "y > 255")
        .replace("y < 6", "y < 5")
        .replace("p->data[y]", "r")
    )
    text = (
        text.replace("z + 1", "y + 1")
        .replace("-z", "-y")
        .replace("z / -1", "y / -1")
        .replace("1u << y", "1u << (y & 7)")
    )
    text = text.replace("y == 99", "y == 99 && x == 12")
    summaries = []
    for check in ("all", "none"):
        (tmp_path / check).mkdir()
        summaries.append(explore(tmp_path / check, {"a.c": text}, "--check", check).summary)
    for summary in summaries:
        assert (summary["stopped"], summary["bugs"], summary["redundant"]) == ("exhausted", [], 0)
    assert summaries[0]["paths"] == summaries[1]["paths"]
    assert summaries[0]["coverage"] == summaries[1]["coverage"]


def test_a_check_nobody_knows_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(TEXT)
    done = score_embed("run", "--check", "bound", "a.c", cwd=tmp_path)
    assert done.returncode == 2
    assert "bounds" in done.stderr
