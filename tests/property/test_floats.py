"""Floating point: the evaluator, its compiled form, ranges and Z3's terms against the machine and each other."""

from __future__ import annotations

import ctypes
import subprocess
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.words import Layer
from score_embed.formula import build, floats
from score_embed.formula.domain import split
from score_embed.formula.expr import Expr, Kind, evaluate, nodes
from score_embed.frontend.types.constant import literal_pattern, number, pattern
from score_embed.solve.integral import integral
from score_embed.solve.query import Answer, Query, Result
from score_embed.solve.ranges import RangeLayer
from score_embed.solve.smt import SmtLayer

BINARY = {Kind.FADD: "a + b", Kind.FSUB: "a - b", Kind.FMUL: "a * b", Kind.FDIV: "a / b"}
UNARY = {Kind.FNEG: "-a", Kind.FABS: "FABS(a)", Kind.FSQRT: "SQRT(a)"}
ROUND = {floats.FLOOR: "FLOOR(a)", floats.CEIL: "CEIL(a)", floats.TRUNC: "TRUNC(a)"}
COMPARE = {Kind.FEQ: "a == b", Kind.FLT: "a < b", Kind.FLE: "a <= b"}
INTEGERS = {8: "__INT8_TYPE__", 16: "__INT16_TYPE__", 32: "__INT32_TYPE__", 64: "__INT64_TYPE__"}
UNSIGNED = {8: "__UINT8_TYPE__", 16: "__UINT16_TYPE__", 32: "__UINT32_TYPE__", 64: "__UINT64_TYPE__"}
HEAD = """
typedef __UINT64_TYPE__ u64;
typedef union { float value; __UINT32_TYPE__ bits; } u32x;
typedef union { double value; u64 bits; } u64x;
"""


def source() -> str:
    """One function for each operation: patterns in, pattern out."""
    parts = [HEAD]
    for width, t, suffix in ((32, "float", "f"), (64, "double", "")):
        macros = "".join(
            f"#undef {n}\n#define {n} __builtin_{n.lower()}{suffix}\n"
            for n in ("FABS", "SQRT", "FLOOR", "CEIL", "TRUNC")
        )
        load = f"u{width}x x = {{0}}, y = {{0}}, z = {{0}}; x.bits = p; y.bits = q; {t} a = x.value, b = y.value;"
        parts.append(macros)
        for kind, text in [*BINARY.items(), *UNARY.items(), *((f"ROUND{k}", v) for k, v in ROUND.items())]:
            name = kind.name if isinstance(kind, Kind) else kind
            parts.append(f"u64 {name}_{width}(u64 p, u64 q) {{ {load} (void) b; z.value = {text}; return z.bits; }}")
        for kind, text in COMPARE.items():
            parts.append(f"u64 {kind.name}_{width}(u64 p, u64 q) {{ {load} (void) z; return {text}; }}")
        other = "double" if t == "float" else "float"
        parts.append(
            f"u64 FCONV_{width}(u64 p, u64 q) {{ {load} (void) b; (void) z;"
            f" u{96 - width}x w; w.value = ({other}) a; return w.bits; }}"
        )
        for bits in INTEGERS:
            for kind, integer in ((Kind.SITOF, INTEGERS[bits]), (Kind.UITOF, UNSIGNED[bits])):
                parts.append(f"u64 {kind.name}_{bits}_{width}(u64 p, u64 q)")
                parts.append(f"{{ u{width}x z; (void) q; z.value = ({t}) ({integer}) p; return z.bits; }}")
            for kind, integer in ((Kind.FTOSI, INTEGERS[bits]), (Kind.FTOUI, UNSIGNED[bits])):
                parts.append(f"u64 {kind.name}_{bits}_{width}(u64 p, u64 q)")
                parts.append(f"{{ {load} (void) b; (void) z; return (u64) ({UNSIGNED[bits]}) ({integer}) a; }}")
    return "\n".join(parts)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int, int], int]:
    folder: Path = tmp_path_factory.mktemp("floats")
    (folder / "f.c").write_text(source())
    library = folder / "f.so"
    command = [
        "gcc",
        "-O1",
        "-w",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
        str(folder / "f.c"),
        "-o",
        str(library),
        "-lm",
    ]
    subprocess.run(command, check=True, timeout=60)
    loaded = ctypes.CDLL(str(library))

    def call(name: str, p: int, q: int) -> int:
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_uint64, ctypes.c_uint64]
        return int(function(p, q))

    return call


