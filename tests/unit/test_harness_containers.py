"""Which larger object a parameter leads into."""

from __future__ import annotations

import pytest
from pycparser import c_ast

from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.harness.containers import container

HEAD = """
struct link { struct link *next; };
struct a { int x; struct link l; };
struct b { struct link l, m; };
typedef struct { struct link l; } c;
static struct a *inner(struct link *p) { return (struct a *) ((char *) p - __builtin_offsetof(struct a, l)); }
static int outer(int n, struct link *p) { return inner(p)->x + n; }
static int third(struct link *p) { return outer(1, p); }
"""
BODIES = {
    "return ((c *) ((unsigned char *) (p) - __builtin_offsetof(c, l)))->l.next != 0;": ("c", "l"),
    "return ((struct b *) ((unsigned long) p - __builtin_offsetof(struct b, m)))->m.next != 0;": ("struct b", "m"),
    "struct a *t = ({ const struct link *q = (p); (struct a *) ((char *) q - __builtin_offsetof(struct a, l)); });": (
        "struct a",
        "l",
    ),
    "return inner(p)->x;": ("struct a", "l"),
    "return outer(2, p);": ("struct a", "l"),
    "return inner(p)->x + ((c *) ((char *) p - __builtin_offsetof(c, l)))->l.next != 0;": None,
    "return inner(p->next)->x;": None,
    "return third(p);": None,  # that is too far
    "return (int) ((char *) p - 4);": None,
}


@pytest.mark.parametrize("body", BODIES)
def test_what_a_pointer_is_taken_for_a_part_of(body: str) -> None:
    tree = parse(f"{HEAD}int f(struct link *p) {{ {body} }}\n", "p.c")
    function = next(ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef) and ext.decl.name == "f")
    found = container(tree, function, "p")
    expected = BODIES[body]
    if expected is None:
        assert found is None
    else:
        assert found is not None
        t, offset = found
        assert (to_c(t), offset) == (expected[0], f"__builtin_offsetof({expected[0]}, {expected[1]})")
