"""What the code around a function says of its arguments: its attributes and prototypes, its assertions, how its body uses them.

`assert(p != NULL)` at the beginning, `[static 4]`, `nonnull`, `access` and `counted_by` are preconditions that people write already. Whether
a pointer is to one object or to several is seen by whether the body moves or subscripts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import StatementExpression
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.c.signature import attribute_texts, declared_attributes, single_attributes

_STOPS = re.compile(
    r".*assert.*|abort|_?exit|.*panic.*|.*(hard_?fault|error_handler).*|__builtin_(trap|unreachable)", re.I
)
_NUMBERS = re.compile(r"\d+")


@dataclass
class Said:
    """What is promised of the parameters. `not_null`: their names; `counts`: pointer → number, by name; `assumed`: conditions, as
    syntax trees, with the line that says so."""

    not_null: set[str] = field(default_factory=set)
    counts: dict[str, str] = field(default_factory=dict)
    assumed: list[tuple[c_ast.Node, int]] = field(default_factory=list)


def said_of(
    tree: c_ast.FileAST, function: c_ast.FuncDef, names: list[str], only_looks: Callable[[c_ast.Node], bool]
) -> Said:
    """What prototypes, attributes and assertions at the beginning say of a function's parameters. `only_looks`: whether an
    expression changes nothing, so that it can be asked before the function is called."""
    found = Said()
    for ext in tree.ext:
        decl = ext.decl if isinstance(ext, c_ast.FuncDef) else ext
        if isinstance(decl, c_ast.Decl) and decl.name == function.decl.name and isinstance(decl.type, c_ast.FuncDecl):
            _attributes(decl, names, found)
    for param, name in zip(_parameters(function), names, strict=False):
        array = getattr(param, "type", None)
        if isinstance(array, c_ast.ArrayDecl) and "static" in (array.dim_quals or []):
            found.not_null.add(name)
    _assertions(function.body, set(names), found, only_looks)
    return found


def _parameters(function: c_ast.FuncDef) -> list[c_ast.Node]:
    return list(function.decl.type.args.params) if function.decl.type.args else []


def _attributes(decl: c_ast.Decl, names: list[str], found: Said) -> None:
    for text in declared_attributes(decl):
        for one in single_attributes(text):
            word, _, rest = one.strip().partition("(")
            numbers = [int(n) - 1 for n in _NUMBERS.findall(rest)]
            chosen = [names[n] for n in numbers if 0 <= n < len(names)]
            match word.strip("_ "):
                case "nonnull":
                    found.not_null.update(chosen if rest else names)
                case "access" if len(chosen) == 2:
                    found.counts[chosen[0]] = chosen[1]


def counted_by(member: c_ast.Decl) -> str:
    """The member that a member's attribute `counted_by` names; "" if there is none."""
    for text in [*attribute_texts(member), *declared_attributes(member)]:
        for one in single_attributes(text):
            word, _, rest = one.strip().partition("(")
            if word.strip("_ ") == "counted_by":
                return rest.rstrip(") ").strip()
    return ""


# --- assertions at the beginning ------------------------------------------------------------------------------------


def _assertions(body: c_ast.Compound, names: set[str], found: Said, only_looks: Callable[[c_ast.Node], bool]) -> None:
    local: set[str] = set()
    for item in body.block_items or []:
        if isinstance(item, c_ast.Decl):
            local.add(item.name)
            continue
        condition = _asserted(item)
        if condition is None:
            return
        used = {node.name for node in walk(condition) if isinstance(node, c_ast.ID)}
        if used & local or not only_looks(condition):
            continue
        for part in _conjuncts(condition):
            name = _not_null(part)
            if name in names:
                found.not_null.add(name)
            else:
                found.assumed.append((part, item.coord.line if item.coord else 0))


def _asserted(node: c_ast.Node) -> c_ast.Node | None:
    """What must hold for the statement to come to an end, if it is an assertion."""
    match node:
        case c_ast.If(iffalse=c_ast.Node() as stops) if _stops(stops):
            return node.cond
        case c_ast.If(iffalse=None) if _stops(node.iftrue):
            return c_ast.UnaryOp("!", node.cond)
        case c_ast.TernaryOp() if _stops(node.iffalse):
            return node.cond
        case c_ast.BinaryOp(op="||") if _stops(node.right):
            return node.left
        case c_ast.Compound() | StatementExpression() | c_ast.ExprList() | c_ast.Cast() | c_ast.DoWhile():
            children = [
                child for _, child in node.children() if not isinstance(child, (c_ast.Typename, c_ast.Constant))
            ]
            inner = [found for child in children if (found := _asserted(child)) is not None]
            others = [child for child in children if _asserted(child) is None and not _is_idle(child)]
            return inner[0] if len(inner) == 1 and not others else None
    return None


def _is_idle(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.Cast):
        return _is_idle(node.expr)
    return isinstance(node, (c_ast.Constant, c_ast.EmptyStatement)) or (
        isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"
    )


