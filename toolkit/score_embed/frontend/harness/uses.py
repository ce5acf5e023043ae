"""How code uses names: whether a pointer is moved, passed on, gone through, compared; what a `void *` is cast to.

Whether a pointer is to one object or to several is seen by whether the body moves or subscripts it. What a function
says of its arguments itself is in `preconditions.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycparser import c_ast

from score_embed.frontend.c.printer import to_c
from score_embed.frontend.c.signature import attribute_texts, declared_attributes, single_attributes


def parameters_of(function: c_ast.FuncDef) -> list[c_ast.Node]:
    """As they are declared, also before the body, as K&R had it."""
    if not function.decl.type.args:
        return []
    older = {decl.name: decl for decl in function.param_decls or []}
    listed = [p for p in function.decl.type.args.params if not isinstance(p, c_ast.EllipsisParam)]
    return [older.get(p.name, p) if isinstance(p, c_ast.ID) else p for p in listed]


def counted_by(member: c_ast.Decl) -> str:
    """The member that a member's attribute `counted_by` names; "" if there is none."""
    for text in [*attribute_texts(member), *declared_attributes(member)]:
        for one in single_attributes(text):
            word, _, rest = one.strip().partition("(")
            if word.strip("_ ") == "counted_by":
                return rest.rstrip(") ").strip()
    return ""


def is_null(node: c_ast.Node) -> bool:
    """Whether an expression is the constant 0."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return isinstance(node, c_ast.Constant) and node.value.rstrip("uUlL") == "0"


# --- how a body uses a name -----------------------------------------------------------------------------------------


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A node and all below it."""
    yield node
    for _, child in node.children():
        yield from walk(child)


def variables_in(node: c_ast.Node) -> Iterator[c_ast.ID]:
    """The names in it, also of functions, but not those of members."""
    if isinstance(node, c_ast.ID):
        yield node
    elif isinstance(node, c_ast.StructRef):
        yield from variables_in(node.name)
    elif isinstance(node, c_ast.NamedInitializer):
        yield from variables_in(node.expr)
    else:
        for _, child in node.children():
            yield from variables_in(child)


def _is(node: c_ast.Node | None, name: str) -> bool:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return isinstance(node, c_ast.ID) and node.name == name


def is_moved(body: c_ast.Node, name: str) -> bool:
    """Whether a pointer is subscripted, or computed with: then it is to several objects."""
    for node in walk(body):
        match node:
            case c_ast.ArrayRef() if _is(node.name, name) and not _is_zero(node.subscript):
                return True
            case c_ast.BinaryOp(op="+" | "-") if _is(node.left, name) or _is(node.right, name):
                return True
            case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--") if _is(node.expr, name):
                return True
            case c_ast.Assignment(op="+=" | "-=") if _is(node.lvalue, name):
                return True
    return False


def _is_zero(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.value == "0"


def is_given_away(body: c_ast.Node, name: str) -> bool:
    """Whether it is passed on, or copied to another variable: then this body does not say what it is to."""
    for node in walk(body):
        match node:
            case c_ast.FuncCall() if node.args is not None and any(_is(arg, name) for arg in node.args.exprs):
                return True
            case c_ast.Assignment(op="=") if _is(node.rvalue, name):
                return True
            case c_ast.Decl() if _is(node.init, name):
                return True
            case c_ast.Return() if _is(node.expr, name):
                return True
    return False


def has_members_used(body: c_ast.Node, name: str) -> bool:
    """Whether `name->…` stands there."""
    return any(isinstance(node, c_ast.StructRef) and node.type == "->" and _is(node.name, name) for node in walk(body))


def is_looked_at(body: c_ast.Node, name: str) -> bool:
    """Whether `*name` stands there."""
    return any(isinstance(n, c_ast.UnaryOp) and n.op == "*" and _is(n.expr, name) for n in walk(body))


def is_size(parameter: c_ast.Node) -> bool:
    """Whether the type of a parameter is called a size: `size_t`, `z_size_t`, `gsize`."""
    t = getattr(getattr(parameter, "type", None), "type", None)
    names = t.names if isinstance(t, c_ast.IdentifierType) else ()
    return any("size" in name.lower() for name in names)


Parameters = Mapping[str, list[c_ast.Node]]  # of functions


def seen_as(tree: c_ast.FileAST, function: c_ast.FuncDef, name: str) -> Iterator[c_ast.Node]:
    """The types, as the syntax tree has them, that a `void *` of that name is cast or assigned to, or passed on for, in
    the function and in those of the file that get it."""
    bodies = {ext.decl.name: ext.body for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
    parameters = all_parameters(tree)
    waiting, met = [(function.body, name)], {(function.decl.name, name)}
    while waiting:
        body, name = waiting.pop(0)
        for source, node in _taken_for(body, parameters):
            if isinstance(source, c_ast.ID) and source.name == name:
                yield node
        for callee, param, source in arguments(body, parameters):
            is_new = callee in bodies and (callee, param.name) not in met
            if is_new and isinstance(source, c_ast.ID) and source.name == name:
                met.add((callee, param.name))
                waiting.append((bodies[callee], param.name))


def all_parameters(tree: c_ast.FileAST) -> Parameters:
    """Those of the functions that the file declares or defines."""
    found: dict[str, list[c_ast.Node]] = {}
    for ext in tree.ext:
        if isinstance(ext, c_ast.Decl) and isinstance(ext.type, c_ast.FuncDecl) and ext.type.args:
            found.setdefault(ext.name, list(ext.type.args.params))
        elif isinstance(ext, c_ast.FuncDef):
            found[ext.decl.name] = parameters_of(ext)
    return found


def _taken_for(body: c_ast.Node, parameters: Parameters) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
    """What is cast, assigned or passed on, and the types that it is cast, assigned or passed on to."""
    declared = {node.name: node.type for node in walk(body) if isinstance(node, c_ast.Decl) and node.name}
    for node in walk(body):
        match node:
            case c_ast.Cast():
                yield node.expr, node.to_type.type
            case c_ast.Decl() if node.init is not None:
                yield node.init, node.type
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=to)) if to in declared:
                yield node.rvalue, declared[to]
    for _, param, source in arguments(body, parameters):
        yield source, param.type


