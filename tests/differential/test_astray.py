"""Wrong accesses through symbolic pointers: where one object ends a test, the others are looked for all the same,
whichever came first. All inputs of each program are tried by its few lines of Python."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from runner import explore

WRONG = "wrong"
INPUTS = '#include <stdint.h>\n#include <stdlib.h>\n#include "score.h"\nstatic uint8_t i, j, k;\n'
MAIN = "int main(void) {{ SYM_U8(i); SYM_U8(j); SYM_U8(k); {} }}\n"


class Program(NamedTuple):
    before: str  # what main uses
    body: str  # of main
    outcome: Callable[[int, int, int], int | str]  # what main returns
    most: tuple[int, int, int] = (4, 20, 1)  # inputs from here on do what these do


def _named(i: int, j: int, k: int) -> int | str:
    names = ["ab", "abcdefgh", "x", "abcdeg"]
    if i > 3:
        return 9
    return WRONG if len(names[i]) < 5 else {"f": 1, "g": 2}.get((names[i] + "\0")[5], 3)


def _indexed(i: int, j: int, k: int) -> int | str:
    names = ["ab", "abcdefgh"]
    if i > 1:
        return 9
    return WRONG if j > len(names[i]) else 1 if (names[i] + "\0")[j] == "b" else 2


def _stored(i: int, j: int, k: int) -> int | str:
    if i > 1:
        return 9
    if j >= (4, 12)[i]:
        return WRONG
    return 1 if (i, j, k) == (0, 2, 7) else 2 if (i, j, k) == (1, 5, 8) else 3


def _freed(i: int, j: int, k: int) -> int | str:
    if i > 2 or j > 9:
        return 9
    return WRONG if i == 0 or j >= (4, 8, 2)[i] else i


def _freed_twice(i: int, j: int, k: int) -> int | str:
    return 9 if i > 1 else WRONG if i == 0 or j & 1 else 1


def _grown(i: int, j: int, k: int) -> int | str:
    return 9 if i > 2 else WRONG if i == 0 else 2 if i == 1 and j == 3 else 1


def _moved(i: int, j: int, k: int) -> int | str:
    rows = [[6, 7, 8], [1, 2, 3, 4, 5], [0] * 7]
    if i > 2 or k > 2:
        return 9
    if j >= len(rows[i]):
        return WRONG
    if rows[i][j] == 3:
        return 5
    rows[k][1] = 3
    return 1 if rows[i][j] == 3 else 2


def _member(i: int, j: int, k: int) -> int | str:
    if i > 1:
        return 9
    return WRONG if j >= 8 else 1 if (i, j) == (1, 6) else 2


PROGRAMS = {
    "constants": Program(
        'static const char *const names[] = {"ab", "abcdefgh", "x", "abcdeg"};',
        "if (i > 3) return 9; switch (names[i][5]) { case 'f': return 1; case 'g': return 2; } return 3;",
        _named,
    ),
    "constants at an index": Program(
        'static const char *const names[] = {"ab", "abcdefgh"};',
        "if (i > 1) return 9; if (names[i][j] == 'b') return 1; return 2;",
        _indexed,
    ),
    "stores": Program(
        "static uint8_t one[4], two[12]; static uint8_t *const all[] = {one, two};",
        "if (i > 1) return 9; all[i][j] = k; if (one[2] == 7) return 1; if (two[5] == 8) return 2; return 3;",
        _stored,
        (3, 20, 9),
    ),
    "freed blocks": Program(
        "",
        """uint8_t *t[3]; if (i > 2 || j > 9) return 9;
        t[0] = malloc(4); t[1] = malloc(8); t[2] = malloc(2); if (!t[0] || !t[1] || !t[2]) return 8;
        free(t[0]); t[i][j] = 5; if (t[1][0] == 5 && i == 1 && j == 0) return 1; return i;""",
        _freed,
    ),
    "freed twice": Program(
        "",
        """uint8_t *t[2]; if (i > 1) return 9; t[0] = malloc(4); t[1] = malloc(8); if (!t[0] || !t[1]) return 8;
        free(t[0]); free(t[i] + (j & 1)); return 1;""",
        _freed_twice,
    ),
    "grown": Program(
        "",
        """uint8_t *t[3], *grown; if (i > 2) return 9; t[0] = malloc(4); t[1] = malloc(8); t[2] = 0;
        if (!t[0] || !t[1]) return 8; free(t[0]); t[1][3] = j; grown = realloc(t[i], 9); if (!grown) return 8;
        if (i == 1 && grown[3] == 3) return 2; return 1;""",
        _grown,
    ),
    "moved pointers": Program(
        "static int32_t five[5] = {1, 2, 3, 4, 5}, three[3] = {6, 7, 8}, seven[7];"
        "static int32_t *rows[] = {three, five, seven};",
        """int32_t *p; if (i > 2 || k > 2) return 9; p = rows[i]; p += j; if (*p == 3) return 5;
        rows[k][1] = 3; if (*p == 3) return 1; return 2;""",
        _moved,
        (4, 20, 4),
    ),
    "structures": Program(
        "struct s { int32_t a; uint8_t t[4]; }; static struct s one, two;",
        """struct s *of[2]; uint8_t *p; of[0] = &one; of[1] = &two; two.t[2] = 3; if (i > 1) return 9;
        p = (uint8_t *) of[i]; if (p[j] == 3) return 1; return 2;""",
        _member,
    ),
}
# The first test ends at a right access, beyond an object of each kind, and nowhere near.
FIRSTS = [(0, 0, 0), (0, 18, 0), (1, 7, 8), (1, 18, 0), (2, 1, 0), (200, 200, 200)]


def _ended(folder: Path) -> set[int | str]:
    with closing(sqlite3.connect(folder / "campaign.db")) as record:
        rows = record.execute("SELECT verdict, code FROM tests").fetchall()
    return {code if verdict in ("return", "exit") else WRONG for verdict, code in rows}


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_object_is_looked_for(tmp_path: Path, name: str, board: str) -> None:
    program = PROGRAMS[name]
    wanted = {program.outcome(*given) for given in itertools.product(*(range(most + 1) for most in program.most))}
    files = {"p.c": f"{INPUTS}{program.before}\n{MAIN.format(program.body)}"}
    for number, first in enumerate(FIRSTS if board == "native" else FIRSTS[1:4:2]):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = explore(folder, files, "--board", board, first=dict(zip("ijk", first, strict=True)))
        assert found.summary["stopped"] == "exhausted", (first, found.incomplete)
        assert _ended(found.folder) == wanted, first
        assert found.summary["mispredicted"] == 0


CURSOR = """
#include <stddef.h>
struct cursor { const unsigned char *content; unsigned length, offset; };
int quoted(int *count, struct cursor *c)
{
    const unsigned char *end = c->content + c->offset + 1;
    if (c->content[c->offset] != '"') return 0;
    while ((unsigned) (end - c->content) < c->length && *end != '"') end++;
    *count = 1;
    return 1;
}
int other(struct cursor *c) { return c->content == NULL ? 0 : 1; }
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_buffer_that_may_be_null_is_looked_at_in_all_lengths(tmp_path: Path, seed: int) -> None:
    """No quote; after one, up to fifteen other bytes, and a quote or the end; beyond the end; null."""
    found = explore(tmp_path, {"c.c": CURSOR}, "--entry", "quoted", "--seed", str(seed))
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == 1 + 16 + 15 + 1 + 1
    assert {bug["kind"] for bug in found.summary["bugs"]} == {"out-of-bounds", "null-dereference"}


