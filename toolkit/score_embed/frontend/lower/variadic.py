"""Functions with `...` of their own: va_start and what follows it.

An argument's taint comes as a parameter's does, in a slot; va_start gives it to the memory where va_arg will read, which
the ABI decides and `SC_VA_AT` of probe.h knows. From there on a va_list is what it is in C, passed on or kept, and
va_arg is a read of memory. What can not be passed so (beyond 16 arguments, behind a struct) is reported by the caller.
"""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import PlainVariable, Unsupported
from score_embed.frontend.ir.body import Argument, Clear, ForgetObject, Pin, SetPlain, VaStart, Verbatim
from score_embed.frontend.ir.exp import Exp, Place, Raw, SlotRef
from score_embed.frontend.lower.expressions import ByName, Expressions
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import (
    CType,
    Pointer,
    Struct,
    VaList,
    declare,
    is_float,
    is_integer,
    is_untracked,
    unqualified,
)

VA_START = "__builtin_va_start"
MOST_VARIADIC = 16  # arguments of `...` whose taint is passed
_REASON = "variadic argument"


class Variadic:
    """What `<stdarg.h>` is made of."""

    def __init__(self, expressions: Expressions, places: Places) -> None:
        self.b = expressions.b
        self.places = places
        self.by_name: ByName = {
            VA_START: self._start,
            "__builtin_va_end": self._end,
            "__builtin_va_copy": self._copy,
            "__builtin_va_arg": self._next,
        }

    def report_unpassed(self, args: list[Argument], declared: int) -> None:
        """Note the arguments of a variadic function whose taint does not reach it."""
        scalars, walked = 0, True
        for index, argument in enumerate(args):
            exp = argument.exp
            if isinstance(exp, Place):
                if index >= declared:
                    self.b.add(ForgetObject(self.b.coord, exp.text, _REASON, False))
                    walked = False
                continue
            scalars += index >= declared
            tracked = _is_tracked(exp.type)
            if index >= declared and isinstance(exp, SlotRef) and not (walked and tracked and scalars <= MOST_VARIADIC):
                self.b.add(Pin(self.b.coord, exp, _REASON))
            walked &= tracked or index < declared

    def _list(self, node: c_ast.Node) -> str:
        """The text of a va_list."""
        found = self.places.lvalue(node)
        if not isinstance(found, (PlainVariable, Place)) or not isinstance(found.type, VaList):
            raise Unsupported("a va_list of another type", node)
        if isinstance(found, Place) and found.slots:
            self.b.add(Pin(self.b.coord, found.address, "address"))
        return found.name if isinstance(found, PlainVariable) else found.text

    def _start(self, node: c_ast.FuncCall) -> None:
        if self.b.body.declared is None:
            raise Unsupported("va_start in a function without '...'", node)
        last = node.args.exprs[1] if len(node.args.exprs) > 1 else None
        text = last.name if isinstance(last, c_ast.ID) else "0"
        self.b.add(VaStart(self.b.coord, self._list(node.args.exprs[0]), text))

    def _end(self, node: c_ast.FuncCall) -> None:
        self.b.add(Verbatim(self.b.coord, f"__builtin_va_end({self._list(node.args.exprs[0])});"))

    def _copy(self, node: c_ast.FuncCall) -> None:
        dest, source = map(self._list, node.args.exprs)
        self.b.add(Verbatim(self.b.coord, f"__builtin_va_copy({dest}, {source});"))

    def _next(self, node: c_ast.FuncCall) -> Exp | Place:
        text = self._list(node.args.exprs[0])
        t = unqualified(self.b.declarations.type_of(node.args.exprs[1]))
        taken = f"__builtin_va_arg({text}, {declare(t)})"
        if isinstance(t, Struct):
            taken_to = self.b.object_temporary(t)
            self.b.add(Verbatim(self.b.coord, f"{taken_to.text} = {taken};"))
            self.b.add(Clear(self.b.coord, taken_to.text))
            return taken_to
        if isinstance(t, VaList):
            raise Unsupported("a va_list among the arguments", node)
        if not _is_tracked(t):
            name = self.b.plain_temporary(t)
            self.b.add(SetPlain(self.b.coord, name, Raw(t, taken)))
            return Raw(t, name)
        at = self.b.temporary(Pointer(t))
        place = f"SC_VA_DOUBLE({text})" if is_float(t) else f"SC_VA_AT({text}, {declare(t)})"
        self.b.assign(at, Raw(at.type, f"({declare(at.type)}) {place}"))
        self.b.add(Verbatim(self.b.coord, f"(void) {taken};"))
        return self.places.read(self.places.dereference(at, node))


def _is_tracked(t: CType) -> bool:
    return (is_integer(t) or isinstance(t, Pointer) or is_float(t)) and not is_untracked(t)