def edges(width: int) -> list[int]:
    """Patterns where something happens: zeros, denormals, ties, the largest, infinities, numbers that are none."""
    one = {32: 0x3F800000, 64: 0x3FF0000000000000}[width]
    inf, top = floats.INFINITY[width], 1 << (width - 1)
    plain = [0, 1, 2, 3, one, one + 1, one - 1, 2 * one // 2 + 5, inf - 1, inf, inf + 1, floats.NAN[width], inf >> 1]
    plain += [1 << (floats.PRECISION[width] - 1), (1 << (floats.PRECISION[width] - 1)) - 1]
    plain += [pattern(value, width) for value in (2, 3, 127, 128, 255, 256, 32767, 65536, 2**31, 2**32, 2**63, 2**64)]
    return plain + [value | top for value in plain]


def patterns(width: int) -> st.SearchStrategy[int]:
    near = st.tuples(st.sampled_from(edges(width)), st.integers(-2, 2)).map(lambda t: (t[0] + t[1]) % (1 << width))
    return st.one_of(near, st.integers(0, (1 << width) - 1))


def same(a: int, b: int, width: int) -> bool:
    return a == b or (floats.is_nan(a, width) and floats.is_nan(b, width))


def range_of(conversion: Expr) -> tuple[int, int]:
    """The least and the greatest integer that it gives."""
    if conversion.kind is Kind.FTOSI:
        return -(1 << (conversion.width - 1)), (1 << (conversion.width - 1)) - 1
    return 0, (1 << conversion.width) - 1


Machine = Callable[[str, int, int], int]


@pytest.mark.parametrize("width", [32, 64])
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_the_evaluator_computes_what_the_machine_does(width: int, machine: Machine, data: st.DataObject) -> None:
    p, q = data.draw(patterns(width)), data.draw(patterns(width))
    a, b = build.const(p, width), build.const(q, width)
    for kind in BINARY:
        assert same(build.float_binary(kind, a, b).value, machine(f"{kind.name}_{width}", p, q), width), (kind, p, q)
    for kind in COMPARE:
        assert build.float_binary(kind, a, b).value == machine(f"{kind.name}_{width}", p, q), (kind, p, q)
    for kind in UNARY:
        assert same(build.float_unary(kind, a, width).value, machine(f"{kind.name}_{width}", p, 0), width), (kind, p)
    for how in ROUND:
        rounded = build.float_unary(Kind.FROUND, a, width, how).value
        assert same(rounded, machine(f"ROUND{how}_{width}", p, 0), width), (how, p)
    converted = build.float_unary(Kind.FCONV, a, 96 - width).value
    assert same(converted, machine(f"FCONV_{width}", p, 0), 96 - width), p


@pytest.mark.parametrize("bits", INTEGERS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_conversions_are_the_machines(bits: int, machine: Machine, data: st.DataObject) -> None:
    near = st.builds(lambda shift, by: (1 << shift) + by, st.integers(0, bits), st.integers(-3, 3))
    value = data.draw(st.one_of(near, st.integers(0, (1 << bits) - 1))) % (1 << bits)
    for width in (32, 64):
        for kind in (Kind.SITOF, Kind.UITOF):
            got = build.float_unary(kind, build.const(value, bits), width).value
            assert got == machine(f"{kind.name}_{bits}_{width}", value, 0), (kind, bits, width, value)
        p = data.draw(patterns(width))
        number_ = floats.decode(p, width)
        for kind in (Kind.FTOSI, Kind.FTOUI):
            node = build.float_unary(kind, build.const(p, width), bits)
            low = -(1 << (bits - 1)) if kind is Kind.FTOSI else 0
            if low - 1 < number_ < low + (1 << bits):
                assert node.value == machine(f"{kind.name}_{bits}_{width}", p, 0), (kind, bits, width, p)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([32, 64]), st.booleans())
def test_literals(value: float, width: int, in_hex: bool) -> None:
    text = abs(value).hex() if in_hex else repr(abs(value))
    assert literal_pattern(text, width) == floats.encode(abs(value), width)
    assert number(floats.encode(float(int(abs(value) % 1e6)), 64), 64) == int(abs(value) % 1e6)


def test_a_literal_is_rounded_once() -> None:
    """Through a double, the first would be a tie that it is not."""
    assert literal_pattern("1.00000005960464477539062500001f", 32) == 0x3F800001
    assert literal_pattern("1.000000059604644775390625f", 32) == 0x3F800000
    assert literal_pattern("1e400", 64) == floats.INFINITY[64]
    assert literal_pattern("1e-46F", 32) == 0
    assert literal_pattern("0x.8p1L", 64) == floats.encode(1.0, 64)


# --- random formulas over bytes ------------------------------------------------------------------------------------

CONSTANTS = (0.5, 1.5, 3.0, -2.0, 0.1, 1e10, -1e-10, 7.3, 100.0, 3e38, 1e-40, 0.0, -0.0, 255.0)
OPERATORS = (Kind.FADD, Kind.FSUB, Kind.FMUL, Kind.FDIV)


@st.composite
def conditions(draw: st.DrawFn, values: Sequence[Expr], depth: int) -> Expr:
    """A comparison of a random computation with a constant, or the negation of one."""
    e = draw(st.sampled_from(values))

    def constant() -> Expr:
        return build.const(floats.encode(draw(st.sampled_from(CONSTANTS)), e.width), e.width)

    for _ in range(draw(st.integers(0, depth))):
        kind = draw(
            st.sampled_from([*OPERATORS, *OPERATORS, Kind.FNEG, Kind.FABS, Kind.FROUND, Kind.FSQRT, Kind.FCONV])
        )
        if kind in OPERATORS:
            same_width = [v for v in values if v.width == e.width]
            other = draw(st.sampled_from([constant(), constant(), e, *same_width]))
            e = build.float_binary(kind, *draw(st.permutations([e, other])))
        else:
            width = 96 - e.width if kind is Kind.FCONV else e.width
            e = build.float_unary(kind, e, width, draw(st.sampled_from([1, 2, 3])) if kind is Kind.FROUND else 0)
    if draw(st.integers(0, 3)):
        kind = draw(st.sampled_from(list(COMPARE)))
        made = build.float_binary(kind, *draw(st.permutations([e, constant()])))
    else:
        kind = draw(st.sampled_from([Kind.FTOSI, Kind.FTOUI]))
        e = build.float_unary(kind, e, draw(st.sampled_from([8, 16, 32])))
        limit = build.const(draw(st.sampled_from([0, 1, 3, 100, -5, 127])), e.width)
        made = build.binary(draw(st.sampled_from([Kind.EQ, Kind.SLT, Kind.ULT])), *draw(st.permutations([e, limit])))
    return build.negate(made) if draw(st.booleans()) else made


NUMBER = build.from_bytes([build.byte(i) for i in range(4)])
OF_NUMBER = [NUMBER, build.float_unary(Kind.SITOF, NUMBER, 32), build.float_unary(Kind.UITOF, NUMBER, 64)]
PAIR = build.concat(build.byte(0), build.byte(1))
HIGH = build.concat(PAIR, build.const(0, 16))  # as a pattern: all exponents
OF_PAIR = [HIGH, build.float_unary(Kind.SITOF, PAIR, 32), build.float_unary(Kind.UITOF, build.byte(1), 32)]


class Asked:
    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.MODEL)


