"""Initialisers: the sizes they give, what is copied as a constant, what is stored, and what is left alone."""

from __future__ import annotations

import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from score_embed.contract.program import Program, Source
from score_embed.frontend.c.parse import parse
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import InitialiserWalk, static_type
from score_embed.frontend.program import instrument_program
from score_embed.frontend.types.ctype import Array, Types
from score_embed.frontend.types.data_model import DataModel

TYPES = """
struct p { int a, b; };
struct s { struct p q; int z; };
struct n { int z; union { int i; struct { char lo, hi; }; }; char t[4]; };
struct b { int a : 3; int : 5; int b : 4; };
struct e { struct { } none; int a; };
struct c { const int k : 3; int v; };
struct t { struct inner { int u; }; int a; };
union u { int i; short h; };
enum { A, B, C };
typedef unsigned long word;
static char buf[8]; static struct s obj; int f(int); int g(void);
"""


@pytest.fixture(scope="module")
def model() -> DataModel:
    done = subprocess.run(["gcc", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True)
    return DataModel.from_macros(done.stdout)


def lowered(model: DataModel, text: str) -> Program:
    source = Source(Path("t.c"), f'# 1 "t.c"\n{TYPES}{text}\n')
    return instrument_program([source], model, instrument=(), argument_order="right", verify=False)


def statements(model: DataModel, declaration: str) -> list[str]:
    """What a local declaration is lowered to, without the lines that come from elsewhere."""
    program = lowered(model, f"void h(int x, struct p *y) {{ {declaration} }}")
    assert not program.notes
    text = program.texts[0].split("sc_enter(", 1)[1].split("sc_leave", 1)[0]
    return [line for line in text.splitlines()[1:] if not line.startswith("#")]


@pytest.mark.parametrize(
    "declaration",
    [
        "int v[] = { 1, 2, 3 }",
        "int v[] = { [3] = 5, [1] = 2 }",
        "int v[] = { [C] = 1, [A] = 2, 3 }",
        "int v[] = { [0 ... 6] = 4, 9 }",
        "int v[] = { [2] 7, [5] = 1 }",
        "int v[][2] = { 1, 2, 3, 4, 5 }",
        "int v[][2] = { { 1 }, 2, 3, [4][1] = 5, 6 }",
        "struct p v[] = { 1, 2, 3, 4 }",
        "struct p v[] = { [1].a = 1, 2, 3, { 4 } }",
        "struct p v[] = { [0 ... 2].a = 1, 2, 3 }",
        "struct p v[] = { [0 ... 2] = 1, 2, 3 }",
        "struct p v[] = { (struct p){ 1, 2 }, { 3 } }",
        "struct s v[] = { 1, 2, 3, { { 4, 5 } }, 6, 7 }",
        "struct s v[] = { (struct p){ 1, 2 }, 3, 4 }",
        'struct n v[] = { 1, 2, "ab", 3, { 4 }, { "cd" }, 8 }',
        "struct n v[] = { [2].hi = 1, 'a', 'b', 'c', 'd', 9 }",
        "struct b v[] = { 1, 2, 3 }",
        "union u v[] = { 1, { .h = 2 }, 3, [5].h = 3, 4 }",
        'char v[] = { "abc" }',
        'char v[] = "a" "bc"',
        "char v[][3] = { \"ab\", { \"c\" }, 'd', 'e' }",
        'int v[] = L"ab"',
        'unsigned short v[] = { u"ab" }',
        'unsigned v[] = U"a" "b"',
        'char v[] = u8"ab"',
        'const char *v[] = { [B] = "b", "c" }',
        "int v[] = (int[]){ 1, 2 }",
        "struct e v[] = { 1, 2, 3 }",  # elided braces of an empty struct: the compiler is asked
        "int v[] = { [sizeof(struct s)] = 1 }",
    ],
)
def test_an_array_gets_the_size_that_the_compiler_gives_it(model: DataModel, declaration: str, tmp_path: Path) -> None:
    declarations = Declarations(Types(model))
    defined = parse(f"{TYPES}{declaration};", "t.c")
    types = [declarations.type_of(decl) for decl in defined.ext]
    assert isinstance(types[-1], Array)
    walk = InitialiserWalk(declarations, partial(static_type, declarations))
    found = walk.completed_static(types[-1], defined.ext[-1].init, "v")
    judge = tmp_path / "judge.c"
    judge.write_text(f'{TYPES}{declaration}; _Static_assert(sizeof v == ({found.count}) * sizeof v[0], "");\n')
    subprocess.run(["gcc", "-w", "-fsyntax-only", str(judge)], check=True)


@pytest.mark.parametrize(
    "declaration",
    [
        "int v[4] = { 1, [3] = -2 / 3, };",
        "struct s v = { .q = { .b = sizeof x }, 3 };",
        "struct n v = { .hi = 'c', .t = { \"abc\" }, .z = B ? 1 : 2 };",
        "struct s *v[] = { &obj, (struct s *) buf, (void *) 0, 0 };",
        'const void *v[] = { "text", buf + 1, &buf[2], &obj.q.b, f, &g };',
        "word v[] = { (word) buf, (word) &obj.z, 3 };",
        "double v[] = { 1, 2.5, 1 / 3.0, (int) 4.5 };",
        "int (*v[])(int) = { [2] = f };",
    ],
)
def test_a_constant_initialiser_is_one_copy(model: DataModel, declaration: str, tmp_path: Path) -> None:
    cleared, copied = statements(model, declaration)
    assert cleared.startswith("if (sc_any) sc_clear(")
    assert "static const" in copied
    assert "{ 0 }" not in copied
    judge = tmp_path / "judge.c"
    judge.write_text(f"{TYPES} void h(int x) {{ static {declaration} }}\n")
    subprocess.run(["gcc", "-w", "-fsyntax-only", str(judge)], check=True)


@pytest.mark.parametrize(
    ("declaration", "stores"),
    [
        ("int v[3] = { [1] = x };", ["v[1]"]),
        ("int v[3] = { [2] = x, [0 ... 1] = x };", ["v[0]", "v[1]", "v[2]"]),
        ("struct s v = { .z = x, .q.b = 2 };", ["v.q.b", "v.z"]),
        ("struct s v = { .q.b = 9, .q = { x } };", ["v.q.a"]),
        ("struct s v = { .q.b = x, 8 };", ["v.q.b", "v.z"]),
        ("struct n v = { .hi = x };", ["v.hi"]),
        ('struct n v = { x, { 3 }, "ab" };', ["v.z", "v.i", "v.t"]),
        ("union u v = { .i = x, .h = 2 };", ["v.h"]),
        ("struct p v = { .a = x, .a = 7 };", ["v.a"]),
        ("struct b v = { x, 2 };", ["v.a", "v.b"]),
        ("int v[2] = { buf != 0, !buf };", ["v[0]", "v[1]"]),
        ("word v[2] = { (word) buf & 3, 7 };", ["v[0]", "v[1]"]),
        ("short v[2] = { (short) (word) buf, 7 };", ["v[0]", "v[1]"]),
        ("int v[2] = { 5 / (B - 1), 7 };", ["v[0]", "v[1]"]),
        ("int v[2] = { 5 >> (A - 1), 7 };", ["v[0]", "v[1]"]),
        ('const struct { const int k; const char *const t; } v = { x, "t" };', ["v.k", "v.t"]),
    ],
)
def test_stores_are_by_position_and_without_what_is_replaced(
    model: DataModel, declaration: str, stores: list[str]
) -> None:
    text = "\n".join(statements(model, declaration))
    written = re.findall(r"memcpy\(\(void \*\) &(v[\w.\[\]]*)|(v[.\[][\w.\[\]]*)\)? = ", text)
    assert [copied or stored for copied, stored in written] == ["v", *stores]


@pytest.mark.parametrize(
    ("declaration", "calls"),
    [
        ("int v[2] = { [1] = g(), [0] = f(1) };", ["f", "g"]),
        ("struct p v = { .a = g(), .a = f(1) };", ["f"]),
        ("union u v = { .i = g(), .h = f(1) };", ["f"]),
        ("int v[9] = { [0 ... 7] = g(), [8] = f(1) };", ["g", "f"]),
        ("struct p v[3] = { [0 ... 2] = { f(1), g() } };", ["f", "g"]),
        ("struct s v[3] = { [0 ... 2].q.b = g() };", ["g"]),
    ],
)
def test_an_expression_is_evaluated_once_and_in_the_order_of_positions(
    model: DataModel, declaration: str, calls: list[str]
) -> None:
    text = "\n".join(statements(model, declaration))
    assert re.findall(r" = (f|g)\(", text) == calls


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        ("struct s v = { .q = *y, .q.b = 3 };", "a part of a value is initialised again"),
        ("struct p v[3] = { [0 ... 2] = { x, 1 }, [1].a = 2 };", "a part of a value is initialised again"),
        ("int v[5000] = { [0 ... 4999] = x };", "a long range of elements"),
        ("int v[2] = { x, 2, 3 };", "too many initialisers"),
        ("union u v = { x, 2 };", "too many initialisers"),
        ("struct e v = { x, 2 };", "elided braces"),
        ("struct { char pad[sizeof(struct s)]; int z; } v = { x, 2 };", "elided braces"),
        ("struct p v = { .c = x };", "this designator"),
        ("int v[] = { [sizeof(struct s)] = x };", "this designator"),
        ("struct t v = { x, 2 };", "a member of type 'inner' without a name"),
        ("struct c v = { x, 2 };", "a constant bit-field"),
        ("int v = { };", "a scalar or vector with other than one initialiser"),
    ],
)
def test_what_has_no_certain_meaning_is_left_alone(model: DataModel, declaration: str, reason: str) -> None:
    (note,) = lowered(model, f"void h(int x, struct p *y) {{ {declaration} }}").notes
    assert reason in note.what


@pytest.mark.parametrize(
    ("literal", "of"), [("L", "int"), ("u", "unsigned short"), ("U", "unsigned int"), ("u8", "char")]
)
def test_the_characters_of_a_literal_have_the_type_of_its_prefix(model: DataModel, literal: str, of: str) -> None:
    types = Types(model)
    assert types.character(literal + '"it\'s"').name == of
    assert types.character('"u"').name == "char"
    assert types.character("L'\"'") is types.wchar
