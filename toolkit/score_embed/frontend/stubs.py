"""Stubs: what a program names and nobody defines, and functions that are to be replaced, are written in C.

The text of a stub is appended to the first file that declares and names the function, so that all its types are within
reach; a function that is replaced gets another body where it stands. Which names nobody defines only the link can tell
(libraries, objects): `candidates` are those that no source defines, `add_stubs` is given what is missing of them. What
stands before a stub is its prototype and place, for people read the text, and take it over.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pycparser import c_ast
from pycparser.c_parser import Coord

from score_embed.contract.program import REPLACED, STUBS_FILE, Note, Source
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.gnu_ast import AsmLabel
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.parse import Trees, parse, system_files
from score_embed.frontend.c.signature import declared_attributes
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import Constant, Unsupported
from score_embed.frontend.stub_body import ENDINGS, Enums
from score_embed.frontend.stub_text import StubText, body_text, function_text, variable_text, with_body
from score_embed.frontend.types.ctype import CType, Enumeration, Function, Types
from score_embed.frontend.types.data_model import DataModel

_COMPILERS = re.compile(r"sc_\w+|__(builtin|sync|atomic|score|sc)_\w+|__func__|__FUNCTION__|__PRETTY_FUNCTION__")
_CALLED = re.compile(r"\b_*(constructor|destructor)_*\b")  # attributes
_PROTOTYPES = """
void __score_symbolic(volatile void *, __SIZE_TYPE__, const char *);
void __score_boolean(volatile void *, __SIZE_TYPE__, const char *);
void __score_bytes(volatile void *, __SIZE_TYPE__, const char *);
void __score_assume_fail(void) __attribute__((noreturn));
"""
_HINT = "Define it in a file of yours: that definition is taken. Or leave out the function that calls it."


@dataclass(frozen=True)
class Stub:
    """`text`: its C, for people; `header`: declares it, "" if none does."""

    name: str
    text: str
    header: str
    within: tuple[str, ...]


@dataclass(frozen=True)
class Stubbed:
    """The sources with stubs."""

    sources: tuple[Source, ...]
    stubs: tuple[Stub, ...]

    def within(self, reached: Collection[str]) -> tuple[str, ...]:
        """What is assumed by those that the program can come to."""
        used = [stub for stub in self.stubs if stub.name in reached]
        names = [as_written(stub.name) for stub in used]
        said = (f"{'stubs of' if len(names) > 1 else 'a stub of'} {', '.join(names)}",) if names else ()
        return (*said, *dict.fromkeys(text for stub in used for text in stub.within))

    def text(self) -> str:
        """The stubs as a file that people can take over."""
        needed = ["<stdlib.h>"] if any(f" {end}" in stub.text for stub in self.stubs for end in ENDINGS) else []
        needed += [f'"{stub.header}"' for stub in self.stubs if stub.header]
        includes = "".join(f"#include {name}\n" for name in dict.fromkeys(needed))
        return includes + "".join(f"\n{stub.text}" for stub in self.stubs)


@dataclass
class _File:
    """One source as far as stubs need it."""

    tree: c_ast.FileAST
    system: frozenset[str]
    functions: dict[str, c_ast.FuncDef] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)  # that are defined
    static: set[str] = field(default_factory=set)
    declared: dict[str, c_ast.Decl] = field(default_factory=dict)  # functions, and objects that are `extern`
    named: dict[str, set[str]] = field(default_factory=dict)  # by function or object, what it names
    called: dict[str, c_ast.Node] = field(default_factory=dict)  # functions that are called by name, and where
    beginning: dict[str, Coord] = field(default_factory=dict)  # constructors, and where they are
    ending: set[str] = field(default_factory=set)  # destructors

    def header(self, name: str) -> str:
        """The header that declares it; "" if none does."""
        decl = self.declared.get(name)
        file = str(decl.coord.file) if decl is not None and decl.coord else ""
        return file if file.endswith(".h") else ""

    @property
    def defined(self) -> set[str]:
        return self.objects | self.functions.keys()


class Stubs:
    """The stubs of one program. Raises BuildError."""

    def __init__(self, sources: Sequence[Source], model: DataModel) -> None:
        self._sources, self._model = list(sources), model
        self._files = [_file(source) for source in sources]
        self._trees = {source: file.tree for source, file in zip(sources, self._files, strict=True)}
        self._replaced: set[str] = set()

    def candidates(self) -> dict[str, str]:
        """What the sources name and do not define: name → the linker's symbol."""
        elsewhere = set().union(*(file.defined - file.static for file in self._files))
        found: dict[str, str] = {}
        for file in self._files:
            names = set().union(*file.named.values()) & (file.declared.keys() | file.called.keys())
            for name in sorted(names - elsewhere - file.defined):
                decl = file.declared.get(name)
                if not _COMPILERS.fullmatch(name) and (decl is None or not _is_weak(decl)):
                    found.setdefault(name, _symbol(name, decl))
        return found

    def add(self, missing: Collection[str], replaced: Sequence[str]) -> Stubbed:
        """Define what is `missing`; give the functions called `replaced` other bodies. Raises UsageError for one of
        these that no source defines or names."""
        texts = [source.text for source in self._sources]
        stubs: list[Stub] = []
        defined: set[str] = set().union(*(file.functions.keys() for file in self._files))
        left = {*missing, *(self.candidates().keys() & set(replaced) - defined)}  # of the library's, say
        for number, file in enumerate(self._files):
            writer = _Writer(file, self._model)
            bodies = [name for name in replaced if name in file.functions]
            for name in bodies:
                body = writer.body(file.functions[name])
                texts[number] = with_body(texts[number], name, body.text, file.functions[name])
                stubs.append(Stub(name, f"{REPLACED}{body.why} */\n{as_written(body.text)}", "", tuple(body.within)))
            here = sorted(left & set().union(*file.named.values()) - file.defined)
            made = [(name, writer.stub(name)) for name in here]
            for name, stub in made:
                text = f"/* {stub.why} */\n{as_written(stub.text)}"
                stubs.append(Stub(name, text, file.header(name), tuple(stub.within)))
            left -= set(here)
            if made or bodies:
                texts[number] = self._assembled(texts[number], [stub.text for _, stub in made])
        unknown = [as_written(name) for name in replaced if name not in {stub.name for stub in stubs}]
        if unknown:
            raise UsageError(f"no source defines or calls a function '{unknown[0]}'", "--stub", "Check its name.")
        self._replaced = set(replaced)
        sources = tuple(Source(s.path, text) for s, text in zip(self._sources, texts, strict=True))
        return Stubbed(sources, tuple(stubs))

    def trees(self) -> Trees:
        """The sources as they were parsed, for whom may change them: no stub can be added afterwards."""
        trees, self._trees = self._trees, {}
        return trees

    def reached(self, root: str = "main") -> set[str]:
        """All names that the program can come to from a function, and from its constructors and destructors."""
        return self._from([root, *(name for file in self._files for name in (*file.beginning, *file.ending))])

    def too_early(self, stubbed: Stubbed) -> list[Note]:
        """Which constructors come to a stub: before a test begins there is no input."""
        found = []
        for file in self._files:
            for name, coord in file.beginning.items():
                reached = self._from([name])
                stubs = [as_written(stub.name) for stub in stubbed.stubs if stub.name in reached]
                if stubs:
                    what = f"what {', '.join(stubs)} may give the constructor {as_written(name)}"
                    found.append(Note(what, str(coord.file), coord.line))
        return found

    def _from(self, roots: Sequence[str]) -> set[str]:
        edges = self._edges
        waiting, found = list(roots), set(roots)
        while waiting:
            name = waiting.pop()
            for further in edges.get(name, ()) if name not in self._replaced else ():
                if further not in found:
                    found.add(further)
                    waiting.append(further)
        return found

    @cached_property
    def _edges(self) -> dict[str, set[str]]:
        edges: dict[str, set[str]] = {}
        for file in self._files:
            for name, named in file.named.items():
                edges.setdefault(name, set()).update(named)
        return edges

    def _assembled(self, text: str, stubs: Sequence[str]) -> str:
        size = self._model.size_type
        prototypes = _PROTOTYPES.strip().replace("__SIZE_TYPE__", size)
        body = "\n".join(stubs)
        ends = _endings(end for end in ENDINGS if end in body)
        before, after = text, f'\n# 1 "{STUBS_FILE}"\n{prototypes}\n{ends}{body}'
        if STUBS_FILE in text:  # bodies of functions that are replaced need them first
            before = f'# 1 "{STUBS_FILE}"\n{prototypes}\n{_endings(ENDINGS)}{text}'
        return before + (after if stubs else "")