@given(st.lists(conditions(OF_NUMBER, 4), min_size=1, max_size=3), st.lists(patterns(32), min_size=50, max_size=50))
@settings(max_examples=200, deadline=None)
def test_ranges_are_exact(path: list[Expr], tried: list[int]) -> None:
    """What is found satisfies everything; where nothing is, nothing that is tried does."""
    path = [condition for condition in path if condition.deps]
    if not path:
        return
    query = Query(path[0], {}, path[1:], bytes(4))
    answer = RangeLayer(Asked()).solve(query)
    if answer.result is Result.SAT:
        assert query.holds(answer.apply(query.data))
    elif answer.result is Result.UNSAT:
        for value in [*tried, *edges(32)]:
            assert not query.holds(value.to_bytes(4, "little")), hex(value)


def test_ranges_answer_thresholds() -> None:
    """The kind of question they are for does not go further."""
    scaled = build.float_binary(Kind.FMUL, NUMBER, build.const(floats.encode(3.0, 32), 32))
    limits = [build.const(floats.encode(value, 32), 32) for value in (1.5, 5.0, 4.0)]
    above = build.float_binary(Kind.FLT, limits[0], NUMBER)
    for limit, expected in ((limits[1], Result.SAT), (limits[2], Result.UNSAT)):
        query = Query(build.float_binary(Kind.FLT, scaled, limit), {}, [above], bytes(4))
        answer = RangeLayer(Asked()).solve(query)
        assert answer.result is expected
    assert RangeLayer(Asked()).solve(Query(above, {}, [], bytes(4))).apply(bytes(4)) == bytes.fromhex("00000040")  # 2.0


