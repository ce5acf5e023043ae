"""Which parameters lead into one array."""

from __future__ import annotations

import pytest
from pycparser import c_ast

from score_embed.frontend.c.parse import parse
from score_embed.frontend.harness.spans import Place, groups

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
