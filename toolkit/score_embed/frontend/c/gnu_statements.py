"""GNU C's statements on pycparser's parser: attributes, `case 1 ... 5`, computed goto, local labels, asm.

The shapes of the nodes are listed in gnu_parser.py.
"""

from __future__ import annotations

from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser

from score_embed.frontend.c.gnu_ast import (
    Asm,
    AsmLabel,
    AsmOperand,
    ComputedGoto,
    GnuAttribute,
    LocalLabels,
    ValueRange,
)
from score_embed.frontend.c.gnu_lexer import is_attribute


class GnuStatements(CParser):  # type: ignore[misc]
    """Attributes and statements; declarations and expressions are added by gnu_parser.py."""

    # -- attributes -----------------------------------------------------------------------------------------
    def _gnu_attributes(self) -> list[c_ast.Node]:
        found: list[c_ast.Node] = []
        while is_attribute(self._peek()):
            token = self._advance()
            found.append(GnuAttribute(token.value, self._tok_coord(token)))
        return found

    def _declarator_suffix(self) -> list[c_ast.Node]:
        """What may follow a declarator: an asm label and attributes."""
        found: list[c_ast.Node] = []
        while True:
            token = self._peek()
            if is_attribute(token):
                found += self._gnu_attributes()
            elif token is not None and token.type == "ASM":
                self._advance()
                self._expect("LPAREN")
                found.append(AsmLabel(self._parse_unified_string_literal(), self._tok_coord(token)))
                self._expect("RPAREN")
            else:
                return found

    def _parse_value_or_range(self) -> c_ast.Node:
        first = self._parse_constant_expression()
        if self._accept("ELLIPSIS"):
            return ValueRange(first, self._parse_constant_expression(), first.coord)
        return first

    # -- statements -----------------------------------------------------------------------------------------
    def _parse_block_item(self) -> Any:
        token = self._peek()
        if token is not None and token.type == "GNU_LABEL":
            return self._parse_local_labels()
        if self._at_attribute_statement() or self._at_label():
            return self._parse_statement()
        return super()._parse_block_item()

    def _at_label(self) -> bool:
        """Labels have names of their own: a type may be called the same."""
        return self._peek_type() in {"ID", "TYPEID"} and self._peek_type(2) == "COLON"

    def _at_attribute_statement(self) -> bool:
        """`__attribute__((fallthrough));`, as against a declaration that begins with an attribute."""
        ahead = 1
        while is_attribute(self._peek(ahead)):
            ahead += 1
        return ahead > 1 and self._peek_type(ahead) == "SEMI"

    def _starts_statement(self) -> bool:
        if self._peek_type() == "ASM" or self._at_attribute_statement() or self._at_label():
            return True
        return bool(super()._starts_statement())

    def _parse_statement(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind == "ASM":
            return self._parse_asm()
        if kind == "GOTO" and self._peek_type(2) == "TIMES":
            return self._parse_computed_goto()
        if kind == "GOTO":
            return self._parse_goto()
        if self._at_label():
            return self._parse_labeled_statement()
        if self._at_attribute_statement():
            attributes = self._gnu_attributes()
            self._expect("SEMI")
            return c_ast.AttributeDeclaration(attributes, attributes[0].coord)
        return super()._parse_statement()

    def _parse_labeled_statement(self) -> c_ast.Node:
        token = self._advance()
        coord = self._tok_coord(token)
        expr = self._parse_value_or_range() if token.type == "CASE" else None
        self._expect("COLON")
        attributes: list[c_ast.Node] = []
        if token.type in {"ID", "TYPEID"} and not self._at_attribute_statement():
            attributes = self._gnu_attributes()
        statement = self._parse_pragmacomp_or_statement() if self._starts_statement() else c_ast.EmptyStatement(coord)
        if token.type == "CASE":
            return c_ast.Case(expr, [statement], coord)
        if token.type == "DEFAULT":
            return c_ast.Default([statement], coord)
        return c_ast.Label(token.value, statement, coord, attributes=attributes)

    def _parse_goto(self) -> c_ast.Goto:
        coord = self._tok_coord(self._expect("GOTO"))
        name = self._parse_identifier_or_typeid().name
        self._expect("SEMI")
        return c_ast.Goto(name, coord)

    def _parse_computed_goto(self) -> c_ast.Node:
        coord = self._tok_coord(self._expect("GOTO"))
        self._expect("TIMES")
        expr = self._parse_expression()
        self._expect("SEMI")
        return ComputedGoto(expr, coord)

    def _parse_local_labels(self) -> c_ast.Node:
        coord = self._tok_coord(self._expect("GNU_LABEL"))
        names = [self._parse_identifier_or_typeid().name]
        while self._accept("COMMA"):
            names.append(self._parse_identifier_or_typeid().name)
        self._expect("SEMI")
        return LocalLabels(names, coord)

    def _parse_asm(self) -> Asm:
        coord = self._tok_coord(self._expect("ASM"))
        quals: list[str] = []
        while self._peek_type() in {"VOLATILE", "CONST", "INLINE", "GOTO"}:
            quals.append(self._advance().value)
        self._expect("LPAREN")
        node = Asm(quals, self._parse_unified_string_literal(), coord=coord)
        if self._asm_colon():
            node.outputs = self._parse_asm_operands()
            if self._asm_colon():
                node.inputs = self._parse_asm_operands()
            if self._asm_colon() and self._peek_type() not in {"COLON", "RPAREN"}:
                node.clobbers = [self._parse_unified_string_literal()]
                while self._accept("COMMA"):
                    node.clobbers.append(self._parse_unified_string_literal())
            if self._asm_colon() and self._peek_type() == "ID":
                node.labels = [self._advance().value]
                while self._accept("COMMA"):
                    node.labels.append(self._expect("ID").value)
        self._expect("RPAREN")
        self._expect("SEMI")
        return node

    def _asm_colon(self) -> bool:
        """Take one `:`; of a `::` token only the first half."""
        token = self._peek()
        if token is not None and token.type == "COLONCOLON":
            token.type, token.value = "COLON", ":"
            return True
        return self._accept("COLON") is not None

    def _parse_asm_operands(self) -> list[AsmOperand]:
        operands: list[AsmOperand] = []
        while self._peek_type() not in {"COLON", "COLONCOLON", "RPAREN"}:
            if operands:
                self._expect("COMMA")
            name = None
            if self._accept("LBRACKET"):
                name = self._parse_identifier_or_typeid().name
                self._expect("RBRACKET")
            constraint = self._parse_unified_string_literal()
            self._expect("LPAREN")
            operands.append(AsmOperand(name, constraint, self._parse_expression(), constraint.coord))
            self._expect("RPAREN")
        return operands