@given(conditions(OF_PAIR, 4))
@settings(max_examples=100, deadline=None)
def test_compiled_rows_are_the_evaluators(condition: Expr) -> None:
    if condition.deps != 3:
        return
    rows = array("Q", range(0, 65536, 97))
    hits, misses = split(condition, (0, 1), rows)
    assert list(hits) == [row for row in rows if evaluate(condition, row.to_bytes(2, "big"))]
    assert sorted([*hits, *misses]) == list(rows)


@given(conditions([NUMBER, OF_NUMBER[1]], 3), patterns(32))
@settings(max_examples=40, deadline=None)
def test_z3_means_the_same(condition: Expr, value: int) -> None:
    """Conversions to integers only where they are defined."""
    data = value.to_bytes(4, "little")
    fixed = [build.binary(Kind.EQ, build.byte(i), build.const(byte, 8)) for i, byte in enumerate(data)]
    for part in nodes([condition]):
        if part.kind in floats.TO_INTEGER:
            low, high = range_of(part)
            if not low - 1 < floats.decode(evaluate(part.args[0], data), part.args[0].width) < high + 1:
                return
    expected = condition if evaluate(condition, data) else build.negate(condition)
    answer = SmtLayer().solve_plain(Query(condition, {}, [], data), [expected, *fixed])
    assert answer.result is Result.SAT


WORDS = [build.zext(build.concat(build.byte(2 * i + 1), build.byte(2 * i)), 32) for i in range(3)]
SUM = build.binary(Kind.ADD, build.binary(Kind.ADD, WORDS[0], WORDS[1]), WORDS[2])
OF_SUM = [SUM, build.float_unary(Kind.SITOF, SUM, 32), build.float_unary(Kind.UITOF, SUM, 64), *OF_PAIR]
CONNECTIVES = (Kind.AND, Kind.OR, Kind.XOR)


@given(
    st.lists(conditions(OF_SUM, 3), min_size=1, max_size=4),
    st.lists(st.sampled_from(CONNECTIVES), min_size=3, max_size=3),
    st.lists(st.binary(min_size=6, max_size=6), min_size=20, max_size=20),
)
@settings(max_examples=100, deadline=None)
def test_without_floating_point_a_condition_says_the_same(
    parts: list[Expr], connectives: list[Kind], tried: list[bytes]
) -> None:
    whole = parts[0]
    for part, kind in zip(parts[1:], connectives, strict=False):
        whole = build.binary(kind, whole, part)
    for data in [*tried, *(value.to_bytes(4, "little") + bytes(2) for value in edges(32))]:
        assert evaluate(integral(whole), data) == evaluate(whole, data), data


def test_a_condition_of_one_number_is_a_border() -> None:
    """Also if the number is a sum; and what is joined of thousands of conditions is no deeper than the stack."""
    mean = build.float_binary(Kind.FDIV, OF_SUM[1], build.const(floats.encode(3.0, 32), 32))
    above = build.float_binary(Kind.FLT, build.const(floats.encode(2048.0, 32), 32), mean)
    assert integral(above) is build.member(SUM, 6145, 0x7FFFFFFF)
    joined = above
    for limit in range(3000):
        low = build.float_binary(Kind.FLT, build.const(floats.encode(float(limit), 32), 32), mean)
        joined = build.binary(Kind.AND, joined, low)
    assert joined.floats
    assert not integral(joined).floats
    both = build.float_binary(Kind.FLT, mean, NUMBER)
    assert integral(both) is both
