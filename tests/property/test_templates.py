"""What a site's template computes, against arithmetic that could not be simpler: every operator, on random operands."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

from events import Stream, assign, leaf_step, pin, replay, slot, symbolic, table
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from score_embed.contract.sites import Op, Site, SiteKind, Step, Template
from score_embed.formula.expr import evaluate

BITS = 16
MASK = (1 << BITS) - 1


def signed(value: int, bits: int = BITS) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(a: int, b: int) -> int:
    """Towards zero, as C divides."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGERS: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.UDIV: operator.floordiv,
    Op.UREM: operator.mod,
    Op.SDIV: lambda a, b: quotient(signed(a), signed(b)),
    Op.SREM: lambda a, b: signed(a) - signed(b) * quotient(signed(a), signed(b)),
    Op.AND: operator.and_,
    Op.OR: operator.or_,
    Op.XOR: operator.xor,
    Op.SHL: lambda a, b: a << b,
    Op.LSHR: lambda a, b: a >> b,
    Op.ASHR: lambda a, b: signed(a) >> b,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.ULT: operator.lt,
    Op.ULE: operator.le,
    Op.SLT: lambda a, b: signed(a) < signed(b),
    Op.SLE: lambda a, b: signed(a) <= signed(b),
}
SHIFTS = {Op.SHL, Op.LSHR, Op.ASHR}
DIVIDES = {Op.UDIV, Op.UREM, Op.SDIV, Op.SREM}
NUMBERS: dict[Op, Callable[[float, float], float]] = {
    Op.FADD: operator.add,
    Op.FSUB: operator.sub,
    Op.FMUL: operator.mul,
    Op.FDIV: operator.truediv,
    Op.FEQ: operator.eq,
    Op.FLT: operator.lt,
    Op.FLE: operator.le,
}
OF_ONE: dict[Op, Callable[[float], float]] = {
    Op.FNEG: operator.neg,
    Op.FABS: abs,
    Op.FSQRT: lambda x: math.sqrt(x) if x >= 0 else math.nan,
    Op.FFLOOR: math.floor,
    Op.FCEIL: math.ceil,
    Op.FTRUNC: math.trunc,
}


def computed(template: Template, data: bytes) -> tuple[int, int]:
    """The template's value in a run with this input, and under its inverse: by the formula that the run left."""
    leaves = template.leaves
    result = template.steps[-1].bits if not 21 <= template.steps[-1].op <= 26 and template.steps[-1].op < Op.FEQ else 1
    site = assign(30, slot(9, result), template)
    inputs = [symbolic(16 + i, leaf, leaf.bits // 8, f"x{i}") for i, leaf in enumerate(leaves)]
    sent = Stream()
    for each in inputs:
        sent.head(each.id)
    sent.head(30)
    if len(leaves) > 1:
        sent.varint(0b0101)
    path = replay(table(*inputs, site, pin(31, slot(9, result), "argument")), bytes(sent.head(31)), data)
    other = bytes(255 - byte for byte in data)
    (found,) = path.pins
    return evaluate(found.value, data), evaluate(found.value, other)


def operands(data: bytes, bits: int) -> list[tuple[int, ...]]:
    """Of the run with this input and of the one with its inverse."""
    size = bits // 8
    runs = data, bytes(255 - byte for byte in data)
    return [tuple(int.from_bytes(run[i : i + size], "little") for i in range(0, len(run), size)) for run in runs]


@settings(deadline=None, max_examples=600)
@given(st.sampled_from(list(INTEGERS)), st.binary(min_size=4, max_size=4))
def test_operators_of_integers(op: Op, data: bytes) -> None:
    steps: tuple[Step, ...] = (leaf_step(0, BITS), leaf_step(1, BITS))
    if op in SHIFTS:  # by more than its width is undefined
        steps = (*steps, Step(Op.CONST, BITS, BITS - 1), Step(Op.AND, BITS))
    found = computed(Template((slot(1, BITS), slot(2, BITS)), (*steps, Step(op, BITS))), data)
    for value, (a, b) in zip(found, operands(data, BITS), strict=True):
        count = b & (BITS - 1) if op in SHIFTS else b
        assume(count or op not in DIVIDES)
        assert value == int(INTEGERS[op](a, count)) & MASK


OF_ONE_INTEGER: list[tuple[Op, int, Callable[[int], int]]] = [
    (Op.NOT, BITS, lambda a: ~a & MASK),
    (Op.NEG, BITS, lambda a: -a & MASK),
    (Op.ZEXT, 24, lambda a: a),
    (Op.ZEXT, BITS, lambda a: a),
    (Op.SEXT, 24, lambda a: signed(a) & 0xFFFFFF),
    (Op.TRUNC, 8, lambda a: a & 0xFF),
    (Op.TRUNC, 1, lambda a: a & 1),
]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(OF_ONE_INTEGER), st.binary(min_size=2, max_size=2))
def test_operators_of_one_integer(operator_: tuple[Op, int, Callable[[int], int]], data: bytes) -> None:
    op, bits, expected = operator_
    found = computed(Template((slot(1, BITS),), (leaf_step(0, BITS), Step(op, bits))), data)
    assert list(found) == [expected(a) for (a,) in operands(data, BITS)]


floats = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)


