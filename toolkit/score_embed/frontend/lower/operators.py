"""Constants, names, casts and operators: the user's C becomes pure, typed `Exp`s; side effects become statements
before.

Operands are evaluated left first; when a later operand has side effects, what an earlier one loads from memory is
saved before (a slot cannot change: changing it in the same expression would be unsequenced).
"""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ChooseExpr, LabelAddress
from score_embed.frontend.declarations.symbols import Constant, FunctionName, Unsupported
from score_embed.frontend.ir.exp import COMPARISONS, Const, Exp, FloatConst, Load, Place, Raw
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.conditions import Conditions
from score_embed.frontend.lower.expressions import (
    MOST_LEAVES,
    Effects,
    Expressions,
    Selection,
    Value,
    Values,
    leaf_count,
)
from score_embed.frontend.lower.initialisers import Initialisers
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.constant import char_value, literal_pattern, wrap
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

_FLOAT_SUFFIXES = {"f": "float", "l": "long double"}  # a hexadecimal one ends in a decimal exponent
_STEPS = ("++", "--", "p++", "p--")
_EXCHANGEABLE = COMPARISONS | {"+", "*", "&", "|", "^"}


class Operators:
    """Those of one function."""

    def __init__(
        self,
        expressions: Expressions,
        places: Places,
        assignments: Assignments,
        conditions: Conditions,
        initialisers: Initialisers,
    ) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.places = places
        self.assignments = assignments
        self.conditions = conditions
        self.initialisers = initialisers

    @property
    def values(self) -> Values:
        """What this part has the values of."""
        return {
            c_ast.Constant: self._constant,
            c_ast.ID: self._name,
            c_ast.ArrayRef: self._at_place,
            c_ast.StructRef: self._at_place,
            c_ast.CompoundLiteral: self._at_place,
            LabelAddress: self._label_address,
            c_ast.GenericSelection: self._selected,
            ChooseExpr: self._selected,
            c_ast.ExprList: self._comma,
            c_ast.Cast: self._cast,
            c_ast.Assignment: lambda node: self.assignments.assign(node, wanted=True),
            c_ast.UnaryOp: self._unary,
            c_ast.BinaryOp: self._binary,
            c_ast.TernaryOp: self.conditions.conditional,
        }

    @property
    def effects(self) -> Effects:
        """What it lowers otherwise where only the side effects count."""
        return {
            c_ast.Assignment: lambda node: self.assignments.assign(node, wanted=False),
            c_ast.UnaryOp: self._unary_effect,
            c_ast.BinaryOp: self._binary_effect,
            c_ast.TernaryOp: self.conditions.conditional_effect,
            c_ast.ExprList: self._comma_effect,
            c_ast.Cast: lambda node: self.e.effect(node.expr),
            ChooseExpr: lambda node: self.e.effect(self.e.chosen(node)),
        }

    def _unary_effect(self, node: c_ast.UnaryOp) -> None:
        if node.op in _STEPS:
            self.assignments.step(node, wanted=False)
        else:
            self._unary(node)

    def _binary_effect(self, node: c_ast.BinaryOp) -> None:
        if node.op in ("&&", "||"):
            self.conditions.conditional_effect(node)
        else:
            self._binary(node)

    def _comma_effect(self, node: c_ast.ExprList) -> None:
        for item in node.exprs:
            self.e.effect(item)

    # --- types -----------------------------------------------------------------------------------------------

    def type_of(self, node: c_ast.Node) -> CType:
        """The type of an expression: of a place, before it is read. What it emits on the way, the caller drops."""
        if isinstance(node, Selection):
            return self.e.type_of(self.e.chosen(node))
        if isinstance(node, c_ast.ID):
            symbol = self.b.declarations.scope.find(node.name)
            if isinstance(symbol, (FunctionName, Constant)):
                return symbol.type
        if isinstance(node, c_ast.Constant) and node.value.endswith('"'):
            return self.places.string(node).type
        if isinstance(node, c_ast.CompoundLiteral):
            return self.initialisers.literal_type(node)
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*" and not self._is_function_deref(node.expr)
        ):
            found = self.places.lvalue(node)
            if (
                isinstance(found, Place)
                and found.bit_field is not None
                and not self.places.bit_fields.is_wide(found.type, found.bit_field)
            ):
                return self.places.bit_fields.type_of(found.type, found.bit_field)  # its operators' operand is promoted
            return found.type
        result = self.e.value(node)
        return self.types.void if result is None else result.type

    # --- constants and names ---------------------------------------------------------------------------------

    def _constant(self, node: c_ast.Constant) -> Exp:
        kind, text = node.type, node.value
        if kind == "string" or text.endswith('"'):
            return self.places.decay(self.places.string(node))
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

    def _name(self, node: c_ast.ID) -> Exp | Place:
        symbol = self.b.declarations.scope.find(node.name)
        match symbol:
            case Constant():
                return Const(symbol.type, symbol.name, symbol.value)
            case FunctionName():
                return Const(Pointer(symbol.type), symbol.name)
            case None:
                raise Unsupported(f"undeclared name '{node.name}'", node)
        return self.places.read(self.places.lvalue(node))

    def _at_place(self, node: c_ast.Node) -> Exp | Place:
        return self.places.read(self.places.lvalue(node))

    def _label_address(self, node: LabelAddress) -> Exp:
        return Const(Pointer(self.types.void), f"&&{node.name}")

    # --- operators -------------------------------------------------------------------------------------------

    def _selected(self, node: Selection) -> Value:
        return self.e.value(self.e.chosen(node))

    def _comma(self, node: c_ast.ExprList) -> Value:
        for item in node.exprs[:-1]:
            self.e.effect(item)
        return self.e.value(node.exprs[-1])

    def _cast(self, node: c_ast.Cast) -> Value:
        to = self.b.declarations.type_of(node.to_type)
        if isinstance(to, Void):
            self.e.effect(node.expr)
            return None
        if isinstance(to, Struct):
            return self.assignments.as_union(self.e.value(node.expr), to, node)
        return self.arith.convert(self.places.exact(node.expr), to)

    def _unary(self, node: c_ast.UnaryOp) -> Value:
        match node.op:
            case "&":
                return self.places.address_of(node.expr)
            case "*":
                if self._is_function_deref(node.expr):
                    return self.e.rvalue(node.expr)
                return self.places.read(self.places.lvalue(node))
            case "_Alignof" | "__alignof__":  # of a variable, its own attributes count: the compiler's business
                if isinstance(node.expr, c_ast.Typename):
                    self.b.declarations.type_of(node.expr)  # what is defined in it moves to the top
                return Const(self.types.size, f"{node.op}({self.b.declarations.text(node.expr)})")
            case "sizeof":
                t = (
                    self.b.declarations.type_of(node.expr)
                    if isinstance(node.expr, c_ast.Typename)
                    else self.e.type_of(node.expr)
                )
                if self.b.is_variable(t) and isinstance(t, Array):
                    return self.e.sizes.of(t)
                known = t.bits // 8 if isinstance(t, Int) else None
                return Const(self.types.size, f"{node.op}({declare(t)})", known)
            case "++" | "--" | "p++" | "p--":
                return self.assignments.step(node, wanted=True)
            case "!":
                exp = self.e.rvalue(node.expr)
                return self.arith.compare("==", *self.conditions.truth_operands(exp))
        exp = self.e.rvalue(node.expr)
        return self.arith.unary(node.op, exp)

    def _is_function_deref(self, node: c_ast.Node) -> bool:
        t = self.e.type_of(node)
        return isinstance(t, Function) or (isinstance(t, Pointer) and isinstance(t.to, Function))

    def _binary(self, node: c_ast.BinaryOp) -> Exp:
        if node.op in ("&&", "||"):
            return self.conditions.short_circuit(node)
        left, right = self._operands(node)
        return self._bounded(self.e.sizes.operate(node.op, left, right))

    def _bounded(self, exp: Exp) -> Exp:
        """Keep templates small: an expression with many operands is split by a temporary."""
        return self.b.save(exp) if leaf_count(exp) > MOST_LEAVES and not is_untracked(exp.type) else exp

    def _operands(self, node: c_ast.BinaryOp) -> tuple[Exp, Exp]:
        """Both operands, in gcc's order: left first, but for two rewritings of its own that show."""
        right = node.right
        while isinstance(right, c_ast.ExprList):  # a - (f(), b) is (f(), a - b)
            for item in right.exprs[:-1]:
                self.e.effect(item)
            right = right.exprs[-1]
        first = self.e.rvalue(node.left)
        with self.b.buffered() as effects:
            second = self.e.rvalue(right)
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
        variable = self.places.lvalue(left)
        if not isinstance(variable, Place) or variable.type.volatile:
            return False
        if not isinstance(first.type, Int) or not isinstance(second.type, Int):
            return isinstance(first.type, Pointer) and isinstance(second.type, Pointer)
        # A conversion to another width is an operation of its own, which stays where it is.
        common = self.types.usual(first.type, second.type)
        return is_integer(variable.type) and as_int(variable.type).bits == first.type.bits == common.bits
