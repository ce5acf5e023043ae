"""What users say of a function's arguments, beside the code: `score-hints.yaml`.

    functions:
      parse:
        buf: {count: len, size: 32}     len says how many elements buf has, at most 32
        name: {string: 20}              a text of up to 20 characters
        cfg->mode: {range: [0, 3]}
        cfg->next: {nullable: no}
        out: {alias: in}                out may be the same object as in
        call first: ["init(cfg)"]       before the function, once its arguments are there
        assume: ["len > 0"]
        globals: [state]
    types:
      node.next: {depth: 3}
      ring: {assume: ["self->head <= self->tail"]}   holds wherever such a structure is made
    refuse:
      parse(cfg->next == NULL): nobody passes a list     a precondition, and why (`contract/judged.py`)

A key is an argument or what it leads to, written as in C, without subscripts; below `types` a member of a structure, by
its tag or the name of its type. What a function's own key says wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from msgspec import Struct, structs

from score_embed import yamlfile
from score_embed.contract import judged
from score_embed.errors import UsageError

FILE = "score-hints.yaml"
_LARGEST = 4096
KEYS = ("count", "size", "string", "range", "nullable", "alias", "depth", "value", "into")
_LVALUE = re.compile(r"[A-Za-z_]\w*(?:\[\w+\]|(?:->|\.)\w+)*$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_THROUGH = re.compile(r"->")
_DEREFERENCE = re.compile(r"(?:^|[-(=<>!&|+*/%,])\s*\*\s*([A-Za-z_]\w*(?:(?:->|\.)\w+)*)")
_SIZEOF = re.compile(r"sizeof\s*\([^()]*(?:\([^()]*\)[^()]*)*\)")  # looks at no object
_SUBSCRIPT = re.compile(r"\[\d+\]")
# but for characters: what tells parts of a condition from each other
_PARTING = re.compile(r"'(?:\\.|[^'\\])*'|&&|\|\||[()\[\]?,]")
_NULL = r"(?:\b0\b|\bNULL\b|\(\(?\s*void\s*\*\s*\)\s*0\s*\)?)"


@dataclass(frozen=True)
class Hint:
    """What is said of one argument or member. `size`: of how many elements there are at most; `count`: which number
    says how many; `string`: a text of that many characters at most; `low`, `high`: of a number; `value`: C that it
    always is."""

    count: str = ""
    size: int = 0
    string: int = 0
    low: str = ""
    high: str = ""
    nullable: bool | None = None
    alias: tuple[str, ...] = ()
    depth: int = 0
    value: str = ""
    at: str = field(default="", compare=False)  # where that is written
    into: str = ""  # the pointer into whose array it points


class Never(Struct, frozen=True):
    """A condition, in C, that never holds. `null`: the pointer of which it says that it is null, "" if it says
    something else; `at`: where that is written."""

    condition: str
    null: str
    at: str


@dataclass(frozen=True)
class Hints:
    """All that is said of one function. `types`: of members, wherever they are; `holds`: of structures, by their names:
    conditions in C, of `self`, and where each is written."""

    arguments: dict[str, Hint] = field(default_factory=dict)
    types: dict[str, Hint] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    call_first: tuple[str, ...] = ()  # C that is run before the function, once its arguments are there
    globals: tuple[str, ...] = ()
    all_null: bool = False  # every pointer may be null, whatever the code looks at
    holds: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    never: tuple[Never, ...] = ()  # what does not hold when the function is called
    # of what is assumed and called: C, and where it stands
    places: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    globals_at: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)  # the same of globals

    def over(self, other: Hints) -> Hints:
        """These, and what another place says besides; of an argument only one of them."""
        return replace(
            self,
            arguments={**other.arguments, **self.arguments},
            assume=(*other.assume, *self.assume),
            call_first=(*other.call_first, *self.call_first),
            globals=(*other.globals, *self.globals),
            places=(*other.places, *self.places),
            globals_at=(*other.globals_at, *self.globals_at),
        )

    def written(self) -> Iterator[tuple[str, str]]:
        """All C of the user's, and where it is written."""
        yield from self.places
        for said in self.holds.values():
            yield from said
        for one in self.never:
            yield one.condition, one.at
        for hint in (*self.arguments.values(), *self.types.values()):
            for text in (hint.value, hint.low, hint.high, hint.count):
                if text:
                    yield text, hint.at

    def without(self, macros: Mapping[str, str]) -> Hints:
        """The same with other C: of each text what the file's macros make of it."""

        def plain(text: str) -> str:
            return macros.get(text, text)

        def hint_of(hint: Hint) -> Hint:
            low, high = plain(hint.low), plain(hint.high)
            return replace(hint, count=plain(hint.count), low=low, high=high, value=plain(hint.value))

        return replace(
            self,
            arguments={name: hint_of(hint) for name, hint in self.arguments.items()},
            types={name: hint_of(hint) for name, hint in self.types.items()},
            assume=tuple(map(plain, self.assume)),
            call_first=tuple(map(plain, self.call_first)),
            holds={name: tuple((plain(text), at) for text, at in said) for name, said in self.holds.items()},
            # of pointers it is read, and not compiled
            never=tuple(
                one if "NULL" in one.condition else structs.replace(one, condition=plain(one.condition))
                for one in self.never
            ),
            places=tuple((plain(text), at) for text, at in self.places),
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """All names in it: of objects and types that it says something of, and in its C."""
        texts = [*self.arguments, *self.types, *self.assume, *(text for text, _ in self.written())]
        texts += [part for hint in self.arguments.values() for part in (hint.into, *hint.alias)]
        return frozenset(_WORD.findall(" ".join(texts)))

    def of(self, label: str, members: tuple[str, ...] = ()) -> Hint:
        """What is said of an object. `members`: what it is called as a member (`node.next`)."""
        plain = _SUBSCRIPT.sub("", label)
        for name in (label, plain):
            if name in self.arguments:
                return self.arguments[name]
        return next((self.types[name] for name in members if name in self.types), NONE)


NONE = Hint()


def read(path: Path, function: str) -> Hints:
    """What a file says of a function. Raises UsageError."""
    doc = yamlfile.read(path)
    doc.check_keys(("functions", "types", *judged.KEYS), "key")
    refused = judged.conditions(judged.lines(doc), function)
    never = tuple(Never(condition, judged.never_null(condition), line.at) for condition, line in refused.items())
    said = _groups(yamlfile.group(doc, "types"))
    types = {name: hint(section) for name, section in said if "." in name}
    holds = {name: _holding(section) for name, section in said if "." not in name}
    functions = yamlfile.group(doc, "functions")
    if function not in functions.values:
        return Hints(_not_null({}, never), types, holds=holds, never=never)
    own = functions.section(function)
    arguments = {name: hint(section) for name, section in _groups(own, leave=("assume", "call first", "globals"))}
    assume, call = own.texts("assume"), own.texts("call first")
    places = tuple(
        (text, own.where_item(key, at))
        for key, said in (("assume", assume), ("call first", call))
        for at, text in enumerate(said)
    )
    variables = own.texts("globals")
    globals_at = tuple((name, own.where_item("globals", at)) for at, name in enumerate(variables))
    given = _not_null(arguments, never)
    return Hints(
        given, types, assume, call, variables, holds=holds, never=never, places=places, globals_at=globals_at
    )


def named(path: Path) -> dict[str, str]:
    """The functions and the types that a file says something of, and where. Raises UsageError."""
    doc = yamlfile.read(path)
    functions, types = yamlfile.group(doc, "functions"), yamlfile.group(doc, "types")
    of_functions = {name: functions.where(name) for name in functions.values}
    of_bugs = {name: line.at for line in judged.lines(doc) if (name := line.function)}
    return of_bugs | of_functions | {name.partition(".")[0].strip(): types.where(name) for name in types.values}


def _not_null(arguments: dict[str, Hint], never: Sequence[Never]) -> dict[str, Hint]:
    return arguments | {one.null: replace(arguments.get(one.null, NONE), nullable=False) for one in never if one.null}


def where_it_is(condition: str) -> str:
    """A condition that is false where a pointer on the way to what it names is null: `p && (p->n > 3)`."""
    way = _way(condition)
    return f"{way} && ({condition})" if way else f"({condition})"


def where_it_can_be(condition: str) -> str:
    """A condition that is true there, for it says nothing of such a pointer: `!(p) || (p->n > 3)`. What stands beside
    it by `&&` holds all the same."""
    way = _way(condition)
    if not way:
        return condition
    parts = _conjuncts(condition)
    if len(parts) == 1:
        return f"!({way}) || ({condition})"
    return " && ".join(f"({where_it_can_be(part)})" for part in parts)


def _conjuncts(condition: str) -> list[str]:
    """The parts of `a && b`; the whole if it is no such condition."""
    parts, depth, start = list[str](), 0, 0
    for found in _PARTING.finditer(condition):
        if found[0] in "([":
            depth += 1
        elif found[0] in ")]":
            depth -= 1
        elif depth == 0 and found[0] == "&&":
            parts.append(condition[start : found.start()].strip())
            start = found.end()
        elif depth == 0 and found[0] in ("||", "?", ","):
            return [condition]
    parts.append(condition[start:].strip())
    return parts if all(parts) else [condition]  # what is no C the compiler is to see as it is written


def _way(condition: str) -> str:
    """What has to be no null pointer for the condition to be looked at, in C; "" if nothing has to be. Of a pointer
    that it asks for itself (`p && p->n > 3`) it says what holds where that is null."""
    condition = _SIZEOF.sub("0", condition)
    before = [condition[: found.start()] for found in _THROUGH.finditer(condition)]
    names = [found[0] for text in before if (found := _LVALUE.search(text)) is not None]
    names += [found[1] for found in _DEREFERENCE.finditer(condition)]
    asked = [name for name in names if _asks_for(name, condition)]
    steps: dict[str, None] = {}
    for name in names:
        if name not in asked:
            around = [other for other in dict.fromkeys(asked) if name.startswith((f"{other}->", f"{other}["))]
            steps[f"(!({' && '.join(around)}) || {name})" if around else name] = None
    return " && ".join(steps)


def _asks_for(name: str, condition: str) -> bool:
    """Whether a condition asks if this pointer is null before it goes through it."""
    word = re.escape(name)
    through = re.search(rf"(?<![\w.>]){word}\s*->|\*\s*{word}\b", condition)
    before = condition[: through.start()] if through else condition
    truth = rf"(?:^|(?<![\w)\]])\(|[!?:]|&&|\|\|)\s*{word}\s*\)*\s*(?:&&|\|\||\?)"
    compared = rf"(?<![\w.>]){word}\s*[!=]=\s*{_NULL}|{_NULL}\s*[!=]=\s*{word}(?![\w.\[])"
    return re.search(f"{truth}|{compared}", before) is not None


def _groups(section: yamlfile.Section, leave: tuple[str, ...] = ()) -> list[tuple[str, yamlfile.Section]]:
    return [(name.replace(" ", ""), section.section(name)) for name in section.values if name not in leave]


def _holding(said: yamlfile.Section) -> tuple[tuple[str, str], ...]:
    """What holds of a structure, and where that is written."""
    said.check_keys(["assume"], "hint of a structure")
    found = tuple((text, said.where_item("assume", at)) for at, text in enumerate(said.texts("assume")))
    for text, at in found:
        if not re.search(r"\bself\b", text):
            what = f"assume: {text!r} says nothing of the structure"
            raise UsageError(what, at, "It is called self there: `assume: [self->head <= self->tail]`.")
    return found


def hint(said: yamlfile.Section) -> Hint:
    """One of them. Raises UsageError."""
    said.check_keys(KEYS, "hint")
    low, high = _range(said)
    nullable = said.values.get("nullable")
    if nullable is not None and not isinstance(nullable, bool):
        raise UsageError("'nullable' is yes or no", said.where("nullable"), "Write `nullable: no`.")
    return Hint(
        said.text("count", ""),
        _number(said, "size"),
        _number(said, "string"),
        low,
        high,
        nullable,
        said.texts("alias"),
        _number(said, "depth"),
        said.text("value", ""),
        said.where(),
        said.text("into", ""),
    )


def _number(said: yamlfile.Section, key: str) -> int:
    number = said.number(key, 0)
    if number > _LARGEST:
        raise UsageError(f"{key}: {number} is too many", said.where(key), f"The most is {_LARGEST}.")
    return number


def _range(said: yamlfile.Section) -> tuple[str, str]:
    ends = said.texts("range")
    if len(ends) not in (0, 2):
        raise UsageError("'range' has a first and a last value", said.where("range"), "Write `range: [0, 3]`.")
    return (ends[0], ends[1]) if ends else ("", "")
