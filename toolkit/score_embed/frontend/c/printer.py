"""AST -> C, for everything parse.py reads: GNU nodes, and attributes where gcc takes them to mean the same.

What is printed must compile to the same code as what was read: declarations outside the rewritten function
bodies reach the compiler through here. Keywords are printed in the spelling that every `-std=` accepts.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Sequence
from typing import Any

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from score_embed.frontend.c.gnu_ast import (
    Asm,
    AsmLabel,
    AsmOperand,
    ChooseExpr,
    ComputedGoto,
    GnuAttribute,
    LabelAddress,
    LocalLabels,
    StatementExpression,
    ValueRange,
)

_EVERY_STD = {"inline": "__inline__", "restrict": "__restrict__"}
_WORD_OPERATORS = frozenset({"_Alignof", "__alignof__", "__real__", "__imag__"})


def to_c(node: c_ast.Node, *, without_body: Collection[str] = (), positions: bool = False) -> str:
    """The C text of any node. `without_body`: tags of which only the name is printed; `positions`: every statement is
    said to stand on the user's line."""
    generator = _GnuGenerator()
    generator.without_body, generator.positions = without_body, positions
    return str(generator.visit(node))


def line_directive(file: str, line: int) -> str:
    """What follows stands on that line; "" if it is not known."""
    return f"#line {line} {_literal(file)}" if line else ""


@functools.cache
def _literal(text: str) -> str:
    """A string literal of its bytes; no universal character names, which C has not for all characters (C11 6.4.3)."""
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in os.fsencode(text))
    return f'"{"".join(plain)}"'