def pattern(number: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", number))[0])


@settings(deadline=None, max_examples=400)
@given(st.sampled_from([*NUMBERS, *OF_ONE]), floats, floats)
def test_operators_of_numbers(op: Op, a: float, b: float) -> None:
    pair = op in NUMBERS
    assume(b or op is not Op.FDIV)
    assume(a >= 0 or op is not Op.FSQRT)
    leaves = (slot(1, 64), slot(2, 64)) if pair else (slot(1, 64),)
    steps = (*(leaf_step(i, 64) for i in range(len(leaves))), Step(op, 64))
    found, _ = computed(Template(leaves, steps), struct.pack("<dd" if pair else "<d", *((a, b) if pair else (a,))))
    if op >= Op.FEQ:
        assert found == int(NUMBERS[op](a, b))
    else:
        expected = NUMBERS[op](a, b) if pair else OF_ONE[op](a)
        # The floor of -0.0 keeps its sign, of which Python's integers know nothing.
        assert found == pattern(math.copysign(expected, a) if op in (Op.FFLOOR, Op.FCEIL, Op.FTRUNC) else expected)


@settings(deadline=None, max_examples=100)
@given(st.integers(-(1 << 31), (1 << 31) - 1))
def test_conversions_of_integers(number: int) -> None:
    data = (number & 0xFFFFFFFF).to_bytes(4, "little")
    leaf = (leaf_step(0, 32),)
    assert computed(Template((slot(1),), (*leaf, Step(Op.SITOF, 64))), data)[0] == pattern(float(number))
    unsigned = number & 0xFFFFFFFF
    assert computed(Template((slot(1),), (*leaf, Step(Op.UITOF, 64))), data)[0] == pattern(float(unsigned))
    back = (*leaf, Step(Op.SITOF, 64), Step(Op.FTOSI, 32))
    assert computed(Template((slot(1),), back), data)[0] == unsigned
    back = (*leaf, Step(Op.UITOF, 64), Step(Op.FTOUI, 32))
    assert computed(Template((slot(1),), back), data)[0] == unsigned
    narrow = (*leaf, Step(Op.SITOF, 64), Step(Op.FCONV, 32))
    rounded = struct.unpack("<I", struct.pack("<f", float(number)))[0]
    assert computed(Template((slot(1),), narrow), data)[0] == rounded


# --- bounds -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 40), st.integers(0, 12), st.integers(1, 8), st.binary(min_size=1, max_size=1), st.integers(0, 60))
def test_an_access_is_within_its_object(start: int, length: int, size: int, data: bytes, other: int) -> None:
    """The condition says for every address whether all bytes of the access are in the object."""
    site = Site(20, SiteKind.BOUNDS, "a.c", 20, size=size, template=Template((slot(1, 8),), (leaf_step(0, 8),)))
    inside = start <= data[0] and data[0] + size <= start + length
    sent = Stream(8).head(16).head(20, int(inside)).address(start).varint(length)
    path = replay(table(symbolic(16, slot(1, 8), 1), site, pointer_bits=8), bytes(sent), data)
    assert not path.diverged
    (condition,) = path.conditions
    says = evaluate(condition.formula, bytes([other])) == condition.direction
    assert says is (start <= other and other + size <= start + length)
    assert (condition.chain, condition.elsewhere, condition.chosen) == (-1, (), None)


SMALL = st.binary(min_size=2, max_size=2).map(lambda data: bytes(byte % 64 for byte in data))
ASTRAY = (1 << 64) - 1  # in the place of the object's size


@settings(deadline=None, max_examples=500)
@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 8), SMALL, SMALL, st.booleans(), st.booleans())
def test_a_pointer_went_astray(
    start: int, length: int, size: int, data: bytes, other: bytes, freed: bool, unknown: bool
) -> None:
    """The condition says for every pointer and offset whether the access is wrong in this very object; of a pointer right
    behind it, for that one alone. `unknown`: what lies below the object is not checked: the target says so by an object
    that is half of all addresses larger."""
    behind = data[0] == start + length

    def wrong(pointer: int, offset: int) -> bool:
        at = pointer + offset
        within = (unknown and at < start) or (start <= at and at + size <= start + length)
        leads = pointer == start + length if behind else start <= pointer < start + length
        return leads and (freed or not within)

    address = Template((slot(1, 8), slot(2, 8)), (leaf_step(0, 8), leaf_step(1, 8), Step(Op.ADD, 8)))
    origin = Template((slot(1, 8),), (leaf_step(0, 8),))
    site = Site(20, SiteKind.BOUNDS, "a.c", 20, size=size, template=address, origin=origin)
    inputs = symbolic(16, slot(1, 8), 1), symbolic(17, slot(2, 8), 1, "y")
    sent = Stream(8).head(16).head(17).head(20).varint(0b0101).address((start - 128 if unknown else start) & 255)
    sent.varint(ASTRAY).varint(length + 128 if unknown else length).raw(bytes([freed]))
    path = replay(table(*inputs, site, pointer_bits=8), bytes(sent), data)
    assert not path.diverged
    if not wrong(*data):  # the target's story does not fit the formulas: nothing follows from it, and that is said
        assert not path.conditions
        assert path.notes
        return
    (condition,) = path.conditions
    assert evaluate(condition.formula, other) == wrong(*other)
    assert condition.is_fork
    assert path.counted == 0  # the target does not count it


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 40), st.integers(0, 12), st.binary(min_size=2, max_size=2), st.binary(min_size=2, max_size=2))
def test_a_span_is_within_its_object(start: int, length: int, data: bytes, other: bytes) -> None:
    """As many bytes as the first leaf says, at the address that the template gives. None are everywhere in it, also at
    its end."""

    def inside(size: int, at: int) -> bool:
        return start <= at <= start + length and at + size <= start + length

    data, other = bytes(byte % 64 for byte in data), bytes(byte % 64 for byte in other)
    site = Site(20, SiteKind.SPAN, "a.c", 20, template=Template((slot(1, 8), slot(2, 8)), (leaf_step(1, 8),)))
    sent = Stream(8).head(16).head(17).head(20, int(inside(*data))).varint(0b0101).address(start).varint(length)
    inputs = symbolic(16, slot(1, 8), 1), symbolic(17, slot(2, 8), 1, "y")
    path = replay(table(*inputs, site, pointer_bits=8), bytes(sent), data)
    assert not path.diverged
    (condition,) = path.conditions
    assert (evaluate(condition.formula, other) == condition.direction) is inside(*other)
