"""The engine's formulas beside plain trees of the same operators, which simplify nothing
(tests/support/plain_formulas.py)."""

from __future__ import annotations

import hashlib
import random
from array import array

import proof
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_formulas import Plain

from score_embed.engine._core import interval_of, is_refuted, limit_of, most_values, replaced, select, within
from score_embed.formula import build
from score_embed.formula.domain import byte_set, intervals, members, split, table
from score_embed.formula.expr import (
    Chosen,
    Expr,
    Kind,
    Memo,
    bytes_of,
    changed_bytes,
    compute,
    digest,
    evaluate,
    intern,
    nodes,
)

Pair = tuple[Expr, Plain]

EXAMPLES = 20_000 if proof.FULL else 400
INPUT = 70  # bytes: dependencies of more than one word
WIDTHS = (1, 3, 8, 16, 24, 32, 64, 100, 128)
BINARY = [kind for kind in Kind if Kind.ADD <= kind <= Kind.ASHR or Kind.EQ <= kind <= Kind.SLT]
FLOAT_BINARY = (Kind.FADD, Kind.FSUB, Kind.FMUL, Kind.FDIV, Kind.FEQ, Kind.FLT, Kind.FLE)


class Maker:
    """Makes the same random formula twice."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.pool: list[Pair] = [
            (build.byte(i), Plain(Kind.BYTE, 8, (), i)) for i in (0, 1, self._random.randrange(INPUT))
        ]

    def grow(self, steps: int) -> None:
        for _ in range(steps):
            made = self._random.choice(
                (*[self._binary] * 5, self._shape, self._shape, self._ite, self._float, self._read)
            )()
            self.pool.append(made)

    def _constant(self, width: int) -> Pair:
        number = self._random.choice(
            [0, 1, 2, 255, width, (1 << width) - 1, 1 << width - 1, self._random.getrandbits(width)]
        )
        return build.const(number, width), Plain(Kind.CONST, width, (), number)

    def _of(self, width: int) -> Pair:
        if self._random.random() < 0.3:
            return self._constant(width)
        expr, plain = self._random.choice(self.pool)
        if expr.width > width:
            low = self._random.randrange(expr.width - width + 1)
            return build.extract(expr, low, width), Plain(Kind.EXTRACT, width, (plain,), low)
        if expr.width < width and self._random.random() < 0.5:
            return build.sext(expr, width), Plain(Kind.SEXT, width, (plain,))
        return build.zext(expr, width), Plain(Kind.ZEXT, width, (plain,))

    def _binary(self) -> Pair:
        kind, width = self._random.choice(BINARY), self._random.choice(WIDTHS)
        (a, x), (b, y) = self._of(width), self._of(width)
        return build.binary(kind, a, b), Plain(kind, 1 if kind >= Kind.EQ else width, (x, y))

    def _shape(self) -> Pair:
        expr, plain = self._random.choice(self.pool)
        what = self._random.choice((Kind.NOT, Kind.NEG, Kind.CONCAT))
        if what is Kind.NOT:
            return build.bit_not(expr), Plain(what, expr.width, (plain,))
        if what is Kind.NEG or expr.width > 100:
            return build.neg(expr), Plain(Kind.NEG, expr.width, (plain,))
        low, under = self._of(self._random.choice((8, 16, 28)))
        return build.concat(expr, low), Plain(what, expr.width + low.width, (plain, under))

    def _ite(self) -> Pair:
        width = self._random.choice(WIDTHS)
        (c, x), (a, y), (b, z) = self._of(1), self._of(width), self._of(width)
        return build.ite(c, a, b), Plain(Kind.ITE, width, (x, y, z))

    def _float(self) -> Pair:
        width = self._random.choice((32, 64))
        (a, x), (b, y) = self._of(width), self._of(width)
        if self._random.random() < 0.5:
            kind = self._random.choice(FLOAT_BINARY)
            return build.float_binary(kind, a, b), Plain(kind, 1 if kind >= Kind.FEQ else width, (x, y))
        kind = self._random.choice([kind for kind in Kind if Kind.FNEG <= kind <= Kind.FTOUI])
        how = self._random.choice((1, 2, 3)) if kind is Kind.FROUND else 0
        if kind in (Kind.SITOF, Kind.UITOF):
            a, x = self._of(self._random.choice((8, 24, 32, 64)))
        wide = self._random.choice((8, 32, 64)) if kind in (Kind.FTOSI, Kind.FTOUI) else width
        wide = 96 - width if kind is Kind.FCONV else wide
        return build.float_unary(kind, a, wide, how), Plain(kind, wide, (x,), how)

    def _read(self) -> Pair:
        size, bits = self._random.choice((1, 2, 4)), self._random.choice((1, 3, 6))
        index, plain = self._of(bits)
        start, behind = self._random.choice((0, 5, 8 * size)), self._random.randrange(40)
        content = bytes(self._random.randrange(256) for _ in range(start + (size << bits) + behind))
        offset = build.binary(Kind.MUL, build.zext(index, 32), build.const(size, 32))
        offset = build.binary(Kind.ADD, offset, build.const(start, 32))
        parts = range(start, start + (size << bits), size)
        entries = tuple(int.from_bytes(content[at : at + size], "little") for at in parts)
        read = select(offset, content, size)
        assert read is not None
        assert within(offset, len(content) - size) is build.TRUE
        return read, Plain(Kind.TABLE, 8 * size, (plain,), 0, entries)


@given(st.integers(0, 1 << 32), st.binary(min_size=INPUT, max_size=INPUT))
@settings(max_examples=EXAMPLES, deadline=None)
def test_simplified_or_not_the_values_are_the_same(seed: int, data: bytes) -> None:
    maker, memo = Maker(seed), Memo()
    maker.grow(12)
    known = {expr: build.const(plain.under(data), expr.width) for expr, plain in maker.pool[4:6]}
    reach = 0
    for expr in known:
        reach |= expr.deps
    run = Chosen()
    run.take(data)
    for expr, plain in maker.pool:
        value = plain.under(data)
        assert expr.width == plain.width
        assert evaluate(expr, data) == evaluate(expr, data, memo) == value, (expr, plain)
        if expr.args:
            assert compute(expr, *[evaluate(arg, data) for arg in expr.args]) == value
        if not expr.floats:
            assert evaluate(replaced(expr, known, reach), data) == value
            simple, conditions = run.of(expr)
            assert evaluate(simple, data) == value
            assert all(evaluate(condition, data) for condition in conditions)
        indices = bytes_of(expr.deps)
        if len(indices) == 1:
            assert table(expr)[data[indices[0]]] == value
        if expr.width == 1 and indices:
            _check_sets(expr, plain, data, indices)


def _check_sets(expr: Expr, plain: Plain, data: bytes, indices: list[int]) -> None:
    changed = bytearray(data)
    if len(indices) == 1:
        for value in range(0, 256, 5):
            changed[indices[0]] = value
            assert byte_set(expr) >> value & 1 == plain.under(changed)
        runs = [value for first, last in intervals(byte_set(expr)) for value in range(first, last + 1)]
        assert runs == members(byte_set(expr))
    elif len(indices) == 2:
        rows = array("Q", range(0, 65536, 3001))
        hits, misses = split(expr, indices, rows)
        assert sorted([*hits, *misses]) == list(rows)
        for row in rows:
            changed[indices[0]], changed[indices[1]] = divmod(row, 256)
            assert (row in hits) == bool(plain.under(changed))


@given(st.integers(0, 1 << 32))
@settings(max_examples=EXAMPLES // 4, deadline=None)
def test_what_is_said_of_a_formula_is_so(seed: int) -> None:
    maker, values = Maker(seed), random.Random(seed)
    maker.grow(10)
    for expr, plain in maker.pool:
        found, made = set(), nodes([expr])
        assert made[-1] is expr
        assert len(set(made)) == len(made)
        assert all(made.index(arg) < made.index(node) for node in made for arg in node.args)
        before = bytes(values.randrange(256) for _ in range(INPUT))
        limit = limit_of(expr) if expr.width == 1 else None
        for _ in range(20):
            data = bytes(values.randrange(256) for _ in range(INPUT))
            found.add(plain.under(data))
            if not changed_bytes(before, data) & expr.deps:
                assert plain.under(data) == plain.under(before)
            if limit and plain.under(data):
                assert evaluate(limit[0], data) <= limit[1]
        assert len(found) <= most_values(expr, {})
        least, most = interval_of(expr)
        assert least <= min(found)
        assert max(found) <= most
        if expr.width == 1 and is_refuted(expr):
            assert found == {0}
        # Everything else a byte of the input is not in the mask, so it is in no value.
        others = bytes(0 if expr.deps >> i & 1 == 0 else byte for i, byte in enumerate(before))
        assert plain.under(others) == plain.under(before)


def named(expr: Expr) -> bytes:
    """The digest as it is defined: by hashlib."""
    size = (expr.value.bit_length() + 7) // 8
    head = bytes([expr.kind]) + expr.width.to_bytes(4, "little") + bytes([size]) + expr.value.to_bytes(size, "little")
    return hashlib.blake2b(head + b"".join(map(named, expr.args)), digest_size=16).digest()


@given(st.integers(0, 1 << 32))
@settings(max_examples=EXAMPLES // 8, deadline=None)
def test_digests_are_blake2b_of_the_content(seed: int) -> None:
    maker = Maker(seed)
    maker.grow(6)
    for expr, _ in maker.pool:
        if len(nodes([expr])) < 100:
            assert digest(expr) == named(expr)


@given(st.integers(0, 1 << 32))
@settings(max_examples=EXAMPLES // 8, deadline=None)
def test_a_formula_made_again_of_its_parts_is_itself(seed: int) -> None:
    maker = Maker(seed)
    maker.grow(8)
    for node in nodes([expr for expr, _ in maker.pool]):
        if node.kind is not Kind.TABLE:
            origins = node.origins if node.is_const else frozenset[int]()
            assert intern(node.kind, node.width, node.args, node.value, origins) is node
