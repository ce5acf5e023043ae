"""A function's parameters: which are slots, and which are copied to memory first."""

from __future__ import annotations

import copy
from collections.abc import Callable

from pycparser import c_ast

from score_embed.frontend.c.signature import called_names, named_parameter
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import (
    FunctionName,
    PlainVariable,
    SlotVariable,
    Unsupported,
    Variable,
    VariableLength,
)
from score_embed.frontend.ir.body import Assign, Clear
from score_embed.frontend.ir.exp import Slot, SlotRef
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.variadic import MOST_VARIADIC, VA_START
from score_embed.frontend.types.ctype import (
    CType,
    Pointer,
    Struct,
    as_int,
    is_float,
    is_integer,
    is_untracked,
    unqualified,
)

_PASSED = "sc_passed_"


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
