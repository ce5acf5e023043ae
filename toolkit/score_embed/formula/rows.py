"""Assignments of one or two input bytes as rows, and conditions as Python functions that sort them.

A row is the value of the first byte times 256, plus that of the second. Of a condition's formula, what depends on one
byte becomes a table of 256 values; the rest is straight-line code over locals, each node of the DAG once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import partial
from typing import Any

from score_embed.formula.domain import members, table
from score_embed.formula.expr import OPERATIONS, Expr, Kind, TableRead, evaluate, nodes
from score_embed.formula.floats import COMPARISONS as FLOAT_COMPARISONS
from score_embed.formula.floats import (
    FROM_INTEGER,
    PRECISION,
    TO_INTEGER,
    decode,
    encode,
    from_integer,
    quotient,
    range_of,
    root,
    single,
    to_integer,
    whole,
)

Rows = array  # of "H", in rising order

_COMPILED_FROM = 24  # rows: for fewer, compiling takes longer than it saves
_FLOAT_COST = 5  # operations that one of floating point takes as long as

_SPLIT = """\
def split(rows{parameters}):
    hits, misses = array("H"), array("H")
    hit, miss = hits.append, misses.append
    for row in rows:
        a = row >> 8
        b = row & 255
{lines}
        if {condition}:
            hit(row)
        else:
            miss(row)
    return hits, misses
