"""`call first`: what a program does before it calls a function, done by the harness."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from runner import score_embed
from test_unity import UNITY

STATEFUL = """
struct cell { struct cell *next; int used; };
static struct cell cells[3], *head;
static void pool_init(void)
{
    for (int i = 0; i < 2; i++)
        cells[i].next = &cells[i + 1];
    head = cells;
}
int pool_take(unsigned char wanted)
{
    int taken = 0;
    for (; wanted < 4 && taken < wanted; taken++) {
        head->used = 1;
        head = head->next;
    }
    return taken;
}
struct ring { unsigned char *data; unsigned size, in; };
void ring_init(struct ring *r, unsigned char *data, unsigned size) { r->data = data; r->size = size; r->in = 0; }
/* score: call first static unsigned char room[2]; call first ring_init(r, room, sizeof room) */
int ring_put(struct ring *r, unsigned char c, unsigned char d)
{
    for (int i = 0; i < c; i++) {
        if (r->in >= r->size)
            return -1;
        r->data[r->in++] = d;
    }
    return d > 100;
}
"""
FIRST = "functions: {pool_take: {call first: [pool_init()]}}"


def entry(folder: Path, function: str, *options: str, hints: str = "") -> dict[str, Any]:
    (folder / "p.c").write_text(STATEFUL)
    (folder / "score-hints.yaml").write_text(hints)
    words = ("--out", function, "--json", "--no-witness", *options, "p.c")
    done = score_embed("run", "--entry", function, *words, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_pool_that_nobody_has_set_up(board: str, tmp_path: Path) -> None:
    found = entry(tmp_path, "pool_take", "--board", board)
    assert [bug["kind"] for bug in found["bugs"]] == ["null-dereference"]


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_pool_that_is_set_up(board: str, tmp_path: Path) -> None:
    found = entry(tmp_path, "pool_take", "--board", board, hints=FIRST)
    assert (found["stopped"], found["paths"], found["bugs"]) == ("exhausted", 5, [])
    assert "pool_init() called first" in found["within"]


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_an_argument_that_is_set_up(board: str, tmp_path: Path) -> None:
    """By a comment in the source; what the call has set is no input any more."""
    found = entry(tmp_path, "ring_put", "--board", board)
    assert (found["stopped"], found["paths"], found["bugs"]) == ("exhausted", 4, [])


def test_an_exported_test_calls_it_too(tmp_path: Path) -> None:
    """Also of a function whose arguments are all numbers, which a test calls without a harness otherwise."""
    assert entry(tmp_path, "pool_take", hints=FIRST)["paths"] == 5
    made = score_embed("export", "pool_take", "--unity", "t.c", "--tests", "paths", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    command = ["gcc", "-w", "-I", str(UNITY), "t.c", str(UNITY / "unity.c"), "-o", "t"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    done = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "5 Tests 0 Failures" in done.stdout, done.stdout + done.stderr
