"""Which names a file's code has: functions that it defines, calls and has from outside, objects and labels whose
address it takes; and whether these names tell what it may call: not if it calls through pointers, or has assembly.

The last is asked of what stays as it is written; functions with probes say it themselves (`frontend/emit`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pycparser import c_ast

from score_embed.contract.program import ARGUMENTS, STDIN
from score_embed.contract.sites import is_main
from score_embed.frontend.c.gnu_ast import Asm, LabelAddress

_SYM_ARGV = "score_list_"  # what that macro of score.h names its list


def defined_functions(tree: c_ast.FileAST) -> dict[str, str]:
    """Functions with a body in this unit → the file they stand in."""
    return {e.decl.name: str(e.decl.coord.file) for e in tree.ext if isinstance(e, c_ast.FuncDef)}


def static_names(tree: c_ast.FileAST) -> set[str]:
    """Names at file scope that other units do not see: some declaration says so (C11 6.2.2)."""
    decls = [e.decl if isinstance(e, c_ast.FuncDef) else e for e in tree.ext]
    return {d.name for d in decls if isinstance(d, c_ast.Decl) and d.name and "static" in (d.storage or [])}


def for_other_files(tree: c_ast.FileAST) -> set[str]:
    """What a file defines for others, so that no second one may: functions with a body, variables with a value."""
    found: set[str] = set()
    for ext in tree.ext:
        decl = ext.decl if isinstance(ext, c_ast.FuncDef) else ext
        is_definition = decl is not ext or (isinstance(ext, c_ast.Decl) and ext.init is not None)
        if is_definition and "inline" not in (decl.funcspec or []):
            found.add(str(decl.name))
    return found - static_names(tree)


def defined_twice(tree: c_ast.FileAST) -> set[str]:
    """Functions with an `extern inline` definition and another one."""
    names = [e.decl.name for e in tree.ext if isinstance(e, c_ast.FuncDef)]
    return {name for name in names if names.count(name) > 1}


def nodes(tree: c_ast.Node) -> Iterator[c_ast.Node]:
    """The node and all that is below it, in no order."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for _, child in node.children()]


def called_names(tree: c_ast.Node) -> set[str]:
    """The functions that are called by name anywhere below."""
    return {
        node.name.name
        for node in nodes(tree)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    }


def functions_used(tree: c_ast.FileAST, system: Set[str], objects: Set[str] = frozenset()) -> set[str]:
    """The functions that the unit's own code calls or takes the address of, by their names, and that its headers'
    functions do which it comes to by these. Names are those of `scopes.py`: a variable of a function's own has no
    function's name. `system`: files; `objects`: names of others that are looked for, too."""
    declared = {d.name for d in tree.ext if isinstance(d, c_ast.Decl) and isinstance(d.type, c_ast.FuncDecl)}
    declared.update(defined_functions(tree), objects)
    of_headers: dict[str, c_ast.FuncDef] = {}
    waiting: list[c_ast.Node] = []
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef) and str(ext.decl.coord.file) in system:
            of_headers[ext.decl.name] = ext
        else:
            waiting.append(ext)
    found: set[str] = set()
    while waiting:
        used = _functions_named(waiting.pop(), declared)
        waiting += [of_headers[name] for name in used - found if name in of_headers]
        found |= used
    return found


def _functions_named(ext: c_ast.Node, declared: Set[str]) -> set[str]:
    """`declared`: functions of the file."""
    own: set[str] = set()  # parameters and variables
    called: set[str] = set()
    named: set[str] = set()
    functions = set(declared)
    if isinstance(ext, c_ast.FuncDef) and ext.decl.type.args:
        own.update(param.name for param in ext.decl.type.args.params if isinstance(param, (c_ast.Decl, c_ast.ID)))
    stack: list[c_ast.Node | None] = [ext.body if isinstance(ext, c_ast.FuncDef) else ext]
    while stack:
        match node := stack.pop():
            case c_ast.Decl() if node is not ext and node.name:
                (functions if isinstance(node.type, c_ast.FuncDecl) else own).add(node.name)
                stack += [node.init, node.type]
            case c_ast.FuncDecl():  # the names of a prototype's parameters are no variables
                stack.append(node.type)
            case c_ast.StructRef():
                stack.append(node.name)
            case c_ast.NamedInitializer():
                stack += [node.expr, *(part for part in node.name if not isinstance(part, c_ast.ID))]
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_offsetof")):
                stack += node.args.exprs[:1]
            case c_ast.FuncCall(name=c_ast.ID()):
                called.add(node.name.name)
                stack.append(node.args)
            case c_ast.ID():
                named.add(node.name)
            case c_ast.Node():
                stack += [child for _, child in node.children()]
    return (called | (named & functions)) - own


