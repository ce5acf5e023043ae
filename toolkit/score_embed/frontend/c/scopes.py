"""Names before lowering: within a function every block-scope name becomes the only one of its kind.

Lowered declarations stand together at the top of their function, whatever block the user wrote them in. So each
variable, enumerator, typedef and tag of a block whose name means something else anywhere in the file or the function
gets a number, in the tree itself and by C's scope rules (C11 6.2.1); a name that is alone keeps its spelling. What the
function means stays the same, so that one which cannot be lowered may be printed from the same tree.

`main` becomes the runtime's `sc_main` here too, wherever it is named; its `__func__` still says "main". So does a function
of the C library that has a model (models.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from pycparser import c_ast

from score_embed.contract.sites import MAIN, PROGRAM_MAIN
from score_embed.frontend.c.gnu_ast import GnuAttribute
from score_embed.frontend.c.gnu_lexer import ATTRIBUTE

FUNCTION_NAMES = ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
_FUNCTION_NAME = "sc_func"  # what stands for them in main
_OURS = "sc_"  # names of emitted code begin so
_WORD = re.compile(r"[A-Za-z_]\w*|[()]")

Setter = Callable[[str], None]


@dataclass(eq=False)
class _Binding:
    """One declared name. It is given a new one by calling all setters; None: it must keep its name."""

    name: str
    setters: list[Setter] | None
    is_function_type: bool = False  # a typedef of a function type


@dataclass(eq=False)
class _Table:
    """The names and tags of one scope."""

    names: dict[str, _Binding] = field(default_factory=dict)
    tags: dict[str, _Binding] = field(default_factory=dict)


@dataclass(eq=False)
class _FunctionNames:
    """What one function declares in its blocks, and the names it uses from outside."""

    names: list[_Binding] = field(default_factory=list)
    tags: list[_Binding] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    own_name: list[c_ast.ID] = field(default_factory=list)


def separate(tree: c_ast.FileAST, models: Mapping[str, str] | None = None) -> None:
    """Rename in place, in all functions of a translation unit. `models`: functions that are to have another name."""
    renamed = {"main": MAIN, **(models or {})}
    walk = _Walk(renamed)
    walk.visit(tree)
    for function in walk.functions:
        _rename(function.names, walk.file.names.keys() | function.outside)
        _rename(function.tags, walk.file.tags.keys())
    for name, new in renamed.items():
        binding = walk.file.names.get(name)
        for setter in (binding.setters if binding else None) or ():
            setter(new)


def _rename(bindings: list[_Binding], outside: Iterable[str]) -> None:
    taken = {binding.name for binding in bindings if binding.setters is None}.union(outside)
    for binding in bindings:
        name, number = binding.name, 1
        if binding.setters is None:
            continue
        while name in taken or (number == 1 and name.startswith(_OURS)):
            number += 1
            name = f"{binding.name}_{number}"
        taken.add(name)
        if name != binding.name:
            for setter in binding.setters:
                setter(name)


class _Walk:
    """Visits a tree in the order of the text and binds each use of a name to its declaration."""

    def __init__(self, renamed: Collection[str]) -> None:
        self.file = _Table()
        self._renamed = renamed  # names of the file that do not stay
        self.functions: list[_FunctionNames] = []
        self._scopes = [self.file]
        self._function: _FunctionNames | None = None
        self._defined: set[int] = set()  # struct and enum nodes: declarators of one declaration share them

    def visit(self, node: c_ast.Node | None) -> None:
        if node is None:
            return
        handler = getattr(self, f"_visit_{type(node).__name__}", None)
        if handler is not None:
            handler(node)
        else:
            self._children(node)

    def _children(self, node: c_ast.Node) -> None:
        for _, child in node.children():
            self.visit(child)

    @contextmanager
    def _scope(self) -> Iterator[None]:
        self._scopes.append(_Table())
        try:
            yield
        finally:
            self._scopes.pop()

    # --- binding ---------------------------------------------------------------------------------------------

    def _declare(self, name: str, setter: Setter, *, fixed: bool = False, is_function_type: bool = False) -> None:
        """A name of the innermost scope. `fixed`: it names something with linkage."""
        table = self._scopes[-1].names
        known = table.get(name)
        if known is None:
            keeps = fixed or (self._function is None and name not in self._renamed)
            known = table[name] = _Binding(name, None if keeps else [], is_function_type)
            if self._function is not None:
                self._function.names.append(known)
        if known.setters is not None:
            known.setters.append(setter)

    def _declare_tag(self, node: c_ast.Node) -> None:
        table = self._scopes[-1].tags
        known = table.get(node.name)
        if known is None:
            known = table[node.name] = _Binding(node.name, None if self._function is None else [])
            if self._function is not None:
                self._function.tags.append(known)
        if known.setters is not None:
            known.setters.append(_attribute_of(node, "name"))

    def _find(self, name: str) -> _Binding | None:
        for table in reversed(self._scopes):
            if name in table.names:
                return table.names[name]
        return None

    def _use(self, name: str, setter: Setter) -> None:
        found = self._find(name)
        if found is not None and found.setters is not None:
            found.setters.append(setter)
        elif found is None and self._function is not None:
            self._function.outside.add(name)

    def _use_tag(self, node: c_ast.Node) -> None:
        for table in reversed(self._scopes):
            found = table.tags.get(node.name)
            if found is not None:
                if found.setters is not None:
                    found.setters.append(_attribute_of(node, "name"))
                return
        self._declare_tag(node)

    # --- declarations ----------------------------------------------------------------------------------------

    def _visit_FuncDef(self, node: c_ast.FuncDef) -> None:
        self._attributes(node.decl)
        self._declare(node.decl.name, _declared_name(node.decl), fixed=node.decl.name not in self._renamed)
        self.visit(node.decl.type.type)
        function = self._function = _FunctionNames()
        self.functions.append(function)
        with self._scope():
            for param in node.decl.type.args.params if node.decl.type.args else []:
                if isinstance(param, c_ast.ID):
                    self._declare(param.name, _attribute_of(param, "name"))
                else:
                    self.visit(param)
            for param in node.param_decls or []:
                self.visit(param)
            for item in node.body.block_items or []:
                self.visit(item)
        self._function = None
        if node.decl.name in ("main", PROGRAM_MAIN) and function.own_name:
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

    def _visit_Decl(self, node: c_ast.Decl) -> None:
        self._attributes(node)
        for align in node.align or []:
            self.visit(align)
        if node.name is None and isinstance(node.type, (c_ast.Struct, c_ast.Union)) and node.type.decls is None:
            self._declare_tag(node.type)  # `struct s;` hides an outer one
        else:
            self.visit(node.type)
        if node.name is not None:
            fixed = "extern" in (node.storage or []) or self._is_function(node.type)
            if fixed and self._function is not None:
                self._function.outside.add(node.name)
            self._declare(node.name, _declared_name(node), fixed=fixed and node.name not in self._renamed)
        self.visit(node.init)

    def _visit_Typedef(self, node: c_ast.Typedef) -> None:
        self._attributes(node)
        self.visit(node.type)
        self._declare(node.name, _declared_name(node), is_function_type=self._is_function(node.type))

    def _is_function(self, declarator: c_ast.Node) -> bool:
        if isinstance(declarator, c_ast.TypeDecl) and isinstance(declarator.type, c_ast.IdentifierType):
            found = self._find(declarator.type.names[0])
            return found is not None and found.is_function_type
        return isinstance(declarator, c_ast.FuncDecl)

    def _visit_TypeDecl(self, node: c_ast.Node) -> None:
        self._attributes(node)
        for align in node.align or []:
            self.visit(align)
        self.visit(node.type)

    _visit_Typename = _visit_TypeDecl

    def _visit_PtrDecl(self, node: c_ast.PtrDecl) -> None:
        self._attributes(node)
        self.visit(node.type)

    def _visit_FuncDecl(self, node: c_ast.FuncDecl) -> None:
        self.visit(node.type)
        with self._scope():
            self.visit(node.args)

    def _visit_Struct(self, node: c_ast.Node) -> None:
        if id(node) in self._defined:
            return
        if node.name is not None:
            if node.decls is None:
                self._use_tag(node)
            else:
                self._declare_tag(node)
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

    _visit_Union = _visit_Struct

    def _visit_Enum(self, node: c_ast.Enum) -> None:
        if id(node) in self._defined:
            return
        if node.name is not None:
            if node.values is None:
                self._use_tag(node)
            else:
                self._declare_tag(node)
        if node.values is None:
            return
        self._defined.add(id(node))
        self._attributes(node)
        for item in node.values.enumerators:
            self.visit(item.value)
            self._declare(item.name, _attribute_of(item, "name"))

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
            found = self._find(word)
            if found is not None and found.setters is not None:
                found.setters.append(partial(replace, word))

    # --- blocks ----------------------------------------------------------------------------------------------

    def _visit_Compound(self, node: c_ast.Node) -> None:
        with self._scope():
            self._children(node)

    _visit_StatementExpression = _visit_Compound

    # Selections and loops are blocks, and so are the statements in them (C11 6.8.4p3, 6.8.5p5).
    def _visit_If(self, node: c_ast.If) -> None:
        self._parts([node.cond], [node.iftrue, node.iffalse])

    def _visit_Switch(self, node: c_ast.Switch) -> None:
        self._parts([node.cond], [node.stmt])

    _visit_While = _visit_Switch

    def _visit_For(self, node: c_ast.For) -> None:
        self._parts([node.init, node.cond, node.next], [node.stmt])

    def _visit_DoWhile(self, node: c_ast.DoWhile) -> None:
        with self._scope():
            self._block(node.stmt)
            self.visit(node.cond)

    def _parts(self, head: list[c_ast.Node | None], blocks: list[c_ast.Node | None]) -> None:
        with self._scope():
            for part in head:
                self.visit(part)
            for statement in blocks:
                self._block(statement)

    def _block(self, node: c_ast.Node | None) -> None:
        with self._scope():
            self.visit(node)

    # --- uses ------------------------------------------------------------------------------------------------

    def _visit_ID(self, node: c_ast.ID) -> None:
        if node.name in FUNCTION_NAMES and self._function is not None:
            self._function.own_name.append(node)
        self._use(node.name, _attribute_of(node, "name"))

    def _visit_IdentifierType(self, node: c_ast.IdentifierType) -> None:
        if len(node.names) == 1:
            self._use(node.names[0], lambda new: node.names.__setitem__(0, new))

    def _visit_StructRef(self, node: c_ast.StructRef) -> None:
        self.visit(node.name)

    def _visit_NamedInitializer(self, node: c_ast.NamedInitializer) -> None:
        for designator in node.name:
            if not isinstance(designator, c_ast.ID):
                self.visit(designator)
        self.visit(node.expr)

    def _visit_FuncCall(self, node: c_ast.FuncCall) -> None:
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


def _attribute_of(node: c_ast.Node, attribute: str) -> Setter:
    return lambda new: setattr(node, attribute, new)


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
