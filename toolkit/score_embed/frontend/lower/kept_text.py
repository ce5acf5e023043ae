"""Pieces of the user's code that stay as they are written: definitions of types, constants, operands of the compiler's.

They are printed with the names that variables have where functions' declarations stand together, at the top; and a
struct, union or enum that was moved there is printed without its body from then on.
"""

from __future__ import annotations

import copy

from pycparser import c_ast

from score_embed.frontend.c.printer import to_c
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import FunctionName, PlainVariable, SlotVariable, Variable


class KeptText:
    """Of one unit. `hoisted`: tags defined at the top of the function that is being lowered."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations
        self.hoisted: set[str] = set()

    def of(self, node: c_ast.Node) -> str:
        """C text of a constant piece, with hoisted names as they are now called."""
        renamed = copy.deepcopy(node)
        self._rename_ids(renamed)
        text = to_c(renamed, without_body=self.hoisted)
        if isinstance(node, c_ast.ExprList):
            return f"({text})"
        return f"{{ {text} }}" if isinstance(node, c_ast.InitList) else text

    def _rename_ids(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.ID):
            symbol = self._declarations.scope.find(node.name)
            if isinstance(symbol, (Variable, FunctionName, PlainVariable)):
                node.name = symbol.name
            elif isinstance(symbol, SlotVariable):
                node.name = symbol.slot.name
        for slot, child in node.children():
            is_member = (isinstance(node, c_ast.StructRef) and slot == "field") or (
                isinstance(node, c_ast.NamedInitializer) and isinstance(child, c_ast.ID) and slot != "expr"
            )
            if not is_member:
                self._rename_ids(child)
