"""Handles: structures that the file of the function only declares, and another file of the program defines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from runner import explore, score_embed

PUBLIC = Path(__file__).resolve().parents[2] / "runtime" / "include"
HEADER = """
typedef struct buffer *buffer;
struct hooks { int (*ask)(int); };
typedef enum { EMPTY, FULL } state;
int level(buffer b);
"""
OWNER = """
#include "buffer.h"
typedef unsigned short words;
typedef struct { unsigned char low : 3, high : 5; } flags;
struct part { words at; struct part *next; };
struct buffer {
    unsigned char *data;
    words count;
    state is;
    flags is_set;
    union { unsigned char first; unsigned char second[2]; };
    struct part parts[2];
    struct part *more;
    const struct hooks *hooks;
    struct { signed char depth; } inner;
};
int level(buffer b) { return b->count; }
"""
USER = """
#include "buffer.h"
struct part { char name[3]; };  /* another one than the owner's */
int first(struct part *p) { return p->name[0]; }
int sums(buffer b)
{
    if (level(b) == 2)
        return 1;
    return 0;
}
int both(buffer b, buffer other) { return level(b) == 1 && level(other) == 3; }
"""
LOOKS = """
int looks(buffer b)
{
    if (b->is == FULL && b->is_set.high == 17 && b->first == 'x')
        return 1;
    if (b->more && b->more->next && b->more->at == 0x1234)
        return 2;
    if (b->count && b->data[b->count - 1] == 7)
        return b->hooks->ask(3) == 5 ? 3 : 4;
    return b->parts[1].at == 9 && b->inner.depth == -2 ? 5 : 6;
}
"""
FILES = {
    "buffer.h": HEADER,
    "owner.c": OWNER + LOOKS,
    "user.c": USER + "int looks(buffer b);\nint by(buffer b) { return looks(b); }\n",
}


def entry(folder: Path, function: str, *options: str, files: dict[str, str] = FILES, first: str = "user.c") -> Any:
    order = [first, *(name for name in files if name.endswith(".c") and name != first)]
    given = {name: files[name] for name in ["buffer.h", *order]}
    return explore(folder, given, "--entry", function, "--no-witness", *options).summary


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_handle_is_made_as_the_file_has_it_that_defines_it(board: str, tmp_path: Path) -> None:
    """All members lie where they do there: each branch is reached, from either file, by as many paths."""
    (tmp_path / "own").mkdir()
    found = {}
    for folder, function in ((tmp_path, "by"), (tmp_path / "own", "looks")):
        found[function] = summary = entry(
            folder, function, "--board", board, first="owner.c" if function == "looks" else "user.c"
        )
        assert (summary["stopped"], summary["incomplete"], summary["bugs"]) == ("exhausted", [], [])
        coverage = summary["coverage"]
        assert coverage["branches_total"] - coverage["branches_covered"] == 6  # those of `sums` and `both`
    assert found["by"]["paths"] == found["looks"]["paths"]
    (tmp_path / "sums").mkdir()
    assert entry(tmp_path / "sums", "sums", "--board", board)["paths"] == 2


def test_a_count_bounds_its_array_there_too(tmp_path: Path) -> None:
    files = FILES | {"owner.c": OWNER + "int looks(buffer b) { return b->data[b->count]; }\n"}
    summary = entry(tmp_path, "by", files=files)
    ((kind, function),) = [(bug["kind"], bug["function"]) for bug in summary["bugs"]]
    assert (kind, function) == ("out-of-bounds", "looks")


@pytest.mark.parametrize(
    "files",
    [
        {"owner.c": OWNER.replace("struct buffer {", "struct __attribute__((packed)) buffer {")},
        {"owner.c": OWNER.replace("struct part parts[2];", "struct part parts[2] __attribute__((aligned(16)));")},
        {"owner.c": OWNER.replace("struct part {", "#pragma pack(1)\nstruct part {")},
        {"owner.c": OWNER, "mock.c": "struct buffer { int port; };\n"},
    ],
    ids=["packed", "aligned", "pragma", "two"],
)
def test_a_handle_that_no_copy_is_like_stays_null_and_that_is_said(files: dict[str, str], tmp_path: Path) -> None:
    summary = entry(tmp_path, "sums", files={"buffer.h": HEADER, "user.c": USER} | files)
    assert summary["stopped"] == "drained"
    assert any("nobody says here what it is to" in note["what"] for note in summary["incomplete"])


NOT_MADE = """
struct hidden { int x; } __attribute__((packed));
int deep(struct hidden *h) { return h->x; }
"""
USES = """
#include <stdarg.h>
struct hidden;
struct outer { int x; struct hidden *in; struct outer *next; };
int deep(struct hidden *h);
int uses(struct outer *o) { if (o->x == 3) return deep(o->in); if (o->x == 4) return o->next->x; return 0; }
int any(int how, ...)
{
    va_list more;
    va_start(more, how);
    int found = how == 5 ? *va_arg(more, int *) : 0;
    va_end(more);
    return found;
}
"""


@pytest.mark.parametrize(
    ("function", "rests"),
    [
        ("uses", [["o->in, o->next->in could not be made", "o->x = 3"], ["o->next may be NULL", "o->x = 4"]]),
        ("any", [["... could not be made"]]),
    ],
)
def test_a_bug_rests_on_what_the_harness_could_not_make(function: str, rests: list[list[str]], tmp_path: Path) -> None:
    summary = explore(tmp_path, {"uses.c": USES, "deep.c": NOT_MADE}, "--entry", function, "--no-witness").summary
    assert sorted(bug["rests_on"] for bug in summary["bugs"]) == rests
    assert summary["stopped"] == "drained"


def test_many_harnesses_have_handles_in_one_program(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    done = score_embed("unit", "--out", "all", "--no-witness", "user.c", "owner.c", cwd=tmp_path)
    rows = {row["function"]: row for row in json.loads((tmp_path / "all" / "unit.json").read_text())["rows"]}
    assert {name: row["stopped"] for name, row in rows.items()} == dict.fromkeys(
        ("first", "sums", "both", "by", "level", "looks"), "exhausted"
    ), done.stdout
    assert rows["both"]["paths"] == 3


def test_the_harness_to_keep_has_the_structure_in_it(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert score_embed("new", "by", "user.c", "owner.c", cwd=tmp_path).returncode == 0
    text = (tmp_path / "by_harness.c").read_text()
    assert "struct buffer_of_owner {" in text
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsyntax-only", f"-I{PUBLIC}", "by_harness.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept = score_embed("run", "by_harness.c", "owner.c", "--json", "--out", "kept", "--no-witness", cwd=tmp_path)
    direct = entry(tmp_path, "by")
    assert json.loads(kept.stdout)["paths"] == direct["paths"]


PASSED = """
#include <stdlib.h>
struct pairs { const char **keys; struct value **values; unsigned len; };
struct value { int x; };
struct context { struct pairs *of; int depth; };
static int has(struct pairs *p)
{
    for (unsigned i = 0; i < p->len; i++)
        if (p->keys[i][0] == 'x' && p->values[i]->x == 3)
            return 1;
    return 0;
}
static int within(struct context *c) { return c->depth == 2 ? has(c->of) : 0; }
int callback(void *c) { return within(c); }
static void give(void *block) { free(block); }
void back(void *hint, void *block) { give(block); }
struct box { void *data; };
void empty(struct box *b) { give(b->data); }
struct hooks { void *(*realloc)(void *, size_t); void (*free)(void *); };
int grow(struct hooks *h) { char *made = h->realloc(0, 3); if (!made) return 1; made[2] = 4; return 0; }
"""


@pytest.mark.parametrize(("function", "paths"), [("callback", 1 + 15 + 7), ("back", 1), ("empty", 1), ("grow", 2)])
def test_what_code_does_with_a_pointer_says_what_it_is_to(function: str, paths: int, tmp_path: Path) -> None:
    """A context that is only passed on; arrays with one count; a block that a function of the file frees; a member that
    is called as a function of the library is."""
    summary = explore(tmp_path, {"p.c": PASSED}, "--entry", function, "--no-witness").summary
    assert (summary["stopped"], summary["bugs"], summary["paths"]) == ("exhausted", [], paths)