def _endings(used: Iterable[str]) -> str:
    """The prototypes of what ends a test."""
    return "".join(f"{ENDINGS[end]} __attribute__((noreturn));\n" for end in used)


def _file(source: Source) -> _File:
    tree = parse(source.text, str(source.path))
    file = _File(tree, frozenset(system_files(source.text)))
    of_functions: dict[str, c_ast.FuncDecl] = {}
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef):
            file.functions[ext.decl.name] = ext
            if "static" in (ext.decl.storage or []):
                file.static.add(ext.decl.name)
            if str(ext.decl.coord.file) not in file.system:
                file.named[ext.decl.name] = _names(file, ext.body, _parameters(ext))
            _by_itself(file, ext.decl)
        elif isinstance(ext, c_ast.Typedef) and isinstance(ext.type, c_ast.FuncDecl):
            of_functions[ext.name] = ext.type
        elif isinstance(ext, c_ast.Decl) and ext.name:
            _declaration(file, _spelled_out(ext, of_functions))
            _by_itself(file, ext)
    return file


def _by_itself(file: _File, decl: c_ast.Decl) -> None:
    """Whether a declaration says that the function is called before main, or after it."""
    said = {word for text in declared_attributes(decl) for word in _CALLED.findall(text)}
    if "constructor" in said:
        file.beginning.setdefault(decl.name, decl.coord)
    if "destructor" in said:
        file.ending.add(decl.name)


