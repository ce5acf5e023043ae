"""Constant folding against the compilers: random constant expressions, checked by static assertions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from compilers import COMPILERS, assert_compiles, types_of
from pycparser import c_ast

from score_embed.frontend.c.parse import parse
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.types.constant import ConstantFolder

SEED, EXPRESSIONS = 20261121, 400
LITERALS = ["0", "1", "2u", "3l", "5ul", "7ll", "9ull", "0x7fffffff", "0xffffffffu", "0x80000000", "-1", "~0u", "~0ul",
            "'a'", "'\\xff'", "40000", "65536l", "sizeof(int)", "sizeof(long)", "sizeof(char *)", "A", "B", "BIG"]  # fmt: skip
CASTS = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
         "unsigned long", "long long", "unsigned long long", "_Bool"]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
ENUM = "enum e { A = 3, B = -2, BIG = 0x7fffffff };\n"


def expression(choose: random.Random, depth: int) -> str:
    if depth == 0 or choose.random() < 0.1:
        return choose.choice(LITERALS)
    kind = choose.randrange(10)
    if kind < 6:
        return f"({expression(choose, depth - 1)} {choose.choice(OPERATORS)} {expression(choose, depth - 1)})"
    if kind < 8:
        return f"(({choose.choice(CASTS)}) {expression(choose, depth - 1)})"
    if kind == 8:
        return f"({choose.choice('-~!+')} {expression(choose, depth - 1)})"
    return f"({expression(choose, depth - 1)} ? {expression(choose, depth - 1)} : {expression(choose, depth - 1)})"


@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: "-".join(c))
def test_values_and_types_are_the_compilers(command: list[str], tmp_path: Path) -> None:
    declarations = Declarations(types_of(command))
    folder = ConstantFolder(declarations.types, declarations._enumerator, declarations.type_of)
    choose = random.Random(SEED)
    texts = [expression(choose, 4) for _ in range(EXPRESSIONS)]
    tree = parse(ENUM + "".join(f"int x{i}[{text}];\n" for i, text in enumerate(texts)), "c.c")
    declarations.type_of(tree.ext[0].type)
    lines = [ENUM]
    for text, ext in zip(texts, tree.ext[1:], strict=True):
        assert isinstance(ext.type, c_ast.ArrayDecl)
        value = folder.fold(ext.type.dim)
        if value is not None:
            lines.append(f'_Static_assert((unsigned long long) ({text}) == {value.number % 2**64}ull, "value");')
            lines.append(
                f"_Static_assert(__builtin_types_compatible_p(__typeof__({text}), {value.type.name}), "
                f'"{value.type.name}");'
            )
    assert len(lines) > EXPRESSIONS  # at least half of them are folded
    assert_compiles([*command, "-w", "-fwrapv"], lines, tmp_path)


@pytest.mark.parametrize(
    "text", ["1 / 0", "1 % 0", "1 << 32", "1 >> -1", "sizeof(struct s)", "f()", "x", '"a"[0]', "1.5", "'ab'", "'é'"]
)
def test_doubt_is_none(text: str) -> None:
    declarations = Declarations(types_of(["gcc"]))
    tree = parse(f"int a[{text}];", "c.c")
    assert declarations.constant(tree.ext[0].type.dim) is None