COPIES = """
#include <string.h>
#include "score.h"
static unsigned char to[16], one[4], two[8], *from[] = {one, two};
int main(void) { unsigned char i, j; SYM_U8(i); SYM_U8(j); if (i > 1 || j > 16) return 9; memcpy(to, from[i], j); return j > 2; }
"""


@pytest.mark.parametrize("i", range(2))
@pytest.mark.parametrize("j", [0, 5, 9])
def test_of_copies_it_is_said_that_paths_may_be_missing(tmp_path: Path, i: int, j: int) -> None:
    """That a copy is right is no condition where its pointer is symbolic: what comes after it may lead back to it."""
    found = explore(tmp_path, {"p.c": COPIES}, first={"i": i, "j": j})
    whole = _ended(found.folder) == {9, 0, 1, WRONG}
    assert whole or (found.summary["stopped"] == "drained" and found.incomplete)


PAIRED = """
#include "score.h"
static const char *const names[] = {"ab", "abcdefgh"};
static unsigned char one[3], two[9], three[9], four[9], *rows[] = {two, one}, *lines[] = {three, four};
int main(void)
{
    unsigned char i, j, k;
    SYM_U8(i); SYM_U8(j); SYM_U8(k);
    if (i > 1 || j > 1) return 9;
    two[4] = 5;
    if (SUM == 'e' + 5) return 1;
    return 2;
}
"""


@pytest.mark.parametrize("first", [(0, 0, 0), (0, 0, 7), (0, 1, 4), (1, 0, 4), (1, 1, 4), (1, 1, 20)])
@pytest.mark.parametrize("both", ["names[i][k] + rows[j][k]", "lines[i][k] + rows[i][k] + 'e'"])
def test_two_pointers_in_one_statement(tmp_path: Path, both: str, first: tuple[int, int, int]) -> None:
    """What is left where a second pointer goes astray while the first one's objects are looked for, nobody knows: then
    it is said."""
    text = PAIRED.replace("SUM", both)
    found = explore(tmp_path, {"p.c": text}, "--time", "30", first=dict(zip("ijk", first, strict=True)))
    assert found.summary["stopped"] in ("exhausted", "drained")
    whole = _ended(found.folder) == {9, 1, 2, WRONG}
    assert whole or found.incomplete
