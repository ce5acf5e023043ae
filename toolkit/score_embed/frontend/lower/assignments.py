"""Lowering of assignments, `++` and `--`: one store, with the conversions C makes of it."""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import PlainVariable
from score_embed.frontend.ir.body import Copy, ForgetObject, SetPlain, Verbatim
from score_embed.frontend.ir.exp import Binary, BitField, Const, Exp, Load, Place, Raw, SlotRef
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.lowering import LValue
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import CType, Struct, as_int, is_integer, is_untracked, unqualified, why_untracked


class Assignments(Places):
    """Assignments of one function (C11 6.5.16, 6.5.2.4, 6.5.3.1)."""

    def __init__(self, builder: Builder) -> None:
        super().__init__(builder)
        self.store_to = self.store

    def _assignment(self, node: c_ast.Assignment, *, wanted: bool) -> Exp | Place | None:
        self.b.at(node)
        if node.op == "=" and isinstance(unqualified(self.type_of(node.lvalue)), Struct):
            return self._assign_struct(node)
        if node.op != "=":
            return self._compound_assignment(node, wanted)
        dest = self.lvalue(node.lvalue)
        return self.store(dest, self.exact(node.rvalue), wanted=wanted)

    def _assign_struct(self, node: c_ast.Assignment) -> Place:
        dest = self._struct_operand(node.lvalue)
        source = self.place_value(node.rvalue)
        self.b.add(Copy(self.b.coord, dest, source))
        return dest

    def _compound_assignment(self, node: c_ast.Assignment, wanted: bool) -> Exp | None:
        # gcc evaluates the right operand of `op=` first (docs: measured on x86, ARM and AVR).
        with self.b.buffered() as effects:
            right = self.rvalue(node.rvalue)
        self.b.body.statements.extend(effects)
        with self.b.buffered() as more:
            dest = self.lvalue(node.lvalue)
        if more:
            right = self.b.save(right) if any(isinstance(e, (Load, Raw)) for e in right.walk()) else right
            self.b.body.statements.extend(more)
        if isinstance(dest, Place) and dest.type.atomic:
            right = right if isinstance(right, (Const, SlotRef)) else self.b.save(right)
            self.b.report(right, "_Atomic")
            return self._atomic_step(dest, f"{dest.text} {node.op} {right.c()}", wanted)
        old = self._old(dest, node.op[:-1], wanted)
        return self.store(dest, self.operate(node.op[:-1], old, right), wanted=wanted)

    def _step(self, node: c_ast.UnaryOp, *, wanted: bool) -> Exp | None:
        """`++` and `--`, before and after."""
        dest = self.lvalue(node.expr)
        post = node.op.startswith("p")
        if isinstance(dest, Place) and dest.type.atomic:
            return self._atomic_step(dest, f"{dest.text}{node.op[1:]}" if post else f"{node.op}{dest.text}", wanted)
        old = self._old(dest, "+", wanted)
        if post and wanted:
            old = self.b.save(old)
        one = Const(self.types.int, "1", 1)
        new = self.operate("+" if "+" in node.op else "-", old, one)
        result = self.store(dest, new, wanted=wanted and not post)
        return old if post and wanted else result

    def _atomic_step(self, dest: Place, step: str, wanted: bool) -> Exp | None:
        """`op=`, `++` or `--`, which others may not see half done: the program's own, and what it makes is concrete."""
        self.b.add(ForgetObject(self.b.coord, dest.text, "_Atomic", True, dest))
        if not wanted:
            self.b.add(Verbatim(self.b.coord, f"{step};"))
            return None
        t = unqualified(dest.type)
        t = as_int(t) if is_integer(t) else t
        name = self.b.plain_temporary(t)
        self.b.add(SetPlain(self.b.coord, name, Raw(t, f"({step})")))
        return Raw(t, name)

    def _old(self, dest: LValue, op: str, wanted: bool) -> Exp:
        """What `op=` begins with."""
        # The low bits of most results are the same in a wider type, and no others are kept.
        if isinstance(dest, Place) and not wanted and op not in ("/", "%"):
            old = self.read_exactly(dest)
        else:
            old = self.read(dest)
        assert isinstance(old, Exp)
        return old

    def store(self, dest: LValue, exp: Exp, *, wanted: bool = False) -> Exp | None:
        """`dest = exp` with conversion; the value of the assignment if it is wanted."""
        if isinstance(dest, PlainVariable):
            self.b.add(SetPlain(self.b.coord, dest.name, self.arith.convert(exp, dest.type)))
            return Raw(unqualified(dest.type), dest.name)
        exp = self.arith.convert(exp, dest.type)
        if isinstance(dest, SlotRef):
            self.b.assign(dest, exp)
            return dest
        if dest.bit_field is not None:
            return self._store_bit_field(dest, dest.bit_field, exp, wanted)
        if is_untracked(unqualified(dest.type)):
            self.b.add(ForgetObject(self.b.coord, dest.text, why_untracked(dest.type), True, dest))
            self.b.add(SetPlain(self.b.coord, dest.text, exp))
            return Raw(unqualified(dest.type), dest.text) if wanted else None
        if wanted and not isinstance(exp, Const):
            exp = self.b.save(exp)
        self.b.assign(dest, exp)
        return exp

    def _store_bit_field(self, dest: Place, field: BitField, exp: Exp, wanted: bool) -> Exp | None:
        if wanted and field.storage is not None and not isinstance(exp, Const):
            exp = self.b.save(exp)
        if field.storage is not None and not dest.type.volatile:
            self.b.assign(dest, exp)
        else:  # what lies around a volatile one may not be read once more, and its new value depends on that
            self.b.report(exp, "bit-field")
            self.b.add(ForgetObject(self.b.coord, field.container, "bit-field", True, dest))
            self.b.add(SetPlain(self.b.coord, dest.text, exp))
        if not wanted:
            return None
        return self._read_bit_field(dest, field) if field.storage is None else self._held(dest.type, field, exp)

    def _held(self, declared: CType, field: BitField, exp: Exp) -> Exp:
        """What a bit-field holds once `exp` was stored to it, without reading it."""
        t, result = self.types.promote(as_int(declared)), self.bit_field_type(declared, field)
        exp, width = self.arith.convert(exp, t), field.width or 0
        if width == t.bits or as_int(declared) == self.types.bool:
            return self.arith.convert(exp, result)
        if not as_int(declared).signed:
            mask = (1 << width) - 1
            return self.arith.convert(Binary(t, "&", exp, Const(t, f"(({t.name}) {mask:#x})", mask)), result)
        count = Const(self.types.int, str(t.bits - width), t.bits - width)
        return self.arith.convert(Binary(t, ">>", Binary(t, "<<", exp, count), count), result)