def _spelled_out(decl: c_ast.Decl, of_functions: Mapping[str, c_ast.FuncDecl]) -> c_ast.Decl:
    """`handler on_tick;`, where `handler` is a type of functions, as its prototype."""
    names = getattr(getattr(decl.type, "type", None), "names", None)
    if not isinstance(decl.type, c_ast.TypeDecl) or not names or names[0] not in of_functions:
        return decl
    made = copy.copy(decl)
    made.type = copy.deepcopy(of_functions[names[0]])
    inner = made.type.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = decl.name
    return made


def _declaration(file: _File, decl: c_ast.Decl) -> None:
    storage = decl.storage or []
    if isinstance(decl.type, c_ast.FuncDecl) or ("extern" in storage and decl.init is None):
        file.declared.setdefault(decl.name, decl)
    else:
        file.objects.add(decl.name)
    if "static" in storage:
        file.static.add(decl.name)
    if decl.init is not None:
        file.named[decl.name] = _names(file, decl.init)


def _parameters(function: c_ast.FuncDef) -> set[str]:
    params = function.decl.type.args.params if function.decl.type.args else []
    return {str(param.name) for param in params if getattr(param, "name", None)}


def _names(file: _File, below: c_ast.Node | None, own: Collection[str] = ()) -> set[str]:
    """What is named there, but for the names of parameters, `own`, which may be called, too. Declarations of outer
    functions and objects that stand there are kept."""
    found: set[str] = set()
    stack = [below]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        match node:
            case c_ast.ID() if node.name not in own:
                found.add(node.name)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name not in own:
                file.called.setdefault(name, node)
            case c_ast.Decl() if isinstance(node.type, c_ast.FuncDecl) or "extern" in (node.storage or []):
                file.declared.setdefault(node.name, node)
        if isinstance(node, c_ast.StructRef):
            stack.append(node.name)
        else:
            stack += [child for _, child in node.children()]
    return found


def _is_weak(decl: c_ast.Decl) -> bool:
    """What need not be there: its address may be zero."""
    return any(re.search(r"\b_*weak_*\b", text) for text in declared_attributes(decl))


def _symbol(name: str, decl: c_ast.Decl | None) -> str:
    """What the linker calls it."""
    labels = [node for node in (decl.attributes or [] if decl is not None else []) if isinstance(node, AsmLabel)]
    return str(labels[0].name.value).strip('"') if labels else as_written(name)


