"""What `score-hints.yaml` says of a structure holds of each one that a harness makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore, score_embed

CODE = """
struct room { int used; char *text; };
typedef struct { struct room in; struct room *out; int n[4]; } house;
int last(house *self) { return self->n[self->in.used] + self->n[self->out->used]; }
int by_value(house self) { return self.n[self.in.used]; }
int several(struct room *rooms, int count)
{
    int i, n[4] = {0}, sum = 0;
    for (i = 0; i < count; i++) sum += n[rooms[i].used];
    return sum;
}
union either { int used; unsigned char bytes[4]; };
int of_union(union either *e) { int n[4] = {0}; return n[e->used]; }
int plain(int used) { int n[4] = {0}; return n[used]; }
"""
HINTS = """
types:
  room: {assume: ["self->used >= 0 && self->used < 4"]}
  house: {assume: ["self->out != 0"]}
  either: {assume: ["(unsigned) self->used < 4"]}
"""


def _explored(folder: Path, function: str, hints: str = HINTS, *options: str) -> tuple[set[str], list[str]]:
    files = {"p.c": CODE} | ({"score-hints.yaml": hints} if hints else {})
    summary = explore(folder, files, "--entry", function, "--time", "20s", "--no-witness", *options).summary
    return {bug["kind"] for bug in summary["bugs"]}, summary["within"]


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("function", ["last", "by_value", "several", "of_union"])
def test_it_is_assumed_wherever_such_a_structure_is(tmp_path: Path, function: str, board: str) -> None:
    for name in ("without", "with"):
        (tmp_path / name).mkdir()
    bugs, within = _explored(tmp_path / "without", function, "", "--board", board)
    assert "out-of-bounds" in bugs
    bugs, within = _explored(tmp_path / "with", function, HINTS, "--board", board)
    assert not bugs
    assert ("room: self->used >= 0 && self->used < 4" in within) is (function != "of_union")
    assert ("house: self->out != 0" in within) is (function in ("last", "by_value"))


def test_a_function_without_such_a_structure_has_no_such_bound(tmp_path: Path) -> None:
    bugs, within = _explored(tmp_path, "plain")
    assert (bugs, within) == ({"out-of-bounds"}, [])


WRONG = {
    "types:\n  room: {assume: [self->usde < 4]}\n": ("h.yaml:2", "usde"),
    "types:\n  room: {assume: [used < 4]}\n": ("h.yaml:2", "assume: 'used < 4' says nothing of the structure"),
    "types:\n  room: {range: [0, 4]}\n": ("h.yaml:2", "unknown hint of a structure 'range'"),
    "types:\n  room: {assume: [self->used <]}\n": ("h.yaml:2", "expression expected"),
    "types:\n  room: {assume: [self->used == 1, self->used == 2]}\n": ("", "fulfil"),
}


@pytest.mark.parametrize("hints", WRONG)
def test_what_would_do_nothing_is_an_error_where_it_stands(tmp_path: Path, hints: str) -> None:
    (tmp_path / "p.c").write_text(CODE)
    (tmp_path / "h.yaml").write_text(hints)
    done = score_embed("run", "--entry", "last", "--hints", "h.yaml", "--time", "5s", "p.c", cwd=tmp_path)
    place, what = WRONG[hints]
    assert done.returncode == (2 if place else 5), done.stderr
    assert place in done.stderr
    assert what in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
