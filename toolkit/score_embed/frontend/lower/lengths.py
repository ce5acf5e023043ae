"""How long the arrays are that a file declares without saying so (`extern const char table[];`).

Tables of firmware are mostly declared this way. The file of the program that defines one knows, and with that the
others' subscripts can be checked, and read as one object.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence, Set

from pycparser import c_ast

from score_embed.frontend.c.signature import declared_attributes
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import InitialiserWalk, static_type
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.lower.unit import Unit
from score_embed.frontend.types.ctype import Array, Types


def complete_arrays(units: Sequence[Unit], types: Types) -> None:
    """Write the lengths that other units know into the declarations without (C11 6.2.7p3)."""
    incomplete = [ext for unit in units for ext in unit.tree.ext if _is_shared(ext) and not (ext.type.dim or ext.init)]
    wanted = {ext.name for ext in incomplete}
    if not wanted:
        return
    found: dict[str, int] = {}
    for unit in units:
        defined = {ext.name for ext in unit.tree.ext if _is_shared(ext) and _is_definition(ext)}
        if defined & wanted:
            found |= _lengths(unit, defined & wanted, types)
    for ext in incomplete:
        if found.get(ext.name):  # C has no arrays of length 0
            ext.type.dim = c_ast.Constant("int", str(found[ext.name]))


def _is_shared(ext: c_ast.Node) -> bool:
    array = isinstance(ext, c_ast.Decl) and isinstance(ext.type, c_ast.ArrayDecl)
    return array and "static" not in (ext.storage or [])


def _is_definition(ext: c_ast.Decl) -> bool:
    """One that holds: what is declared `extern` may be shorter, and others take the place of what is weak."""
    weak = any("weak" in text for text in declared_attributes(ext))
    return not weak and (ext.init is not None or (ext.type.dim is not None and "extern" not in (ext.storage or [])))


def _lengths(unit: Unit, wanted: Set[str], types: Types) -> dict[str, int]:
    declarations = Declarations(types)
    walk = InitialiserWalk(declarations, functools.partial(static_type, declarations))
    found: dict[str, int] = {}
    for ext in unit.tree.ext:
        try:
            if isinstance(ext, c_ast.Typedef):
                declarations.scope.names[ext.name] = declarations.typedef(ext)
            elif isinstance(ext, c_ast.Decl):
                t = declarations.type_of(ext)
                if ext.name in wanted and isinstance(t, Array):
                    t = walk.completed(t, ext.init) if t.count is None else t
                    if t.length is not None:
                        found[ext.name] = max(t.length, found.get(ext.name, 0))
        except Unsupported:
            continue  # what depends on it is not known either
    return found
