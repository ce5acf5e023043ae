"""The heap: every misuse is found with its place and input, by the program itself or in code without probes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runner import explore

INCLUDES = '#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "score.h"\n'
MISUSES = """
struct item { uint8_t kind; int16_t values[4]; struct item *next; uint8_t tail[]; };
void scribble(char *text, int at);

static int sum(struct item *first)
{
    int found = 0;
    for (; first; first = first->next)
        found += first->values[3]; /* use-after-free */
    return found;
}

int main(void)
{
    uint8_t what, x;
    char *p, *q, *end;
    struct item *items;
    SYM_U8(what);
    SYM_U8(x);
    p = malloc(8);
    q = malloc(x & 3);
    items = calloc(1, sizeof *items + 4);
    if (!p || !q || !items) return 3;
    items->next = calloc(1, sizeof *items);
    if (!items->next) return 3;
    switch (what) {
    case 1: if (x < 20) p[x] = 5; /* out-of-bounds: x 8 */ break;
    case 2: if (x == 9) { free(p); p[0] = 1; /* use-after-free */ } break;
    case 3: if (x == 9) free(p); free(p); /* double-free */ return 1;
    case 4: if (x == 77) free(p + 1); /* invalid-free */ break;
    case 5: if (x == 88) free(&what); /* invalid-free */ break;
    case 6: end = p + 8; if (x == 3) *end = 0; /* out-of-bounds */ end[-1] = 4; break;
    case 7: items->tail[x & 7] = 3; /* out-of-bounds: x 4 */ break;
    case 8: if (x == 7) { free(items->next); if (sum(items) == 1) return 4; return 5; } break;
    case 9: scribble(p, x & 15); free(p); /* heap-corruption */ return 2;
    case 10: p[0] = 'y'; p = realloc(p, 16); if (!p || p[0] != 'y') return 9; if (x == 5) p[16] = 1; /* out-of-bounds */ break;
    case 11: if (x == 4) { p[-1] = 1; /* out-of-bounds */ } break;
    }
    free(p);
    free(q);
    free(items->next);
    free(items);
    return 0;
}
"""
OPAQUE = "void scribble(char *text, int at) { text[at] = 1; }\n"


def expected(text: str) -> set[tuple[str, int]]:
    """What the comments of the text say: verdict and line."""
    lines = enumerate(text.splitlines(), 1)
    marked = ((number, line.split("/* ")[1].split(" ")[0].strip(":")) for number, line in lines if "/* " in line)
    return {(kind, number) for number, kind in marked}


def found(summary: dict[str, Any]) -> set[tuple[str, int]]:
    assert all(bug["confirmed"] and bug["function"] and bug["stack"] for bug in summary["bugs"])
    return {(bug["kind"], bug["line"]) for bug in summary["bugs"]}


@pytest.mark.parametrize("board", ["native", "mps2-an385", "riscv32-virt", "arduino-mega2560"])
def test_each_misuse_is_found_where_it_is(board: str, tmp_path: Path) -> None:
    text = INCLUDES + MISUSES
    summary = explore(tmp_path, {"a.c": text, "o.c": OPAQUE}, "--board", board, native=("o.c",)).summary
    by_witness = {("out-of-bounds", 1)} if board == "native" else set()  # it sees who corrupts the heap: o.c
    assert found(summary) == expected(text) | by_witness
    assert (summary["redundant"], summary["divergences"]) == (0, 0)
    inputs = {bug["line"]: bug["inputs"] for bug in summary["bugs"] if bug["kind"] == "out-of-bounds"}
    lines = {line.strip(): number for number, line in enumerate(text.splitlines(), 1)}
    assert inputs[lines["case 1: if (x < 20) p[x] = 5; /* out-of-bounds: x 8 */ break;"]]["x"] >= 8
    assert inputs[lines["case 7: items->tail[x & 7] = 3; /* out-of-bounds: x 4 */ break;"]]["x"] & 7 >= 4


LIBRARY = """
char *make(int size);
char *copy(const char *text);
int main(void)
{
    uint8_t x, n;
    char *p, *q, *text;
    SYM_U8(x);
    SYM_U8(n);
    SCORE_ASSUME(n < 3);
    text = copy("text");
    p = make(n);
    q = malloc(n + 1);
    if (!text || !p || !q) return 9;
    if (x == 1) strcpy(q, "ab"); /* a model's: fits for n == 2 */
    if (x == 2) text[5] = 'x';
    if (x == 3) p[n] = 0;
    if (x == 4) make(-1); /* left damaged, never freed */
    free(text);
    free(p);
    free(q);
    return n;
}
"""
MAKE = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
char *copy(const char *text) { return strdup(text); } /* the library allocates */
char *make(int size)
{
    char *p = malloc(size < 0 ? 4 : size);
    if (size < 0) p[5] = 1;
    return p;
}
"""


@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385", "riscv32-virt"])
def test_the_library_and_other_code_use_the_same_heap(board: str, tmp_path: Path) -> None:
    files = {"a.c": INCLUDES + LIBRARY, "make.c": MAKE}
    summary = explore(tmp_path, files, "--board", board, "--verify", native=("make.c",)).summary
    places = {(bug["kind"], bug["function"]) for bug in summary["bugs"]}
    by_witness = {("out-of-bounds", "make")} if board.startswith("native") else set()  # it sees who corrupts the heap
    assert places == {("out-of-bounds", "main"), ("heap-corruption", "main")} | by_witness
    assert len(summary["bugs"]) == 4 + len(by_witness)
    assert summary["divergences"] == 0


FULL = """
int main(void)
{
    void *held[70];
    uint8_t size;
    int i;
    SYM_U8(size);
    SCORE_ASSUME(size >= 240);
    for (i = 0; i < 70 && (held[i] = malloc(size)); i++) memset(held[i], 1, 240);
    if (i == 70) return 0;
    if (malloc(20000)) return 1; /* too large for what there is at all */
    free(held[0]);
    held[0] = malloc(size - 100); /* used again */
    return held[0] ? 2 : 3;
}
"""


def test_a_full_heap_is_no_bug(tmp_path: Path) -> None:
    """Its size is the profile's; a null pointer is what the program gets, and what is freed can be had again."""
    (tmp_path / "small.yaml").write_text("extends: mps2-an385\nmemory: {heap: 16K}\n")
    summary = explore(tmp_path, {"a.c": INCLUDES + FULL}, "--board", "small.yaml").summary
    assert (summary["stopped"], summary["bugs"], summary["paths"]) == ("exhausted", [], 16)


OWN = """
static char memory[65536] __attribute__((aligned(16)));
static unsigned used;
void *malloc(size_t size) { void *p = memory + used; used += (unsigned) size + 15 & ~15u; return p; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t size) { return p ? p : malloc(size); }
void free(void *p) { (void) p; }
"""
USER = """
int main(void)
{
    uint8_t x;
    char *p;
    SYM_U8(x);
    p = malloc(4);
    free(p);
    p[x & 7] = 1; /* its own business */
    return 0;
}
"""


def test_a_program_with_an_allocator_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "native").mkdir()
    assert explore(tmp_path / "c", {"a.c": INCLUDES + OWN + USER}).summary["bugs"] == []
    files = {"a.c": INCLUDES + USER, "own.c": "#include <stddef.h>\n" + OWN}
    assert explore(tmp_path / "native", files, "--board", "mps2-an385", native=("own.c",)).summary["bugs"] == []
