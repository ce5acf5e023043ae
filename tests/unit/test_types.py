"""C's conversion rules against the compilers themselves: one table of cases, checked by static assertions."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from compilers import COMPILERS, assert_compiles, types_of

from score_embed.frontend.c.parse import parse
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import Constant
from score_embed.frontend.types.ctype import as_int, declare


@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: "-".join(c))
def test_usual_conversions_are_the_compilers(command: list[str], tmp_path: Path) -> None:
    t = types_of(command)
    all_types = (t.bool, t.char, t.schar, t.uchar, t.short, t.ushort, t.int, t.uint, t.long, t.ulong, t.llong, t.ullong)
    lines = []
    for a, b in itertools.product(all_types, repeat=2):
        common = declare(t.usual(a, b))
        lines.append(
            f"_Static_assert(__builtin_types_compatible_p(__typeof__(({a.name})0 + ({b.name})0), {common}), "
            f'"{a.name} + {b.name}");'
        )
    lines += [
        f'_Static_assert(__builtin_types_compatible_p(__typeof__(+({a.name})0), {declare(t.promote(a))}), "{a.name}");'
        for a in all_types
    ]
    lines += [f'_Static_assert(sizeof({a.name}) == {a.bits // 8}, "{a.name}");' for a in all_types]
    assert_compiles(command, lines, tmp_path)


@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: "-".join(c))
def test_literals_have_the_compilers_types(command: list[str], tmp_path: Path) -> None:
    t = types_of(command)
    values = [0, 1, 127, 32767, 32768, 40000, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32]
    values += [2**63 - 1] if t.model.pointer == 16 else [2**63 - 1, 2**63, 2**64 - 1]
    texts = [
        form + suffix
        for value, suffix in itertools.product(values, ["", "u", "l", "ul", "ll", "ull"])
        for form in (str(value), hex(value), f"0{value:o}")
    ]
    lines = [
        f'_Static_assert(__builtin_types_compatible_p(__typeof__({x}), {declare(t.literal(x))}), "{x}");' for x in texts
    ]
    assert_compiles(command, lines, tmp_path)


@pytest.mark.parametrize("short", [[], ["-fshort-enums"], ["-fno-short-enums"]], ids=lambda s: s[0] if s else "as-is")
@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: "-".join(c))
def test_enums_have_the_compilers_types(command: list[str], short: list[str], tmp_path: Path) -> None:
    values = [-(2**31) - 1, -(2**15) - 1, -200, -1, 0, 200, 40000, 70000, 2**31, 2**32 - 1, 2**32]
    lines = []
    for i, (a, b) in enumerate(itertools.combinations_with_replacement(values, 2)):
        for packed in ("", "__attribute__((packed))"):
            text = f"enum {packed} e{i}{packed[:3]} {{ A{i}{packed[:3]} = {a}, B{i}{packed[:3]} = {b} }};"
            tree = parse(text, "enum.c")
            declarations = Declarations(types_of([*command, *short]))
            found = {f"enum e{i}{packed[:3]}": as_int(declarations.type_of(tree.ext[0].type))}
            for name in (f"A{i}{packed[:3]}", f"B{i}{packed[:3]}"):
                symbol = declarations.scope.find(name)
                assert isinstance(symbol, Constant)
                found[f"__typeof__({name})"] = symbol.type
            lines.append(text)
            lines += [
                f'_Static_assert(__builtin_types_compatible_p({what}, {t.name}), "{what} of {a}, {b} is {t.name}");'
                for what, t in found.items()
            ]
    assert_compiles([*command, *short], lines, tmp_path)


OWN = [
    "A = 1, B = ~A, C = B < 0, D = A - 5, E",
    "A = 0x80000000, B = A + 16, C = A > -1, D = A / 2 - 1, E = -A < 0",
    "A = 4, B = A << 8, C = A + 300, D = A ? 300 : 70000, E = ~A",
    "A = 3000000000, B = -A < 0, C = A - 4000000000 < 0, D = A + 1, E",
    "A = sizeof(int), B = A * 2, C = B - A - 10, D = C < 0, E = A - 5 < 0",
    "A = -1, B, C = A + 0u > 0, D = (unsigned char) A, E",
]


@pytest.mark.parametrize("short", [[], ["-fshort-enums"]], ids=["as-is", "short"])
@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: "-".join(c))
def test_an_enumerator_may_be_computed_of_those_before_it(command: list[str], short: list[str], tmp_path: Path) -> None:
    lines = []
    for i, enumerators in enumerate(OWN):
        text = re.sub(r"\b([A-E])\b", rf"\g<1>{i}", f"enum e{i} {{ {enumerators} }};")
        declarations = Declarations(types_of([*command, *short]))
        whole = as_int(declarations.type_of(parse(text, "enum.c").ext[0].type))
        lines += [text, f'_Static_assert(__builtin_types_compatible_p(enum e{i}, {whole.name}), "{enumerators}");']
        for name in (f"{letter}{i}" for letter in "ABCDE"):
            symbol = declarations.scope.find(name)
            assert isinstance(symbol, Constant)
            assert symbol.value is not None
            same = f"__builtin_types_compatible_p(__typeof__({name}), {symbol.type.name})"
            number = f"{symbol.value} + 0ll" if symbol.value < 1 << 63 else f"{symbol.value}ull"
            lines.append(f'_Static_assert({same} && {name} == {number}, "{name} of {enumerators} is {symbol.value}");')
    assert_compiles([*command, *short], lines, tmp_path)


def test_declarators_are_read_back_as_the_same_type(tmp_path: Path) -> None:
    from score_embed.frontend.types.ctype import Array, Function, Pointer

    t = types_of(["gcc"])
    shapes = [
        (Pointer(t.int), "int *"),
        (Pointer(Array(t.char, "3")), "char (*)[3]"),
        (Array(Pointer(t.int), "2"), "int *[2]"),
        (Pointer(Function(t.int, (t.char, Pointer(t.void)), variadic=True)), "int (*)(char, void *, ...)"),
        (Pointer(Function(Pointer(Array(t.long, "4")), ())), "long (*(*)(void))[4]"),
    ]
    lines = [
        f'_Static_assert(__builtin_types_compatible_p({declare(shape)}, {text}), "{text}");' for shape, text in shapes
    ]
    assert_compiles(["gcc"], lines, tmp_path)


@pytest.mark.parametrize("command", COMPILERS, ids=lambda c: "-".join(c))
def test_floating_types_have_the_compilers_formats(command: list[str], tmp_path: Path) -> None:
    """A format with formulas is one of IEEE's with as many bits as the compiler's type, and no more while it
    computes."""
    t = types_of(command)
    known = [f for f in (t.float, t.double, t.long_double) if f.bits]
    assert_compiles(
        command, [f'_Static_assert(8 * sizeof({f.name}) == {f.bits}, "{f.name}");' for f in known], tmp_path
    )
    formats = [t.float.bits, t.double.bits, t.long_double.bits]
    wider = {"avr-gcc": [32, 32, 32], "arm-none-eabi-gcc": [32, 64, 64], "arm-linux-gnueabihf-gcc": [32, 64, 64]}
    assert formats == ([0, 0, 0] if "i686" in command[0] else wider.get(command[0], [32, 64, 0]))  # i686: x87


def test_32_bit_x86_has_formulas_with_sse_only() -> None:
    assert types_of(["i686-linux-gnu-gcc", "-msse2", "-mfpmath=sse"]).double.bits == 64
    assert types_of(["i686-linux-gnu-gcc", "-msse2", "-mfpmath=387"]).double.bits == 0
