"""Structures without members (GNU C) take no place: what lies where they would is checked as ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore, score_embed

PROGRAM = """
#include "score.h"
struct empty { };
static struct empty e1, e2;
static int a[4];
static struct empty e3;
static int b[4];
static volatile void *keep[8];
int main(void)
{
    unsigned char i;
    int r, *p = a, *q = b;
    struct empty l1;
    int c[4] = {0};
    struct empty l2;
    int d[4] = {0};
    struct empty l3;
    int *s = c, *t = d;
    keep[0] = &e1; keep[1] = &e2; keep[2] = &e3; keep[3] = a; keep[4] = b; keep[5] = &l1; keep[6] = &l2; keep[7] = &l3;
    SYM_U8(i);
    r = p[i & 7]; /* BUG */
    if (i == 3) r += (q + 4)[-1] + (p + 4)[-1] + (s + 4)[-1] + (t + 4)[-1];
    if (i == 16) r += q[4]; /* BUG */
    if (i == 24) r += s[4]; /* BUG */
    if (i == 32) r += t[4]; /* BUG */
    return r;
}
"""


@pytest.mark.parametrize("flags", [(), ("-fdata-sections",)], ids=["", "sections"])
@pytest.mark.parametrize("board", [*BOARDS, "riscv32-virt", "native32"])
def test_what_lies_beside_them_is_checked(tmp_path: Path, board: str, flags: tuple[str, ...]) -> None:
    found = explore(tmp_path, {"p.c": PROGRAM}, "--board", board, "--no-witness", cflags=flags)
    lines = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if "BUG" in line]
    assert sorted((bug["line"], bug["kind"]) for bug in found.summary["bugs"]) == [(n, "out-of-bounds") for n in lines]
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 6)


ODD = """
#include <stdarg.h>
#include <stdbool.h>
typedef enum { A, B } e_t;
struct empty { };
struct holds { va_list ap; int n; };
struct large { long double d[2]; _Complex double c; __int128 i; };
union either { long double d; int i; };
int list(va_list *ap, int n) { return n > 3 && ap ? va_arg(*ap, int) : 0; }
int member(struct holds *h) { return h->n > 4; }
int members(struct holds **h) { return h[0]->n > 4; }
int wide(long double *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] > 3; return s; }
int one_wide(long double *p) { return p[1] > 3; }
int wider(__int128 *p) { return p[1] > 3; }
int complex(_Complex double *p) { return __real__ p[1] > 3; }
int by_value(_Complex float p) { return __real__ p > 3; }
int enums(e_t *p) { return p[1] > 3; }
int bools(bool *p) { return p[1]; }
int halves(_Float16 *p) { return p[1] > 2; }
int deep(int ***p) { return ***p > 2; }
int rows(int p[3][4]) { return p[2][1] > 2; }
int row(int (*p)[4]) { return p[1][1] > 2; } /* BUG */
int nothing(struct empty *e, int n) { return e && n > 3; }
int of_large(struct large *h) { return h->d[1] > 2 && h->i > 2; }
int of_union(union either *u) { return u->i > 3; }
int wide_at(long double **p) { return *p[0] > 3; }
"""


def test_each_type_is_made_or_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(ODD)
    done = score_embed("unit", "p.c", "--time", "5s", "--no-witness", "--out", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "not built" not in done.stdout
    assert "internal error" not in done.stdout + done.stderr
    assert "p.c:22: error: an object is accessed beyond its end in row" in done.stdout
    assert "ap (__builtin_va_list *) is null: it leads to arguments of `...`" in " ".join(done.stdout.split())
