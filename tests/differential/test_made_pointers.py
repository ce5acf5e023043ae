"""What harnesses make, seen by another program: no pointer that a function can reach holds bytes that nobody made.

Debug information says what arguments are (entered.py), so nothing of the harness's own idea of types is believed. That
it would see a pointer of random bytes is shown with harnesses that are spoilt on purpose.
"""

from __future__ import annotations

from pathlib import Path

import entered
import pytest
from entered import ALL_NULL, GOOD, NO_POINTER, NOT_ENTERED, TRIES, WILD, Look

HEAD = """
#include <stddef.h>
#include <stdint.h>
struct node { int v; struct node *next; };
struct tree { struct tree *l, *r; short k; };
typedef int (*handler)(int);
"""
SHAPES = {
    "number": (NO_POINTER, "int number(int a, double b) { return a > b; }"),
    "list": (GOOD, "int list(struct node *n) { for (; n; n = n->next) if (n->v == 3) return 1; return 0; }"),
    "trees": (GOOD, "int trees(const struct tree *t) { return t && t->l && t->l->r ? t->l->r->k : 0; }"),
    "buffer": (GOOD, "int buffer(const uint8_t *buf, size_t len) { return len > 2 && buf[2] == 7; }"),
    "text": (GOOD, "int text(const char *s) { return s[0] == 'x' && s[1] == 'y'; }"),
    "table": (GOOD, "int table(const char **names, int n) { return n > 1 && names[1][0] == 'a'; }"),
    "array": (
        GOOD,
        "struct e { const char *key; struct node *of; }; int array(struct e *e, int count)"
        " { int s = 0; for (int i = 0; i < count; i++) s += e[i].of ? e[i].of->v : e[i].key[0]; return s; }",
    ),
    "call": (
        GOOD,
        "static int twice(int x) { return 2 * x; } handler kept = twice; int call(handler h, int x) { return h(x); }",
    ),
    "members": (
        GOOD,
        "struct m { struct { handler done; struct node *list[2]; } in; uint8_t *data; unsigned count; };"
        " int members(struct m *m) { return m->in.list[1] && m->data[m->count - 1] ? m->in.done(m->count) : 0; }",
    ),
    "value": (
        GOOD,
        "struct pair { struct node *a; long x[4]; struct node *b; };"
        " long value(struct pair p) { return p.a && p.b ? p.a->v + p.x[3] : 0; }",
    ),
    "out": (GOOD, "int out(struct node **to, int *n) { *n = 1; if (*to) *to = (*to)->next; return 0; }"),
    "raw": (GOOD, "int raw(const void *p, size_t size) { return size && *(const char *)p == 1; }"),
    "flexible": (
        GOOD,
        "struct f { unsigned n; struct node *of[]; }; int flexible(struct f *f) { return f->n ? f->of[0] != 0 : 0; }",
    ),
    "freed": (
        GOOD,
        "void free(void *); void freed(struct node *n) { while (n) { struct node *next = n->next; free(n); n = next; } }",
    ),
    "opaque": (ALL_NULL, "struct unknown; int opaque(struct unknown *u) { return u != 0; }"),
}


def look(code: str, folder: Path, spoil: tuple[str, str] | None = None) -> dict[str, Look]:
    file = folder / "p.c"
    file.write_text(HEAD + code)
    return {each.function: each for each in entered.look_at(file, [], folder, spoil)}


def test_pointers_of_every_shape_lead_somewhere(tmp_path: Path) -> None:
    """One file, as a user's: each function has the harness that --entry makes."""
    shapes = {name: shape for name, shape in SHAPES.items() if name != "freed"}
    found = look("\n".join(code for _, code in shapes.values()), tmp_path)
    assert {name: (found[name].verdict, found[name].said) for name in shapes} == {
        name: (verdict, []) for name, (verdict, _) in shapes.items()
    }
    assert all(found[name].pointers > 3 for name, (verdict, _) in shapes.items() if verdict == GOOD)


def test_blocks_of_the_heap_are_objects(tmp_path: Path) -> None:
    """A program that frees what it is given gets them."""
    found = look(SHAPES["freed"][1], tmp_path)
    assert found["freed"].verdict == GOOD
    assert found["freed"].pointers > 3


@pytest.mark.parametrize(
    ("name", "text", "instead", "verdict", "said"),
    [
        ("list", "(n_next_given + 255u) >> 8", "n_next_given * 977u", WILD, ["n[0].next: no object"]),
        ("list", "n_given + 255u", "n_given * 0u", ALL_NULL, []),
        ("list", "return (int) list(n)", "return 0", NOT_ENTERED, [f"in none of {TRIES} tries"]),
        ("value", "p.b = (void *)", "__score_bytes(&p.b, sizeof p.b, 0); (void)", WILD, ["p.b: no object"]),
        ("call", "h = h_choices[h_choice]", "h = (void *) ((char *) h_stub_2 + 1)", WILD, ["h: no function"]),
        (
            "members",
            "m = (void *) &m_object",
            "__score_bytes(&m_object.in, sizeof m_object.in, 0); m = (void *) &m_object",
            WILD,
            ["m[0].in.done: no function", "m[0].in.list[0]: no object", "m[0].in.list[1]: no object"],
        ),
        ("table", "names = ", "names = (void *) 16; (void) ", WILD, ["names: no object"]),
    ],
)
def test_pointers_that_nobody_made_are_seen(
    name: str, text: str, instead: str, verdict: str, said: list[str], tmp_path: Path
) -> None:
    found = look(SHAPES[name][1], tmp_path, (text, instead))[name]
    assert (found.verdict, found.said) == (verdict, said)
