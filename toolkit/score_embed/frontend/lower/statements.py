"""Lowering of statements to jumps, and of the declarations inside functions.

Loops become branches and gotos; a `switch` keeps its dispatch in the emitted code and its body is laid out flat,
so that fall-through, labels in nested blocks (Duff's device) and gotos into blocks need no special care.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import Asm, ComputedGoto, LocalLabels, StatementExpression, ValueRange
from score_embed.frontend.c.signature import declared_attributes, has_assembler_name
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import scalar_value
from score_embed.frontend.declarations.objects import named_in, texts_in
from score_embed.frontend.declarations.symbols import Constant, FunctionName, TypedefName, Unsupported, Variable
from score_embed.frontend.ir.body import Branch, Case, Clear, Jump, Return, SetPlain, Switch, Tick
from score_embed.frontend.ir.exp import Const, Exp, Place, Raw, SlotRef
from score_embed.frontend.lower.assembly import InlineAssembly
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.cleanups import Cleanups
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.lower.initialisers import Initialisers
from score_embed.frontend.lower.variable_length import VariableArrays, refuse_unless_constant
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
    is_integer,
    is_untracked,
    unqualified,
)

_ALIGNING = re.compile(r"\b_*(aligned|Alignas)_*\b")


_LAYING_OUT = re.compile(r"\b(pack|ms_struct|scalar_storage_order)\b")


class _SwitchContext:
    def __init__(self, slot: SlotRef) -> None:
        self.slot = slot
        self.cases: list[Case] = []
        self.default: str | None = None


class Statements:
    def __init__(self, expressions: Expressions, initialisers: Initialisers) -> None:
        self.e = expressions
        self.b: Builder = expressions.b
        self.init = initialisers
        self.assembly = InlineAssembly(expressions)
        self.variable = VariableArrays(expressions)
        self.addressed_labels: list[str] = []  # of the whole function
        self.cleanups = Cleanups(expressions.b, expressions.effect)
        self._breaks: list[tuple[str, int]] = []  # where they go, and how many variables with a cleanup stay
        self._continues: list[tuple[str, int]] = []
        self._switches: list[_SwitchContext] = []
        self._seen_labels: set[str] = set()
        expressions.block = self.statement_expression

    def statement(self, node: c_ast.Node | None) -> None:
        if node is None:
            return
        self.b.at(node)
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        if handler is not None:
            handler(node)
        else:
            self.e.effect(node)
        self.b.end_full_expression()

    def statement_expression(self, node: StatementExpression) -> Exp | Place | None:
        """`({ … })`: its value is the last expression statement's."""
        items = node.block_items
        with self.cleanups.block(node):
            depth = self.cleanups.depth
            for index, item in enumerate(items[:-1]):
                self.cleanups.at_item(index)
                self.statement(item)
            if not items:
                return None
            last = items[-1]
            if getattr(self, f"_do_{type(last).__name__}", None) is not None:
                self.cleanups.at_item(len(items) - 1)
                self.statement(last)
                return None
            value = self.e.value(last)
            return value if value is None or self.cleanups.depth == depth else self.e.kept(value)

    # --- blocks and declarations -----------------------------------------------------------------------------

    def _do_Compound(self, node: c_ast.Compound) -> None:
        with self.cleanups.block(node):
            for index, item in enumerate(node.block_items or []):
                self.cleanups.at_item(index)
                self.statement(item)

    def _do_EmptyStatement(self, node: c_ast.EmptyStatement) -> None:
        pass

    _do_StaticAssert = _do_AttributeDeclaration = _do_EmptyStatement

    def _do_Pragma(self, node: c_ast.Pragma) -> None:
        """`#pragma pack` moves to the top with the definitions that it is for. Others mean nothing there."""
        text = self.b.declarations.text(node)
        if _LAYING_OUT.search(text):
            self.b.define(f"/* {len(self.b.definitions)} */\n{text}\n")  # the same pragma may come again

    def _do_DeclList(self, node: c_ast.DeclList) -> None:
        for decl in node.decls:
            self.statement(decl)

    def _do_Typedef(self, node: c_ast.Typedef) -> None:
        declarations = self.b.declarations
        declarations.scope.names[node.name] = declared = declarations.typedef(node)
        if not self.b.is_variable(declared.type):  # else it stands in casts only, by what it is
            self.b.define(declarations.text(node) + ";")

    def _do_Decl(self, node: c_ast.Decl) -> None:
        declarations = self.b.declarations
        t = self._declared_type(node)
        if node.name is None:
            if isinstance(t, Struct) and t.record.members is None:
                self.b.define(f"{declare(t)};")
            return
        storage = node.storage or []
        if "extern" in storage or "static" in storage:
            refuse_unless_constant(self.b, t, "a declaration")
        if isinstance(t, Function) or "extern" in storage:
            declarations.scope.names[node.name] = self._linked(node, t)
            self.b.body.declarations.append(declarations.text(node) + ";")
        elif "static" in storage:
            if isinstance(t, Array) and t.count is None and node.init is not None:
                t = self.init.walk.completed_static(t, node.init, node.name)
            declarations.scope.names[node.name] = Variable(node.name, t, not _is_thread_local(node))
            self.b.body.declarations.append(declarations.text(node) + ";")
            self.b.body.named += named_in(node.init, declarations.scope.find)
            self.b.body.named += texts_in(t, node.init, self.init.walk)
        else:
            self._automatic(node, t)

    def _declared_type(self, node: c_ast.Decl) -> CType:
        inner = node.type
        names = getattr(getattr(inner, "type", None), "names", None)
        if isinstance(inner, c_ast.TypeDecl) and names == ["__auto_type"]:
            t = unqualified(Declarations.decay(self.e.type_of(node.init)))
            return replace(t, const="const" in inner.quals, volatile="volatile" in inner.quals)
        return self.b.declarations.type_of(node)

    def _linked(self, node: c_ast.Decl, t: CType) -> FunctionName | Variable:
        """A function or extern variable declared in a block. What the file knows of it counts, too (C11 6.2.7p4)."""
        known = self.b.declarations.scope.find(node.name)
        if isinstance(t, Function):
            if isinstance(known, FunctionName):
                return known if t.params is None else replace(known, type=t)
            found: FunctionName | Variable = FunctionName(node.name, t, self.b.coord.file)
        else:
            if isinstance(known, Variable) and isinstance(t, Array) and t.count is None:
                return known
            found = Variable(node.name, t, not _is_thread_local(node))
        if isinstance(known, (Constant, TypedefName)):  # at the top of the function it would hide that everywhere
            raise Unsupported(f"the declaration of '{node.name}' hides another kind of name", node)
        return found

    def _automatic(self, node: c_ast.Decl, t: CType) -> None:
        if isinstance(t, Array) and t.count is None and node.init is not None:
            t = self.init.walk.completed(t, node.init)
        if has_assembler_name(node):
            raise Unsupported("a variable bound to a register", node)
        attributes = declared_attributes(node)
        if any("cleanup" in text for text in attributes):
            if isinstance(t, Array) and self.b.is_variable(t):
                raise Unsupported("attribute cleanup of a variable length array", node)
            self.b.addressed.add(node.name)
        before = [*map(self.b.declarations.text, node.align or []), *self.cleanups.without(attributes)]
        if any(_ALIGNING.search(text) for text in before):
            self.b.addressed.add(node.name)
        if isinstance(t, Array) and self.b.is_variable(t):
            if any(_ALIGNING.search(text) for text in before):
                raise Unsupported("a variable length array with an alignment", node)
            self.b.add(Clear(self.b.coord, self.variable.declare(node.name, t).text))
            return
        symbol = self.b.declare_local(node.name, t, attributes="".join(text + " " for text in before))
        if isinstance(symbol, Variable):
            self.b.add(Clear(self.b.coord, symbol.name))
        if node.init is not None and isinstance(t, (Array, Struct)):
            self.init.initialise(self.b.local_place(symbol.name, t), node.init)  # type: ignore[union-attr]
        elif node.init is not None:
            value = self.e.exact(scalar_value(node.init))
            self.e.store(self.e.lvalue(c_ast.ID(node.name, node.coord)), value)
        self.cleanups.declare(node.name, attributes)

    # --- selection and loops ---------------------------------------------------------------------------------

    def _do_If(self, node: c_ast.If) -> None:
        other, end = self.b.label("else"), self.b.label("end")
        self.e.jump(node.cond, other, False, assumed=False if self._is_assumption(node) else None)
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
            self.e.jump(cond, label, when)
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

    def _do_While(self, node: c_ast.While) -> None:
        top, end = self.b.label("while"), self.b.label("end")
        self.b.place_label(top)
        self._loop(node, node.cond, top, end)
        self._body(node.stmt, top, end)
        self.b.goto(top)
        self.b.place_label(end)

    def _do_DoWhile(self, node: c_ast.DoWhile) -> None:
        top, again, end = self.b.label("do"), self.b.label("while"), self.b.label("end")
        self.b.place_label(top)
        self._body(node.stmt, again, end)
        self.b.place_label(again)
        self.b.at(node.cond)
        self._turn(node.cond, top, True)
        self.b.place_label(end)

    def _do_For(self, node: c_ast.For) -> None:
        with self.cleanups.block(node):
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

    def _do_Switch(self, node: c_ast.Switch) -> None:
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

    def _do_Case(self, node: c_ast.Case) -> None:
        if not self._switches:
            raise Unsupported("case outside of a switch", node)
        label = self.b.label("case")
        first, last = (node.expr.first, node.expr.last) if isinstance(node.expr, ValueRange) else (node.expr, node.expr)
        text = self.b.declarations.text
        self._switches[-1].cases.append(Case(text(first), text(last), label))
        self._labelled(label, node.stmts)

    def _do_Default(self, node: c_ast.Default) -> None:
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

    def _do_Label(self, node: c_ast.Label) -> None:
        self._seen_labels.add(node.name)
        self._labelled(node.name, node.stmt)

    def _do_Goto(self, node: c_ast.Goto) -> None:
        if node.name in self._seen_labels:
            self.b.add(Tick(self.b.coord))
        self.cleanups.leave_for(node.name)
        self.b.goto(node.name)

    def _do_Break(self, node: c_ast.Break) -> None:
        self._leave(*self._breaks[-1])

    def _do_Continue(self, node: c_ast.Continue) -> None:
        self._leave(*self._continues[-1])

    def _leave(self, label: str, depth: int) -> None:
        self.cleanups.leave_to(depth)
        self.b.goto(label)

    def _do_Return(self, node: c_ast.Return) -> None:
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
                value = self.e.copied(value)
        elif is_untracked(result):
            exp = self.e.arith.convert(self.e.exact(node.expr), result)
            self.b.add(SetPlain(self.b.coord, "sc_r", exp))
            value = Raw(result, "sc_r")
        else:
            assert body.result_slot is not None
            t = unqualified(as_int(result) if is_integer(result) else result)
            value = SlotRef(t, body.result_slot)
            self.b.assign(value, self.e.arith.convert(self.e.exact(node.expr), t))
        self.cleanups.leave_to(0)
        self.b.add(Return(self.b.coord, value))

    def _do_Asm(self, node: Asm) -> None:
        self.assembly.lower(node)

    def _do_LocalLabels(self, node: LocalLabels) -> None:
        raise Unsupported("local labels", node)

    def _do_ComputedGoto(self, node: ComputedGoto) -> None:
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


def _is_thread_local(node: c_ast.Decl) -> bool:
    return any(word in ("__thread", "_Thread_local") for word in node.storage or [])
