"""`--entry FUNC` and `score-embed new FUNC`: a main for a function that has none.

The harness is C appended to the file that defines the function, so that static functions and the file's own types are within reach;
a main of the program's gets another name. `maker.py` makes the objects; here is which arguments and globals there are, what is assumed of
them, and the text around them. What such a harness cannot bring about is said: as a bound, within which the results are complete, or,
where the function most likely expects another object, as a loss.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from score_embed.contract.entry import Argument, Entry, Guess
from score_embed.contract.entry import Array as InputArray
from score_embed.contract.program import HARNESS_FILE, Note, Source
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.parse import parse
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.harness import names, uses
from score_embed.frontend.harness.hints import Hints, where_it_is
from score_embed.frontend.harness.maker import Maker, Pointee
from score_embed.frontend.harness.names import Counts, Field
from score_embed.frontend.harness.scope import FileScope, Unmakeable
from score_embed.frontend.harness.shapes import element_name, is_plain
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Struct,
    Types,
    VaList,
    Void,
    is_float,
    is_integer,
    unqualified,
    without_const,
)
from score_embed.frontend.types.data_model import DataModel
from score_embed.frontend.whole import without_main
from score_embed.userfile import shown

USED = "used"  # --globals: all that the function and its callees name


@dataclass
class Harness:
    """The sources with a `main` that calls the function, and what it cannot bring about. `text`: that main, as people may keep it."""

    sources: list[Source]
    entry: Entry
    losses: list[Note]
    within: list[str]  # bounds of the objects it makes, in words
    text: str
    file: Source  # that defines the function


_PROTOTYPES = """
void __score_symbolic(volatile void *, __SIZE_TYPE__, const char *);
void __score_boolean(volatile void *, __SIZE_TYPE__, const char *);
void __score_bytes(volatile void *, __SIZE_TYPE__, const char *);
void __score_text(volatile void *, __SIZE_TYPE__, const char *);
void __score_sized(const volatile void *, const __SIZE_TYPE__ *);
void __score_assume_fail(void) __attribute__((noreturn));
"""


def add_harness(
    sources: Sequence[Source],
    entry: str,
    model: DataModel,
    hints: Hints | None = None,
) -> Harness:
    """The sources, with a `main` that calls `entry` appended to the one that defines it. Raises UsageError and BuildError."""
    if entry == "main":
        raise UsageError("main is the whole program", "--entry", "Leave --entry out; see --argv and --stdin-bytes.")
    for index, source in enumerate(sources):
        tree = parse(source.text, str(source.path))
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef) and ext.decl.name == entry:
                others = [other for other in sources if other is not source]
                made = _Main(FileScope(source, tree, Types(model), others), ext, hints or Hints())
                text = made.text()
                head = f'\n# 1 "{HARNESS_FILE}"\n{_PROTOTYPES.strip()}\n'
                result = [Source(other.path, without_main(other.text)) for other in sources]
                result[index] = Source(source.path, result[index].text + _preprocessed(head + text, model))
                coord = ext.decl.coord
                called = as_written(entry)
                losses = [Note(f"--entry {called}: {what}", str(coord.file), coord.line) for what in made.lost]
                kept = "" if made.is_plain else as_written(text)
                entered = Entry(called, str(source.path), made.arguments, made.returns, kept, made.arrays, made.guesses)
                return Harness(result, entered, losses, made.within, as_written(text), source)
    raise UsageError(
        f"no function '{as_written(entry)}' in the sources",
        "--entry",
        "Name a function that is defined in one of them.",
    )


class _Main:
    """The text of one harness."""

    def __init__(self, scope: FileScope, node: c_ast.FuncDef, hints: Hints) -> None:
        self._scope, self._node, self._hints = scope, node, hints
        self._maker = Maker(scope, node.decl.name, hints)
        self._where = f"{node.decl.coord.file}:{node.decl.coord.line}"
        self._type = self._typed()
        self._parameters = _parameters(node)
        self._names = [getattr(p, "name", None) or f"argument{i}" for i, p in enumerate(self._parameters)]
        self._said = uses.said_of(scope.tree, node, self._names)
        self._sizes = {name for name, p in zip(self._names, self._parameters, strict=True) if uses.is_size(p)}
        self._arguments: list[Argument] | None = []  # None: they cannot be written as constants
        self.lost: list[str] = []
        self.within: list[str] = []
        self.arrays: tuple[InputArray, ...] = ()
        self.guesses: tuple[Guess, ...] = ()
        result = unqualified(self._type.result)
        self.returns = is_integer(result)

    @property
    def is_plain(self) -> bool:
        """All arguments are numbers and bytes."""
        return self._arguments is not None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What a test without a harness passes; none if an argument is more than numbers and bytes."""
        return tuple(map(_as_written, self._arguments or ()))

    def _typed(self) -> Function:
        try:
            t = self._scope.declarations.type_of(self._node.decl)
        except Unsupported as error:
            raise BuildError(
                f"no harness for '{as_written(self._node.decl.name)}': {error.what}", self._where
            ) from None
        assert isinstance(t, Function)
        if t.params is None and self._node.param_decls:
            decls = {decl.name: decl for decl in self._node.param_decls}
            listed = [decls.get(p.name) for p in self._node.decl.type.args.params]
            params = tuple(
                self._scope.declarations.parameter(d) if d is not None else self._scope.types.int for d in listed
            )
            return replace(t, params=params)
        return t

    def text(self) -> str:
        maker, entry = self._maker, self._node.decl.name
        local = {name: self._local(name) for name in self._names}
        params = self._type.params or ()
        declared = self._make_parameters(list(params), local)
        self._make_globals()
        self._known()
        at = len(maker.text.lines)
        for condition, _ in self._said.assumed:
            text = uses.text_of(condition, local)
            maker.text.assume(text)
            maker.text.bound(text)
        for expression in self._hints.assume:
            maker.text.assume(expression)
            maker.text.bound(expression)
        self._refused()
        passed = ", ".join(local[name] for name in self._names[: len(params)])
        call = f"{entry}({passed})"
        ending = [f"return (int) {call};"] if self.returns else [f"{call};", "return 0;"]
        made = maker.text
        self.lost, self.within, self.arrays = list(made.lost), made.bounds(), tuple(made.arrays)
        self.guesses = tuple(made.guesses)
        if self._type.variadic:
            self.lost.append("no arguments are passed for its `...`")
        assumed, made.lines = made.lines[at:], made.lines[:at]
        parts = {
            "Objects that pointers lead to. Change their sizes here.": made.objects,
            "The arguments.": declared,
            "What they hold: every __score_ call is an input. What is assumed of sizes stands beside them.": made.lines,
            "Preconditions. Add yours.": assumed,
            "": ending,
        }
        body = "\n".join(_part(*part) for part in parts.items() if part[1])
        return "".join(made.before) + f"int main(void)\n{{\n{body}}}\n"

    def _known(self) -> None:
        """Whether all that has hints is there."""
        name = as_written(self._node.decl.name)
        for argument, hint in self._hints.arguments.items():
            root = _ROOT.match(argument)
            if hint.at and (root is None or not (root[1] in self._names or self._scope.variable(root[1]))):
                known = ", ".join(map(as_written, self._names)) or "none"
                raise UsageError(f"{name} has no argument {shown(argument)}", hint.at, f"Its arguments: {known}.")

    def _refused(self) -> None:
        """What the user says never holds."""
        maker = self._maker
        for never in self._hints.never:
            if maker.is_pointer(never.null):
                maker.text.bound(f"{never.null} != NULL")
            elif "NULL" not in never.condition:  # `n == 0` is of a number
                maker.text.assume(f"!({where_it_is(never.condition)})")
                maker.text.bound(f"never: {never.condition}")
            else:
                name = as_written(self._node.decl.name)
                what = f"refuse: {name}({never.condition}): the harness of {name} has no pointer {never.null}"
                raise UsageError(what, never.at, "Correct the name, or remove the line: it holds for nothing.")

    def _local(self, name: str) -> str:
        """The harness's variable for a parameter: under its name, unless that means something else at file scope."""
        return self._maker.text.fresh(name) if self._scope.is_taken(name) else name

    # --- parameters -----------------------------------------------------------------------------------------------

    def _make_parameters(self, params: list[CType], local: dict[str, str]) -> list[str]:
        """The declarations of the arguments; what makes them goes to the maker, numbers first that others need."""
        names_ = self._names[: len(params)]
        types = dict(zip(names_, params, strict=True))
        for name in names_:
            self._maker.text.take(local[name])
        counts = self._counts(types)
        declared: list[str] = []
        order = sorted(names_, key=lambda name: name not in counts.of.values())
        arguments: dict[str, Argument | None] = {}
        for name in order:
            arguments[name] = self._parameter(name, types[name], counts, local, declared)
        kept = [arguments[name] for name in names_]
        self._arguments = None if None in kept or self._hints.globals else [a for a in kept if a is not None]
        return declared

    def _parameter(
        self, name: str, t: CType, counts: Counts, local: dict[str, str], declared: list[str]
    ) -> Argument | None:
        maker, variable = self._maker, local[name]
        u = without_const(unqualified(t))
        spot = Spot(variable, name)
        hint = self._hints.of(name)
        count = counts.of.get(name, "")
        promised = name in self._said.not_null
        looks = self._hints.all_null or self._scope.nulls.argument(self._node.decl.name, name)
        pointee = Pointee(self._count(count, counts, local), nullable=looks and not promised, promised=promised)
        try:
            if isinstance(u, Pointer) and self._is_plain_buffer(u, name, pointee):
                element = self._element(u)
                maker.buffer(element, variable, spot, pointee, hint)
                kind = "bytes" if isinstance(element, Int) and element.bits == 8 and not element.signed else "raw"
                most = hint.size or _ELEMENTS
                return Argument(name, self._scope.declare(element, f"{name}[{most}]"), name, kind)  # type: ignore[arg-type]
            declaration = self._scope.declare(u, variable)
            if isinstance(u, VaList):
                declared.append(f"static {declaration};")
            else:
                declared.append(f"{declaration} = {'{0}' if isinstance(u, (Struct, Array)) else '0'};")
            if isinstance(u, Pointer):
                pointee = replace(pointee, single=self._is_single(u, name), seen_as=self._seen_as(u, name))
        except Unmakeable as error:
            raise BuildError(
                f"no harness for '{as_written(self._node.decl.name)}': {as_written(name)}: {error}",
                self._where,
                "Give its type a name.",
            ) from None
        maker.value(u, spot, pointee)
        simple = (is_integer(u) or is_float(u)) and not hint.value
        return Argument(name, self._scope.declare(u, name), name, "number") if simple else None

    def _count(self, count: str, counts: Counts, local: dict[str, str]) -> str:
        """The lvalue of the number that says how many: a parameter, or what it is a pointer to."""
        if not count:
            return ""
        return local.get(count, count)

    def _is_plain_buffer(self, u: Pointer, name: str, pointee: Pointee) -> bool:
        hint = self._hints.of(name)
        to = self._element(u)
        has_size = bool(pointee.count or hint.size)
        special = hint.nullable or hint.alias or hint.string or hint.value or isinstance(unqualified(u.to), Array)
        return (
            has_size
            and not special
            and not self._scope.frees
            and (is_integer(to) or is_float(to))
            and is_plain(to)
        )

    def _element(self, u: Pointer) -> CType:
        to = unqualified(u.to)
        return self._scope.types.uchar if isinstance(to, Void) else without_const(to)

    def _is_single(self, u: Pointer, name: str) -> bool:
        """A pointer to one object, as the body shows."""
        body = self._node.body
        if uses.is_moved(body, name):
            return False
        return isinstance(unqualified(u.to), Struct) or not uses.is_given_away(body, name)

    def _seen_as(self, u: Pointer, name: str) -> CType | None:
        """What a `void *` is to, as the body shows."""
        if not isinstance(unqualified(u.to), Void):
            return None
        for node in uses.seen_as(self._node.body, name):
            t = self._scope.type_at(node)
            if isinstance(t, Pointer) and isinstance(unqualified(t.to), Struct):
                return unqualified(t.to)
        return None

    def _counts(self, types: dict[str, CType]) -> Counts:
        body, fields = self._node.body, []
        for name, t in types.items():
            u = unqualified(t)
            to = unqualified(u.to) if isinstance(u, Pointer) else None
            looked_at = uses.has_members_used(body, name) or (not _is_byte(to) and uses.is_looked_at(body, name))
            single = to is not None and looked_at and not uses.is_moved(body, name)
            if isinstance(to, Void) and isinstance(u, Pointer) and self._seen_as(u, name) is not None:
                single = True
            number = is_integer(u) and not (isinstance(u, Int) and u.name == "_Bool")
            sized = name in self._sizes if number else not isinstance(to, (Struct, Pointer))
            fields.append(Field(name, element_name(self._scope, u), number, single=single, sized=sized))
        found = names.of_parameters(fields)
        found.of |= self._said.counts
        self._declared_counts(found)
        for name in types:
            if count := self._hints.of(name).count:
                found.of[name] = count
        return found

    def _declared_counts(self, found: Counts) -> None:
        """`int a[n]`, and `int a[4]`, which says how many there are."""
        for param, name in zip(self._parameters, self._names, strict=True):
            array = getattr(param, "type", None)
            if not isinstance(array, c_ast.ArrayDecl) or array.dim is None:
                continue
            if isinstance(array.dim, c_ast.ID) and array.dim.name in self._names:
                found.of[name] = array.dim.name
            elif (
                (length := self._scope.declarations.constant(array.dim))
                and name not in found.of
                and length <= _MOST_FIXED
            ):
                known = self._hints.of(name)
                if not known.size:
                    self._hints.arguments[name] = replace(known, size=length)

    # --- globals --------------------------------------------------------------------------------------------------

    def _make_globals(self) -> None:
        wanted: dict[str, None] = {}
        for name in self._hints.globals:
            if name == USED:
                for used in uses.names_used(self._scope.tree, self._node.decl.name):
                    if self._is_input(used) and used not in self._names:
                        wanted.setdefault(used)
            elif not self._is_input(name):
                hint = "Name a variable of the file that defines the function, or one that it declares; `used` is all of them."
                raise UsageError(f"there is no variable {name!r} to make an input of", "--globals", hint)
            else:
                wanted.setdefault(name)
        for name in wanted:
            t = self._scope.variable(name)
            assert t is not None
            self._maker.value(t, Spot(name, name))

    def _is_input(self, name: str) -> bool:
        t = self._scope.variable(name)
        if t is None or isinstance(t, Function):
            return False
        of = t
        while isinstance(of, Array):
            of = of.of
        return not of.const


