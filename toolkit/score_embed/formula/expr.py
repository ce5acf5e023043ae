"""Bit-vector formulas over the bytes of a test's input, as a hash-consed DAG with an evaluator.

Floating-point numbers are bit vectors, too: their patterns (formula/floats.py computes with them).

Equal formulas are one object (as long as someone holds it), so comparing, caching and sharing are by
identity. A constant may carry *origins*: the opaque calls whose concrete result it is. Such a constant computes
like any other, but everything derived from it remembers that it is true of this run only.
Semantics are those of SMT-LIB's QF_BV, division by zero and over-wide shifts included.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, MutableMapping, Sequence
from enum import IntEnum
from weakref import KeyedRef


class Kind(IntEnum):
    CONST = 0  # value
    BYTE = 1  # value: index into the input
    ADD = 2
    SUB = 3
    MUL = 4
    UDIV = 5
    SDIV = 6
    UREM = 7
    SREM = 8
    AND = 9
    OR = 10
    XOR = 11
    SHL = 12
    LSHR = 13
    ASHR = 14
    NOT = 15
    NEG = 16
    ZEXT = 17
    SEXT = 18
    EXTRACT = 19  # value: lowest bit
    CONCAT = 20  # high part, low part
    EQ = 21
    ULT = 22
    SLT = 23
    ITE = 24  # condition of one bit, then, else
    TABLE = 25  # an entry of a table of constants (see TableRead); value: names the table by its content
    FADD = 26  # from here on: arguments or result are floating-point numbers of 32 or 64 bits
    FSUB = 27
    FMUL = 28
    FDIV = 29
    FNEG = 30
    FABS = 31
    FSQRT = 32
    FROUND = 33  # to a whole number; value: which way
    FCONV = 34  # to another width
    SITOF = 35  # an integer's value
    UITOF = 36
    FTOSI = 37  # to an integer, towards zero
    FTOUI = 38
    FEQ = 39
    FLT = 40
    FLE = 41


NOWHERE: frozenset[int] = frozenset()
COMMUTATIVE = frozenset({Kind.ADD, Kind.MUL, Kind.AND, Kind.OR, Kind.XOR, Kind.EQ, Kind.FADD, Kind.FMUL, Kind.FEQ})
_QUOTIENTS = frozenset({Kind.UDIV, Kind.SDIV, Kind.UREM, Kind.SREM})
SHIFTS = frozenset({Kind.SHL, Kind.LSHR, Kind.ASHR})
COMPARISONS = frozenset({Kind.EQ, Kind.ULT, Kind.SLT, Kind.FEQ, Kind.FLT, Kind.FLE})


class Expr:
    """One node. Made by the functions of `solve.build`, never directly.

    `deps` is a bit mask of the input bytes it depends on, `only_byte` the index if that is a single one, else -1;
    `floats` says that there is a floating-point operator in it, `products` a product of unknowns, a quotient or a remainder,
    `reads` a table, `chooses` an if-then-else or a shift by an unknown number;
    `uid` a number no other node ever had; `byte_set` caches what `solve.domain` found out about a single-byte condition (-1: nothing yet), `digest` what
    `solve.digest` did (empty: nothing yet), `integral` what `solve.integral` did (None: nothing yet).
    """

    __slots__ = (
        "__weakref__",
        "args",
        "byte_set",
        "chooses",
        "deps",
        "digest",
        "floats",
        "integral",
        "kind",
        "only_byte",
        "origins",
        "products",
        "reads",
        "uid",
        "value",
        "width",
    )

    deps: int
    floats: bool
    products: bool
    chooses: bool
    reads: bool

    def __init__(self, kind: Kind, width: int, args: tuple[Expr, ...], value: int, origins: frozenset[int]) -> None:
        self.kind, self.width, self.args, self.value = kind, width, args, value
        self.uid = next(_uids)
        self.byte_set = -1
        self.digest = b""
        self.integral: Expr | None = None
        self.origins = origins
        deps: int = 1 << value if kind is Kind.BYTE else 0
        floats = kind >= Kind.FADD
        products = kind in _QUOTIENTS or (kind is Kind.MUL and not args[1].is_const)
        chooses = kind is Kind.ITE or (kind in SHIFTS and not args[1].is_const)
        reads = kind is Kind.TABLE
        for arg in args:
            chooses |= arg.chooses
            reads |= arg.reads
            deps |= arg.deps
            floats |= arg.floats
            products |= arg.products
            if arg.origins and arg.origins is not self.origins:
                self.origins = self.origins | arg.origins
        self.deps, self.floats, self.products = deps, floats, products
        self.chooses, self.reads = chooses, reads
        self.only_byte = deps.bit_length() - 1 if deps and deps & (deps - 1) == 0 else -1

    @property
    def is_const(self) -> bool:
        return self.kind is Kind.CONST

    def __repr__(self) -> str:
        if self.kind is Kind.CONST:
            return f"{self.value:#x}:{self.width}" + ("?" if self.origins else "")
        if self.kind is Kind.BYTE:
            return f"in[{self.value}]"
        extra = f"@{self.value}" if self.kind is Kind.EXTRACT else ""
        # Deep formulas are cut: a repr is for people.
        inner = ", ".join(repr(a) if a.kind <= Kind.BYTE else f"#{a.uid}" for a in self.args)
        return f"{self.kind.name.lower()}{extra}:{self.width}({inner})"


class TableRead(Expr):
    """The entry of a table at an index: there are as many entries as the index has values, so that any is defined."""

    __slots__ = ("entries", "largest")

    def __init__(self, width: int, index: Expr, name: int, entries: Sequence[int]) -> None:
        super().__init__(Kind.TABLE, width, (index,), name, NOWHERE)
        self.entries, self.largest = entries, max(entries)


_uids = itertools.count(1)
_Key = tuple[object, ...]
_table: dict[_Key, KeyedRef[_Key, Expr]] = {}


def _forget(ref: KeyedRef[_Key, Expr], table: dict[_Key, KeyedRef[_Key, Expr]] = _table) -> None:
    # The default argument outlives the module's globals when the interpreter ends.
    if table.get(ref.key) is ref:
        del table[ref.key]


def intern(
    kind: Kind, width: int, args: tuple[Expr, ...] = (), value: int = 0, origins: frozenset[int] = NOWHERE
) -> Expr:
    """The one node with these parts. Its key holds uids, not nodes: the table keeps nothing alive."""
    key: _Key = (kind, width, value, origins, *[a.uid for a in args])
    ref = _table.get(key)
    if ref is not None:
        found = ref()
        if found is not None:
            return found
    made = Expr(kind, width, args, value, origins)
    _table[key] = KeyedRef(made, _forget, key)
    return made


def intern_table(width: int, index: Expr, name: int, entries: Sequence[int]) -> Expr:
    """As intern, of a TableRead. `name` stands for the entries: equal names, equal entries."""
    key: _Key = (Kind.TABLE, width, name, NOWHERE, index.uid)
    ref = _table.get(key)
    found = ref() if ref is not None else None
    if found is None:
        found = TableRead(width, index, name, entries)
        _table[key] = KeyedRef(found, _forget, key)
    return found


def table_size() -> int:
    """Number of live nodes, for memory tests."""
    return len(_table)


def to_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _sdiv(e: Expr, a: int, b: int) -> int:
    x, y = to_signed(a, e.width), to_signed(b, e.width)
    if y == 0:
        return 1 if x < 0 else (1 << e.width) - 1
    quotient = abs(x) // abs(y)
    return (quotient if (x < 0) == (y < 0) else -quotient) & ((1 << e.width) - 1)


def _srem(e: Expr, a: int, b: int) -> int:
    x, y = to_signed(a, e.width), to_signed(b, e.width)
    if y == 0:
        return a
    rest = abs(x) % abs(y)
    return (-rest if x < 0 else rest) & ((1 << e.width) - 1)


def _shl(e: Expr, a: int, b: int) -> int:
    return (a << b) & ((1 << e.width) - 1) if b < e.width else 0


def _lshr(e: Expr, a: int, b: int) -> int:
    return a >> b if b < e.width else 0


def _ashr(e: Expr, a: int, b: int) -> int:
    return (to_signed(a, e.width) >> min(b, e.width)) & ((1 << e.width) - 1)


def _sext(e: Expr, a: int) -> int:
    return to_signed(a, e.args[0].width) & ((1 << e.width) - 1)


def _slt(e: Expr, a: int, b: int) -> int:
    # Flipping the sign bit turns signed order into unsigned order.
    sign = 1 << (e.args[0].width - 1)
    return int((a ^ sign) < (b ^ sign))


# What each operator computes, from its node and the values of its arguments. Those of floating point: formula/floats.py.
OPERATIONS: dict[Kind, Callable[..., int]] = {
    Kind.ADD: lambda e, a, b: (a + b) & ((1 << e.width) - 1),
    Kind.SUB: lambda e, a, b: (a - b) & ((1 << e.width) - 1),
    Kind.MUL: lambda e, a, b: (a * b) & ((1 << e.width) - 1),
    Kind.UDIV: lambda e, a, b: a // b if b else (1 << e.width) - 1,
    Kind.SDIV: _sdiv,
    Kind.UREM: lambda e, a, b: a % b if b else a,
    Kind.SREM: _srem,
    Kind.AND: lambda e, a, b: a & b,
    Kind.OR: lambda e, a, b: a | b,
    Kind.XOR: lambda e, a, b: a ^ b,
    Kind.SHL: _shl,
    Kind.LSHR: _lshr,
    Kind.ASHR: _ashr,
    Kind.NOT: lambda e, a: a ^ ((1 << e.width) - 1),
    Kind.NEG: lambda e, a: -a & ((1 << e.width) - 1),
    Kind.ZEXT: lambda e, a: a,
    Kind.SEXT: _sext,
    Kind.EXTRACT: lambda e, a: (a >> e.value) & ((1 << e.width) - 1),
    Kind.CONCAT: lambda e, a, b: a << e.args[1].width | b,
    Kind.EQ: lambda e, a, b: int(a == b),
    Kind.ULT: lambda e, a, b: int(a < b),
    Kind.SLT: _slt,
    Kind.ITE: lambda e, condition, then, otherwise: then if condition else otherwise,
    Kind.TABLE: lambda e, index: e.entries[index],
}

Memo = MutableMapping[Expr, int]


def evaluate(expr: Expr, data: Sequence[int], memo: Memo | None = None) -> int:
    """The value of `expr` if the input is `data`. `memo` keeps values of nodes over calls with the same data.

    Works without recursion: formulas of long loops are deep.
    """
    values: Memo = {} if memo is None else memo
    if expr in values:
        return values[expr]
    stack = [expr]
    while stack:
        node = stack[-1]
        if node.kind is Kind.CONST:
            values[node] = node.value
        elif node.kind is Kind.BYTE:
            values[node] = data[node.value]
        elif node.kind is Kind.ITE:  # one arm is enough: elements of arrays are long chains of these
            condition, then, otherwise = node.args
            wanted = condition if condition not in values else then if values[condition] else otherwise
            if wanted not in values:
                stack.append(wanted)
                continue
            values[node] = values[wanted]
        else:
            missing = [arg for arg in node.args if arg not in values]
            if missing:
                stack += missing
                continue
            values[node] = OPERATIONS[node.kind](node, *[values[arg] for arg in node.args])
        stack.pop()
    return values[expr]


def nodes(exprs: Sequence[Expr]) -> list[Expr]:
    """Every node of the formulas once, arguments before what uses them."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack = [(expr, False) for expr in exprs]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(arg, False) for arg in node.args]
    return order


def bytes_of(mask: int) -> list[int]:
    """The input bytes of a dependency mask, in order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def changed_bytes(a: bytes, b: bytes) -> int:
    """Bit i is set if byte i differs, or only one of them has it."""
    size = max(len(a), len(b))
    difference = int.from_bytes(a, "little") ^ int.from_bytes(b, "little")
    changed = 0
    while difference:
        index = ((difference & -difference).bit_length() - 1) >> 3
        changed |= 1 << index
        difference &= ~(0xFF << 8 * index)
    shorter = min(len(a), len(b))
    return changed | ((1 << size) - 1) ^ ((1 << shorter) - 1)
