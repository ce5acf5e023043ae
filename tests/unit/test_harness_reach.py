"""Which members a function may come to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.board.profile import find_board
from score_embed.contract.program import Source
from score_embed.frontend.c.parse import parse
from score_embed.frontend.harness.hints import Hint, Hints
from score_embed.frontend.harness.scope import Scopes
from score_embed.frontend.types.ctype import Types
from score_embed.image.toolchain import Toolchain

HEAD = """
# 1 "string.h" 1 3
typedef unsigned long size_t; void *malloc(size_t);
# 1 "s.h"
struct t { struct t *up; };
struct s { struct t *a, *b, *c, *d; int (*call)(struct s *); int n; };
extern void *data;
int far(struct s *), farther(struct s *), beyond(struct s *);
typedef unsigned char byte;
"""
HERE = """
static int near(struct s *s) { return s->b->up != 0; }
static int pointed(struct s *s) { return s->d != 0; }
static int (*const table[])(struct s *) = { pointed };
static int same(struct s *s) { return s->c != 0; }
"""
THERE = """
# 1 "stdlib.h" 1 3
void free(void *);
# 9 "q.c" 2
static int same(struct s *s) { return s->d != 0; }
int far(struct s *s) { free(0); return s->c != 0; }
int farther(struct s *s) { return same(s); }
"""
BODIES: dict[str, set[str] | None] = {
    "return s->a != 0;": {"a"},
    "s->a = 0; return 1;": {"a"},
    "return s->a ? near(s) : 0;": {"a", "b", "up"},
    "return far(s);": {"c"},
    "return farther(s);": {"c", "d"},  # one of two that are called `same`
    "return s->call(s);": {"call", "d"},  # any whose address is taken
    "return table[s->n](s);": {"n", "d"},
    "int (*f)(struct s *) = near; return f(s);": {"b", "up", "d"},
    "int near(struct s *); return near(s);": {"b", "up"},
    "int (*near)(struct s *) = s->call; return near(s);": {"call", "d"},
    "return beyond(s);": None,
    "return s->n ? beyond(s) : 0;": None,
    '__asm__ volatile ("" : : "r" (s)); return 0;': None,
    "return __builtin_offsetof(struct s, b) + s->n;": {"b", "n"},
    "return ((struct t *) s)->up != 0;": None,
    "byte *p = (byte *) s; return p[0] + (int) s->n + (s == (void *) 0);": {"n"},
    "struct t *t = (struct t *) malloc(sizeof *t); return t->up == s->a;": {"up", "a"},
    "void *v = s; struct t *t = (struct t *) v; return t->up != 0;": {"up"},
    "struct t *t = (struct t *) data; return t->up != 0;": {"up"},
    "struct t *t = (struct t *) near; return t->up != 0;": None,
    "struct t *t = (struct t *) s->a; return t->up != 0;": None,
    "struct t *t = (struct t *) far(s); return t->up == s->a;": None,
}


def _looked_at(here: str, there: str) -> frozenset[str] | None:
    files = [Source(Path(name), f'{HEAD}# 1 "{name}"\n{text}\n') for name, text in (("p.c", here), ("q.c", there))]
    model = Toolchain(find_board("native")).data_model(())
    return Scopes(Types(model), files).of(files[0], parse(files[0].text, "p.c")).reach.members("f")


@pytest.mark.parametrize("body", BODIES)
def test_members_are_looked_at_by_those_that_are_called(body: str) -> None:
    assert _looked_at(f"{HERE}int f(struct s *s) {{ {body} }}", THERE) == BODIES[body]


@pytest.mark.parametrize("body", ["return s->call(s);", "return far(s);", "return other(odd);"])
def test_a_definition_that_is_written_in_an_odd_way_may_look_at_everything(body: str) -> None:
    """It is found by its looks, so that not all files need be read."""
    here = f"int odd(), other(int (*)()), far(struct s *);\nint f(struct s *s) {{ {body} }}"
    there = "int other(int (*f)()) { return f != 0; }\nint odd(s) struct s *s; { return s->a != 0; }\n"
    assert _looked_at(here, there + "int far(struct s *s) { return odd(s); }\nint (*const taken)() = odd;") is None


def test_nothing_is_known_of_a_function_that_is_not_found() -> None:
    assert _looked_at("int f(struct s *);", "") is None


def test_a_hints_words_are_names_that_it_says_something_of() -> None:
    hints = Hints(
        arguments={"s->a": Hint(into="s->b", alias=("s->d",))},
        types={"t.up": Hint(depth=2)},
        assume=("ok(s->call)",),
    )
    assert hints.words == {"s", "a", "b", "d", "t", "up", "ok", "call"}