_ROOT = re.compile(r"\W*(\w+)")
_COMMENT = re.compile(r"^ */\*.*\*/$", re.MULTILINE)
_ELEMENTS = 16
_MOST_FIXED = 256  # elements that a parameter is declared with


def _preprocessed(text: str, model: DataModel) -> str:
    """Without comments and the compiler's macros, which a file that the preprocessor has left does not know."""
    text = _COMMENT.sub("", text)
    return text.replace("__SIZE_TYPE__", model.size_type).replace("__UINTPTR_TYPE__", Types(model).uintptr.name)


def _is_byte(t: CType | None) -> bool:
    return isinstance(t, Void) or (isinstance(t, Int) and t.bits == 8)


def _part(comment: str, lines: Sequence[str]) -> str:
    return "".join(f"    {line}\n" for line in [*([f"/* {comment} */"] if comment else []), *lines])


def _parameters(node: c_ast.FuncDef) -> list[c_ast.Node]:
    """As they are declared, also before the body, as K&R had it."""
    if not node.decl.type.args:
        return []
    older = {decl.name: decl for decl in node.param_decls or []}
    listed = [p for p in node.decl.type.args.params if not isinstance(p, c_ast.EllipsisParam)]
    return [older.get(p.name, p) if isinstance(p, c_ast.ID) else p for p in listed]


def _as_written(argument: Argument) -> Argument:
    name, declaration, passed = map(as_written, (argument.name, argument.declaration, argument.passed))
    return Argument(name, declaration, passed, argument.kind)
