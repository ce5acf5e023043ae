"""Arrays of a harness whose size nobody says: a test that leaves one ends there, which is no bug and no path, and the
bound says how often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runner import BOARDS, explore, score_embed

PROGRAM = """
#include <string.h>
struct state { unsigned char *window, *other; unsigned mode; };
struct table { unsigned *slots; unsigned char kind; };
int one(struct state *s) { if (s->window[s->mode] == 7) return 1; return 0; }
int cleared(struct state *s) { memset(s->window, 1, s->mode); if (s->window[0] == 1) return 1; return 0; }
int below(struct state *s) { if (s->window[(int) s->mode] == 7) return 1; return 0; }
int either(struct state *s)
{
    unsigned char *p = s->mode & 1 ? s->window : s->other;
    if (s->mode > 3) p += 3000;
    if (p[3] == 9) return 1; return 0;
}
struct backend { unsigned length; int (*check)(int); };
struct context { int slave; const struct backend *backend; };
int behind(struct context *ctx, const unsigned char *req)
{
    const int offset = ctx->backend->length;
    switch (req[offset]) {
    case 1: return req[offset + 3] == 9 ? 3 : 2;
    case 2: return 4;
    default: return 1;
    }
}
int far(struct state *s) { if (s->window[s->mode > 3 ? 90 : 2] == 7) return 1; return 0; }
int always(struct state *s) { if (s->window[3000] == 7) return 1; return 0; }
int last(struct table *t) { if (t->slots[t->kind] == 7) return 1; return 0; }
int walk(struct state *s)
{
    unsigned char *p = s->window, *end = p + s->mode % 4 * 100;
    int found = 0;
    while (p < end) found += *p++ == 3 && p == end;
    return found;
}
"""


def entry(folder: Path, function: str, board: str = "native", *options: str) -> dict[str, Any]:
    return explore(folder, {"p.c": PROGRAM}, "--entry", function, "--no-witness", "--board", board, *options).summary


def left(summary: dict[str, Any], name: str) -> str:
    said: list[str] = summary["within"]
    return next(one for one in said if one.startswith(f"{name} = "))


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    ("function", "paths", "who"),
    [
        ("one", 2, "s->window"),
        ("cleared", 258, "s->window"),
        ("below", 2, "s->window"),
        ("either", 4, "s->window"),
        ("last", 2, "t->slots"),
        ("behind", 4, "req"),
    ],
)
def test_paths_are_those_within(tmp_path: Path, function: str, paths: int, who: str, board: str) -> None:
    summary = entry(tmp_path, function, board)
    assert (summary["stopped"], summary["paths"], summary["bugs"]) == ("exhausted", paths, [])
    assert "left it)" in left(summary, who)


@pytest.mark.parametrize("function", ["one", "below", "last"])
def test_nobody_wants_to_leave(tmp_path: Path, function: str) -> None:
    """The first test may, and whoever comes from there stays."""
    summary = entry(tmp_path, function)
    assert summary["runs"] <= summary["paths"] + 1


def test_who_is_inside_stays(tmp_path: Path) -> None:
    (tmp_path / "first.bin").write_bytes(bytes(256))
    summary = entry(tmp_path, "one", "native", "--first", "first.bin")
    assert (summary["stopped"], summary["runs"], summary["paths"]) == ("exhausted", 2, 2)


def test_what_is_not_left_is_not_said_to_be(tmp_path: Path) -> None:
    summary = entry(tmp_path, "far")
    assert (summary["stopped"], summary["paths"], summary["bugs"]) == ("exhausted", 3, [])
    assert left(summary, "s->window") == "s->window = 16 bytes"


def test_a_function_that_always_leaves_explores_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        entry(tmp_path, "always")
    done = score_embed("report", "out", cwd=tmp_path)
    assert "s->window = 16 bytes (1 test left it)" in done.stdout


def test_a_hint_makes_it_larger(tmp_path: Path) -> None:
    (tmp_path / "score-hints.yaml").write_text("types: {state.window: {size: 4000}}\n")
    summary = entry(tmp_path, "always")
    assert (summary["stopped"], summary["paths"], summary["bugs"]) == ("exhausted", 2, [])
