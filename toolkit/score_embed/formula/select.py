"""Reads at symbolic addresses as formulas: the object's bytes, selected by the offset into it.

An object of constants is a table, with as many entries as the index has values, so that reading it is one step for every
layer. The index is what is left of the offset when its fixed low bits (the size of an element, the place of a member) are
taken off and the high bits that are zero inside of the object. Entries that are formulas stand before the table, as a
chain of if-then-else; if they are many, all entries are the leaves of a tree of decisions. The formula is right where
the offset is in the object: `within` says so, as a condition of the path.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from itertools import zip_longest
from typing import NamedTuple

from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, TableRead, intern_table

MOST_ENTRIES = 4096
_DEPTH = 8  # how deep formulas are looked into for what is known of their values

Cell = Callable[[int], Expr | None]  # the formula of the element at an offset, or None if its bytes are constant


class Table(NamedTuple):
    """Values by index, and a number that stands for them."""

    name: int
    entries: tuple[int, ...]


def within(offset: Expr, last: int) -> Expr:
    """offset ≤ last, if that is not known to be so."""
    limit = build.const(last, offset.width)
    return build.TRUE if _upper(offset, _DEPTH) <= last else build.less_equal(Kind.ULT, offset, limit)


def select(offset: Expr, content: bytes, size: int, cell: Cell | None = None) -> Expr | None:
    """The little-endian number of `size` bytes that lies at `offset` in `content`; None if there are too many entries.

    `cell`: for objects that hold formulas; their bytes in `content` are not looked at.
    """
    last = len(content) - size
    if offset.is_const:
        return _element(offset, content, size, cell)
    step, rest = _stride(offset)
    if rest > last:
        return None
    index = _index(offset, step, rest, last)
    bits = index.width
    if 1 << bits > MOST_ENTRIES:
        return None
    table = _table(content, size, step, rest, bits)
    if index.is_const:
        return _element(build.const(rest + (index.value << step), 64, index.origins), content, size, cell)
    numbers = range(((last - rest) >> step) + 1 if cell else 0)
    formulas = {n: formula for n in numbers if cell and (formula := cell(rest + (n << step)))}
    if len(formulas) > bits:
        return _tree(index, [formulas.get(n) or build.const(table.entries[n], 8 * size) for n in numbers])
    found: Expr = intern_table(8 * size, index, table.name, table.entries)
    if len(set(table.entries)) == 1:
        found = build.const(table.entries[0], 8 * size)
    for number, formula in formulas.items():
        found = build.ite(build.binary(Kind.EQ, index, build.const(number, bits)), formula, found)
    return found


def _tree(index: Expr, level: list[Expr]) -> Expr:
    """One of these, decided bit by bit: as many decisions as elements, but none compares the index with a number."""
    for bit in range(index.width):
        decision = build.extract(index, bit, 1)
        pairs = zip_longest(level[::2], level[1::2], fillvalue=level[-1])
        level = [build.ite(decision, odd, even) for even, odd in pairs]
    return level[0]


def changed(offset: Expr, last: int, place: int) -> Expr:
    """That the offset is `place`, where it is known to be no more than `last`."""
    step, rest = _stride(offset)
    if place < rest or (place - rest) & ((1 << step) - 1) or rest > last:
        return build.FALSE
    index = _index(offset, step, rest, last)
    return build.binary(Kind.EQ, index, build.const((place - rest) >> step, index.width))


def _index(offset: Expr, step: int, rest: int, last: int) -> Expr:
    """Which of the elements, in as few bits as tell them apart."""
    bits = max(1, ((last - rest) >> step).bit_length())
    return _bits_of(build.binary(Kind.SUB, offset, build.const(rest, offset.width)), step, bits)


def _element(offset: Expr, content: bytes, size: int, cell: Cell | None) -> Expr:
    formula = cell(offset.value) if cell else None
    if formula is not None:
        return formula
    value = int.from_bytes(content[offset.value : offset.value + size], "little")
    return build.const(value, 8 * size, offset.origins)


@lru_cache(maxsize=256)
def _table(content: bytes, size: int, step: int, rest: int, bits: int) -> Table:
    starts = [rest + (index << step) for index in range(1 << bits)]
    parts = [content[start : start + size] for start in starts]
    # What lies beyond the end is never read: the path says so.
    entries = tuple(int.from_bytes(part, "little") if len(part) == size else 0 for part in parts)
    packed = b"".join(entry.to_bytes(size, "little") for entry in entries)
    return Table(int.from_bytes(blake2b(packed + bytes([size]), digest_size=16).digest(), "little"), entries)


def follow(address: Expr, size: int, read: Callable[[int], bytes | None]) -> tuple[Expr, Expr] | None:
    """A read through a table of pointers to constants (`names[i][0]`): that there is a constant, and its value.

    `read`: the `size` bytes at an address, if they are constants. None: the address is no entry of a table plus a constant.
    A null pointer leads to no constant, whatever lies at 0.
    """
    pointer, moved = address, 0
    if address.kind is Kind.ADD and address.args[1].is_const:
        pointer, moved = address.args[0], address.args[1].value
    if not isinstance(pointer, TableRead):
        return None
    wrap = (1 << address.width) - 1
    parts = [read(entry + moved & wrap) if entry else None for entry in pointer.entries]
    index = pointer.args[0]
    return (
        build.binary(
            Kind.EQ, _entry_of(index, [b"\0" if part is None else b"\1" for part in parts]), build.const(1, 8)
        ),
        _entry_of(index, [part or bytes(size) for part in parts]),
    )


def _entry_of(index: Expr, parts: list[bytes]) -> Expr:
    size = len(parts[0])
    if len(set(parts)) == 1:
        return build.const(int.from_bytes(parts[0], "little"), 8 * size)
    table = _table(b"".join(parts), size, size.bit_length() - 1, 0, index.width)
    return intern_table(8 * size, index, table.name, table.entries)


# --- what is known of an offset --------------------------------------------------------------------------------


def _stride(offset: Expr) -> tuple[int, int]:
    """(step, rest): the offset is some number << step, plus rest."""
    if offset.kind is Kind.ADD and offset.args[1].is_const:
        step = _zeros(offset.args[0], _DEPTH)
        return step, offset.args[1].value & ((1 << step) - 1)
    return _zeros(offset, _DEPTH), 0


def _zeros(expr: Expr, depth: int) -> int:
    """How many of the lowest bits are zero for sure."""
    if expr.is_const:
        return (expr.value & -expr.value).bit_length() - 1 if expr.value else expr.width
    if depth == 0:
        return 0
    match expr.kind:
        case Kind.CONCAT:
            low = _zeros(expr.args[1], depth - 1)
            return low if low < expr.args[1].width else low + _zeros(expr.args[0], depth - 1)
        case Kind.ZEXT | Kind.SEXT:
            return _zeros(expr.args[0], depth - 1)
        case Kind.MUL:
            return min(expr.width, sum(_zeros(arg, depth - 1) for arg in expr.args))
        case Kind.ADD | Kind.SUB | Kind.OR | Kind.XOR:
            return min(_zeros(arg, depth - 1) for arg in expr.args)
        case Kind.AND:
            return max(_zeros(arg, depth - 1) for arg in expr.args)
    return 0


def _bits_of(expr: Expr, low: int, width: int, depth: int = _DEPTH) -> Expr:
    """Bits low … low + width − 1, of a formula whose lower bits are all zero: arithmetic is done in few bits."""
    if depth and expr.kind is Kind.ADD and all(_zeros(arg, _DEPTH) >= low for arg in expr.args):
        return build.binary(Kind.ADD, *(_bits_of(arg, low, width, depth - 1) for arg in expr.args))
    if depth and expr.kind is Kind.MUL and expr.args[1].is_const and not expr.args[1].origins:
        factor, constant = expr.args
        shift = min(_zeros(constant, 1), low)
        if shift == low and factor.width >= width:
            odd = build.const(constant.value >> shift, width)
            return build.binary(Kind.MUL, _bits_of(factor, 0, width, depth - 1), odd)
    kept = min(width, expr.width - low)
    return build.zext(build.extract(expr, low, kept), width)


def _upper(expr: Expr, depth: int) -> int:
    """A value that it never exceeds, as an unsigned number."""
    highest = (1 << expr.width) - 1
    if expr.is_const:
        return expr.value
    if depth == 0:
        return highest
    upper = [_upper(arg, depth - 1) for arg in expr.args] if expr.kind in _MONOTONE else []
    match expr.kind:
        case Kind.ZEXT:
            return upper[0]
        case Kind.ADD | Kind.MUL:
            most = upper[0] + upper[1] if expr.kind is Kind.ADD else upper[0] * upper[1]
            return most if most <= highest else highest
        case Kind.AND:
            return min(upper)
        case Kind.OR | Kind.XOR:
            return (1 << max(upper).bit_length()) - 1
        case Kind.CONCAT:
            return upper[0] << expr.args[1].width | upper[1]
        case Kind.UREM:
            return min(upper[0], upper[1] - 1) if expr.args[1].is_const and upper[1] else upper[0]
        case Kind.UDIV if expr.args[1].is_const and expr.args[1].value:
            return upper[0] // expr.args[1].value
        case Kind.LSHR:
            return upper[0]
        case Kind.EXTRACT:
            return min(highest, _upper(expr.args[0], depth - 1) >> expr.value) if _fits(expr, depth) else highest
        case Kind.ITE:
            return max(_upper(arg, depth - 1) for arg in expr.args[1:])
    return expr.largest if isinstance(expr, TableRead) else highest


_MONOTONE = frozenset(
    {Kind.ZEXT, Kind.ADD, Kind.MUL, Kind.AND, Kind.OR, Kind.XOR, Kind.CONCAT, Kind.UREM, Kind.UDIV, Kind.LSHR}
)


def _fits(expr: Expr, depth: int) -> bool:
    """Whether an extract cuts off nothing at the top."""
    return _upper(expr.args[0], depth - 1) >> expr.value < 1 << expr.width
