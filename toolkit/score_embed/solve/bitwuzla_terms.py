"""Formulas as Bitwuzla's terms: bit vectors and booleans. What has floating point is Z3's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bitwuzla import Kind as Operator
from bitwuzla import TermManager

from score_embed.formula.domain import intervals
from score_embed.formula.expr import Expr, Kind, TableRead
from score_embed.solve.translate import Translator, table_term

_ARITHMETIC = {
    Kind.ADD: Operator.BV_ADD,
    Kind.SUB: Operator.BV_SUB,
    Kind.MUL: Operator.BV_MUL,
    Kind.UDIV: Operator.BV_UDIV,
    Kind.SDIV: Operator.BV_SDIV,
    Kind.UREM: Operator.BV_UREM,
    Kind.SREM: Operator.BV_SREM,
    Kind.AND: Operator.BV_AND,
    Kind.OR: Operator.BV_OR,
    Kind.XOR: Operator.BV_XOR,
    Kind.SHL: Operator.BV_SHL,
    Kind.LSHR: Operator.BV_SHR,
    Kind.ASHR: Operator.BV_ASHR,
    Kind.CONCAT: Operator.BV_CONCAT,
    Kind.NOT: Operator.BV_NOT,
    Kind.NEG: Operator.BV_NEG,
    Kind.EQ: Operator.EQUAL,
    Kind.ULT: Operator.BV_ULT,
    Kind.SLT: Operator.BV_SLT,
}
_LOGIC = {Kind.NOT: Operator.NOT, Kind.AND: Operator.AND, Kind.OR: Operator.OR, Kind.XOR: Operator.XOR}
_EXTENSION = {Kind.ZEXT: Operator.BV_ZERO_EXTEND, Kind.SEXT: Operator.BV_SIGN_EXTEND}


class _Words:
    """Terms, and those of tables."""

    def __init__(self) -> None:
        self.manager = TermManager()
        self._sorts: dict[int, Any] = {}
        self._values: dict[tuple[int, int], Any] = {}

    def term(self, operator: Operator, *args: Any, indices: Sequence[int] = ()) -> Any:
        return self.manager.mk_term(operator, list(args), list(indices))

    def constant(self, value: int, width: int) -> Any:
        found = self._values.get((value, width))
        if found is None:
            found = self._values[value, width] = self.manager.mk_bv_value(self._sort(width), value)
        return found

    def variable(self, name: str, width: int) -> Any:
        return self.manager.mk_const(self._sort(width), name)

    def bit(self, value: Any, at: int) -> Any:
        return self.boolean(self.term(Operator.BV_EXTRACT, value, indices=(at, at)))

    def either(self, condition: Any, yes: Any, no: Any) -> Any:
        return self.term(Operator.ITE, condition, yes, no)

    def xor(self, a: Any, b: Any) -> Any:
        return self.term(Operator.BV_XOR, a, b)

    def boolean(self, term: Any) -> Any:
        return term if term.sort().is_bool() else self.term(Operator.EQUAL, term, self.constant(1, 1))

    def vector(self, term: Any) -> Any:
        return self.either(term, self.constant(1, 1), self.constant(0, 1)) if term.sort().is_bool() else term

    def _sort(self, width: int) -> Any:
        found = self._sorts.get(width)
        if found is None:
            found = self._sorts[width] = self.manager.mk_bv_sort(width)
        return found


class BitwuzlaTranslator(Translator[Any]):
    """Bitwuzla's terms of formulas without floating point."""

    def __init__(self, look: Callable[[], None] = lambda: None) -> None:
        super().__init__(look)
        self._words = _Words()
        self._variables: dict[int, Any] = {}

    @property
    def manager(self) -> Any:
        """Whose terms these are."""
        return self._words.manager

    def variable(self, index: int) -> Any:
        """An input byte."""
        found = self._variables.get(index)
        if found is None:
            found = self._variables[index] = self._words.variable(f"in{index}", 8)
        return found

    def among(self, index: int, values: int) -> Any:
        """That an input byte has one of these values (a set)."""
        words, byte = self._words, self.variable(index)
        found = None
        for first, last in intervals(values):
            low, high = words.constant(first, 8), words.constant(last, 8)
            if first == last:
                run = words.term(Operator.EQUAL, byte, low)
            else:
                run = words.term(
                    Operator.AND, words.term(Operator.BV_UGE, byte, low), words.term(Operator.BV_ULE, byte, high)
                )
            found = run if found is None else words.term(Operator.OR, found, run)
        return found

    def _boolean(self, term: Any) -> Any:
        return self._words.boolean(term)

    def _term(self, node: Expr) -> Any:
        words, kind, args = self._words, node.kind, [self._terms[arg.uid] for arg in node.args]
        if kind is Kind.CONST:
            return words.constant(node.value, node.width)
        if kind is Kind.BYTE:
            return self.variable(node.value)
        if node.width == 1 and kind in _LOGIC and any(arg.sort().is_bool() for arg in args):
            return words.term(_LOGIC[kind], *map(words.boolean, args))
        if kind is Kind.ITE:
            return words.either(words.boolean(args[0]), words.vector(args[1]), words.vector(args[2]))
        args = [words.vector(arg) for arg in args]
        if isinstance(node, TableRead):
            return table_term(words, args[0], node.args[0].width, node.entries, node.width)
        if kind in _EXTENSION:
            return words.term(_EXTENSION[kind], *args, indices=(node.width - node.args[0].width,))
        if kind is Kind.EXTRACT:
            return words.term(Operator.BV_EXTRACT, *args, indices=(node.value + node.width - 1, node.value))
        return words.term(_ARITHMETIC[kind], *args)
