"""Lowering of statements to jumps.

Loops become branches and gotos; a `switch` keeps its dispatch in the emitted code and its body is laid out flat,
so that fall-through, labels in nested blocks (Duff's device) and gotos into blocks need no special care.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import Asm, ComputedGoto, LocalLabels, StatementExpression, ValueRange
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.body import Branch, Case, Jump, Return, SetPlain, Switch, Tick
from score_embed.frontend.ir.exp import Const, Place, Raw, SlotRef
from score_embed.frontend.lower.assembly import InlineAssembly
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.cleanups import Cleanups
from score_embed.frontend.lower.conditions import Conditions
from score_embed.frontend.lower.expressions import Expressions, Value
from score_embed.frontend.lower.initialisers import Initialisers
from score_embed.frontend.lower.local_declarations import LocalDeclarations
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import (
    Int,
    Pointer,
    Struct,
    Void,
    as_int,
    is_integer,
    is_untracked,
    unqualified,
)

_INSIDE = (  # what these are made of is told
    *(c_ast.Compound, c_ast.DeclList, c_ast.Case, c_ast.Default, c_ast.Label, c_ast.For, c_ast.DoWhile),
    *(c_ast.EmptyStatement, c_ast.StaticAssert, c_ast.AttributeDeclaration, c_ast.Pragma, c_ast.Typedef, LocalLabels),
)
_FAILURES = frozenset({"__score_assume_fail", "__score_assert_fail", "__assert_fail", "__assert_func"})


def _is_told(node: c_ast.Node) -> bool:
    """Whether it counts as a statement of C: what computes or decides something, or jumps. That an assertion fails is
    nobody's goal."""
    if isinstance(node, c_ast.Decl):
        return node.init is not None and "static" not in (node.storage or [])
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name in _FAILURES:
        return False
    return not isinstance(node, _INSIDE)


class _SwitchContext:
    def __init__(self, slot: SlotRef) -> None:
        self.slot = slot
        self.cases: list[Case] = []
        self.default: str | None = None