def _stops(node: c_ast.Node) -> bool:
    """Whether it is a call that does not return, or a loop without an end."""
    if isinstance(node, c_ast.For) and node.cond is None:
        return True
    if isinstance(node, c_ast.While) and isinstance(node.cond, c_ast.Constant) and node.cond.value == "1":
        return True
    if isinstance(node, c_ast.FuncCall):
        return isinstance(node.name, c_ast.ID) and bool(_STOPS.fullmatch(node.name.name))
    if isinstance(node, (c_ast.Compound, c_ast.Cast, c_ast.ExprList, StatementExpression, c_ast.DoWhile)):
        return any(_stops(child) for _, child in node.children())
    return False


def _conjuncts(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    elif isinstance(node, c_ast.UnaryOp) and node.op == "!":
        inner = node.expr
        if isinstance(inner, c_ast.UnaryOp) and inner.op == "!":
            yield from _conjuncts(inner.expr)
        elif isinstance(inner, c_ast.BinaryOp) and inner.op == "||":
            yield from _conjuncts(c_ast.UnaryOp("!", inner.left))
            yield from _conjuncts(c_ast.UnaryOp("!", inner.right))
        else:
            yield node
    else:
        yield node


def _not_null(node: c_ast.Node) -> str:
    """The name that a condition says is not null; "" if it says something else."""
    match node:
        case c_ast.ID():
            return str(node.name)
        case c_ast.BinaryOp(op="!=", left=c_ast.ID() as left) if is_null(node.right):
            return str(left.name)
        case c_ast.BinaryOp(op="!=", right=c_ast.ID() as right) if is_null(node.left):
            return str(right.name)
        case c_ast.UnaryOp(op="!", expr=c_ast.BinaryOp(op="==") as inner):
            return _not_null(c_ast.BinaryOp("!=", inner.left, inner.right))
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


def seen_as(body: c_ast.Node, name: str) -> Iterator[c_ast.Node]:
    """The types, as the syntax tree has them, that a `void *` of that name is cast or assigned to."""
    declared = {node.name: node.type for node in walk(body) if isinstance(node, c_ast.Decl) and node.name}
    for node in walk(body):
        match node:
            case c_ast.Cast(expr=c_ast.ID(name=cast)) if cast == name:
                yield node.to_type.type
            case c_ast.Decl(init=c_ast.ID(name=taken)) if taken == name:
                yield node.type
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=to), rvalue=c_ast.ID(name=taken)) if taken == name:
                if to in declared:
                    yield declared[to]


def arguments_cast(tree: c_ast.FileAST) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
    """Of each parameter that is cast in its function, its type and the one that it is cast to."""
    for function in tree.ext:
        if isinstance(function, c_ast.FuncDef):
            types = {param.name: param.type for param in _parameters(function) if isinstance(param, c_ast.Decl)}
            for node in walk(function.body):
                if isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.ID) and node.expr.name in types:
                    yield types[node.expr.name], node.to_type.type


def members_cast(tree: c_ast.FileAST) -> dict[str, list[c_ast.Node]]:
    """Of each member that is cast somewhere, the types that it is cast to."""
    found: dict[str, list[c_ast.Node]] = {}
    for node in walk(tree):
        if isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.StructRef):
            found.setdefault(node.expr.field.name, []).append(node.to_type.type)
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


def members_moved(tree: c_ast.FileAST) -> set[str]:
    """The members that are used otherwise than to go through them (`m->n`), to set them, and to compare them: subscripted, moved, or
    passed on to who may do so."""
    found: set[str] = set()
    for node in walk(tree):
        for name, child in node.children():
            if isinstance(child, c_ast.StructRef) and not _goes_through(node, name):
                found.add(str(child.field.name))
    return found


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
    """The names that stand anywhere but where they are called or declared."""
    found: set[str] = set()
    for node in walk(tree):
        for field_name, child in node.children():
            if isinstance(child, c_ast.ID) and not (isinstance(node, c_ast.FuncCall) and field_name == "name"):
                found.add(child.name)
    return found


def names_used(tree: c_ast.FileAST, function: str) -> list[str]:
    """What a function, and those of its file that it calls, name; in the order of their names' appearance."""
    bodies = {ext.decl.name: ext.body for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
    found: dict[str, None] = {}
    waiting, seen = [function], {function}
    while waiting:
        for node in walk(bodies[waiting.pop()]):
            if isinstance(node, c_ast.ID):
                found.setdefault(node.name)
                if node.name in bodies and node.name not in seen:
                    seen.add(node.name)
                    waiting.append(node.name)
    return list(found)


def text_of(condition: c_ast.Node, renamed: dict[str, str]) -> str:
    """A condition as C, with parameters under the names that the harness gives them."""
    for node in walk(condition):
        if isinstance(node, c_ast.ID):
            node.name = renamed.get(node.name, node.name)
    return to_c(condition)
