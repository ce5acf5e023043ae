"""Whether the functions that code names tell what it may call: not if it calls through pointers, or has assembly.

This is asked of what stays as it is written; functions with probes say it themselves (`frontend/emit`).
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import Asm


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
