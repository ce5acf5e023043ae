"""Which member of a union a function looks at, and when."""

from __future__ import annotations

import pytest

from score_embed.frontend.c.parse import parse
from score_embed.frontend.harness.unions import Looks, looked_at

HEAD = """
enum { A, B, C };
struct v { int kind, sub; union { int n; char *s; struct v *p; } u; };
int strcmp(const char *, const char *), beyond(struct v *);
static int inner(struct v *v) { return v->u.s[0]; }
"""
ALWAYS: list[dict[str, set[str]]] = [{}]
CONDITIONS = {
    "v->u.s[0]": {"s": ALWAYS},
    "v->kind == B ? v->u.s[0] : v->u.n": {"s": [{"kind": {"B"}}], "n": [{"!kind": {"B"}}]},
    "v->kind == B && v->u.s[0]": {"s": [{"kind": {"B"}}]},
    "v->kind != B || v->u.s[0]": {"s": [{"kind": {"B"}}]},
    "v->kind != B && v->u.s[0]": {"s": [{"!kind": {"B"}}]},
    "!(v->kind != B) && v->u.s[0]": {"s": [{"kind": {"B"}}]},
    "(v->kind == A || C == (int) v->kind) && inner(v)": {"s": [{"kind": {"A", "C"}}]},
    "(v->kind == A || v->sub == C) && inner(v)": {"s": ALWAYS},
    "(v->kind != A || v->kind != B) && inner(v)": {"s": ALWAYS},
    "inner(v) + (v->kind == B && inner(v))": {"s": [{}, {"kind": {"B"}}]},
}
BODIES = {
    "switch (v->kind) { case A: case B: return v->u.n; case C: return inner(v); default: return v->u.p != 0; }": {
        "n": [{"kind": {"A", "B"}}],
        "s": [{"kind": {"C"}}],
        "p": [{"!kind": {"A", "B", "C"}}],
    },
    "switch (v->kind) { case A: v->sub = v->u.n; case B: return *v->u.s; }": {
        "n": [{"kind": {"A"}}],
        "s": [{"kind": {"A", "B"}}],
    },
    "switch (v->kind) { case A: { v->sub = v->u.n; break; } case B: return *v->u.s; }": {
        "n": [{"kind": {"A"}}],
        "s": [{"kind": {"B"}}],
    },
    "switch (v->kind) { case A: v->sub = 1; default: return *v->u.s; }": {"s": ALWAYS},
    "if (v->kind != B) return 0; return *v->u.s;": {"s": [{"kind": {"B"}}]},
    "if (v->kind != B) v->sub = 0; return *v->u.s;": {"s": ALWAYS},
    "if (v->kind == B) return *v->u.s; else return v->u.n;": {"s": [{"kind": {"B"}}], "n": [{"!kind": {"B"}}]},
    "while (v->kind == A) { if (v->sub == B) return *v->u.s; } return 0;": {"s": [{"sub": {"B"}}]},
}


def looks(body: str) -> Looks:
    tree = parse(f"{HEAD}int f(struct v *v) {{ {body} }}\n", "p.c")
    return looked_at(tree, "f", lambda name: name == "strcmp")


@pytest.mark.parametrize("body", [*(f"return {condition};" for condition in CONDITIONS), *BODIES])
def test_what_is_known_where_a_member_is_looked_at(body: str) -> None:
    expected = {**{f"return {condition};": seen for condition, seen in CONDITIONS.items()}, **BODIES}[body]
    assert {name: seen for name, seen in looks(body).seen.items() if name in ("n", "s", "p")} == expected


def test_who_decides_and_who_is_looked_at_beside_it() -> None:
    found = looks("if (v->sub == A || v->kind == B) return 0; if (v->kind == C && v->sub == B) return *v->u.s; return v->u.n;")
    assert found.deciding("s") == {"kind": {"C"}, "sub": {"B"}}
    assert found.deciding("n") == found.deciding("p") == {}
    assert found.sees_where("n", "kind", {"C"})
    assert not found.sees_where("n", "kind", {"B"})
    assert not found.sees_where("s", "kind", {"A"})
    assert not found.sees_where("p", "kind", {"A"})


def test_what_other_files_look_at_nobody_knows() -> None:
    assert not looks("return strcmp(v->u.s, v->u.s) + inner(v);").beyond
    assert looks("return beyond(v);").beyond
    assert looks("int (*g)(struct v *) = beyond; return g(v);").beyond