def outside_names(units: Iterable[tuple[c_ast.FileAST, Set[str]]]) -> set[str]:
    """The functions that the units use by their names, and none defines for the others; `stdin`, if one uses it, and
    `argv`, if main looks at its arguments. What a header has as `extern inline` only stands for the library's. `units`:
    each with its system files."""
    used: list[set[str]] = []
    everywhere: set[str] = set()
    for tree, system in units:
        defined = set[str]()
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef):
                is_theirs = "extern" in (ext.decl.storage or []) and str(ext.decl.coord.file) in system
                defined.update(() if is_theirs else (ext.decl.name,))
        used.append(functions_used(tree, system, {STDIN}) - defined)
        if looks_at_arguments(tree):
            used.append({ARGUMENTS})
        everywhere |= defined - static_names(tree)
    return set().union(*used) - everywhere


def looks_at_arguments(tree: c_ast.FileAST) -> bool:
    """Whether it defines a main that uses its parameters, and does not make them symbolic by SYM_ARGV."""
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef) and is_main(ext.decl.name) and ext.decl.type.args:
            own = {param.name for param in ext.decl.type.args.params if isinstance(param, (c_ast.Decl, c_ast.ID))}
            named = {node.name for node in nodes(ext.body) if isinstance(node, c_ast.ID)}
            if own & named and not any(name.startswith(_SYM_ARGV) for name in named):
                return True
    return False


def labels_with_address(node: c_ast.Node) -> list[str]:
    """The labels L of which `&&L` stands anywhere below, each once."""
    found = [node.name] if isinstance(node, LabelAddress) else []
    for _, child in node.children():
        found += labels_with_address(child)
    return list(dict.fromkeys(found))


def addressed_names(node: c_ast.Node) -> set[str]:
    """Names whose address is taken anywhere below, except for the inputs of score.h (they stay slots)."""
    found: set[str] = set()
    _collect_addressed(node, found)
    return found


def _collect_addressed(node: c_ast.Node, found: set[str]) -> None:
    if (
        isinstance(node, c_ast.FuncCall)
        and isinstance(node.name, c_ast.ID)
        and node.name.name in ("__score_symbolic", "__score_boolean")
    ):
        return
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        inner = node.expr
        while isinstance(inner, c_ast.StructRef) and inner.type == ".":
            inner = inner.name
        if isinstance(inner, c_ast.ID):  # `&p[i]` and `&p->m` are in what p points to; an array never is in a slot
            found.add(inner.name)
    for _, child in node.children():
        _collect_addressed(child, found)


def reaches_beyond_names(trees: Iterable[c_ast.FileAST], probed: Set[str], called: Set[str], system: Set[str]) -> bool:
    """Of the units' functions without probes. `probed`: those that have some; `called`: by name, anywhere; `system`: of
    these, those of system headers: who defines no other is taken to define them in case they are called."""
    for tree in trees:
        for ext in tree.ext:
            if isinstance(ext, Asm):
                return True
            if not isinstance(ext, c_ast.FuncDef) or ext.decl.name in probed:
                continue
            if ext.decl.name not in system or (ext.decl.name in called and _calls_unknown(ext)):
                return True
    return False


def _calls_unknown(function: c_ast.FuncDef) -> bool:
    """Whether it has assembly, or calls what is not a function's name."""
    own: set[str] = set()  # parameters and variables of its own
    calls: list[c_ast.Node] = []
    stack: list[c_ast.Node] = [function]
    while stack:
        node = stack.pop()
        if isinstance(node, Asm):
            return True
        if isinstance(node, c_ast.Decl) and node is not function.decl:
            own.add(node.name)
        if isinstance(node, c_ast.FuncCall):
            calls.append(node.name)
        stack += [child for _, child in node.children()]
    return any(not isinstance(name, c_ast.ID) or name.name in own for name in calls)