"""
# {0}, {1}: arguments; {m}: mask of the result; {s}: sign bit of the first argument; {w}: width of the result
_TEXT = {
    Kind.ADD: "{0} + {1} & {m}",
    Kind.SUB: "{0} - {1} & {m}",
    Kind.MUL: "{0} * {1} & {m}",
    Kind.UDIV: "{0} // {1} if {1} else {m}",
    Kind.UREM: "{0} % {1} if {1} else {0}",
    Kind.AND: "{0} & {1}",
    Kind.OR: "{0} | {1}",
    Kind.XOR: "{0} ^ {1}",
    Kind.SHL: "{0} << {1} & {m} if {1} < {w} else 0",
    Kind.LSHR: "{0} >> {1} if {1} < {w} else 0",
    Kind.NOT: "{0} ^ {m}",
    Kind.NEG: "-{0} & {m}",
    Kind.ZEXT: "{0}",
    Kind.SEXT: "({0} ^ {s}) - {s} & {m}",
    Kind.EXTRACT: "{0} >> {value} & {m}",
    Kind.CONCAT: "{0} << {low} | {1}",
    Kind.EQ: "{0} == {1}",
    Kind.ULT: "{0} < {1}",
    Kind.SLT: "{0} ^ {s} < {1} ^ {s}",
    Kind.ITE: "{1} if {0} else {2}",
}
# Signed operations by a positive constant; the general ones are calls.
_TEXT_BY_CONSTANT = {
    Kind.SDIV: "({0} // {1} if {0} < {s} else -(({m} + 1 - {0}) // {1}) & {m})",
    Kind.SREM: "({0} % {1} if {0} < {s} else -(({m} + 1 - {0}) % {1}) & {m})",
    Kind.ASHR: "({0} ^ {s}) - {s} >> {1} & {m}",
}


# Floating-point numbers are those of Python between operations, and patterns only where their bits are used.
_NUMBER_TEXT = {
    Kind.FADD: "{0} + {1}",
    Kind.FSUB: "{0} - {1}",
    Kind.FMUL: "{0} * {1}",
    Kind.FDIV: "quotient({0}, {1})",
    Kind.FSQRT: "root({0})",
    Kind.FROUND: "whole({0}, {value})",
    Kind.FCONV: "{0}",
}
_ROUNDED = frozenset({Kind.FADD, Kind.FSUB, Kind.FMUL, Kind.FDIV, Kind.FSQRT})
_KEPT_AS_NUMBERS = _NUMBER_TEXT.keys() | FROM_INTEGER
_RELATIONS = {Kind.FEQ: "==", Kind.FLT: "<", Kind.FLE: "<="}
_CALLS = {
    "single": single, "quotient": quotient, "root": root, "whole": whole, "from_integer": from_integer,
    "to_integer": to_integer, "decode": decode, "encode": encode,
}  # fmt: skip


def all_rows(first: int, second: int) -> Rows[int]:
    """Every pair of a value of the first byte's set and one of the second's."""
    low = members(second)
    return array("H", [high << 8 | value for high in members(first) for value in low])


def within(rows: Rows[int], first: int, second: int) -> Rows[int]:
    """The rows whose bytes are in these sets."""
    high, low = set(members(first)), set(members(second))
    return array("H", [row for row in rows if row >> 8 in high and row & 255 in low])


def cost(condition: Expr) -> int:
    """Operations that `split` does for each row."""
    return sum(_FLOAT_COST if node.kind >= Kind.FADD else 1 for node in nodes([condition]) if _is_mixed(node))


def split(condition: Expr, indices: Sequence[int], rows: Rows[int]) -> tuple[Rows[int], Rows[int]]:
    """The rows that satisfy the condition, and those that do not. `indices`: the bytes that a row is made of."""
    if len(rows) < _COMPILED_FROM:
        return _interpret(condition, indices, rows)
    found: tuple[Rows[int], Rows[int]] = _Compiler(condition, indices[0]).function()(rows)
    return found


def _interpret(condition: Expr, indices: Sequence[int], rows: Rows[int]) -> tuple[Rows[int], Rows[int]]:
    hits: Rows[int] = array("H")
    misses: Rows[int] = array("H")
    data = bytearray(max(indices) + 1)
    for row in rows:
        data[indices[-1]] = row & 255
        data[indices[0]] = row >> 8
        (hits if evaluate(condition, data) else misses).append(row)
    return hits, misses


def _is_mixed(node: Expr) -> bool:
    return node.deps & (node.deps - 1) != 0


class _Compiler:
    def __init__(self, condition: Expr, first: int) -> None:
        self._condition, self._first = condition, first
        self._names: dict[Expr, str] = {}
        self._numbers: dict[Expr, str] = {}  # the names of what is held as a number of Python's
        self._lines: list[str] = []
        self._scope: dict[str, Any] = {"array": array, **_CALLS}

    def function(self) -> Any:
        for node in nodes([self._condition]):
            if _is_mixed(node):
                self._lines.append(self._define_number(node) if node.kind in _KEPT_AS_NUMBERS else self._define(node))
        condition = self._name(self._condition)
        lines = [f"        {line}" for line in self._lines]
        # As parameters they are locals, which are faster than globals.
        parameters = "".join(f", {name}={name}" for name in self._scope if name != "array")
        text = _SPLIT.format(parameters=parameters, lines="\n".join(lines), condition=condition)
        exec(text, self._scope)
        return self._scope["split"]

    def _define_number(self, node: Expr) -> str:
        """The statement that computes a floating-point number of both bytes."""
        kind = node.kind
        if kind in FROM_INTEGER:
            argument = node.args[0]
            sign = 1 << (argument.width - 1)
            text = f"(({{0}} ^ {sign}) - {sign})" if kind is Kind.SITOF else "{0}"
            args = [self._name(argument)]
            exact = argument.width <= 53
            text = f"float({text})" if exact else f"from_integer({text}, {node.width})"
            rounded = exact and argument.width > PRECISION[node.width]
        else:
            text, args = _NUMBER_TEXT[kind], [self._number(arg) for arg in node.args]
            rounded = kind in _ROUNDED or (kind is Kind.FCONV and node.width < node.args[0].width)
        name = self._numbers[node] = f"n{len(self._numbers)}"
        text = text.format(*args, value=node.value)
        return f"{name} = single({text})" if rounded and node.width == 32 else f"{name} = {text}"

    def _number(self, node: Expr) -> str:
        """What gives a node's value as a number of Python's."""
        found = self._numbers.get(node)
        if found is None:
            name = self._numbers[node] = f"n{len(self._numbers)}"
            if node.is_const:
                self._scope[name] = decode(node.value, node.width)
            elif not _is_mixed(node):
                self._scope[f"table_{name}"] = [decode(value, node.width) for value in table(node)]
                self._lines.append(f"{name} = table_{name}[{self._row_part(node)}]")
            else:
                self._lines.append(f"{name} = decode({self._name(node)}, {node.width})")
            found = name
        return found

    def _define(self, node: Expr) -> str:
        """The statement that computes a node of both bytes."""
        if node.kind in FLOAT_COMPARISONS or node.kind in TO_INTEGER:
            numbers = [self._number(arg) for arg in node.args]
            name = self._names[node] = f"x{len(self._names)}"
            if node.kind in TO_INTEGER:
                lowest, highest = range_of(node)
                return f"{name} = to_integer({numbers[0]}, {lowest}, {highest}) & {(1 << node.width) - 1}"
            return f"{name} = {numbers[0]} {_RELATIONS[node.kind]} {numbers[1]}"
        args = [self._name(arg) for arg in node.args]
        name = self._names[node] = f"x{len(self._names)}"
        if isinstance(node, TableRead):
            self._scope[f"table_{name}"] = node.entries
            return f"{name} = table_{name}[{args[0]}]"
        argument = node.args[0]
        template = _TEXT.get(node.kind)
        if (
            template is None
            and node.kind in _TEXT_BY_CONSTANT
            and node.args[1].is_const
            and 0
            < node.args[1].value
            < min(1 << (node.width - 1), node.width if node.kind is Kind.ASHR else 1 << node.width)
        ):
            template = _TEXT_BY_CONSTANT[node.kind]
        if template is None:
            self._scope[f"call_{name}"] = partial(OPERATIONS[node.kind], node)
            return f"{name} = call_{name}({', '.join(args)})"
        return f"{name} = " + template.format(
            *args,
            m=(1 << node.width) - 1,
            s=1 << (argument.width - 1),
            w=node.width,
            value=node.value,
            low=node.args[-1].width,
        )

    def _name(self, node: Expr) -> str:
        found = self._names.get(node)
        if found is None and node in self._numbers and _is_mixed(node):
            found = self._names[node] = f"x{len(self._names)}"
            self._lines.append(f"{found} = encode({self._numbers[node]}, {node.width})")
        if found is None:
            found = self._names[node] = self._source(node)
        return found

    def _row_part(self, node: Expr) -> str:
        return "a" if node.only_byte == self._first else "b"

    def _source(self, node: Expr) -> str:
        """What gives the value of a node of one byte or none."""
        if node.is_const:
            return str(node.value)
        row_part = self._row_part(node)
        if node.kind is Kind.BYTE:
            return row_part
        name = f"t{len(self._names)}"
        self._scope[name] = table(node)
        return f"{name}[{row_part}]"
