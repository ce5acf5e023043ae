"""Names before lowering: within a function every block-scope name becomes the only one of its kind.

Lowered declarations stand together at the top of their function, whatever block the user wrote them in. So each
variable, enumerator, typedef and tag of a block whose name means something else anywhere in the file or the function
gets a number, in the tree itself and by C's scope rules (C11 6.2.1); a name that is alone keeps its spelling. What the
function means stays the same, so that one which cannot be lowered may be printed from the same tree.

`main` becomes the runtime's `sc_main` here too, wherever it is named; its `__func__` still says "main". So does a
function of the C library that has a model (models.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from pycparser import c_ast

from score_embed.contract.sites import MAIN, is_main
from score_embed.frontend.c.bindings import Bindings, Setter, attribute_of, rename
from score_embed.frontend.c.gnu_ast import GnuAttribute, StatementExpression
from score_embed.frontend.c.gnu_lexer import ATTRIBUTE

FUNCTION_NAMES = ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
_FUNCTION_NAME = "sc_func"  # what stands for them in main
_WORD = re.compile(r"[A-Za-z_]\w*|[()]")


def separate(tree: c_ast.FileAST, models: Mapping[str, str] | None = None) -> None:
    """Rename in place, in all functions of a translation unit. `models`: functions that are to have another name."""
    renamed = {"main": MAIN, **(models or {})}
    names = Bindings(renamed)
    _Walk(names, renamed).visit(tree)
    for function in names.functions:
        rename(function.names, names.file.names.keys() | function.outside)
        rename(function.tags, names.file.tags.keys())
    for name, new in renamed.items():
        binding = names.file.names.get(name)
        for setter in (binding.setters if binding else None) or ():
            setter(new)


class _Walk:
    """Visits a tree in the order of the text and binds each use of a name to its declaration."""

    def __init__(self, names: Bindings, renamed: Collection[str]) -> None:
        self._names = names
        self._renamed = renamed  # names of the file that do not stay
        self._defined: set[int] = set()  # struct and enum nodes: declarators of one declaration share them
        self._by_node: Mapping[type[c_ast.Node], Callable[[Any], None]] = {  # of all others, the children
            c_ast.FuncDef: self._definition,
            c_ast.Decl: self._declaration,
            c_ast.Typedef: self._typedef,
            c_ast.TypeDecl: self._type_of_name,
            c_ast.Typename: self._type_of_name,
            c_ast.PtrDecl: self._pointer,
            c_ast.FuncDecl: self._function_type,
            c_ast.Struct: self._struct,
            c_ast.Union: self._struct,
            c_ast.Enum: self._enum,
            c_ast.Compound: self._compound,
            StatementExpression: self._compound,
            c_ast.If: self._if,
            c_ast.Switch: self._statement_with_condition,
            c_ast.While: self._statement_with_condition,
            c_ast.For: self._for,
            c_ast.DoWhile: self._do_while,
            c_ast.ID: self._identifier,
            c_ast.IdentifierType: self._type_name,
            c_ast.StructRef: self._member,
            c_ast.NamedInitializer: self._designated,
            c_ast.FuncCall: self._call,
        }

    def visit(self, node: c_ast.Node | None) -> None:
        if node is None:
            return
        handler = self._by_node.get(type(node))
        if handler is not None:
            handler(node)
        else:
            self._children(node)

    def _children(self, node: c_ast.Node) -> None:
        for _, child in node.children():
            self.visit(child)

    # --- declarations ----------------------------------------------------------------------------------------

    def _definition(self, node: c_ast.FuncDef) -> None:
        self._attributes(node.decl)
        self._names.declare(node.decl.name, _declared_name(node.decl), fixed=node.decl.name not in self._renamed)
        self.visit(node.decl.type.type)
        with self._names.function_scope() as function:
            for param in node.decl.type.args.params if node.decl.type.args else []:
                if isinstance(param, c_ast.ID):
                    self._names.declare(param.name, attribute_of(param, "name"))
                else:
                    self.visit(param)
            for param in node.param_decls or []:
                self.visit(param)
            for item in node.body.block_items or []:
                self.visit(item)
        if (node.decl.name == "main" or is_main(node.decl.name)) and function.own_name:
            self._keep_mains_name(node, function.own_name)

    @staticmethod
    def _keep_mains_name(node: c_ast.FuncDef, uses: list[c_ast.ID]) -> None:
        char = c_ast.TypeDecl(_FUNCTION_NAME, ["const"], None, c_ast.IdentifierType(["char"]), node.coord)
        init = c_ast.Constant("string", '"main"', node.coord)
        array = c_ast.ArrayDecl(char, None, [], node.coord)
        decl = c_ast.Decl(_FUNCTION_NAME, ["const"], [], ["static"], [], array, init, None, node.coord)
        node.body.block_items.insert(0, decl)
        for use in uses:
            use.name = _FUNCTION_NAME

    def _declaration(self, node: c_ast.Decl) -> None:
        self._attributes(node)
        for align in node.align or []:
            self.visit(align)
        if node.name is None and isinstance(node.type, (c_ast.Struct, c_ast.Union)) and node.type.decls is None:
            self._names.declare_tag(node.type)  # `struct s;` hides an outer one
        else:
            self.visit(node.type)
        if node.name is not None:
            fixed = "extern" in (node.storage or []) or self._is_function(node.type)
            if fixed and self._names.function is not None:
                self._names.function.outside.add(node.name)
            self._names.declare(node.name, _declared_name(node), fixed=fixed and node.name not in self._renamed)
        self.visit(node.init)

    def _typedef(self, node: c_ast.Typedef) -> None:
        self._attributes(node)
        self.visit(node.type)
        self._names.declare(node.name, _declared_name(node), is_function_type=self._is_function(node.type))

    def _is_function(self, declarator: c_ast.Node) -> bool:
        if isinstance(declarator, c_ast.TypeDecl) and isinstance(declarator.type, c_ast.IdentifierType):
            found = self._names.find(declarator.type.names[0])
            return found is not None and found.is_function_type
        return isinstance(declarator, c_ast.FuncDecl)

    def _type_of_name(self, node: c_ast.Node) -> None:
        self._attributes(node)
        for align in node.align or []:
            self.visit(align)
        self.visit(node.type)

    def _pointer(self, node: c_ast.PtrDecl) -> None:
        self._attributes(node)
        self.visit(node.type)

    def _function_type(self, node: c_ast.FuncDecl) -> None:
        self.visit(node.type)
        with self._names.scope():
            self.visit(node.args)

    def _struct(self, node: c_ast.Node) -> None:
        if id(node) in self._defined:
            return
        if node.name is not None:
            if node.decls is None:
                self._names.use_tag(node)
            else:
                self._names.declare_tag(node)
        if node.decls is None:
            return
        self._defined.add(id(node))
        self._attributes(node)
        for member in node.decls:
            if isinstance(member, c_ast.Decl):
                self._attributes(member)
                for part in (*(member.align or []), member.type, member.bitsize):
                    self.visit(part)
            else:
                self.visit(member)

    def _enum(self, node: c_ast.Enum) -> None:
        if id(node) in self._defined:
            return
        if node.name is not None:
            if node.values is None:
                self._names.use_tag(node)
            else:
                self._names.declare_tag(node)
        if node.values is None:
            return
        self._defined.add(id(node))
        self._attributes(node)
        for item in node.values.enumerators:
            self.visit(item.value)
            self._names.declare(item.name, attribute_of(item, "name"))

    def _attributes(self, node: c_ast.Node) -> None:
        """The names that attributes mention: `aligned(SIZE)`."""
        for attribute in getattr(node, "attributes", None) or []:
            if isinstance(attribute, GnuAttribute):
                self._text(attribute.text, partial(_replace_in_attribute, attribute))
        quals = getattr(node, "quals", None) or []
        for index, text in enumerate(quals):
            if text.startswith(ATTRIBUTE):
                self._text(text, partial(_replace_in_list, quals, index))

    def _text(self, text: str, replace: Callable[[str, str], None]) -> None:
        for word in set(_argument_words(text)):
            found = self._names.find(word)
            if found is not None and found.setters is not None:
                found.setters.append(partial(replace, word))

    # --- blocks ----------------------------------------------------------------------------------------------

    def _compound(self, node: c_ast.Node) -> None:
        with self._names.scope():
            self._children(node)

    # Selections and loops are blocks, and so are the statements in them (C11 6.8.4p3, 6.8.5p5).
    def _if(self, node: c_ast.If) -> None:
        self._parts([node.cond], [node.iftrue, node.iffalse])

    def _statement_with_condition(self, node: c_ast.Switch) -> None:
        self._parts([node.cond], [node.stmt])

    def _for(self, node: c_ast.For) -> None:
        self._parts([node.init, node.cond, node.next], [node.stmt])

    def _do_while(self, node: c_ast.DoWhile) -> None:
        with self._names.scope():
            self._block(node.stmt)
            self.visit(node.cond)

    def _parts(self, head: list[c_ast.Node | None], blocks: list[c_ast.Node | None]) -> None:
        with self._names.scope():
            for part in head:
                self.visit(part)
            for statement in blocks:
                self._block(statement)

    def _block(self, node: c_ast.Node | None) -> None:
        with self._names.scope():
            self.visit(node)

    # --- uses ------------------------------------------------------------------------------------------------

    def _identifier(self, node: c_ast.ID) -> None:
        if node.name in FUNCTION_NAMES and self._names.function is not None:
            self._names.function.own_name.append(node)
        self._names.use(node.name, attribute_of(node, "name"))

    def _type_name(self, node: c_ast.IdentifierType) -> None:
        if len(node.names) == 1:
            self._names.use(node.names[0], lambda new: node.names.__setitem__(0, new))

    def _member(self, node: c_ast.StructRef) -> None:
        self.visit(node.name)

    def _designated(self, node: c_ast.NamedInitializer) -> None:
        for designator in node.name:
            if not isinstance(designator, c_ast.ID):
                self.visit(designator)
        self.visit(node.expr)

    def _call(self, node: c_ast.FuncCall) -> None:
        if isinstance(node.name, c_ast.ID) and node.name.name == "__builtin_offsetof":
            self.visit(node.args.exprs[0])
            self._designator(node.args.exprs[1])
        else:
            self._children(node)

    def _designator(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.ArrayRef):
            self.visit(node.subscript)
        if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
            self._designator(node.name)


def _declared_name(node: c_ast.Node) -> Setter:
    """A Decl or Typedef has its name twice."""

    def rename(new: str) -> None:
        node.name = new
        inner = node.type
        while not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        inner.declname = new

    return rename


def _argument_words(text: str) -> Iterator[str]:
    """The words in the arguments of attributes: `N` of `__attribute__((aligned(N), packed))`."""
    depth = 0
    for found in _WORD.finditer(text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth > 2 and found[0] != "(":
            yield found[0]


def _replace_in_attribute(attribute: GnuAttribute, old: str, new: str) -> None:
    attribute.text = re.sub(rf"\b{old}\b", lambda _: new, attribute.text)


def _replace_in_list(texts: list[str], index: int, old: str, new: str) -> None:
    texts[index] = re.sub(rf"\b{old}\b", lambda _: new, texts[index])
