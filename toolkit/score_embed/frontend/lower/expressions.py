"""Lowering of expressions: the user's C becomes pure, typed `Exp`s; side effects become statements before them.

Operands are evaluated left first; when a later operand has side effects, what an earlier one loads from memory is
saved before (a slot cannot change: changing it in the same expression would be unsequenced).
"""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ChooseExpr, LabelAddress, StatementExpression
from score_embed.frontend.declarations.symbols import Constant, FunctionName, Unsupported
from score_embed.frontend.ir.exp import COMPARISONS, Const, Exp, FloatConst, Load, Place, Raw
from score_embed.frontend.lower.conditions import Conditions
from score_embed.frontend.lower.lowering import MOST_LEAVES, Selection, leaf_count
from score_embed.frontend.types.constant import char_value, wrap
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Struct,
    Void,
    as_int,
    declare,
    is_float,
    is_integer,
    is_untracked,
    parse_int,
)
from score_embed.frontend.types.float_constants import literal_pattern

_FLOAT_SUFFIXES = {"f": "float", "l": "long double"}  # a hexadecimal one ends in a decimal exponent
_EXCHANGEABLE = COMPARISONS | {"+", "*", "&", "|", "^"}


class Expressions(Conditions):
    """Expressions of one function: the entry points, and the value of each kind of node."""

    def effect(self, node: c_ast.Node) -> None:
        """Evaluate for side effects only."""
        match node:
            case c_ast.Assignment():
                self._assignment(node, wanted=False)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self._step(node, wanted=False)
            case c_ast.FuncCall():
                self.call(node, False)
            case c_ast.ExprList():
                for item in node.exprs:
                    self.effect(item)
            case c_ast.TernaryOp() | c_ast.BinaryOp(op="&&" | "||"):
                self._conditional_effect(node)
            case c_ast.Cast():
                self.effect(node.expr)
            case ChooseExpr():
                self.effect(self.chosen(node))
            case _:
                self.value(node)

    def type_of(self, node: c_ast.Node) -> CType:
        """The type of an expression that is not evaluated (sizeof, typeof)."""
        if id(node) not in self._types:
            with self.b.unevaluated():
                self._types[id(node)] = (node, self._type_of(node))
        return self._types[id(node)][1]

    def _type_of(self, node: c_ast.Node) -> CType:
        if isinstance(node, Selection):
            return self.type_of(self.chosen(node))
        if isinstance(node, c_ast.ID):
            symbol = self.b.declarations.scope.find(node.name)
            if isinstance(symbol, (FunctionName, Constant)):
                return symbol.type
        if isinstance(node, c_ast.Constant) and node.value.endswith('"'):
            return self._string(node).type
        if isinstance(node, c_ast.CompoundLiteral):
            return self._literal_type(node)
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*" and not self._is_function_deref(node.expr)
        ):
            found = self.lvalue(node)
            if (
                isinstance(found, Place)
                and found.bit_field is not None
                and not self.is_wide(found.type, found.bit_field)
            ):
                return self.bit_field_type(found.type, found.bit_field)  # its operators' operand is promoted
            return found.type
        result = self.value(node)
        return self.types.void if result is None else result.type

    def value(self, node: c_ast.Node) -> Exp | Place | None:
        handler = getattr(self, f"_value_{type(node).__name__}", None)
        if handler is None:
            raise Unsupported(f"expression {type(node).__name__}", node)
        result: Exp | Place | None = handler(node)
        return result

    def _value_Constant(self, node: c_ast.Constant) -> Exp:
        kind, text = node.type, node.value
        if kind == "string" or text.endswith('"'):
            return self.decay(self._string(node))
        if text.endswith("'"):
            value = char_value(text, self.types.model.char_signed)
            of = self.types.int if text.startswith("'") else self.types.character(text)
            return Const(of, text, value)
        if "float" in kind or "double" in kind:
            return self._float_literal(text)
        t = self.types.literal(text)
        if t is self.types.int128 and self.types.model.pointer == 16:  # there it has no name
            raise Unsupported("a constant that is wider than long long", node)
        return Const(t, text, wrap(parse_int(text.lower().rstrip("ul")), t))

    def _float_literal(self, text: str) -> Exp:
        plain = "float" if self.types.model.float_literals else "double"
        t = self.types.floating(_FLOAT_SUFFIXES.get(text[-1].lower(), plain))
        known = literal_pattern(text, t.bits) if is_float(t) else None
        return Raw(t, text) if known is None else FloatConst(t, text, None, known)

    def _value_ID(self, node: c_ast.ID) -> Exp | Place:
        symbol = self.b.declarations.scope.find(node.name)
        match symbol:
            case Constant():
                return Const(symbol.type, symbol.name, symbol.value)
            case FunctionName():
                return Const(Pointer(symbol.type), symbol.name)
            case None:
                raise Unsupported(f"undeclared name '{node.name}'", node)
        return self.read(self.lvalue(node))

    def _value_ArrayRef(self, node: c_ast.ArrayRef) -> Exp | Place:
        return self.read(self.lvalue(node))

    def _value_StructRef(self, node: c_ast.StructRef) -> Exp | Place:
        return self.read(self.lvalue(node))

    def _value_CompoundLiteral(self, node: c_ast.CompoundLiteral) -> Exp | Place:
        return self.read(self.lvalue(node))

    def _value_LabelAddress(self, node: LabelAddress) -> Exp:
        return Const(Pointer(self.types.void), f"&&{node.name}")

    def _value_GenericSelection(self, node: c_ast.GenericSelection) -> Exp | Place | None:
        return self.value(self.chosen(node))

    def _value_ChooseExpr(self, node: ChooseExpr) -> Exp | Place | None:
        return self.value(self.chosen(node))

    def _value_ExprList(self, node: c_ast.ExprList) -> Exp | Place | None:
        for item in node.exprs[:-1]:
            self.effect(item)
        return self.value(node.exprs[-1])

    def _value_FuncCall(self, node: c_ast.FuncCall) -> Exp | Place | None:
        return self.call(node, True)

    def _value_StatementExpression(self, node: StatementExpression) -> Exp | Place | None:
        with self.b.nested():
            return self.block(node)

    def _value_Cast(self, node: c_ast.Cast) -> Exp | Place | None:
        to = self.b.declarations.type_of(node.to_type)
        if isinstance(to, Void):
            self.effect(node.expr)
            return None
        if isinstance(to, Struct):
            return self.as_union(self.value(node.expr), to, node)
        return self.arith.convert(self.exact(node.expr), to)

    def _value_Assignment(self, node: c_ast.Assignment) -> Exp | Place | None:
        return self._assignment(node, wanted=True)

    def _value_UnaryOp(self, node: c_ast.UnaryOp) -> Exp | Place | None:
        match node.op:
            case "&":
                return self._address(node.expr)
            case "*":
                if self._is_function_deref(node.expr):
                    return self.rvalue(node.expr)
                return self.read(self.lvalue(node))
            case "_Alignof" | "__alignof__":  # of a variable, its own attributes count: the compiler's business
                if isinstance(node.expr, c_ast.Typename):
                    self.b.declarations.type_of(node.expr)  # what is defined in it moves to the top
                return Const(self.types.size, f"{node.op}({self.b.declarations.text(node.expr)})")
            case "sizeof":
                t = (
                    self.b.declarations.type_of(node.expr)
                    if isinstance(node.expr, c_ast.Typename)
                    else self.type_of(node.expr)
                )
                if self.b.is_variable(t) and isinstance(t, Array):
                    return self.size_of(t)
                known = t.bits // 8 if isinstance(t, Int) else None
                return Const(self.types.size, f"{node.op}({declare(t)})", known)
            case "++" | "--" | "p++" | "p--":
                return self._step(node, wanted=True)
            case "!":
                exp = self.rvalue(node.expr)
                return self.arith.compare("==", *self.truth_operands(exp))
        exp = self.rvalue(node.expr)
        return self.arith.unary(node.op, exp)

    def _is_function_deref(self, node: c_ast.Node) -> bool:
        t = self.type_of(node)
        return isinstance(t, Function) or (isinstance(t, Pointer) and isinstance(t.to, Function))

    def _value_BinaryOp(self, node: c_ast.BinaryOp) -> Exp:
        if node.op in ("&&", "||"):
            return self._short_circuit(node)
        left, right = self.operands(node)
        return self._bounded(self.operate(node.op, left, right))

    def _bounded(self, exp: Exp) -> Exp:
        """Keep templates small: an expression with many operands is split by a temporary."""
        return self.b.save(exp) if leaf_count(exp) > MOST_LEAVES and not is_untracked(exp.type) else exp

    def operands(self, node: c_ast.BinaryOp) -> tuple[Exp, Exp]:
        """Both operands, in gcc's order: left first, but for two rewritings of its own that show."""
        right = node.right
        while isinstance(right, c_ast.ExprList):  # a - (f(), b) is (f(), a - b)
            for item in right.exprs[:-1]:
                self.effect(item)
            right = right.exprs[-1]
        first = self.rvalue(node.left)
        with self.b.buffered() as effects:
            second = self.rvalue(right)
        if (
            effects
            and any(isinstance(e, (Load, Raw)) for e in first.walk())
            and not self._read_late(node, first, second)
        ):
            first = self.b.save(first)
        self.b.body.statements.extend(effects)
        return first, second

    def _read_late(self, node: c_ast.BinaryOp, first: Exp, second: Exp) -> bool:
        """gcc puts a plain variable last where operands may be exchanged: it is read after the right one's calls."""
        left = node.left
        while isinstance(left, c_ast.Cast):
            left = left.expr
        if node.op not in _EXCHANGEABLE or not isinstance(left, c_ast.ID) or is_untracked(first.type):
            return False
        variable = self.lvalue(left)
        if not isinstance(variable, Place) or variable.type.volatile:
            return False
        if not isinstance(first.type, Int) or not isinstance(second.type, Int):
            return isinstance(first.type, Pointer) and isinstance(second.type, Pointer)
        # A conversion to another width is an operation of its own, which stays where it is.
        common = self.types.usual(first.type, second.type)
        return is_integer(variable.type) and as_int(variable.type).bits == first.type.bits == common.bits