def arguments(body: c_ast.Node, parameters: Parameters) -> Iterator[tuple[str, c_ast.Node, c_ast.Node]]:
    """Of each call of a function that is declared: its name, a parameter, and what is passed for it."""
    for node in walk(body):
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.args is not None:
            for param, argument in zip(parameters.get(node.name.name, []), node.args.exprs, strict=False):
                if isinstance(param, (c_ast.Decl, c_ast.Typename)):
                    yield node.name.name, param, argument


def arguments_cast(tree: c_ast.FileAST) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
    """Of each parameter that is cast in its function, its type and the one that it is cast to."""
    for function in tree.ext:
        if isinstance(function, c_ast.FuncDef):
            types = {param.name: param.type for param in parameters_of(function) if isinstance(param, c_ast.Decl)}
            for node in walk(function.body):
                if isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.ID) and node.expr.name in types:
                    yield types[node.expr.name], node.to_type.type


def members_cast(tree: c_ast.FileAST) -> dict[str, list[c_ast.Node]]:
    """Of each member that is cast, assigned or passed on somewhere, the types that it is taken for there."""
    found: dict[str, list[c_ast.Node]] = {}
    parameters = all_parameters(tree)
    for ext in tree.ext:
        for source, node in _taken_for(ext.body, parameters) if isinstance(ext, c_ast.FuncDef) else ():
            if isinstance(source, c_ast.StructRef):
                found.setdefault(source.field.name, []).append(node)
    return found


def members_compared(tree: c_ast.FileAST) -> set[str]:
    """The members that are compared with something that may be a pointer."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, c_ast.BinaryOp) and node.op in ("==", "!="):
            sides = (node.left, node.right)
            if not any(isinstance(side, c_ast.Constant) or is_null(side) for side in sides):
                found |= {str(side.field.name) for side in sides if isinstance(side, c_ast.StructRef)}
    return found


def plain_of(node: c_ast.Node) -> c_ast.Node:
    """Without casts."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return node


def members_moved(tree: c_ast.FileAST) -> tuple[set[str], set[str]]:
    """The members that are used otherwise than to go through them (`m->n`), to set them, and to compare them: those
    that are subscripted, moved or copied, and those that are passed on to functions, which may do so."""
    moved, passed = set[str](), set[str]()
    for node in walk(tree):
        for name, child in node.children():
            if isinstance(child, c_ast.StructRef) and not _goes_through(node, name):
                (passed if isinstance(node, c_ast.ExprList) else moved).add(str(child.field.name))
    return moved, passed


def members_subscripted(tree: c_ast.FileAST) -> set[str]:
    """The members of which several elements are used."""
    return {
        str(node.name.field.name)
        for node in walk(tree)
        if isinstance(node, c_ast.ArrayRef)
        and isinstance(node.name, c_ast.StructRef)
        and not isinstance(node.subscript, c_ast.Constant)
    }


def _goes_through(node: c_ast.Node, child: str) -> bool:
    match node:
        case c_ast.StructRef(type="->"):
            return True
        case c_ast.Assignment(op="="):
            return child == "lvalue"
        case c_ast.BinaryOp():
            return node.op in ("==", "!=", "&&", "||")
        case c_ast.UnaryOp():
            return node.op in ("!", "&", "*", "sizeof")
        case c_ast.If() | c_ast.While() | c_ast.DoWhile() | c_ast.For():
            return True
        case c_ast.TernaryOp():
            return child == "cond"
    return False


# --- functions and variables of the program ------------------------------------------------------------------------


def functions_as_values(tree: c_ast.FileAST) -> set[str]:
    """The names that stand anywhere but where they are called or declared; those of members are others."""
    found: set[str] = set()
    for node in walk(tree):
        for field_name, child in node.children():
            if isinstance(child, c_ast.ID) and not _is_no_value(node, field_name):
                found.add(child.name)
    return found


def _is_no_value(node: c_ast.Node, child: str) -> bool:
    match node:
        case c_ast.FuncCall():
            return child == "name"
        case c_ast.StructRef():
            return child == "field"
        case c_ast.NamedInitializer():
            return child.startswith("name")  # `.free = f`
    return False


def names_used(tree: c_ast.FileAST, function: str) -> list[str]:
    """What a function, and those of its file that it calls, name; in the order of their names' appearance."""
    bodies = {ext.decl.name: ext.body for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
    found: dict[str, None] = {}
    waiting, seen = [function], {function}
    while waiting:
        for node in variables_in(bodies[waiting.pop()]):
            found.setdefault(node.name)
            if node.name in bodies and node.name not in seen:
                seen.add(node.name)
                waiting.append(node.name)
    return list(found)


def text_of(condition: c_ast.Node, renamed: dict[str, str]) -> str:
    """A condition as C, with parameters under the names that the harness gives them."""
    for node in variables_in(condition):
        node.name = renamed.get(node.name, node.name)
    return to_c(condition)
