"""Preprocessed GNU C -> pycparser's AST.

pycparser reads ISO C; firmware is GNU C. The subclass below adds what gcc accepts. It overrides private
methods, so pycparser is pinned to one version. What pycparser knows keeps its shape; GNU constructs become:

* `__attribute__((…))` among specifiers or after `*`: a string in `quals` (of Decl, Typedef, Typename,
  TypeDecl, PtrDecl) that starts with "__attribute__". After a declarator: a
  GnuAttribute in `attributes` of the Decl, Typedef or Typename. On a struct, union or enum, before or after
  the body: in its `attributes`; likewise on Enumerator and Label. First inside the parentheses of a
  declarator, `(attr *f)`: in `attributes` of the PtrDecl. On its own before a `;`:
  AttributeDeclaration([GnuAttribute]).
* asm label of a declaration: an AsmLabel in `attributes` of the Decl. asm statement, file-scope asm: Asm.
* `typeof`: TypeOf with op "__typeof__", as TypeDecl.type. `__auto_type`, `_Float32`, `__int128` …: a name in
  IdentifierType.names. `__builtin_va_list`, `__int128_t`, `__uint128_t` are predeclared typedef names.
* `({ … })`: a StatementExpression.
* `a ?: b`: TernaryOp with iftrue None. `_Generic` is pycparser's own: `frontend/lower/expressions.py` chooses.
* `&&label`: LabelAddress. `goto *e`: ComputedGoto. `__label__ a, b;`: LocalLabels.
* `__builtin_choose_expr(c, a, b)`: ChooseExpr.
* `case 1 ... 5`: Case whose expr is a ValueRange; `[1 ... 5] = x`: ArrayDesignator of a ValueRange; the
  old-style `x: 1` and `[1] x` are ordinary NamedInitializers.
* `__builtin_types_compatible_p(T, U)`, `__builtin_va_arg(ap, T)`, `__builtin_offsetof(T, m)`: FuncCall with
  Typenames among the arguments. `__alignof__ e`, `__real__ e`: UnaryOp with that op (its operand may be a
  Typename).
* K&R definitions: FuncDef.param_decls (None if all parameters are implicit ints), IDs in FuncDecl.args;
  a missing type is `int`.

Nested functions, imaginary constants, digraphs and `[[…]]` are refused by name.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pycparser import c_ast
from pycparser.c_parser import Coord, CParser

from score_embed.frontend.c import gnu_statements as gnu
from score_embed.frontend.c.gnu_ast import ChooseExpr, GnuAttribute, LabelAddress, StatementExpression
from score_embed.frontend.c.gnu_lexer import GnuLexer, is_attribute

_BUILTIN_TYPES = ("__builtin_va_list", "__int128_t", "__uint128_t")
# What begins an external declaration that needs nothing of ours.
_PYCPARSERS_OWN = frozenset({"PPHASH", "PPPRAGMA", "_PRAGMA", "SEMI", "_STATIC_ASSERT", "ATTRIBUTE_BEGIN"})
_CHOOSE = "__builtin_choose_expr"
_TYPE_ARGUMENTS = frozenset({"__builtin_types_compatible_p"})


def _move_to_union(typedef: c_ast.Typedef) -> None:
    """`typedef union { … } u __attribute__((transparent_union))`: behind the typedef it would make another type."""
    inner = getattr(typedef.type, "type", None)
    if isinstance(inner, c_ast.Union) and inner.decls is not None:
        moved = [attribute for attribute in typedef.attributes if _is_transparent(attribute)]
        inner.attributes = [*(inner.attributes or []), *moved]
        typedef.attributes = [attribute for attribute in typedef.attributes if attribute not in moved]


def _is_transparent(attribute: c_ast.Node) -> bool:
    return isinstance(attribute, GnuAttribute) and "transparent_union" in attribute.text


class SyntaxFault(Exception):
    def __init__(self, what: str, where: str) -> None:
        super().__init__(what)
        self.what, self.where = what, where


class GnuParser(CParser):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(lexer=GnuLexer)
        self._in_tag = False  # the next attribute sequence belongs to a struct, union, enum or enumerator

    # -- errors ---------------------------------------------------------------------------------------------
    def _parse_error(self, msg: str, coord: Coord | str | None) -> NoReturn:
        if not isinstance(coord, Coord):  # pycparser knows only the file: the next token is the place
            token = self._tokens.peek()
            coord = self._tok_coord(token) if token is not None else coord
        if msg.startswith("before: "):
            msg = f"syntax error before '{msg.removeprefix('before: ')}'"
        elif msg == "At end of input":
            msg = "unexpected end of file"
        elif msg == "Invalid expression":
            token = self._tokens.peek()
            msg = f"expression expected before '{token.value}'" if token else "unexpected end of file"
        raise SyntaxFault(msg[:1].lower() + msg[1:], str(coord or self.clex.filename))

    def _parse_attribute_specifier_sequence(self) -> Any:
        if self._in_tag:
            self._in_tag = False
            return gnu.attributes(self)
        return super()._parse_attribute_specifier_sequence()

    def _parse_struct_or_union_specifier(self) -> c_ast.Node:
        self._in_tag = True
        node = super()._parse_struct_or_union_specifier()
        if node.decls is not None:
            node.attributes += gnu.attributes(self)
        return node

    def _parse_enum_specifier(self) -> c_ast.Node:
        self._in_tag = True
        node = super()._parse_enum_specifier()
        if node.values is not None:
            node.attributes += gnu.attributes(self)
        return node

    def _parse_enumerator(self) -> c_ast.Node:
        self._in_tag = True
        return super()._parse_enumerator()

    # -- declarations ---------------------------------------------------------------------------------------
    def _parse_translation_unit_or_empty(self) -> c_ast.FileAST:
        for name in _BUILTIN_TYPES:
            self._add_typedef_name(name, None)
        return super()._parse_translation_unit_or_empty()

    def _parse_external_declaration(self) -> Any:
        token = self._peek()
        if token is not None and token.type == "ASM":
            return [gnu.asm(self)]
        if token is None or token.type in _PYCPARSERS_OWN:
            return super()._parse_external_declaration()
        if self._starts_declaration(token):
            spec, saw_type, coord = self._parse_declaration_specifiers(allow_no_type=True)
        elif token.type == "ID" and self._peek_type(2) in {"ID", "TIMES"}:
            self._parse_error(f"unknown type name '{token.value}'", self._tok_coord(token))
        elif token.type in {"ID", "TIMES", "LPAREN"}:  # an old declaration without any specifier
            coord, saw_type = self._tok_coord(token), False
            keys = ("qual", "alignment", "storage", "type", "function", "type_attributes")
            spec = {key: [] for key in keys}
        else:
            self._parse_error(f"before: {token.value}", self._tok_coord(token))
        if self._peek_declarator_name_info()[0] != "ID":
            return self._parse_declaration_end(self._parse_decl_body_with_spec(spec, saw_type))
        leading = gnu.attributes(self)
        decl = self._parse_id_declarator()
        if not spec["type"]:
            spec["type"] = [c_ast.IdentifierType(["int"], coord=coord)]
        if isinstance(decl, c_ast.FuncDecl) and (
            self._peek_type() == "LBRACE" or (self._starts_declaration() and not is_attribute(self._peek()))
        ):
            return [self._parse_function_definition(spec, decl)]
        info: dict[str, Any] = {"decl": decl, "attributes": leading + gnu.declarator_suffix(self)}
        if self._accept("EQUALS"):
            info["init"] = self._parse_initializer()
        decls = self._build_declarations(
            spec=spec, decls=self._parse_init_declarator_list(first=info), typedef_namespace=True
        )
        return self._parse_declaration_end(decls)

    def _parse_decl_body_with_spec(self, spec: Any, saw_type: bool) -> Any:
        """`static x;`, `const *p = 0;`: an int; `typedef int;`: nothing, of which gcc only warns."""
        if self._peek_type() == "SEMI" and self._declares_nothing(spec):
            return []
        if saw_type or spec["alignment"] or not self._starts_declarator(id_only=True):
            return super()._parse_decl_body_with_spec(spec, saw_type)
        spec["type"] = [c_ast.IdentifierType(["int"], coord=self._tok_coord(self._peek()))]
        return super()._parse_decl_body_with_spec(spec, True)

    def _declares_nothing(self, spec: Any) -> bool:
        """Without a declarator, these specifiers neither have a tag nor end in the name that is declared (`int T;`)."""
        types = spec["type"]
        if spec["function"] or any(not isinstance(t, c_ast.IdentifierType) for t in types):
            return False
        return len(types) < 2 or len(types[-1].names) != 1 or not self._is_type_in_scope(types[-1].names[0])

    def _parse_specifier_qualifier_list(self) -> Any:
        """`(const *) p`, `struct { const x; }`: an int."""
        spec, saw_type, first = self._parse_specifiers(allow_storage_and_function=False)
        if spec is None or (not saw_type and not spec["qual"] and not spec["alignment"]):
            self._parse_error("missing type in declaration", first)
        if not saw_type and spec["qual"]:
            spec["type"] = [c_ast.IdentifierType(["int"], coord=first)]
        return spec

    def _parse_declaration_end(self, decls: list[c_ast.Node]) -> Any:
        if self._peek_type() == "LBRACE" and decls and isinstance(decls[-1].type, c_ast.FuncDecl):
            self._parse_error("nested functions are not supported", decls[-1].coord)
        return super()._parse_declaration_end(decls)

    def _build_declarations(self, spec: Any, decls: Any, typedef_namespace: bool = False) -> Any:
        built = super()._build_declarations(spec, decls, typedef_namespace)
        for node, info in zip(built, decls, strict=True):
            node.attributes = info.get("attributes", [])
            if isinstance(node, c_ast.Typedef):
                _move_to_union(node)
        return built

    def _parse_init_declarator(self, id_only: bool = False) -> Any:
        leading = gnu.attributes(self)
        decl = self._parse_id_declarator() if id_only else self._parse_declarator()
        info: dict[str, Any] = {"decl": decl, "attributes": leading + gnu.declarator_suffix(self)}
        if self._accept("EQUALS"):
            info["init"] = self._parse_initializer()
        return info

    def _parse_struct_declarator(self) -> Any:
        leading = gnu.attributes(self)
        info: dict[str, Any] = super()._parse_struct_declarator()
        info["attributes"] = leading + gnu.declarator_suffix(self)
        return info

    def _parse_parameter_declaration(self) -> c_ast.Node:
        decl = self._parse_parameter_declaration_body()
        decl.attributes = gnu.declarator_suffix(self)
        return decl

    def _parse_type_name(self) -> c_ast.Typename:
        name = super()._parse_type_name()
        name.attributes = gnu.attributes(self)
        return name

    def _scan_declarator_name_info(self) -> Any:
        while is_attribute(self._peek()):
            self._advance()
        return super()._scan_declarator_name_info()

    def _parse_declarator_kind(self, kind: str, allow_paren: bool) -> c_ast.Node:
        if not is_attribute(self._peek()):
            return super()._parse_declarator_kind(kind, allow_paren)
        attributes = gnu.attributes(self)
        if self._peek_type() != "TIMES":
            self._parse_error("an attribute is supported here only before '*'", attributes[0].coord)
        pointer = self._attributed_pointer(attributes)
        return self._type_modify_decl(self._parse_direct_declarator(kind, allow_paren=allow_paren), pointer)

    def _attributed_pointer(self, attributes: list[c_ast.Node]) -> c_ast.Node:
        pointer = self._parse_pointer()
        first = pointer
        while first.type is not None:  # pointers nest from right to left: the first star is the innermost
            first = first.type
        first.attributes = attributes
        return pointer

    def _parse_direct_abstract_declarator(self) -> c_ast.Node:
        mark = self._mark()
        if self._accept("LPAREN"):
            attributes = gnu.attributes(self)
            if attributes and self._peek_type() == "TIMES":  # `(attr *)`: a pointer, not a list of parameters
                pointer = self._attributed_pointer(attributes)
                decl = c_ast.TypeDecl(None, None, None, None)
                if self._starts_direct_abstract_declarator():
                    decl = super()._parse_direct_abstract_declarator()
                self._expect("RPAREN")
                return self._parse_decl_suffixes(self._type_modify_decl(decl, pointer))
            self._reset(mark)
        return super()._parse_direct_abstract_declarator()

    # -- initialisers ---------------------------------------------------------------------------------------
    def _parse_initializer_item(self) -> c_ast.Node:
        token = self._peek()
        if token is None or token.type not in {"LBRACKET", "PERIOD", "ID", "TYPEID"}:
            return self._parse_initializer()
        coord = self._tok_coord(token)
        if token.type in {"ID", "TYPEID"}:
            if self._peek_type(2) != "COLON":
                return self._parse_initializer()
            field = self._parse_identifier_or_typeid()
            self._advance()
            return c_ast.NamedInitializer([field], self._parse_initializer(), coord)
        designators = self._parse_designator_list()
        if not (len(designators) == 1 and isinstance(designators[0], c_ast.ArrayDesignator)):
            self._expect("EQUALS")
        else:
            self._accept("EQUALS")
        return c_ast.NamedInitializer(designators, self._parse_initializer(), coord)

    def _parse_designator(self) -> c_ast.Node:
        token = self._accept("LBRACKET")
        if token is None:
            return super()._parse_designator()
        expr = gnu.value_or_range(self)
        self._expect("RBRACKET")
        return c_ast.ArrayDesignator(expr, self._tok_coord(token))

    # -- statements -----------------------------------------------------------------------------------------
    def _parse_block_item(self) -> Any:
        if self._peek_type() == "GNU_LABEL":
            return gnu.local_labels(self)
        if gnu.at_attribute_statement(self) or gnu.at_label(self):
            return self._parse_statement()
        return super()._parse_block_item()

    def _starts_statement(self) -> bool:
        if self._peek_type() == "ASM" or gnu.at_attribute_statement(self) or gnu.at_label(self):
            return True
        return bool(super()._starts_statement())

    def _parse_statement(self) -> c_ast.Node:
        return gnu.statement(self) or super()._parse_statement()

    def _parse_labeled_statement(self) -> c_ast.Node:
        return gnu.labeled_statement(self)

    # -- expressions ----------------------------------------------------------------------------------------
    def _starts_expression(self, tok: Any = None) -> bool:
        token = tok or self._peek()
        if token is not None and token.type in {"LAND", "GNU_COMPLEX_PART"}:
            return True
        return bool(super()._starts_expression(token))

    def _parse_conditional_expression(self) -> c_ast.Node:
        cond = self._parse_binary_expression()
        if not self._accept("CONDOP"):
            return cond
        iftrue = None if self._peek_type() == "COLON" else self._parse_expression()
        self._expect("COLON")
        return c_ast.TernaryOp(cond, iftrue, self._parse_conditional_expression(), cond.coord)

    def _parse_unary_expression(self) -> c_ast.Node:
        token = self._peek()
        kind = token.type if token is not None else ""
        if kind == "LAND":
            self._advance()
            return LabelAddress(self._parse_identifier_or_typeid().name, self._tok_coord(token))
        if kind == "GNU_COMPLEX_PART":
            self._advance()
            return c_ast.UnaryOp(token.value, self._parse_cast_expression(), self._tok_coord(token))
        if kind == "_ALIGNOF":
            self._advance()
            result = self._try_parse_paren_type_name()
            operand = result[0] if result is not None else self._parse_unary_expression()
            return c_ast.UnaryOp(token.value, operand, self._tok_coord(token))
        return super()._parse_unary_expression()

    def _parse_primary_expression(self) -> c_ast.Node:
        token = self._peek()
        if token is not None and token.type == "LPAREN" and self._peek_type(2) == "LBRACE":
            self._advance()
            block = self._parse_compound_statement()
            self._expect("RPAREN")
            return StatementExpression(block.block_items or [], block.coord)
        if token is not None and token.type == "ID" and token.value == _CHOOSE and self._peek_type(2) == "LPAREN":
            return self._parse_choose_expr()
        if token is None or token.type != "ID" or token.value not in _TYPE_ARGUMENTS:
            return super()._parse_primary_expression()
        self._advance()
        coord = self._tok_coord(token)
        self._expect("LPAREN")
        types = [self._parse_type_name()]
        while self._accept("COMMA"):
            types.append(self._parse_type_name())
        self._expect("RPAREN")
        return c_ast.FuncCall(c_ast.ID(token.value, coord), c_ast.ExprList(types, coord), coord)

    def _parse_choose_expr(self) -> c_ast.Node:
        coord = self._tok_coord(self._advance())
        self._expect("LPAREN")
        cond = self._parse_assignment_expression()
        self._expect("COMMA")
        first = self._parse_assignment_expression()
        self._expect("COMMA")
        second = self._parse_assignment_expression()
        self._expect("RPAREN")
        return ChooseExpr(cond, first, second, coord)
