"""Lowering of assignments, `++` and `--`: one store, with the conversions C makes of it; and GNU C's casts to
unions."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import PlainVariable, Unsupported
from score_embed.frontend.ir.body import Clear, Copy, ForgetObject, SetPlain, Verbatim
from score_embed.frontend.ir.exp import Const, Exp, Load, Offset, Place, Raw, SlotRef
from score_embed.frontend.lower.expressions import Expressions, LValue, Value
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import (
    CType,
    Pointer,
    Struct,
    as_int,
    compatible_text,
    declare,
    is_integer,
    is_untracked,
    unqualified,
    why_untracked,
)


class Assignments:
    """Assignments of one function (C11 6.5.16, 6.5.2.4, 6.5.3.1)."""

    def __init__(self, expressions: Expressions, places: Places) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.places = places

    def assign(self, node: c_ast.Assignment, *, wanted: bool) -> Value:
        """`=`, `op=`; its value if it is wanted."""
        self.b.at(node)
        if node.op == "=" and isinstance(unqualified(self.e.type_of(node.lvalue)), Struct):
            return self._assign_struct(node)
        if node.op != "=":
            return self._compound_assignment(node, wanted)
        dest = self.places.lvalue(node.lvalue)
        return self.store(dest, self.places.exact(node.rvalue), wanted=wanted)

    def _assign_struct(self, node: c_ast.Assignment) -> Place:
        dest = self.places.struct_operand(node.lvalue)
        source = self.e.place_value(node.rvalue)
        self.b.add(Copy(self.b.coord, dest, source))
        return dest

    def _compound_assignment(self, node: c_ast.Assignment, wanted: bool) -> Exp | None:
        # gcc evaluates the right operand of `op=` first (docs: measured on x86, ARM and AVR).
        with self.b.buffered() as effects:
            right = self.e.rvalue(node.rvalue)
        self.b.body.statements.extend(effects)
        with self.b.buffered() as more:
            dest = self.places.lvalue(node.lvalue)
        if more:
            right = self.b.save(right) if any(isinstance(e, (Load, Raw)) for e in right.walk()) else right
            self.b.body.statements.extend(more)
        if isinstance(dest, Place) and dest.type.atomic:
            right = right if isinstance(right, (Const, SlotRef)) else self.b.save(right)
            self.b.report(right, "_Atomic")
            return self._atomic_step(dest, f"{dest.text} {node.op} {right.c()}", wanted)
        old = self._old(dest, node.op[:-1], wanted)
        return self.store(dest, self.e.sizes.operate(node.op[:-1], old, right), wanted=wanted)

    def step(self, node: c_ast.UnaryOp, *, wanted: bool) -> Exp | None:
        """`++` and `--`, before and after."""
        dest = self.places.lvalue(node.expr)
        post = node.op.startswith("p")
        if isinstance(dest, Place) and dest.type.atomic:
            return self._atomic_step(dest, f"{dest.text}{node.op[1:]}" if post else f"{node.op}{dest.text}", wanted)
        old = self._old(dest, "+", wanted)
        if post and wanted:
            old = self.b.save(old)
        one = Const(self.types.int, "1", 1)
        new = self.e.sizes.operate("+" if "+" in node.op else "-", old, one)
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
            old = self.places.read_exactly(dest)
        else:
            old = self.places.read(dest)
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
            return self.places.bit_fields.store(dest, dest.bit_field, exp, wanted)
        if is_untracked(unqualified(dest.type)):
            self.b.add(ForgetObject(self.b.coord, dest.text, why_untracked(dest.type), True, dest))
            self.b.add(SetPlain(self.b.coord, dest.text, exp))
            return Raw(unqualified(dest.type), dest.text) if wanted else None
        if wanted and not isinstance(exp, Const):
            exp = self.b.save(exp)
        self.b.assign(dest, exp)
        return exp

    # --- GNU C: values of unions ------------------------------------------------------------------------------

    def as_union(self, value: Value, to: Struct, node: c_ast.Node, *, transparent: bool = False) -> Place:
        """A struct or union as it is; GNU C: what is a member's value, as the union with that member.

        `transparent`: an argument for a union with that attribute, where a pointer may be one to another type.
        """
        if isinstance(value, Place) and isinstance(value.type, Struct) and value.type.record is to.record:
            return value
        of = value.type if isinstance(value, Place) else None if value is None else unqualified(value.type)
        members = [m for m in to.record.members or [] if m.name and m.bits is None and to.record.kind == "union"]
        same = [m for m in members if of is not None and _same_value(m.type, of)]
        if transparent and not same:
            same = [m for m in members if isinstance(m.type, Pointer)]
        if value is None or not same or same[0].type.const:
            raise Unsupported("a struct was expected", node)
        made, name, t = self.b.object_temporary(to), same[0].name, same[0].type
        assert name is not None
        offset = f"__builtin_offsetof({declare(unqualified(to))}, {name})"
        member = replace(made, text=f"{made.text}.{name}", type=t, address=Offset(Pointer(t), made.address, offset))
        self.b.add(Clear(self.b.coord, made.text))
        if isinstance(value, Place):
            self.b.add(Copy(self.b.coord, member, value))
        else:
            self.store(member, value)
        return made


def _same_value(member: CType, value: CType) -> bool:
    if isinstance(value, Struct):
        return isinstance(member, Struct) and member.record is value.record
    plain = as_int(member) if is_integer(member) else member
    return compatible_text(plain) == compatible_text(value)
