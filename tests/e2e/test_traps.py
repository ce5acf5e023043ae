"""The traps that a prototype fell into, each once (design notes: stale taint gives wrong formulas or lost paths)."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore


@pytest.mark.parametrize("board", BOARDS)
def test_a_frame_reused_after_opaque_code_filled_it_is_not_symbolic(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        void fill(unsigned char *p);
        static int first(unsigned char x)
        {
            unsigned char b[16];
            for (int i = 0; i < 16; i++)
                b[i] = x;
            return b[15] == 7;
        }
        static int second(void)
        {
            unsigned char c[16];
            fill(c);
            return c[3] == 5 ? 1 : c[4] == 6 ? 2 : 3;
        }
        int main(void)
        {
            unsigned char x;
            SYM_U8(x);
            return (first(x) ? 1 : 0) + second();
        }
    """
    fill = "void fill(unsigned char *p) { for (int i = 0; i < 16; i++) p[i] = (unsigned char)(i * 3); }\n"
    found = explore(tmp_path, {"p.c": program, "fill.c": fill}, "--board", board, "--verify", native=("fill.c",))
    assert found.summary["paths"] == 2
    assert found.summary["divergences"] == 0
    assert found.summary["conditions"]["max"] == 1


@pytest.mark.parametrize("board", BOARDS)
def test_a_copy_follows_the_latest_covering_store(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        struct pair { unsigned char a, b; };
        union cell { unsigned word; struct pair pairs[2]; unsigned char bytes[4]; };
        int main(void)
        {
            unsigned char x, y;
            union cell u;
            struct pair p, all[3];
            SYM_U8(x);
            SYM_U8(y);
            u.word = (unsigned)x << 8 | (unsigned)y << 16;
            u.bytes[0] = 9;
            u.bytes[2] = (unsigned char)(u.bytes[2] + 1);
            all[0] = u.pairs[0];
            all[1] = u.pairs[1];
            all[2] = all[1];
            all[1] = all[0];
            p.a = all[1].b;
            p.b = all[2].a;
            if (p.a == 200)
                if (p.b == 0)
                    return 1;
            return all[1].a == 9;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--verify")
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == 3
    assert found.summary["divergences"] == 0


@pytest.mark.parametrize("board", BOARDS)
def test_struct_copies_between_overlapping_places(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        struct three { unsigned char b[3]; };
        static unsigned char buf[8];
        int main(void)
        {
            struct three t;
            SYM_BYTES(buf, 3);
            t = *(struct three *)buf;
            *(struct three *)(buf + 1) = t;
            t = *(struct three *)(buf + 1);
            *(struct three *)(buf + 2) = t;
            if (buf[0] == 1)
                return 1;
            if (buf[4] == 2)
                return 2;
            return buf[5] == 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--verify")
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == 3
    assert found.summary["divergences"] == 0


@pytest.mark.parametrize("board", BOARDS)
def test_old_style_parameters_arrive_promoted(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        compare(c, s)
            signed char c;
            unsigned short s;
        {
            if (c < 0)
                return 1;
            return s == 300 ? 2 : 3;
        }
        int main(void)
        {
            unsigned char x;
            SYM_U8(x);
            return compare(x, x + 200);
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--verify", cflags=("-std=gnu89",))
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == 3
    assert found.summary["divergences"] == 0


@pytest.mark.parametrize("board", BOARDS)
def test_an_index_may_be_overwritten_by_what_it_selects(tmp_path: Path, board: str) -> None:
    program = """
        #include <stddef.h>
        #include "score.h"
        struct node { int key; struct node *next; };
        int main(void)
        {
            unsigned char t[4];
            int i = 0;
            SYM_BYTES(t, 4);
            i = t[i];
            if (i == 7)
                return 1;
            if (~0u == 0xffffffffu && offsetof(struct node, key) == 0 && t[1] == 9)
                return 2;
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--verify")
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == 3


@pytest.mark.parametrize("board", BOARDS)
def test_a_store_to_a_bit_field_faults_in_the_program(tmp_path: Path, board: str) -> None:
    """Its probe reads what lies there, before the store."""
    program = """
#include "score.h"
struct flags { char c; unsigned level : 3; };
static struct flags own;
static void store(struct flags *p, unsigned char x)
{
    p->level = x;
}
int main(void)
{
    unsigned char x;
    SYM_U8(x);
    store(x & 16 ? 0 : &own, x);
    if (own.level == 5)
        return 1;
    return 0;
}
"""
    found = explore(tmp_path, {"flags.c": program}, "--board", board)
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 3)
    assert [(bug["kind"], bug["line"]) for bug in found.summary["bugs"]] == [("null-dereference", 7)]