class Statements:
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
        self.places = places
        self.conditions = conditions
        self.assembly = InlineAssembly(expressions, places)
        self.cleanups = Cleanups(expressions.b, expressions.effect)
        self.declarations = LocalDeclarations(expressions, places, assignments, initialisers, self.cleanups)
        self.addressed_labels: list[str] = []  # of the whole function
        self._breaks: list[tuple[str, int]] = []  # where they go, and how many variables with a cleanup stay
        self._continues: list[tuple[str, int]] = []
        self._switches: list[_SwitchContext] = []
        self._seen_labels: set[str] = set()
        self.by_node: Mapping[type[c_ast.Node], Callable[[Any], None]] = {
            c_ast.Compound: self._compound,
            c_ast.EmptyStatement: self._nothing,
            c_ast.StaticAssert: self._nothing,
            c_ast.AttributeDeclaration: self._nothing,
            c_ast.Pragma: self.declarations.pragma,
            c_ast.DeclList: self._list,
            c_ast.Typedef: self.declarations.typedef,
            c_ast.Decl: self.declarations.declare,
            c_ast.If: self._if,
            c_ast.While: self._while,
            c_ast.DoWhile: self._do_while,
            c_ast.For: self._for,
            c_ast.Switch: self._switch,
            c_ast.Case: self._case,
            c_ast.Default: self._default,
            c_ast.Label: self._label,
            c_ast.Goto: self._goto,
            ComputedGoto: self._computed_goto,
            c_ast.Break: self._break,
            c_ast.Continue: self._continue,
            c_ast.Return: self._return,
            Asm: self.assembly.lower,
            LocalLabels: self._local_labels,
        }

    def statement(self, node: c_ast.Node | None) -> None:
        if node is None:
            return
        self.b.at(node)
        if _is_told(node):
            self.b.begin(node)
        handler = self.by_node.get(type(node))
        if handler is not None:
            handler(node)
        else:
            self.e.effect(node)
        self.b.end_full_expression()

    def statement_expression(self, node: StatementExpression) -> Value:
        """`({ … })`: its value is the last expression statement's."""
        items = node.block_items
        with self.b.nested(), self.cleanups.block(node):
            depth = self.cleanups.depth
            for index, item in enumerate(items[:-1]):
                self.cleanups.at_item(index)
                self.statement(item)
            if not items:
                return None
            last = items[-1]
            if type(last) in self.by_node:
                self.cleanups.at_item(len(items) - 1)
                self.statement(last)
                return None
            self.b.begin(last)
            value = self.e.value(last)
            return value if value is None or self.cleanups.depth == depth else self.places.kept(value)

    # --- blocks ----------------------------------------------------------------------------------------------

    def _compound(self, node: c_ast.Compound) -> None:
        with self.cleanups.block(node):
            for index, item in enumerate(node.block_items or []):
                self.cleanups.at_item(index)
                self.statement(item)

    def _nothing(self, node: c_ast.Node) -> None:
        """What says something to the compiler only."""

    def _list(self, node: c_ast.DeclList) -> None:
        for decl in node.decls:
            self.statement(decl)

    # --- selection and loops ---------------------------------------------------------------------------------

    def _if(self, node: c_ast.If) -> None:
        other, end = self.b.label("else"), self.b.label("end")
        self.conditions.jump(node.cond, other, False, assumed=False if self._is_assumption(node) else None)
        self.b.end_full_expression()
        self.statement(node.iftrue)
        if node.iffalse is not None:
            self.b.goto(end)
        self.b.place_label(other)
        if node.iffalse is not None:
            self.statement(node.iffalse)
            self.b.place_label(end)

    @staticmethod
    def _is_assumption(node: c_ast.If) -> bool:
        """`if (!(c)) __score_assume_fail();`, as SCORE_ASSUME expands to."""
        inner = node.iftrue
        if isinstance(inner, c_ast.Compound) and inner.block_items:
            inner = inner.block_items[0]
        called = inner.name if isinstance(inner, c_ast.FuncCall) else None
        return isinstance(called, c_ast.ID) and called.name == "__score_assume_fail"

    def _loop(self, node: c_ast.Node, cond: c_ast.Node | None, top: str, end: str) -> None:
        if cond is None:
            self.b.add(Tick(self.b.coord))
        else:
            self._turn(cond, end, False)

    def _turn(self, cond: c_ast.Node, label: str, when: bool) -> None:
        """The condition of a loop. Where it is constant, at least in part, no probe may count the turns."""
        with self.b.buffered() as decided:
            self.conditions.jump(cond, label, when)
            self.b.end_full_expression()
        known = self.b.declarations.constant(cond)
        branches = [s for s in decided if isinstance(s, Branch)]
        if known or (known is None and (not branches or any(s.constant for s in branches))):
            self.b.add(Tick(self.b.coord))
        self.b.body.statements.extend(decided)

    def _body(self, body: c_ast.Node, again: str, end: str) -> None:
        self._continues.append((again, self.cleanups.depth))
        self._breaks.append((end, self.cleanups.depth))
        self.statement(body)
        self._continues.pop()
        self._breaks.pop()

    def _while(self, node: c_ast.While) -> None:
        top, end = self.b.label("while"), self.b.label("end")
        self.b.place_label(top)
        self._loop(node, node.cond, top, end)
        self._body(node.stmt, top, end)
        self.b.goto(top)
        self.b.place_label(end)

    def _do_while(self, node: c_ast.DoWhile) -> None:
        top, again, end = self.b.label("do"), self.b.label("while"), self.b.label("end")
        self.b.place_label(top)
        self._body(node.stmt, again, end)
        self.b.place_label(again)
        self.b.at(node.cond)
        if self.b.declarations.constant(node.cond) != 0:  # `do … while (0)` decides nothing
            self.b.begin(node.cond)
        self._turn(node.cond, top, True)
        self.b.place_label(end)

    def _for(self, node: c_ast.For) -> None:
        with self.cleanups.block(node):
            if node.init is None and node.cond is not None:
                self.b.begin(node)
            self.statement(node.init)
            top, again, end = self.b.label("for"), self.b.label("next"), self.b.label("end")
            self.b.place_label(top)
            self._loop(node, node.cond, top, end)
            self._body(node.stmt, again, end)
            self.b.place_label(again)
            if node.next is not None:
                self.b.at(node.next)
                self.e.effect(node.next)
                self.b.end_full_expression()
            self.b.goto(top)
            self.b.place_label(end)

    def _switch(self, node: c_ast.Switch) -> None:
        value = self.e.arith.promoted(self.e.rvalue(node.cond))
        if not isinstance(value.type, Int):
            raise Unsupported("switch on a value that is no integer", node)
        slot = self.b.temporary(value.type, keep=True)
        self.b.assign(slot, value)
        self.b.end_full_expression()
        context, end = _SwitchContext(slot), self.b.label("end")
        coord = self.b.coord
        with self.b.buffered() as body:
            self._switches.append(context)
            self._breaks.append((end, self.cleanups.depth))
            self.statement(node.stmt)
            self._breaks.pop()
            self._switches.pop()
        self.b.add(Switch(coord, slot, context.cases, context.default or end))
        self.b.body.statements.extend(body)
        self.b.place_label(end)

    def _case(self, node: c_ast.Case) -> None:
        if not self._switches:
            raise Unsupported("case outside of a switch", node)
        label = self.b.label("case")
        first, last = (node.expr.first, node.expr.last) if isinstance(node.expr, ValueRange) else (node.expr, node.expr)
        text = self.b.declarations.text
        self._switches[-1].cases.append(Case(text(first), text(last), label))
        self._labelled(label, node.stmts)

    def _default(self, node: c_ast.Default) -> None:
        if not self._switches:
            raise Unsupported("default outside of a switch", node)
        label = self.b.label("default")
        self._switches[-1].default = label
        self._labelled(label, node.stmts)

    def _labelled(self, label: str, statements: list[c_ast.Node] | c_ast.Node | None) -> None:
        self.b.place_label(label)
        for item in statements if isinstance(statements, list) else [statements]:
            self.statement(item)

    # --- jumps -----------------------------------------------------------------------------------------------

    def _label(self, node: c_ast.Label) -> None:
        self._seen_labels.add(node.name)
        self._labelled(node.name, node.stmt)

    def _goto(self, node: c_ast.Goto) -> None:
        if node.name in self._seen_labels:
            self.b.add(Tick(self.b.coord))
        self.cleanups.leave_for(node.name)
        self.b.goto(node.name)

    def _break(self, node: c_ast.Break) -> None:
        self._leave(*self._breaks[-1])

    def _continue(self, node: c_ast.Continue) -> None:
        self._leave(*self._continues[-1])

    def _leave(self, label: str, depth: int) -> None:
        self.cleanups.leave_to(depth)
        self.b.goto(label)

    def _return(self, node: c_ast.Return) -> None:
        body = self.b.body
        result = body.result
        value: SlotRef | Place | Raw | None = None
        if node.expr is None:
            pass
        elif isinstance(result, Void):
            self.e.effect(node.expr)
        elif isinstance(result, Struct):
            value = self.e.place_value(node.expr)
            if self.cleanups.depth:
                value = self.places.copied(value)
        elif is_untracked(result):
            exp = self.e.arith.convert(self.places.exact(node.expr), result)
            self.b.add(SetPlain(self.b.coord, "sc_r", exp))
            value = Raw(result, "sc_r")
        else:
            assert body.result_slot is not None
            t = unqualified(as_int(result) if is_integer(result) else result)
            value = SlotRef(t, body.result_slot)
            self.b.assign(value, self.e.arith.convert(self.places.exact(node.expr), t))
        self.cleanups.leave_to(0)
        self.b.add(Return(self.b.coord, value))

    def _local_labels(self, node: LocalLabels) -> None:
        raise Unsupported("local labels", node)

    def _computed_goto(self, node: ComputedGoto) -> None:
        """A chain of comparisons says where it goes: only a label whose address is taken can be the place."""
        if self.cleanups.depth:
            raise Unsupported("a computed goto out of a scope with a cleanup", node)
        pointer = Pointer(self.b.types.void)
        target = self.b.temporary(pointer, keep=True)
        self.b.assign(target, self.e.arith.convert(self.e.rvalue(node.expr), pointer))
        self.b.end_full_expression()
        known = self.b.label("known")
        for name in self.addressed_labels[:-1]:
            label = Const(pointer, f"&&{name}")
            self.b.add(Branch(self.b.coord, "==", target, label, known, True))
        self.b.add(Tick(self.b.coord))
        self.b.place_label(known)
        self.b.add(Jump(self.b.coord, target, self.addressed_labels))
