"""What a function says of its arguments: its attributes and prototypes, and its assertions.

`assert(p != NULL)` at the beginning, `[static 4]`, `nonnull` and `access` are preconditions that people write already.
A function that begins with a call of another one of its file, and passes its own parameters on, has the other's, too:
whoever breaks them breaks them in each call.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import StatementExpression
from score_embed.frontend.c.signature import declared_attributes, single_attributes
from score_embed.frontend.harness.prologue import OnlyLooks, Prologue
from score_embed.frontend.harness.uses import is_null, parameters_of, variables_in

_STOPS = re.compile(
    r".*assert.*|abort|_?exit|.*panic.*|.*(hard_?fault|error_handler).*|__builtin_(trap|unreachable)", re.I
)
_NUMBERS = re.compile(r"\d+")
_ROUNDS = 4  # functions that pass their parameters on, one after the other


@dataclass
class Said:
    """What is promised of the parameters. `not_null`: their names; `counts`: pointer → number, by name; `assumed`:
    conditions, as syntax trees, with the line that says so."""

    not_null: set[str] = field(default_factory=set)
    counts: dict[str, str] = field(default_factory=dict)
    assumed: list[tuple[c_ast.Node, int]] = field(default_factory=list)


def said_of(
    tree: c_ast.FileAST, function: c_ast.FuncDef, names: list[str], only_looks: OnlyLooks, rounds: int = _ROUNDS
) -> Said:
    """What prototypes, attributes and assertions at the beginning say of a function's parameters. `only_looks`: whether
    an expression changes nothing, so that it can be asked before the function is called; `rounds`: how many calls are
    followed."""
    found = Said()
    for ext in tree.ext:
        decl = ext.decl if isinstance(ext, c_ast.FuncDef) else ext
        if isinstance(decl, c_ast.Decl) and decl.name == function.decl.name and isinstance(decl.type, c_ast.FuncDecl):
            _attributes(decl, names, found)
    for param, name in zip(parameters_of(function), names, strict=False):
        array = getattr(param, "type", None)
        if isinstance(array, c_ast.ArrayDecl) and "static" in (array.dim_quals or []):
            found.not_null.add(name)
    _assertions(function.body, set(names), found, only_looks)
    if rounds:
        _inherited(tree, function, set(names), found, only_looks, rounds - 1)
    return found


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


# --- assertions at the beginning ------------------------------------------------------------------------------------


def _assertions(body: c_ast.Compound, names: set[str], found: Said, only_looks: OnlyLooks) -> None:
    prologue = Prologue(names, only_looks)
    is_behind = False  # what the function itself has done: only numbers that it was given are as they were
    for item in body.block_items or []:
        if isinstance(item, c_ast.Decl):
            prologue.declare(item)
            continue
        if _is_unused(item):
            continue
        promise = asserted(item)
        if promise is None:
            name = _computed(item, only_looks)
            if name and name not in names:
                prologue.assign(name, item.rvalue)
            elif prologue.leaves_parameters(item):
                is_behind = True
            else:
                return
            continue
        condition = prologue.said(promise)
        if condition is None or not only_looks(condition) or (is_behind and not prologue.of_parameters(condition)):
            continue
        for part in conjuncts(condition):
            found.not_null |= names & set(_gone_through(part))
            name = _not_null(part)
            if name in names:
                found.not_null.add(name)
            else:
                found.assumed.append((part, item.coord.line if item.coord else 0))


def _computed(node: c_ast.Node, only_looks: OnlyLooks) -> str:
    """The variable that a statement gives a value, if it does nothing else: `size = 2 * n;` before an assertion."""
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)) if only_looks(node.rvalue):
            return str(name)
    return ""


def asserted(node: c_ast.Node) -> c_ast.Node | None:
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
            inner = [found for child in children if (found := asserted(child)) is not None]
            others = [child for child in children if asserted(child) is None and not _is_idle(child)]
            return inner[0] if len(inner) == 1 and not others else None
    return None


def _is_unused(node: c_ast.Node) -> bool:
    """`(void) x;`, and a lone semicolon."""
    return isinstance(node, c_ast.EmptyStatement) or (isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.ID))


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


def conjuncts(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The conditions that hold if this one does."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    elif isinstance(node, c_ast.UnaryOp) and node.op == "!":
        inner = node.expr
        if isinstance(inner, c_ast.UnaryOp) and inner.op == "!":
            yield from conjuncts(inner.expr)
        elif isinstance(inner, c_ast.BinaryOp) and inner.op == "||":
            yield from conjuncts(c_ast.UnaryOp("!", inner.left))
            yield from conjuncts(c_ast.UnaryOp("!", inner.right))
        else:
            yield node
    else:
        yield node


def _gone_through(node: c_ast.Node) -> Iterator[str]:
    """The pointers by which an expression always goes: who asserts it says that none of them is null."""
    match node:
        case c_ast.UnaryOp(op="sizeof") | c_ast.Typename():
            return
        case c_ast.BinaryOp(op="&&" | "||"):
            yield from _gone_through(node.left)
            return
        case c_ast.TernaryOp():
            yield from _gone_through(node.cond)
            return
        case c_ast.StructRef(type="->", name=c_ast.ID() as name) | c_ast.UnaryOp(op="*", expr=c_ast.ID() as name):
            yield str(name.name)
        case c_ast.ArrayRef(name=c_ast.ID() as name):
            yield str(name.name)
    for _, child in node.children():
        yield from _gone_through(child)


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



# --- of the function that it begins with ----------------------------------------------------------------------------


def _inherited(
    tree: c_ast.FileAST, function: c_ast.FuncDef, names: set[str], found: Said, only_looks: OnlyLooks, rounds: int
) -> None:
    call, local = _begins_with(function.body, only_looks)
    callee = _definition(tree, call.name.name) if call is not None and isinstance(call.name, c_ast.ID) else None
    if call is None or callee is None or call.args is None:
        return
    theirs = [str(getattr(param, "name", None)) for param in parameters_of(callee)]
    given = {
        their: str(argument.name)
        for their, argument in zip(theirs, call.args.exprs, strict=False)
        if isinstance(argument, c_ast.ID) and argument.name in names - local
    }
    said = said_of(tree, callee, theirs, only_looks, rounds)
    found.not_null |= {given[name] for name in said.not_null if name in given}
    for condition, line in said.assumed:
        used = {node.name for node in variables_in(condition)}
        if used & set(theirs) <= given.keys() and not (used - set(theirs)) & names:
            own = copy.deepcopy(condition)
            for node in variables_in(own):
                node.name = given.get(node.name, node.name)
            found.assumed.append((own, line))


def _begins_with(body: c_ast.Compound, only_looks: OnlyLooks) -> tuple[c_ast.FuncCall | None, set[str]]:
    """The call that is the first thing that the body does, if it is one; and the body's own variables so far."""
    local: set[str] = set()
    for item in body.block_items or []:
        if isinstance(item, c_ast.Decl):
            if item.init is not None and not only_looks(item.init):
                return _call_in(item.init), local
            local.add(item.name)
        elif not _is_unused(item):
            condition = asserted(item)
            if condition is None:
                return _call_in(item), local
            if not only_looks(condition):
                break
    return None, local


def _call_in(node: c_ast.Node | None) -> c_ast.FuncCall | None:
    """The call that a statement makes before it does anything else."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name="__builtin_expect")):
            return _call_in(node.args.exprs[0])
        case c_ast.FuncCall():
            return node
        case c_ast.Return() | c_ast.Cast() | c_ast.UnaryOp(op="!"):
            return _call_in(node.expr)
        case c_ast.If():
            return _call_in(node.cond)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID()):
            return _call_in(node.rvalue)
    return None


def _definition(tree: c_ast.FileAST, name: str) -> c_ast.FuncDef | None:
    return next((ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef) and ext.decl.name == name), None)