class _GnuGenerator(CGenerator):  # type: ignore[misc]
    without_body: Collection[str] = ()
    positions = False

    # -- attributes ------------------------------------------------------------------------------------------
    def visit_GnuAttribute(self, n: GnuAttribute) -> str:
        return n.text

    def visit_AsmLabel(self, n: AsmLabel) -> str:
        return f"__asm__({self.visit(n.name)})"

    def _suffix(self, attributes: Sequence[c_ast.Node]) -> str:
        return "".join(" " + self.visit(attribute) for attribute in attributes or ())

    # -- declarations ----------------------------------------------------------------------------------------
    def visit_Decl(self, n: c_ast.Decl, no_type: bool = False) -> str:
        # `no_type`: second and later declarators of a list.
        text = self._generate_type(n.type, emit_base_type=False) if no_type else self._generate_decl(n)
        if n.bitsize:
            text += " : " + self._visit_expr(n.bitsize)
        text += self._suffix(n.attributes)
        if n.init:
            text += " = " + self._visit_expr(n.init)
        return str(text)

    def _generate_decl(self, n: c_ast.Decl) -> str:
        words = [_EVERY_STD.get(word, word) for word in n.funcspec or ()] + list(n.storage or ())
        words += [self.visit(align) for align in n.align or ()]
        if isinstance(n.type, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
            return " ".join([*words, self._generate_type(n.type)])
        # No declarator: the qualifiers have not been copied onto a TypeDecl.
        return " ".join([*words, *self._quals(n.quals), self._generate_type_specifier(n.type)])

    def visit_Typedef(self, n: c_ast.Typedef) -> str:
        return " ".join([*n.storage, self._generate_type(n.type)]) + self._suffix(n.attributes)

    def visit_Typename(self, n: c_ast.Typename) -> str:
        return self._generate_type(n.type) + self._suffix(n.attributes)

    def visit_DeclList(self, n: c_ast.DeclList) -> str:
        return str(super().visit_DeclList(n)) if n.decls else ""  # `for (int;;)` declares nothing

    def _visit_decl_group(self, nodes: list[c_ast.Node]) -> str:
        first, *others = nodes
        if not isinstance(first, c_ast.Typedef):
            return str(super()._visit_decl_group(nodes))
        return ", ".join(
            [self.visit(first)]
            + [self._generate_type(n.type, emit_base_type=False) + self._suffix(n.attributes) for n in others]
        )

    @staticmethod
    def _quals(quals: Sequence[str] | None) -> list[str]:
        return [_EVERY_STD.get(qual, qual) for qual in quals or ()]

    def _generate_type(
        self,
        n: c_ast.Node,
        modifiers: list[c_ast.Node] | None = None,
        emit_declname: bool = True,
        emit_base_type: bool = True,
    ) -> str:
        outer = modifiers or []  # outermost declarator first
        if isinstance(n, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.FuncDecl)):
            return self._generate_type(n.type, [*outer, n], emit_declname, emit_base_type)
        if isinstance(n, c_ast.Typename):
            text = self._generate_type(n.type, outer, emit_declname, emit_base_type)
            return text + self._suffix(n.attributes)
        if isinstance(n, c_ast.TypeDecl):
            name = n.declname if n.declname and emit_declname else ""
            text = self._declarator(name, outer)
            if not emit_base_type:
                return text
            base = " ".join([*self._quals(n.quals), self._generate_type_specifier(n.type).strip()])
            return f"{base} {text}" if text else base
        return str(super()._generate_type(n, modifiers, emit_declname, emit_base_type))

    def _declarator(self, text: str, modifiers: Sequence[c_ast.Node]) -> str:
        for i, modifier in enumerate(modifiers):
            if isinstance(modifier, c_ast.PtrDecl):
                before = "".join(self.visit(attribute) + " " for attribute in modifier.attributes)
                quals = " ".join(self._quals(modifier.quals))
                text = f"{before}*{' ' + quals if quals else ''}{' ' if quals and text else ''}{text}"
                continue
            if i and isinstance(modifiers[i - 1], c_ast.PtrDecl):
                text = f"({text})"
            if isinstance(modifier, c_ast.ArrayDecl):
                inside = self._quals(modifier.dim_quals)
                if modifier.dim is not None:
                    inside.append(self._visit_expr(modifier.dim))
                text += f"[{' '.join(inside)}]"
            else:
                text += f"({self.visit(modifier.args) if modifier.args is not None else ''})"
        return text

    def _generate_struct_union_enum(self, n: c_ast.Node, name: str) -> str:
        if n.name is not None and n.name in self.without_body:
            return f"{name} {n.name}"
        return str(super()._generate_struct_union_enum(n, name))

    # -- statements ------------------------------------------------------------------------------------------
    def visit_FileAST(self, n: c_ast.FileAST) -> str:
        # File-scope asm ends like a declaration here, with the semicolon added by the caller elsewhere.
        return "".join(
            self.visit(item) + "\n"
            if isinstance(item, Asm)
            else super(_GnuGenerator, self).visit_FileAST(c_ast.FileAST(item))
            for item in self._runs(n.ext)
        )

    @staticmethod
    def _runs(nodes: list[c_ast.Node]) -> list[Any]:
        """Asm nodes one by one, all else in runs, so that declarations sharing a body stay together."""
        runs: list[Any] = []
        for node in nodes:
            if isinstance(node, Asm):
                runs.append(node)
            elif runs and isinstance(runs[-1], list):
                runs[-1].append(node)
            else:
                runs.append([node])
        return runs

    def visit_Label(self, n: c_ast.Label) -> str:
        return f"{n.name}:{self._suffix(n.attributes)}\n{self._generate_stmt(n.stmt)}"

    def visit_Asm(self, n: Asm) -> str:
        text = " ".join(["__asm__", *("__volatile__" if q == "volatile" else q for q in n.quals)])
        text += f" ({self.visit(n.template)}"
        if n.outputs is not None:
            operands = (", ".join(map(self.visit, group)) for group in (n.outputs, n.inputs, n.clobbers))
            sections = list(operands)
            if n.labels or "goto" in n.quals:
                sections.append(", ".join(n.labels))
            while len(sections) > 1 and not sections[-1]:
                sections.pop()
            text += "".join(f" : {section}" for section in sections)
        return text + ");"

    def visit_AsmOperand(self, n: AsmOperand) -> str:
        name = f"[{n.name}] " if n.name else ""
        return f"{name}{self.visit(n.constraint)} ({self._visit_expr(n.expr, allow_comma=True)})"

    def visit_ComputedGoto(self, n: ComputedGoto) -> str:
        return f"goto *{self._parenthesize_unless_simple(n.expr)};"

    def visit_LocalLabels(self, n: LocalLabels) -> str:
        return f"__label__ {', '.join(n.names)};"

    def visit_ValueRange(self, n: ValueRange) -> str:
        return f"{self._visit_expr(n.first)} ... {self._visit_expr(n.last)}"

    def _generate_stmt(self, n: c_ast.Node, add_indent: bool = False) -> str:
        text, coord = self._statement(n, add_indent), getattr(n, "coord", None)
        if not self.positions or coord is None:
            return text
        return f"{line_directive(coord.file, coord.line)}\n{text}"

    def _statement(self, n: c_ast.Node, add_indent: bool) -> str:
        if isinstance(n, (LabelAddress, StatementExpression, ChooseExpr)):
            return f"{self._make_indent()}{self.visit(n)};\n"
        if isinstance(n, c_ast.Pragma):  # gcc -fpreprocessed takes directives in the first column only
            return f"{self.visit(n)}\n"
        return str(super()._generate_stmt(n, add_indent))

    # -- expressions -----------------------------------------------------------------------------------------
    def visit_LabelAddress(self, n: LabelAddress) -> str:
        return f"&&{n.name}"

    def visit_StatementExpression(self, n: StatementExpression) -> str:
        return f"({self.visit_Compound(n)})"

    def visit_ChooseExpr(self, n: ChooseExpr) -> str:
        return f"__builtin_choose_expr({', '.join(map(self._visit_expr, (n.cond, n.first, n.second)))})"

    def visit_TernaryOp(self, n: c_ast.TernaryOp) -> str:
        if n.iftrue is not None:
            return str(super().visit_TernaryOp(n))
        return f"({self._visit_expr(n.cond)}) ?: ({self._visit_expr(n.iffalse)})"

    def visit_UnaryOp(self, n: c_ast.UnaryOp) -> str:
        if n.op in _WORD_OPERATORS:
            return f"{n.op} ({self._visit_expr(n.expr, allow_comma=True)})"
        return str(super().visit_UnaryOp(n))
