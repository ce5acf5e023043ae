"""Parts of GNU C that stand by themselves: attributes, `case 1 ... 5`, computed goto, local labels, asm.

Each takes what it is named after from the parser's tokens. The parser says where they may stand (gnu_parser.py, which
lists the shapes of the nodes); pycparser wants its rules overridden in one subclass, and tokens taken by its methods.
"""

from __future__ import annotations

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


def attributes(parser: CParser) -> list[c_ast.Node]:
    found: list[c_ast.Node] = []
    while is_attribute(parser._peek()):
        token = parser._advance()
        found.append(GnuAttribute(token.value, parser._tok_coord(token)))
    return found


def declarator_suffix(parser: CParser) -> list[c_ast.Node]:
    """What may follow a declarator: an asm label and attributes."""
    found: list[c_ast.Node] = []
    while True:
        token = parser._peek()
        if is_attribute(token):
            found += attributes(parser)
        elif token is not None and token.type == "ASM":
            parser._advance()
            parser._expect("LPAREN")
            found.append(AsmLabel(parser._parse_unified_string_literal(), parser._tok_coord(token)))
            parser._expect("RPAREN")
        else:
            return found


def value_or_range(parser: CParser) -> c_ast.Node:
    first = parser._parse_constant_expression()
    if parser._accept("ELLIPSIS"):
        return ValueRange(first, parser._parse_constant_expression(), first.coord)
    return first


def at_label(parser: CParser) -> bool:
    """Labels have names of their own: a type may be called the same."""
    return parser._peek_type() in {"ID", "TYPEID"} and parser._peek_type(2) == "COLON"


def at_attribute_statement(parser: CParser) -> bool:
    """`__attribute__((fallthrough));`, as against a declaration that begins with an attribute."""
    ahead = 1
    while is_attribute(parser._peek(ahead)):
        ahead += 1
    return ahead > 1 and parser._peek_type(ahead) == "SEMI"


def statement(parser: CParser) -> c_ast.Node | None:
    """What ISO C has otherwise, or not at all; None: pycparser knows it."""
    kind = parser._peek_type()
    if kind == "ASM":
        return asm(parser)
    if kind == "GOTO":
        return _computed_goto(parser) if parser._peek_type(2) == "TIMES" else _goto(parser)
    if at_label(parser):
        return labeled_statement(parser)
    if at_attribute_statement(parser):
        found = attributes(parser)
        parser._expect("SEMI")
        return c_ast.AttributeDeclaration(found, found[0].coord)
    return None


def labeled_statement(parser: CParser) -> c_ast.Node:
    token = parser._advance()
    coord = parser._tok_coord(token)
    expr = value_or_range(parser) if token.type == "CASE" else None
    parser._expect("COLON")
    found: list[c_ast.Node] = []
    if token.type in {"ID", "TYPEID"} and not at_attribute_statement(parser):
        found = attributes(parser)
    body = parser._parse_pragmacomp_or_statement() if parser._starts_statement() else c_ast.EmptyStatement(coord)
    if token.type == "CASE":
        return c_ast.Case(expr, [body], coord)
    if token.type == "DEFAULT":
        return c_ast.Default([body], coord)
    return c_ast.Label(token.value, body, coord, attributes=found)


def _goto(parser: CParser) -> c_ast.Goto:
    coord = parser._tok_coord(parser._expect("GOTO"))
    name = parser._parse_identifier_or_typeid().name
    parser._expect("SEMI")
    return c_ast.Goto(name, coord)


def _computed_goto(parser: CParser) -> c_ast.Node:
    coord = parser._tok_coord(parser._expect("GOTO"))
    parser._expect("TIMES")
    expr = parser._parse_expression()
    parser._expect("SEMI")
    return ComputedGoto(expr, coord)


def local_labels(parser: CParser) -> c_ast.Node:
    coord = parser._tok_coord(parser._expect("GNU_LABEL"))
    names = [parser._parse_identifier_or_typeid().name]
    while parser._accept("COMMA"):
        names.append(parser._parse_identifier_or_typeid().name)
    parser._expect("SEMI")
    return LocalLabels(names, coord)


def asm(parser: CParser) -> Asm:
    coord = parser._tok_coord(parser._expect("ASM"))
    quals: list[str] = []
    while parser._peek_type() in {"VOLATILE", "CONST", "INLINE", "GOTO"}:
        quals.append(parser._advance().value)
    parser._expect("LPAREN")
    node = Asm(quals, parser._parse_unified_string_literal(), coord=coord)
    if _colon(parser):
        node.outputs = _asm_operands(parser)
        if _colon(parser):
            node.inputs = _asm_operands(parser)
        if _colon(parser) and parser._peek_type() not in {"COLON", "RPAREN"}:
            node.clobbers = [parser._parse_unified_string_literal()]
            while parser._accept("COMMA"):
                node.clobbers.append(parser._parse_unified_string_literal())
        if _colon(parser) and parser._peek_type() == "ID":
            node.labels = [parser._advance().value]
            while parser._accept("COMMA"):
                node.labels.append(parser._expect("ID").value)
    parser._expect("RPAREN")
    parser._expect("SEMI")
    return node


def _colon(parser: CParser) -> bool:
    """Take one `:`; of a `::` token only the first half."""
    token = parser._peek()
    if token is not None and token.type == "COLONCOLON":
        token.type, token.value = "COLON", ":"
        return True
    return parser._accept("COLON") is not None


def _asm_operands(parser: CParser) -> list[AsmOperand]:
    operands: list[AsmOperand] = []
    while parser._peek_type() not in {"COLON", "COLONCOLON", "RPAREN"}:
        if operands:
            parser._expect("COMMA")
        name = None
        if parser._accept("LBRACKET"):
            name = parser._parse_identifier_or_typeid().name
            parser._expect("RBRACKET")
        constraint = parser._parse_unified_string_literal()
        parser._expect("LPAREN")
        operands.append(AsmOperand(name, constraint, parser._parse_expression(), constraint.coord))
        parser._expect("RPAREN")
    return operands