class _Writer:
    """Writes the stubs of one file."""

    def __init__(self, file: _File, model: DataModel) -> None:
        self._file = file
        self._declarations = Declarations(Types(model))
        self._enums: Enums | None = None

    def body(self, node: c_ast.FuncDef) -> StubText:
        """Another one for a function that is defined."""
        if node.param_decls:
            raise self._refused(node.decl.name, "its parameters are declared behind its head", node.decl)
        try:
            made = body_text(node.decl, self._function(node.decl), self._known())
        except Unsupported as error:
            raise self._refused(node.decl.name, error.what, node.decl) from None
        place = f"{node.decl.coord.file}:{node.decl.coord.line}"
        return replace(made, why=f"{as_written(node.decl.name)}, which {place} defines")

    def stub(self, name: str) -> StubText:
        """The definition of what is missing, and what stands before it for people."""
        decl = self._file.declared.get(name)
        if decl is None:
            return self._undeclared(name)
        try:
            t = self._type(decl)
            made = function_text(decl, t, self._known()) if isinstance(t, Function) else variable_text(decl, t)
        except Unsupported as error:
            raise self._refused(name, error.what, decl) from None
        place = f"{decl.coord.file}:{decl.coord.line}" if decl.coord else "?"
        return replace(made, why=f"{place} declares it, no source defines it")

    def _undeclared(self, name: str) -> StubText:
        """C89 takes it for a function that returns an int; so do we, and say so."""
        coord = self._file.called[name].coord
        what = f"{as_written(name)}, which nobody declares ({coord.file}:{coord.line}), returns an int"
        lines = f'    int result;\n    __score_symbolic(&result, sizeof result, "{as_written(name)}()");\n'
        return StubText(f"int {name}()\n{{\n{lines}    return result;\n}}\n", [what], "nobody declares it")

    def _known(self) -> Enums:
        """The enums of the file, whose enumerators have values only when all is read."""
        if self._enums is None:
            for ext in self._file.tree.ext:
                self._register(ext)
            self._enums = dict(_enums(self._file.tree, self._declarations))
        return self._enums

    def _function(self, decl: c_ast.Decl) -> Function:
        t = self._type(decl)
        assert isinstance(t, Function)
        return t

    def _type(self, decl: c_ast.Decl) -> CType:
        self._known()
        return self._declarations.type_of(decl)

    def _register(self, ext: c_ast.Node) -> None:
        try:
            if isinstance(ext, c_ast.Typedef):
                self._declarations.scope.names[ext.name] = self._declarations.typedef(ext)
            elif isinstance(ext, c_ast.Decl):
                self._declarations.type_of(ext)
            elif isinstance(ext, c_ast.FuncDef):
                self._declarations.type_of(ext.decl)
        except Unsupported:
            return  # what no stub needs; if one does, typing it says so

    def _refused(self, name: str, why: str, decl: c_ast.Decl) -> BuildError:
        where = f"{decl.coord.file}:{decl.coord.line}" if decl.coord else ""
        return BuildError(f"no stub for '{as_written(name)}': {why}", where, _HINT)


def _enums(tree: c_ast.FileAST, declarations: Declarations) -> Iterator[tuple[str, tuple[str, str, bool]]]:
    """Of each enum whose enumerators are known: the least one, the greatest one, whether its type has none below."""
    for node in _enum_nodes(tree):
        body = declarations.scope.tags.get(node.name)
        symbols = [declarations.scope.names.get(item.name) for item in node.values.enumerators]
        known = [symbol for symbol in symbols if isinstance(symbol, Constant) and symbol.value is not None]
        if isinstance(body, Enumeration) and body.complete and known and len(known) == len(symbols):
            values = {symbol.value or 0: symbol.name for symbol in reversed(known)}
            unsigned = not body.int_type.signed and min(values) == 0
            yield node.name, (values[min(values)], values[max(values)], unsigned)


def _enum_nodes(tree: c_ast.FileAST) -> Iterator[c_ast.Enum]:
    stack: list[c_ast.Node] = [ext for ext in tree.ext if not isinstance(ext, c_ast.FuncDef)]
    while stack:
        node = stack.pop()
        if isinstance(node, c_ast.Enum) and node.values is not None and node.name:
            yield node
        stack += [child for _, child in node.children()]
