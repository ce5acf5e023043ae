"""Which parameters, and which members of one structure, lead into one array."""

from __future__ import annotations

import pytest
from pycparser import c_ast

from score_embed.frontend.c.parse import parse
from score_embed.frontend.harness.spans import Place, groups, members_before, members_together, together

HEAD = """
static int left(const char *from, const char *to) { return to - from > 2; }
static int step(char **at, const char *to) { return left(*at, to); }
"""
FUNCTIONS: dict[str, list[list[Place]]] = {
    "int f(const char *p, const char *end) { while (p < end) p++; return 0; }": [[("p", 0), ("end", 0)]],
    "int f(char *p, char *q) { return q - p; }": [[("p", 0), ("q", 0)]],
    "int f(char *p, char *end) { return p != end; }": [[("p", 0), ("end", 0)]],
    "int f(char *p, char *q) { return p != q; }": [],
    "int f(char **p, char *end, unsigned long *n) { return *n > (unsigned long) (end - *p); }": [[("p", 1), ("end", 0)]],
    "int f(char *p, int n, char *q) { char *r = p + n; return r + 2 <= q; }": [[("p", 0), ("q", 0)]],
    "int f(char *p, char *q) { return left(p, q); }": [[("p", 0), ("q", 0)]],
    "int f(char **p, char *q) { return step(p, q); }": [[("p", 1), ("q", 0)]],
    "int f(char *p, char *q) { return left(p, p) + left(q, q); }": [],
    "int f(char **a, char **b, char **c) { return *b - *a > 1 && *c >= *b; }": [[("a", 1), ("b", 1), ("c", 1)]],
}


@pytest.mark.parametrize("code", FUNCTIONS)
def test_pointers_that_are_compared_lead_into_one_array(code: str) -> None:
    tree = parse(f"{HEAD}{code}\n", "p.c")
    function = next(ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef) and ext.decl.name == "f")
    assert groups(tree, function) == FUNCTIONS[code]


MEMBERS: dict[str, list[list[str]]] = {
    "s->end - s->start > 2": [["start", "end"]],
    "s->top > s->start": [["start", "top"]],
    "(char *) s->top < (char *) s->start": [["start", "top"]],
    "s->top > t->start": [],  # of two objects
    "s->top != s->end": [],  # that may be nodes of a list
    "s->top != s->end && s->top > s->start": [["start", "top", "end"]],
    "(s->end = s->start + 8) != 0": [["start", "end"]],
    "(s->top = s->start) != 0": [],
    "(s->mark = s->top = s->start, s->end = s->start + 8) != 0": [["start", "top", "mark", "end"]],
    "(s->start = s->top = s->mark = 0, s->end = s->start + 8) != 0": [["start", "top", "mark", "end"]],
    "(s->end = t->start + 8) != 0": [],
    "(s->end = s->end + 1) != 0": [],
    "(s->top - s->start) + (s->end - s->mark)": [["start", "top"], ["mark", "end"]],
    "(s->top - s->start) + (s->end - s->mark) + (s->mark == s->start)": [["start", "top", "mark", "end"]],
}


@pytest.mark.parametrize("shown", MEMBERS)
def test_members_that_are_compared_or_made_of_each_other_lead_into_one_array(shown: str) -> None:
    text = f"struct s {{ char *start, *top, *mark, *end; }};\nint f(struct s *s, struct s *t) {{ return {shown}; }}\n"
    assert members_together(["start", "top", "mark", "end"], [together(parse(text, "p.c"))]) == MEMBERS[shown]


def test_several_files_show_it_together() -> None:
    head = "struct s { char *start, *top, *end; };\n"
    texts = [f"{head}int f(struct s *s) {{ return {shown}; }}\n" for shown in ("s->top == s->end", "s->top - s->start")]
    shown = [together(parse(text, "p.c")) for text in texts]
    assert [members_together(["start", "top", "end"], one) for one in ([shown[0]], shown)] == [[], [["start", "top", "end"]]]


ORDERS: dict[str, list[tuple[str, str]]] = {
    "return s->end - s->start > 2;": [("start", "end")],
    "return s->end - s->start > 2 || s->start - s->end < 5;": [],  # a ring
    "return s->end - t->start > 2;": [],
    "return s->start < s->end;": [],  # the code asks
    "while (s->top != s->end) s->top++; return 0;": [("top", "end")],
    "while (s->end != s->top) { if (*s->top) return 1; s->top += 2; } return 0;": [("top", "end")],
    "for (; s->top != s->end && *s->top; ++s->top) ; return 0;": [("top", "end")],
    "do { s->top += 1; } while (s->top != s->end); return 0;": [("top", "end")],
    "while (s->top != s->end) s->top--; return 0;": [],
    "while (s->top != s->end) t->top++; return 0;": [],
    "if (s->top != s->end) s->top++; return 0;": [],
}


@pytest.mark.parametrize("body", ORDERS)
def test_what_is_subtracted_from_another_is_not_behind_it(body: str) -> None:
    text = f"struct s {{ char *start, *top, *end; }};\nint f(struct s *s, struct s *t) {{ {body} }}\n"
    assert members_before(["start", "top", "end"], [together(parse(text, "p.c"))]) == ORDERS[body]
