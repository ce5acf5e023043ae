"""Harnesses against brute force: a function's paths within the bounds, over pointers of every shape.

The harness that `score-embed new` writes is compiled as a plain program, without probes, and run over inputs at random
from bytes that matter to the function. Each sequence of basic blocks that they show must be one of a path that
`--entry` found; and the paths' own inputs must each show another one. So no path is missed, none is made up, and none
is taken twice.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import plain
import pytest
from pycparser import c_ast
from runner import score_embed

from score_embed.board.profile import find_board
from score_embed.contract.program import Source
from score_embed.errors import BuildError
from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.harness.entry import harness_of
from score_embed.image.toolchain import Toolchain

INPUTS = 20_000
SIMPLE = bytes([0, 1, 2, 3, 5, 255])


@dataclass(frozen=True)
class Case:
    """A function, and what its paths hang on. `hints`: the lines below its name; `options`: of the command."""

    name: str
    code: str
    alphabet: bytes = SIMPLE
    hints: str = ""
    options: tuple[str, ...] = ()
    on_boards: bool = True


NODE = "typedef unsigned char u8; struct node { u8 v; struct node *next; };\n"
TREE = "typedef unsigned char u8; struct tree { u8 k; struct tree *l, *r; };\n"
CASES = [
    Case("has", NODE + "int has(struct node *n, u8 x) { for (; n; n = n->next) if (n->v == x) return 1; return 0; }"),
    Case(
        "length",
        NODE + "int length(struct node *n) { int c = 0; while (n) { c++; n = n->next; } return c; }",
        hints="n->next->next: {depth: 4}\n    n->next: {depth: 4}\n    n->next->next->next: {depth: 4}",
    ),
    Case(
        "sorted",
        NODE
        + "int sorted(struct node *n) { while (n && n->next) { if (n->v > n->next->v) return 0; n = n->next; } return 1; }",
    ),
    Case(
        "second",
        NODE + "int second(struct node **p) { if (!*p || !(*p)->next) return 0; return (*p)->next->v == 3 ? 2 : 1; }",
    ),
    Case(
        "drop",
        NODE
        + "int drop(struct node **p) { struct node *n = *p; if (!n) return 0; *p = n->next; return *p ? (*p)->v > 2 : 5; }",
    ),
    Case(
        "reverse",
        NODE
        + """int reverse(struct node *n) { struct node *r = 0, *t; while (n) { t = n->next; n->next = r; r = n; n = t; }
        if (!r) return 0; if (r->v == 5) return 1; return 2; }""",
    ),
    Case(
        "owner",
        """typedef unsigned char u8; struct part { u8 v; struct part *owner; };
        int owner(struct part *p, u8 x) { if (p->owner == p) return 1; return p->owner && p->owner->v == x ? 2 : 3; }""",
    ),
    Case(
        "height",
        TREE
        + "int height(struct tree *t) { int a, b; if (!t) return 0; a = height(t->l); b = height(t->r); return a > b ? a + 1 : b + 1; }",
    ),
    Case(
        "find",
        TREE
        + "int find(struct tree *t, u8 k) { while (t) { if (k == t->k) return 1; t = k < t->k ? t->l : t->r; } return 0; }",
    ),
    Case(
        "leaves",
        TREE
        + "int leaves(struct tree *t) { if (!t) return 0; if (!t->l && !t->r) return 1; return leaves(t->l) + leaves(t->r); }",
    ),
    Case(
        "bst",
        TREE
        + """int bst(struct tree *t) { if (!t) return 1; if (t->l && t->l->k > t->k) return 0;
        if (t->r && t->r->k < t->k) return 0; return 2; }""",
    ),
    Case(
        "sum",
        "int sum(const unsigned char *a, unsigned char n) { int s = 0, i; for (i = 0; i < n; i++) s += a[i]; return s == 5; }",
        hints="a: {size: 3}",
    ),
    Case(
        "guarded",
        """int guarded(const unsigned char *p, unsigned n) { unsigned i; if (!p) return -1;
        for (i = 0; i < n; i++) if (p[i] == 5) return i; return 9; }""",
        hints="p: {size: 3}",
    ),
    Case(
        "both",
        """int both(const unsigned char *a, const unsigned char *b, unsigned n) { if (!a || !b) return -1; if (n < 2) return 0;
        if (a[1] == b[1]) return 1; return 2; }""",
        hints="a: {size: 3}\n    b: {size: 3}",
    ),
    Case(
        "find_max",
        "int find_max(const signed char *a, unsigned n) { int m = -128; unsigned i; for (i = 0; i < n; i++) if (a[i] > m) m = a[i]; return m; }",
        hints="a: {size: 3}",
    ),
    Case(
        "points",
        """struct point { signed char x; unsigned char y; };
        int points(struct point *p, unsigned char count) { int i, c = 0; for (i = 0; i < count; i++) if (p[i].x < 0 && p[i].y) c++; return c; }""",
    ),
    Case(
        "vector",
        """struct vector { unsigned char *items; unsigned char count, capacity; };
        int vector(const struct vector *v) { int i; if (v->count == v->capacity) return -1;
        for (i = 0; i < v->count; i++) if (v->items[i] == 3) return i; return 99; }""",
        hints="v->items: {size: 3}",
    ),
    Case(
        "push",
        """struct stack { unsigned char data[3]; unsigned char used; };
        int push(struct stack *s, unsigned char x) { if (s->used == 3) return 0; s->data[s->used++] = x; return s->data[0] == 5 ? 2 : 1; }""",
    ),
    Case(
        "table",
        """int table(const char *const *names, unsigned char count) { int i;
        for (i = 0; i < count; i++) if (names[i][0] == 1 && names[i][1] == 0) return i; return -1; }""",
        hints="names[0]: {string: 2}\n    names[1]: {string: 2}\n    names[2]: {string: 2}",
    ),
    Case(
        "args",
        """int args(int argc, char **argv) { int i, c = 0; for (i = 0; i < argc; i++) if (argv[i] && argv[i][0] == 5) c++; return c; }""",
        bytes([0, 1, 2, 3, 5]),
        hints="argv[0]: {string: 1}\n    argv[1]: {string: 1}\n    argv[2]: {string: 1}",
    ),
    Case(
        "text",
        "int text(const char *s) { int n = 0; if (!s) return -1; while (*s) { if (*s == 1) n++; s++; } return n; }",
        hints="s: {string: 3}",
    ),
    Case(
        "prefix",
        "int prefix(const char *s, const char *p) { while (*p) if (*s++ != *p++) return 0; return 1; }",
        bytes([0, 1, 2]),
        hints="s: {string: 3}\n    p: {string: 2}",
    ),
    Case(
        "callback",
        """static int twice(int x) { return 2 * x; } static int none(int x) { (void) x; return 0; }
        int (*known[])(int) = {twice, none};
        int callback(int (*f)(int), unsigned char x) { if (f(x) == 6) return 1; return 0; }""",
        bytes([0, 1, 2, 3, 6]),
        on_boards=False,
    ),
    Case(
        "optional",
        """static int seen(unsigned char x) { return x > 3; } int (*known)(unsigned char) = seen;
        int optional(int (*f)(unsigned char), unsigned char x) { if (!f) return -1; if (f(x)) return 1; return 0; }""",
        bytes([0, 1, 2, 3, 6]),
        on_boards=False,
    ),
    Case(
        "out",
        "int out(unsigned char *to, unsigned char x) { if (!to) return -1; *to = x; if (*to == 3) return 3; return x > *to; }",
    ),
    Case(
        "two_out",
        "int two_out(unsigned char *a, unsigned char *b) { if (!a && !b) return 0; if (a && b) return *a < *b; return a ? 5 : 6; }",
    ),
    Case(
        "swap",
        "int swap(unsigned char *a, unsigned char *b) { unsigned char t = *a; *a = *b; *b = t; if (a == b) return 7; return *a < *b; }",
        hints="b: {alias: a}",
    ),
    Case(
        "overlap",
        NODE
        + "int overlap(struct node *a, struct node *b) { if (a == b) return 1; a->v = 3; if (b->v == 3) return 2; return 0; }",
        hints="b: {alias: a, nullable: no}\n    a: {nullable: no}",
    ),
    Case(
        "settings",
        """typedef struct { unsigned mode : 2; int level : 3; _Bool on; enum { A, B, C } kind; union { unsigned char b; signed char c; } u; } settings;
        int settings_of(settings s) { if (s.mode == 2 && s.level == -2) return 1; if (s.on && s.kind == C) return 2; if (s.u.c < 0) return 3; return 0; }""",
        bytes([0, 1, 2, 6, 255]),
        on_boards=False,
    ),
    Case(
        "tagged",
        """typedef unsigned char u8; enum { NUMBER, TEXT, PAIR };
        struct value { u8 kind; union { u8 number; const u8 *text; struct { const u8 *a; u8 b; } pair; } u; };
        static int of_pair(const struct value *v) { return v->u.pair.a[0] == v->u.pair.b ? 4 : 5; }
        int tagged(const struct value *v) { if (v->kind > PAIR) return 0; switch (v->kind) { case NUMBER: return v->u.number > 2 ? 1 : 2;
        case TEXT: if (v->u.text[0] == 3) return 3; return 6; case PAIR: return of_pair(v); } return 0; }""",
        hints="v->u.text: {size: 1}\n    v->u.pair.a: {size: 1}",
        on_boards=False,
    ),
    Case(
        "behind_a_check",
        """typedef unsigned char u8; struct item { u8 kind; union { u8 n; u8 *p; }; };
        int behind_a_check(struct item *i) { if (i->kind != 2) return i->n > 2 ? 1 : 2; return *i->p == 3 ? 3 : 4; }""",
    ),
    Case(
        "span",
        "typedef unsigned char u8; int span(const u8 *p, const u8 *end) { if (end - p < 2) return 0; if (p[1] == 3) return 1; return *p > 2; }",
    ),
    Case(
        "taken",
        """typedef unsigned char u8; static int left(const u8 *at, const u8 *end) { return at == end ? 0 : end - at < 2 ? 1 : 2; }
        int taken(u8 **p, const u8 *end) { if (left(*p, end) != 2) return -1; return (*p)[1] == 3; }""",
    ),
    Case(
        "contained",
        """typedef unsigned char u8; struct link { struct link *next; }; struct task { u8 prio; struct link link; u8 left; };
        static struct task *task_of(struct link *l) { return (struct task *) ((char *) l - __builtin_offsetof(struct task, link)); }
        int contained(struct link *l) { if (!l) return 1; if (task_of(l)->prio > 2) return 2; return l->next && task_of(l)->left == 5; }""",
    ),
    Case(
        "matrix",
        "int matrix(unsigned char m[][2], unsigned char n) { int i, t = 0; for (i = 0; i < n; i++) if (m[i][0] < m[i][1]) t++; return t; }",
        hints="m: {size: 2}",
    ),
    Case(
        "fixed", "int fixed(const unsigned char key[static 3]) { if (key[0] == key[2]) return 1; return key[1] > 2; }"
    ),
    Case(
        "packet",
        """struct packet { unsigned char len; unsigned char data[]; };
        int packet(struct packet *p) { int i, s = 0; if (p->len > 3) return -1; for (i = 0; i < p->len; i++) if (p->data[i] == 5) s++; return s; }""",
    ),
    Case(
        "context",
        """struct state { unsigned char mode, count; };
        int context(void *c, unsigned char x) { struct state *s = c; if (s->mode == 1) return x > s->count; return s->mode == 2; }""",
    ),
    Case(
        "nested",
        """struct inner { unsigned char v; }; struct outer { struct inner *in; struct inner own; };
        int nested(struct outer *o) { if (!o) return 0; if (!o->in) return o->own.v == 1; return o->in->v > o->own.v; }""",
    ),
    Case(
        "global",
        """static unsigned char limit; static struct { unsigned char on; } state; int global(unsigned char x) { if (!state.on) return -1; return x < limit; }""",
        options=("--globals", "used"),
    ),
    Case(
        "assumed",
        "int assumed(unsigned char a, unsigned char b) { if (a == b) return 1; if (a > 3) return 2; return 0; }",
        options=("--assume", "a <= b"),
    ),
    Case(
        "asserted",
        """#include <assert.h>
        int asserted(const unsigned char *p, unsigned char n) { assert(n > 1); if (p[1] == 3) return 1; return p[n - 1] == 5; }""",
        hints="p: {size: 3}",
    ),
    Case(
        "ring",
        """struct ring { unsigned char buf[4]; unsigned char head; };
        int ring(struct ring *r, unsigned char x) { r->buf[r->head & 3] = x; r->head++; if (r->buf[0] == 5) return 1; return r->head & 1; }""",
        on_boards=False,
    ),
]
FUNCTIONS = {"settings": "settings_of"}
BOARD_CASES = [case for case in CASES if case.on_boards]


def plain_hashes(
    folder: Path, case: Case, board: str, harness: Path, inputs: list[bytes], size: int
) -> list[plain.PlainRun]:
    text = harness.read_text().replace("#undef main", "#undef main\n#define main plain_main")
    source = folder / f"{case.name}_plain.c"
    source.write_text(text)
    program = plain.build_plain([source], folder, board=board)
    padded = [data[:size].ljust(size, b"\0") for data in inputs]
    return plain.run_plain(program, padded, size)


def check(case: Case, board: str, folder: Path) -> None:
    function = FUNCTIONS.get(case.name, case.name)
    (folder / "p.c").write_text(case.code + "\n")
    if case.hints:
        (folder / "score-hints.yaml").write_text(f"functions:\n  {function}:\n    {case.hints}\n")
    made = score_embed("new", "--to", "harness.c", "--board", board, *case.options, function, "p.c", cwd=folder)
    assert made.returncode == 0, made.stderr
    words = ("--board", board, "--no-witness", "--out", "o", "--json", *case.options)
    done = score_embed("run", "--entry", function, *words, "p.c", cwd=folder)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["stopped"], summary["bugs"]) == ("exhausted", [])
    assert score_embed("export", "o", "--corpus", "paths", cwd=folder).returncode == 0
    own = [file.read_bytes() for file in sorted((folder / "paths").iterdir())]
    size = max(map(len, own))
    rng = random.Random(case.name)
    others = [bytes(rng.choices(case.alphabet, k=size)) for _ in range(INPUTS)]
    runs = plain_hashes(folder, case, board, folder / "harness.c", [*own, *others], size)
    ours = [run.blocks for run in runs[: len(own)]]
    assert len(set(ours)) == len(ours) == summary["paths"], "a path was taken twice"
    found = {run.blocks for run in runs[len(own) :] if run.ending != "assumption"}
    assert len(found) > 1 or summary["paths"] == 1
    missed = [
        data
        for data, run in zip(others, runs[len(own) :], strict=True)
        if run.ending != "assumption" and run.blocks not in ours
    ]
    assert not missed, f"{len(found - set(ours))} of {len(found)} paths are missed, such as that of {missed[0].hex()}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_paths_natively(case: Case, tmp_path: Path) -> None:
    check(case, "native", tmp_path)


@pytest.mark.parts(4)
@pytest.mark.parametrize("case", BOARD_CASES, ids=lambda case: case.name)
def test_all_paths_on_a_cortex_m(case: Case, tmp_path: Path) -> None:
    check(case, "mps2-an385", tmp_path)


PROGRAMS = sorted((plain.ROOT / "tests" / "programs").glob("*.c"))


@pytest.mark.parts(8)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_each_function_gets_a_harness_that_compiles(path: Path, tmp_path: Path) -> None:
    """Or is told that a type has no name."""
    toolchain = Toolchain(find_board("native", None, None))
    flags = (f"-I{plain.RUNTIME / 'include'}",)
    source = Source(path, preprocess("gcc", toolchain.preprocessor_flags(flags), path))
    model = toolchain.data_model(flags)
    for ext in parse(source.text, str(path)).ext:
        if not isinstance(ext, c_ast.FuncDef) or str(ext.decl.coord.file) != str(path) or ext.decl.name == "main":
            continue
        try:
            made = harness_of([source], ext.decl.name, model)
        except BuildError as error:
            if "has no name" not in error.what:
                raise
            continue
        text = tmp_path / f"{ext.decl.name}.i"
        text.write_text(made.added([source])[0].text)
        plain.run("gcc", "-w", "-fsyntax-only", text)
