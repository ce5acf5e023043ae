"""`--entry FUNC` and `score-embed new FUNC`: a main for a function that has none.

The harness is C appended to the file that defines the function, so that static functions and the file's own types are
within reach; a main of the program's gets another name. `parameters.py` says which arguments there are, and `maker.py`
makes the objects; here is which globals there are, what is assumed of all of them, and the text around them. What such
a harness cannot bring about is said: as a bound, within which the results are complete, or, where the function most
likely expects another object, as a loss.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from score_embed.contract.entry import Argument, Entry, Guess, Usual
from score_embed.contract.entry import Array as InputArray
from score_embed.contract.program import HARNESS_FILE, Note, Source
from score_embed.errors import UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.parse import parse
from score_embed.frontend.harness import uses
from score_embed.frontend.harness.draft import Draft
from score_embed.frontend.harness.hints import Hints, where_it_can_be, where_it_is
from score_embed.frontend.harness.maker import Maker
from score_embed.frontend.harness.parameters import Parameters
from score_embed.frontend.harness.scope import FileScope, Scopes
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import Array, Function, Types, is_integer, unqualified
from score_embed.frontend.types.data_model import DataModel
from score_embed.frontend.whole import without_mains
from score_embed.userfile import shown
from score_embed.yamlfile import close_to

USED = "used"  # --globals: all that the function and its callees name


@dataclass
class Harness:
    """A `main` that calls the function, and what it cannot bring about. `text`: that main, as people may keep it;
    `appended`: the same as it stands behind the preprocessed file."""

    entry: Entry
    losses: list[Note]
    within: list[str]  # bounds of the objects it makes, in words
    text: str
    appended: str
    file: Source  # that defines the function

    def added(self, sources: Sequence[Source]) -> list[Source]:
        """The sources with this main, and without one of theirs."""
        return [
            Source(renamed.path, renamed.text + (self.appended if source is self.file else ""))
            for source, renamed in zip(sources, without_mains(sources), strict=True)
        ]


_PROTOTYPES = """
void __score_symbolic(volatile void *, __SIZE_TYPE__, const char *);
void __score_boolean(volatile void *, __SIZE_TYPE__, const char *);
void __score_bytes(volatile void *, __SIZE_TYPE__, const char *);
void __score_text(volatile void *, __SIZE_TYPE__, const char *);
void __score_sized(const volatile void *, const __SIZE_TYPE__ *);
void __score_assume_fail(void) __attribute__((noreturn));
"""


def harness_of(
    sources: Sequence[Source],
    entry: str,
    model: DataModel,
    hints: Hints | None = None,
    scopes: Scopes | None = None,
) -> Harness:
    """The harness of a function that one of the sources defines. `scopes`: of these sources, for who makes those of
    many functions. Raises UsageError and BuildError."""
    if entry == "main":
        raise UsageError("main is the whole program", "--entry", "Leave --entry out; see --argv and --stdin-bytes.")
    for source in sources:
        tree = parse(source.text, str(source.path))
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef) and ext.decl.name == entry:
                scope = (scopes or Scopes(Types(model), sources)).of(source, tree)
                said = hints or Hints()
                own = replace(said, arguments=dict(said.arguments))  # the function's own text says more, of it alone
                made = _Main(scope, ext, own)
                text = made.text()
                appended = _preprocessed(f'\n# 1 "{HARNESS_FILE}"\n{_PROTOTYPES.strip()}\n{text}', model)
                coord = ext.decl.coord
                called = as_written(entry)
                losses = [Note(f"--entry {called}: {what}", str(coord.file), coord.line) for what in made.lost]
                kept = "" if made.is_plain else as_written(text)
                header = str(coord.file) if str(coord.file) != str(source.path) else ""
                known = made.arrays, made.guesses, made.states, made.asked, header, made.unmade, made.usual
                entered = Entry(called, str(source.path), made.arguments, made.returns, kept, *known)
                return Harness(entered, losses, made.within, as_written(text), appended, source)
    raise UsageError(f"no function '{as_written(entry)}' in the sources", "--entry", _near(sources, entry))


def _near(sources: Sequence[Source], entry: str) -> str:
    """What may have been meant."""
    defined = [ext for s in sources for ext in parse(s.text, str(s.path)).ext if isinstance(ext, c_ast.FuncDef)]
    near = close_to(as_written(entry), {as_written(ext.decl.name) for ext in defined})
    return near or "Name a function that is defined in one of them."


class _Main:
    """The text of one harness."""

    def __init__(self, scope: FileScope, node: c_ast.FuncDef, hints: Hints) -> None:
        self._scope, self._node, self._hints = scope, node, hints
        self._draft = Draft(scope, node.decl.name, hints)
        self._maker = Maker(self._draft)
        self._parameters = Parameters(self._draft, self._maker, node)
        self.lost: list[str] = []
        self.within: list[str] = []
        self.arrays: tuple[InputArray, ...] = ()
        self.guesses: tuple[Guess, ...] = ()
        self.states: tuple[str, ...] = ()
        self.unmade: tuple[str, ...] = ()
        self.usual: tuple[Usual, ...] = ()
        self.returns = is_integer(unqualified(self._parameters.type.result))

    @property
    def is_plain(self) -> bool:
        """All arguments are numbers and bytes, and nothing is called before it."""
        return self._parameters.arguments is not None and not self._hints.call_first

    @property
    def asked(self) -> int:
        """Bytes of input that it asks for before the call."""
        return self._draft.text.asked

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What a test without a harness passes; none if an argument is more than numbers and bytes."""
        return tuple(map(_as_written, self._parameters.arguments or ())) if self.is_plain else ()

    def text(self) -> str:
        made, parameters, entry = self._draft.text, self._parameters, self._node.decl.name
        declared = parameters.make()
        self._make_globals()
        self._draft.heeded.check(self._scope, parameters.types)
        at = len(made.lines)
        said = [uses.text_of(condition, parameters.local) for condition, _ in parameters.said.assumed]
        for text in dict.fromkeys(said):
            made.assume(where_it_can_be(text))
            made.bound(text)
        for expression in self._hints.assume:
            made.assume(where_it_can_be(expression))
            made.bound(expression)
        self._refused()
        for expression in self._hints.call_first:
            self._require_call(expression)
            made.bound(f"{expression} called first")
        passed = ", ".join(parameters.local[name] for name in parameters.passed)
        call = f"{entry}({passed})"
        ending = [f"return (int) {call};"] if self.returns else [f"{call};", "return 0;"]
        self.lost, self.within, self.arrays = list(made.lost), made.bounds(), tuple(made.arrays)
        self.guesses, self.states = tuple(made.guesses), tuple(made.states)
        if parameters.type.variadic:
            self.lost.append("no arguments are passed for its `...`")
            made.unmade.append("...")
        self.unmade, self.usual = tuple(dict.fromkeys(made.unmade)), tuple(made.usual)
        assumed, made.lines = made.lines[at:], made.lines[:at]
        parts = {
            "Objects that pointers lead to. Change their sizes here.": made.objects,
            "The arguments.": declared,
            "What they hold: every __score_ call is an input. What is assumed of sizes stands beside them.": made.lines,
            "What is called before it.": [f"{expression};" for expression in self._hints.call_first],
            "Preconditions. Add yours.": assumed,
            "": ending,
        }
        body = "\n".join(_part(*part) for part in parts.items() if part[1])
        return "".join(made.before) + f"int main(void)\n{{\n{body}}}\n"

    def _refused(self) -> None:
        """What the user says never holds."""
        made = self._draft.text
        for never in self._hints.never:
            if self._draft.is_pointer(never.null):
                made.bound(f"{never.null} != NULL")
            elif "NULL" not in never.condition:  # `n == 0` is of a number
                made.assume(f"!({where_it_is(never.condition)})")
                made.bound(f"never: {never.condition}")
            else:
                name = as_written(self._node.decl.name)
                what = f"refuse: {name}({never.condition}): the harness of {name} has no pointer {never.null}"
                raise UsageError(what, never.at, "Correct the name, or remove the line: it holds for nothing.")

    def _require_call(self, expression: str) -> None:
        """What a misspelt name would call is a stub, which says nothing, and behind a `return` nothing is called at
        all. Raises UsageError."""
        where = dict(self._hints.places).get(expression, "")
        words = _LITERAL.sub("0", expression)
        if not words.strip() or _LEAVES.search(words) or words.count("{") != words.count("}"):
            hint = "Write what is to be called, in C: `call first: [ring_init(r, room, 8)]`."
            raise UsageError(f"call first: {shown(expression)} is no call", where, hint)
        for name in _CALLED.findall(words):
            is_declared = self._scope.is_taken(name) or name in self._parameters.names or name.startswith("__")
            if name not in _NO_CALLS and not is_declared:
                what = f"call first: the file of {as_written(self._node.decl.name)} declares no function {name}"
                hint = "Correct the name, or declare it there."
                raise UsageError(what, where, hint)

    # --- globals --------------------------------------------------------------------------------------------------

    def _make_globals(self) -> None:
        wanted: dict[str, None] = {}
        for name in self._hints.globals:
            if name == USED:
                for used in uses.names_used(self._scope.tree, self._node.decl.name):
                    if self._is_input(used) and used not in self._parameters.names:
                        wanted.setdefault(used)
            elif not self._is_input(name):
                hint = "Name a variable of the file that defines the function, or one that it declares; `used` is all of them."
                where = dict(self._hints.globals_at).get(name, "--globals")
                raise UsageError(f"there is no variable {name!r} to make an input of", where, hint)
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


_CALLED = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")
_NO_CALLS = frozenset({"sizeof", "_Alignof", "if", "for", "while", "switch", "typeof"})
_LEAVES = re.compile(r"\b(?:return|goto)\b")
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
_COMMENT = re.compile(r"^ */\*.*\*/$", re.MULTILINE)


def _preprocessed(text: str, model: DataModel) -> str:
    """Without comments and the compiler's macros, which a file that the preprocessor has left does not know."""
    text = _COMMENT.sub("", text)
    return text.replace("__SIZE_TYPE__", model.size_type).replace("__UINTPTR_TYPE__", Types(model).uintptr.name)


def _part(comment: str, lines: Sequence[str]) -> str:
    return "".join(f"    {line}\n" for line in [*([f"/* {comment} */"] if comment else []), *lines])


def _as_written(argument: Argument) -> Argument:
    name, declaration, passed = map(as_written, (argument.name, argument.declaration, argument.passed))
    return Argument(name, declaration, passed, argument.kind)
