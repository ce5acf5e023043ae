"""Which structures a program allocates with more room than they say."""

from __future__ import annotations

import pytest

from score_embed.frontend.c.parse import parse
from score_embed.frontend.declarations.longer import longer_structures

TYPES = """
typedef struct { unsigned n; char at[2]; } text;
typedef text word;
struct tagged { unsigned n; char at[2]; };
typedef struct tagged named;
void *make(unsigned n);
void *my_Alloc(unsigned n);
"""
TEXT, TAGGED = 2, 4  # their lines


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        ("my_Alloc(n + sizeof(text))", [TEXT]),
        ("my_Alloc((sizeof(word) - 1) + (unsigned) n)", [TEXT]),
        ("my_Alloc(sizeof(named) + 2 * n)", [TAGGED]),
        ("my_Alloc(__builtin_offsetof(struct tagged, at) + n)", [TAGGED]),
        ("(text *) make(sizeof(text) + make_size())", [TEXT]),
        ("my_Alloc(n * sizeof(text))", []),  # an array of them
        ("my_Alloc(4 + sizeof(text))", []),
        ("my_Alloc(sizeof(text) + sizeof(named) * 3)", []),
        ("make(n + sizeof(text))", []),  # it may as well be told how much to send
        ("(void *) ((char *) make(1) + sizeof(text))", []),
        ("my_Alloc(n + sizeof(int))", []),
        ("my_Alloc(n + sizeof(struct unknown *))", []),
    ],
)
def test_what_is_allocated_with_more_room(expression: str, lines: list[int]) -> None:
    function = f"unsigned make_size(void);\nvoid *f(unsigned n) {{ return {expression}; }}\n"
    other = "int g(void) { return 0; }\n"
    found = longer_structures([parse(TYPES + function, "p.c"), parse(other, "q.c")])
    assert [line for _, line, _ in sorted(found)] == lines
