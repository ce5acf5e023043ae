"""Lowering of conditions: short-circuit operators become branches, everything else one comparison.

`jump` lowers a condition for its truth; `&&`, `||` and `?:` as values put both outcomes into one temporary.
The conditions of a decision get their numbers here, for MC/DC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pycparser import c_ast

from score_embed.contract.coverage import NOT
from score_embed.contract.sites import shown
from score_embed.frontend.ir.body import Branch, Copy, Decision, SetPlain
from score_embed.frontend.ir.exp import NEGATED, Binary, Const, Exp, Place, Raw, is_constant
from score_embed.frontend.lower.arithmetic import zero
from score_embed.frontend.lower.expressions import Expressions, Value, decayed
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import (
    CType,
    Float,
    Pointer,
    Struct,
    Void,
    as_int,
    declare,
    is_float,
    is_integer,
    is_untracked,
    qualified,
    qualifiers,
)

_MOST_TEXT = 60  # characters of a condition that are kept
_NAME = re.compile(r"[A-Za-z_]\w*")
_WEAK = (c_ast.TernaryOp, c_ast.Assignment)  # as an operand of `&&` they have parentheses


class Conditions:
    """Conditions and conditional values of one function (C11 6.5.13 to 6.5.15)."""

    def __init__(self, expressions: Expressions, places: Places) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.places = places
        self._decision: Decision | None = None  # that is being lowered

    def jump(self, node: c_ast.Node, label: str, when: bool, *, assumed: bool | None = None) -> None:
        """Go to `label` if the truth of `node` is `when`; else fall through. Nobody decides what an assumption demands.

        `assumed`: the truth of `node` that an assumption demands (None: there is none).
        """
        with self._deciding(None if assumed is not None else Decision(self.b.where(node))):
            self._jump(node, label, when, assumed)

    @contextmanager
    def _deciding(self, decision: Decision | None) -> Iterator[None]:
        """What a condition computes may contain decisions of its own."""
        outer, self._decision = self._decision, decision
        try:
            yield
        finally:
            self._decision = outer

    def _operator(self, op: str) -> None:
        """The operands before it are all that it needs."""
        if self._decision is not None:
            self._decision.postfix.append(op)

    def _condition(self, node: c_ast.Node, literal: bool | None = None) -> tuple[Decision, int] | None:
        """One more condition of the decision."""
        decision = self._decision
        if decision is None:
            return None
        number = len(decision.texts)
        decision.postfix.append(number)
        text = _shortened(self.b.declarations.text(node))
        decision.texts.append(f"({text})" if isinstance(node, _WEAK) else text)
        decision.literals.append(literal)
        return decision, number

    def _jump(self, node: c_ast.Node, label: str, when: bool, assumed: bool | None) -> None:
        """`assumed`: as above, or None: nothing is demanded of this node alone."""
        match node:
            case c_ast.UnaryOp(op="!"):
                self._jump(node.expr, label, not when, None if assumed is None else not assumed)
                return self._operator(NOT)
            case c_ast.BinaryOp(op="&&" | "||"):
                return self._jump_both(node, label, when, assumed)
            case c_ast.ExprList():
                for item in node.exprs[:-1]:
                    self.e.effect(item)
                return self._jump(node.exprs[-1], label, when, assumed)
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_expect")):
                for hint in node.args.exprs[1:]:
                    self.e.effect(hint)
                return self._jump(node.args.exprs[0], label, when, assumed)
        # Only a literal is decided here: everything else has C's types, which the compiler knows best.
        known = self.b.declarations.constant(node) if isinstance(node, c_ast.Constant) else None
        if known is not None:
            self._condition(node, bool(known))
            if bool(known) == when:
                self.b.goto(label)
            return None
        self.b.at(node)
        decision = self._condition(node)
        with self._deciding(None):
            exp = self.places.exact(node)
        return self.branch(exp, label, when, assumed=assumed, decision=decision)

    def _jump_both(self, node: c_ast.BinaryOp, label: str, when: bool, assumed: bool | None) -> None:
        decides = node.op == "||"  # the truth of the left operand that decides the whole
        each = assumed if assumed is not None and assumed != decides else None
        if decides == when:
            self._jump(node.left, label, when, each)
            self._jump(node.right, label, when, each)
        else:
            skip = self.b.label("skip")
            self._jump(node.left, skip, decides, each)
            self._jump(node.right, label, when, each)
            self.b.place_label(skip)
        self._operator(node.op)

    def branch(
        self,
        exp: Exp,
        label: str,
        when: bool,
        *,
        assumed: bool | None = None,
        decision: tuple[Decision, int] | None = None,
    ) -> None:
        """One branch of the program: the comparison at the root of `exp`, or a truth test."""
        op, left, right = self.arith.atom(exp)
        if isinstance(left, Raw) or isinstance(right, Raw):
            op, left, right = self.arith.atom(self._settle_raw(exp))
        if assumed is False:  # only the false side of a comparison can be marked
            if is_float(left.type):  # neither a < b nor a >= b: one of them may be no number
                op, left, right = "==", Binary(self.types.int, op, left, right), zero(self.types.int)
            else:
                op = NEGATED[op]
            when = not when
        constant = is_constant(left) and is_constant(right)
        self.b.add(Branch(self.b.coord, op, left, right, label, when, assumed is not None, constant, decision))

    def _settle_raw(self, exp: Exp) -> Exp:
        if is_untracked(exp.type):
            exp = Raw(self.types.int, f"({exp.c()} != 0)", (exp,))
        ref = self.b.temporary(exp.type)
        self.b.assign(ref, exp)
        return ref

    def truth_operands(self, exp: Exp) -> tuple[Exp, Exp]:
        if isinstance(exp.type, Pointer):
            return exp, Const(exp.type, f"(({declare(exp.type)}) 0)", 0)
        return exp, zero(self.types.int)

    def short_circuit(self, node: c_ast.BinaryOp) -> Exp:
        """The value of `&&` or `||`."""
        result = self.b.temporary(self.types.int)
        no, end = self.b.label("false"), self.b.label("end")
        self.jump(node, no, False)
        self.b.assign(result, Const(self.types.int, "1", 1))
        self.b.goto(end)
        self.b.place_label(no)
        self.b.assign(result, zero(self.types.int))
        self.b.place_label(end)
        return result

    def conditional(self, node: c_ast.TernaryOp) -> Value:
        """The value of `?:`."""
        known = self.b.declarations.constant(node.cond) if isinstance(node.cond, c_ast.Constant) else None
        if known is not None and node.iftrue is not None:
            t = self._common_type(node)
            chosen = self.e.value(node.iftrue if known else node.iffalse)
            return self.arith.convert(chosen, t) if isinstance(chosen, Exp) and not isinstance(t, Void) else chosen
        t = self._common_type(node)
        if isinstance(t, Void):
            self.conditional_effect(node)
            return None
        other, end = self.b.label("else"), self.b.label("end")
        store, result = self._result_holder(t)
        if node.iftrue is None:
            test = self.b.save(self.e.rvalue(node.cond))
            self.branch(test, other, False)
            store(test)
        else:
            self.jump(node.cond, other, False)
            store(self.e.value(node.iftrue))
        self.b.goto(end)
        self.b.place_label(other)
        store(self.e.value(node.iffalse))
        self.b.place_label(end)
        return result

    def conditional_effect(self, node: c_ast.Node) -> None:
        """What `&&`, `||` or `?:` does, where nobody wants its value."""
        other, end = self.b.label("else"), self.b.label("end")
        if isinstance(node, c_ast.BinaryOp):
            self.jump(node.left, end, node.op == "||")
            self.e.effect(node.right)
        else:
            if node.iftrue is None:
                self.conditional(node)
                return
            self.jump(node.cond, other, False)
            self.e.effect(node.iftrue)
            self.b.goto(end)
            self.b.place_label(other)
            self.e.effect(node.iffalse)
        self.b.place_label(end)

    def _common_type(self, node: c_ast.TernaryOp) -> CType:
        a, b = (self._type_of_arm(n) for n in (node.iftrue or node.cond, node.iffalse))
        if is_integer(a) and is_integer(b):
            return self.types.usual(as_int(a), as_int(b))
        if isinstance(a, Float) or isinstance(b, Float):
            return self.arith.float_type(a, b)
        if isinstance(a, Pointer) and isinstance(b, Pointer):
            return self._common_pointer(a, b, node)
        if isinstance(a, Void) or isinstance(b, Void):
            return self.types.void
        return b if isinstance(b, Pointer) else a

    def _type_of_arm(self, node: c_ast.Node) -> CType:
        """As `type_of`, but a bit-field wider than int has its own width, in which gcc goes on."""
        if isinstance(node, c_ast.StructRef):
            with self.b.unevaluated():
                place = self.places.lvalue(node)
            if isinstance(place, Place) and place.bit_field is not None:
                return self.places.bit_fields.type_of(place.type, place.bit_field)
        return decayed(self.e.type_of(node))

    def _common_pointer(self, a: Pointer, b: Pointer, node: c_ast.TernaryOp) -> Pointer:
        """C11 6.5.15p6: a null pointer constant takes the other's type, else `void *` wins, and all qualifiers stay."""
        if self._is_null_constant(node.iffalse):
            return a
        if self._is_null_constant(node.iftrue or node.cond):
            return b
        chosen, other = (b, a) if isinstance(b.to, Void) else (a, b)
        volatile, const = qualifiers(other.to)
        return Pointer(qualified(chosen.to, volatile=volatile, const=const))

    def _is_null_constant(self, node: c_ast.Node) -> bool:
        """An integer constant 0, also cast to `void *` (C11 6.3.2.3)."""
        if isinstance(node, c_ast.Cast) and self.b.declarations.type_of(node.to_type) == Pointer(self.types.void):
            node = node.expr
        return self.b.declarations.constant(node) == 0

    def _result_holder(self, t: CType) -> tuple[Callable[[Value], None], Exp | Place]:
        """Where both arms of a conditional put their value, and how."""
        if isinstance(t, Struct):
            place = self.b.object_temporary(t)

            def store_struct(value: Value) -> None:
                assert isinstance(value, Place)
                self.b.add(Copy(self.b.coord, place, value))

            return store_struct, place
        if is_untracked(t):
            name = self.b.plain_temporary(t)

            def store_plain(value: Value) -> None:
                assert isinstance(value, Exp)
                self.b.add(SetPlain(self.b.coord, name, self.arith.convert(value, t)))

            return store_plain, Raw(t, name)
        ref = self.b.temporary(t)

        def store(value: Value) -> None:
            assert isinstance(value, Exp)
            self.b.assign(ref, self.arith.convert(value, ref.type))

        return store, ref


def _shortened(text: str) -> str:
    """A condition on one line, with the names that the user knows."""
    text = _NAME.sub(lambda name: shown(name[0]), " ".join(text.split()))
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
