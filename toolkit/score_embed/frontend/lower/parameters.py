"""A function's parameters: which are slots, and which are copied to memory first; and `...`: va_start and what follows
it.

An argument's taint comes as a parameter's does, in a slot; va_start gives it to the memory where va_arg will read,
which the ABI decides and `SC_VA_AT` of probe.h knows. From there on a va_list is what it is in C, passed on or kept,
and va_arg is a read of memory. What can not be passed so (beyond 16 arguments, behind a struct) is reported by the
caller.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

from pycparser import c_ast

from score_embed.frontend.c.names import called_names
from score_embed.frontend.c.signature import named_parameter
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import (
    FunctionName,
    PlainVariable,
    SlotVariable,
    Unsupported,
    Variable,
    VariableLength,
)
from score_embed.frontend.ir.body import Argument, Assign, Clear, ForgetObject, Pin, SetPlain, VaStart, Verbatim
from score_embed.frontend.ir.exp import Exp, Place, Raw, Slot, SlotRef
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.expressions import ByName, Expressions
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import (
    CType,
    Pointer,
    Struct,
    VaList,
    as_int,
    declare,
    is_float,
    is_integer,
    is_untracked,
    unqualified,
)

VA_START = "__builtin_va_start"
MOST_VARIADIC = 16  # arguments of `...` whose taint is passed
_REASON = "variadic argument"
_PASSED = "sc_passed_"


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


def lower_parameters(node: c_ast.FuncDef, builder: Builder, counted: Callable[[c_ast.Node], str]) -> None:
    """Scalar parameters are slots 1…p; those whose address is taken are copied to memory.

    `counted` makes of the length of a variable length array the slot that holds it.
    """
    declarations = builder.declarations
    late: list[tuple[c_ast.Node, Slot]] = []
    for name, t, declared in _parameter_types(node, declarations):
        if t is None:
            slot = builder.new_slot(name, Pointer(declarations.types.void))
            late.append((declared, slot))
            builder.body.scalars += 1
            declarations.scope.names[name] = SlotVariable(slot)
            continue
        if isinstance(t, Struct):
            builder.body.structs.append(name)
            declarations.scope.names[name] = Variable(name, t, False)
            continue
        slot = builder.new_slot(name, unqualified(t))
        builder.body.scalars += 1
        _bind(builder, name, t, slot)
    if VA_START in called_names(node.body):
        builder.body.declared = builder.body.scalars
        for _ in range(MOST_VARIADIC):
            builder.new_slot("", declarations.types.uintptr)
            builder.body.scalars += 1
    declarations.counted = counted
    for declared, slot in late:
        if slot.name in builder.addressed:
            raise Unsupported("the address of a pointer to a variable length array", declared)
        slot.type = unqualified(declarations.parameter(declared))


def passing_doubles(node: c_ast.FuncDef, declarations: Declarations) -> c_ast.FuncDef:
    """An old-style definition with a parameter of type float gets a double, and converts it first (C11 6.9.1p10): in C.

    Not if a prototype of the function says float, which GNU C lets it.
    """
    known = declarations.scope.find(node.decl.name)
    prototype = known.type.params if isinstance(known, FunctionName) else None
    order = [param.name for param in node.decl.type.args.params] if node.param_decls else []
    narrow = [
        decl.name
        for decl in node.param_decls or []
        if _becomes_double(declarations.parameter(decl), declarations)
        and not (prototype and prototype[order.index(decl.name)] == declarations.types.float)
    ]
    return _converting(node, narrow) if narrow else node


def _becomes_double(t: CType, declarations: Declarations) -> bool:
    return is_float(t) and t.bits < declarations.types.double.bits


def _converting(node: c_ast.FuncDef, narrow: list[str]) -> c_ast.FuncDef:
    """With these parameters as variables of the body."""
    node = copy.deepcopy(node)
    for param in node.decl.type.args.params:
        param.name = f"{_PASSED}{param.name}" if param.name in narrow else param.name
    inside: list[c_ast.Node] = []
    for index, decl in enumerate(node.param_decls):
        if decl.name in narrow:
            name, of = f"{_PASSED}{decl.name}", c_ast.IdentifierType(["double"], decl.coord)
            double = c_ast.TypeDecl(name, [], None, of, decl.coord)
            node.param_decls[index] = c_ast.Decl(name, [], [], [], [], double, None, None, decl.coord)
            decl.storage, decl.init = [], c_ast.ID(name, decl.coord)
            inside.append(decl)
    node.body.block_items = [*inside, *(node.body.block_items or [])]
    return node


def _bind(builder: Builder, name: str, t: CType, slot: Slot) -> None:
    names = builder.declarations.scope.names
    if is_untracked(t):
        names[name] = PlainVariable(name, t) if name not in builder.addressed else Variable(name, t, False)
    elif name in builder.addressed or t.volatile:
        symbol = builder.declare_local(name, t, emitted=f"sc_memory_{name}")
        assert isinstance(symbol, Variable)
        builder.add(Clear(builder.coord, symbol.name))
        plain = as_int(t) if is_integer(t) else unqualified(t)
        value = SlotRef(unqualified(plain), slot)
        builder.add(Assign(builder.coord, builder.local_place(symbol.name, symbol.type), value))
    else:
        names[name] = SlotVariable(slot)


def _parameter_types(node: c_ast.FuncDef, declarations: Declarations) -> list[tuple[str, CType | None, c_ast.Node]]:
    """Name, type and declaration of each; no type if it leads to arrays whose size only the other ones tell."""
    args = node.decl.type.args
    if args is None:
        return []
    old_style = {d.name: declarations.parameter(d) for d in node.param_decls or []}
    found: list[tuple[str, CType | None, c_ast.Node]] = []
    for index, param in enumerate(args.params):
        if isinstance(param, c_ast.EllipsisParam):
            continue
        if isinstance(param, c_ast.ID):
            old = old_style.get(param.name, declarations.types.int)
            found.append((param.name, old, param))
            continue
        try:
            t: CType | None = declarations.parameter(param)
        except VariableLength:
            t = None
        if t == declarations.types.void:
            continue
        if isinstance(param, c_ast.Typename):
            param = args.params[index] = named_parameter(param, f"sc_unnamed{index + 1}")
        found.append((param.name, t, param))
    return found
