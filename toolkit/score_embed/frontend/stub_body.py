"""The body of one stub: what it returns, and what its pointers to what is not constant lead to, are inputs of the test.

They are called after the function: `read()`, `read(*data)`. What a stub cannot know (how large a buffer is, what a
pointer in a struct leads to) is bounded or left as it is, never random bytes; either is said in words that follow
`exhausted within`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from score_embed.frontend.c.gnu_lexer import ATTRIBUTE
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.declarations.declare import ANONYMOUS
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enum,
    Function,
    Int,
    Member,
    Pointer,
    Struct,
    VaList,
    Void,
    as_int,
    declare,
    is_float,
    is_integer,
    unqualified,
)

CAPACITY = 16  # elements that a stub writes through a pointer with a count; characters of a text, with its end
_MOST_BYTES = 64  # of an array in a struct
_MOST_ELEMENTS = 8  # of an array of what is no plain number
_DEEPEST = 3  # structs within each other
MOST_CALLS = 4  # of a stub that gives nothing, that a test remembers
CALLED = " called"  # ends the name of the input that stands for such a call
ENDINGS = {"exit(0);": "void exit(int)", "abort();": "void abort(void)"}  # of stubs that do not return: what they call
_POINTED = re.compile(r"\(\*(\w+)\)")
_OUTSIDE = re.compile(r"(\w+)\(\*(\w+)\)")
COUNT = re.compile(r"n|.*(len|size|count|cnt|num|nb|bytes|items|elem|entries).*|n_.*|.*_n", re.IGNORECASE)

# Of each enum, by its tag: its least and its greatest enumerator, and whether no value of its type is less.
Enums = Mapping[str, tuple[str, str, bool]]


def without_attributes(node: c_ast.Node) -> None:
    while isinstance(node, (c_ast.Decl, c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        if getattr(node, "quals", None):
            node.quals = [word for word in node.quals if not word.startswith(ATTRIBUTE)]
        node = node.type


class StubBody:
    """Writes the body of one function."""

    def __init__(self, decl: c_ast.Decl, t: Function, enums: Enums, attributes: str) -> None:
        self.within: list[str] = []
        self._decl, self._t, self._enums = decl, t, enums
        self._name = as_written(decl.name)
        args = decl.type.args.params if decl.type.args else []
        self._nodes = [param for param in args if isinstance(param, c_ast.Decl)]
        self._names = [param.name for param in self._nodes]
        self._params = [unqualified(param) for param in t.params or ()]
        self._never_returns = "noreturn" in attributes or "_Noreturn" in attributes
        self._never_null = "returns_nonnull" in attributes
        self._locals = 0

    def lines(self) -> Iterator[str]:
        if self._t.params is None:
            self.within.append(f"{self._name} without a prototype: its arguments are not looked at")
        if self._t.variadic:
            self.within.append(f"{self._name} leaves what its variable arguments lead to as it is")
        written = [
            list(self._out(i, t)) for i, t in enumerate(self._params) if isinstance(t, Pointer) and not t.to.const
        ]
        if not any(written) and (self._never_returns or isinstance(unqualified(self._t.result), Void)):
            yield from self._called()
        for lines in written:
            yield from lines
        for t in self._params:
            if isinstance(t, VaList):
                self.within.append(f"{self._name} leaves what its va_list leads to as it is")
        if self._never_returns:
            refuses = "assert" in self._name.lower()  # what a program's assertions call says that something is wrong
            self.within.append(f"{self._name} {'aborts' if refuses else 'ends the test'}")
            yield "abort();" if refuses else "exit(0);"
        elif not isinstance(unqualified(self._t.result), Void):
            yield from self._result(unqualified(self._t.result))

    def _called(self) -> Iterator[str]:
        """An input that nobody looks at: so a test's inputs tell that it was called. In a loop without an end only so
        often."""
        calls, called = self._fresh("calls"), self._fresh("called")
        yield f"static unsigned char {calls};"
        yield f"unsigned char {called};"
        yield f"if ({calls} < {MOST_CALLS}) {{"
        yield f"    {calls}++;"
        yield f'    __score_symbolic(&{called}, sizeof {called}, "{self._name}(){CALLED}");'
        yield "}"

    # --- what it returns -----------------------------------------------------------------------------------------

    def _result(self, t: CType) -> Iterator[str]:
        result = self._fresh("result")
        node = self._decl.type.type
        yield f"{_declared(node, result)}{' = { 0 }' if isinstance(t, Struct) else ''};"
        to = node.type if isinstance(node, c_ast.PtrDecl) else None
        yield from self._filled(t, result, f"{self._name}()", node=to)
        yield f"return {result};"

    def _fresh(self, name: str) -> str:
        while name in self._names:
            name += "_"
        return name

    # --- what it writes ------------------------------------------------------------------------------------------

    def _out(self, i: int, t: Pointer) -> Iterator[str]:
        """What the parameter leads to."""
        name, to = self._names[i], unqualified(t.to)
        shown = f"{self._name}(*{as_written(name)})"
        count = self._count(i)
        if isinstance(to, Function):
            self.within.append(f"{self._name} does not call {as_written(name)}")
            return
        if (isinstance(to, Void) and not count) or (isinstance(to, Struct) and to.record.members is None):
            self._not_made(shown, here=True)
            return
        if count and (isinstance(to, Void) or _is_plain(to)):
            lines, condition = list(self._counted(name, to, count, shown)), name
        else:
            if count:
                self.within.append(f"{shown} = 1 element")
            node = self._nodes[i].type
            inner = node.type if isinstance(node, c_ast.PtrDecl) else None
            inner = inner.type if isinstance(inner, c_ast.PtrDecl) else None  # what a pointer there leads to
            lines = list(self._filled(to, f"(*{name})", shown, node=inner, here=True))
            condition = f"{name} && {count} > 0" if count else name
        if lines:
            yield f"if ({condition}) {{"
            yield from (f"    {line}" for line in lines)
            yield "}"

    def _count(self, i: int) -> str:
        """The parameter behind it that says how many elements there are. Without names only bytes are taken to be
        counted: writing too much would be a bug of the stub's."""
        t = self._params[i]
        if i + 1 < len(self._params) and is_integer(self._params[i + 1]):
            name = str(self._names[i + 1])
            is_bytes = isinstance(t, Pointer) and (isinstance(t.to, Void) or (isinstance(t.to, Int) and t.to.bits == 8))
            if COUNT.fullmatch(name) or (is_bytes and name.startswith("argument")):
                return name
        return ""

    def _counted(self, name: str, to: CType, count: str, shown: str) -> Iterator[str]:
        """So many numbers."""
        is_bytes = isinstance(to, Void) or (isinstance(to, Int) and to.bits == 8)
        self.within.append(f"{shown} ≤ {CAPACITY} {'bytes' if is_bytes else 'elements'}")
        i = self._fresh("i")
        yield f"unsigned {i} = 0;"
        if is_bytes:
            yield f"while ({i} < {CAPACITY} && {i} < {count}) {i}++;"
            yield f'__score_bytes({name}, {i}, "{shown}");'
        else:
            yield f"for (; {i} < {CAPACITY} && {i} < {count}; {i}++)"
            yield f'    __score_symbolic(&{name}[{i}], sizeof {name}[{i}], "{shown}");'

    def _not_made(self, shown: str, *, here: bool, otherwise: str = "0") -> None:
        self.within.append(f"{shown} as it was" if here else f"{shown} = {otherwise}")

    # --- values --------------------------------------------------------------------------------------------------

    def _filled(
        self, t: CType, place: str, shown: str, *, node: c_ast.Node | None = None, here: bool = False, depth: int = 0
    ) -> Iterator[str]:
        """Make the object at `place` symbolic. `here`: it is the caller's, so that what cannot be made stays as it was;
        `node`: the declarator of what it leads to, of a pointer that is not in a struct."""
        t = unqualified(t)
        symbolic = f'({_address(place)}, sizeof {place}, "{shown}");'
        match t:
            case Int(name="_Bool"):
                yield f"__score_boolean{symbolic}"
            case Int() if t.bits <= 64:
                yield f"__score_symbolic{symbolic}"
            case Enum():
                yield f"__score_symbolic{symbolic}"
                yield from self._enumerator(t, place, shown)
            case Pointer():
                yield from self._pointer(t, place, shown, node, depth)
            case Struct() if t.record.members is not None and t.record.kind == "struct" and depth < _DEEPEST:
                for member in t.record.members:
                    yield from self._member(member, place, shown, here=here, depth=depth)
            case Struct() if t.record.members is not None and _is_bytes(t):
                yield f"__score_bytes{symbolic}"
            case Array():
                yield from self._array(t, place, shown, here=here, depth=depth)
            case _ if is_float(t):
                yield f"__score_symbolic{symbolic}"
            case _:
                self._not_made(shown, here=here)

    def _enumerator(self, t: Enum, place: str, shown: str) -> Iterator[str]:
        """No value that the enum does not have room for between its enumerators."""
        if t.body.tag in self._enums:
            least, greatest, is_least = self._enums[t.body.tag]
            conditions = [f"{place} <= {greatest}"] if is_least else [f"{place} >= {least}", f"{place} <= {greatest}"]
            yield f"if (!({' && '.join(conditions)})) __score_assume_fail();"
            self.within.append(f"{shown} from {as_written(least)} to {as_written(greatest)}")

    def _member(self, member: Member, place: str, shown: str, *, here: bool, depth: int) -> Iterator[str]:
        t = unqualified(member.type)
        if member.name is None:  # an anonymous struct's members are those of the outer one
            if isinstance(t, Struct) and t.record.kind == "struct":
                for inner in t.record.members or []:
                    yield from self._member(inner, place, shown, here=here, depth=depth)
            else:
                self._not_made(f"an unnamed union of {shown}", here=here)
            return
        at, called = _dot(place, member.name), _member_name(shown, as_written(member.name))
        if member.type.const or not member.name or member.bits == 0:
            return
        if member.bits is not None:
            if not is_integer(t) or member.bits < 0:
                self._not_made(called, here=here)
                return
            local, kind = f"bits{self._next()}", _of_bits(member.bits, as_int(t))
            how = "boolean" if kind == "_Bool" else "symbolic"
            yield f'{{ {kind} {local}; __score_{how}(&{local}, sizeof {local}, "{called}"); {at} = {local}; }}'
        elif isinstance(t, Pointer):
            self._not_made(called, here=here, otherwise="NULL")
        else:
            yield from self._filled(t, at, called, here=here, depth=depth + 1)

    def _next(self) -> int:
        self._locals += 1
        return self._locals

    def _array(self, t: Array, place: str, shown: str, *, here: bool, depth: int) -> Iterator[str]:
        if t.length is None:
            self._not_made(shown, here=here)
        elif _is_bytes(t):
            yield f'__score_bytes({place}, sizeof {place} < {_MOST_BYTES} ? sizeof {place} : {_MOST_BYTES}, "{shown}");'
            if not (isinstance(t.of, Int) and t.length * t.of.bits <= 8 * _MOST_BYTES):
                self.within.append(f"{shown} ≤ {_MOST_BYTES} bytes")
        else:
            if t.length > _MOST_ELEMENTS:
                self.within.append(f"{shown} ≤ {_MOST_ELEMENTS} elements")
            for i in range(min(t.length, _MOST_ELEMENTS)):
                if isinstance(t.of, Pointer):
                    self._not_made(f"{shown}[{i}]", here=here, otherwise="NULL")
                else:
                    yield from self._filled(t.of, f"{place}[{i}]", f"{shown}[{i}]", here=here, depth=depth + 1)

    def _pointer(self, t: Pointer, place: str, shown: str, node: c_ast.Node | None, depth: int) -> Iterator[str]:
        """NULL, or a block of the heap: so it has an exact size, and may be given to `free`."""
        to = unqualified(t.to)
        made = f"made{self._next()}"
        spelled = _pointer_to(to, node, made)
        if isinstance(to, Function) or not spelled:
            self.within.append(f"{shown} = NULL")
            yield f"{place} = 0;"
            return
        choice = "" if self._never_null and shown.endswith("()") else f"given{self._next()}"
        if choice:
            yield f'_Bool {choice}; __score_boolean(&{choice}, 1, "{shown} != NULL");'
            yield f"{place} = 0;"
            yield f"if ({choice}) {{"
        lines = list(self._block(to, spelled, made, shown, depth))
        yield from (f"    {line}" if choice else line for line in lines)
        yield f"{'    ' if choice else ''}{place} = {made};"
        if choice:
            yield "}"

    def _block(self, to: CType, spelled: str, made: str, shown: str, depth: int) -> Iterator[str]:
        """A fresh one."""
        size = self._asked() if isinstance(to, Void) and shown.endswith("()") else ""
        if size:
            yield f"{spelled} = __builtin_malloc({size});"
        elif isinstance(to, Void) or (isinstance(to, Struct) and to.record.members is None):
            yield f"{spelled} = __builtin_malloc({CAPACITY});"
            self.within.append(f"*{shown} = {CAPACITY} bytes that nobody has written")
        elif isinstance(to, Int) and to.name == "char":
            yield f"{spelled} = __builtin_malloc({CAPACITY});"
            yield f"if ({made}) {{"
            yield f'    __score_bytes({made}, {CAPACITY - 1}, "*{shown}");'
            yield f"    {made}[{CAPACITY - 1}] = 0;"
            yield "}"
            self.within.append(f"*{shown} < {CAPACITY} characters")
        else:
            self.within.append(f"*{shown} = 1 {to.record.kind if isinstance(to, Struct) else 'element'}")
            yield f"{spelled} = __builtin_calloc(1, sizeof *{made});"
            yield f"if ({made}) {{"
            nested = Pointer(unqualified(to.to)) if isinstance(to, Pointer) else to
            if isinstance(nested, Pointer):
                self.within.append(f"*{shown} = NULL")
            else:
                yield from (f"    {line}" for line in self._filled(nested, f"(*{made})", f"*{shown}", depth=depth))
            yield "}"

    def _asked(self) -> str:
        """The size of a block that the caller asks for."""
        named = [n for n, t in zip(self._names, self._params, strict=True) if is_integer(t) and COUNT.fullmatch(n)]
        return " * ".join(str(name) for name in named[:2])


def _declared(node: c_ast.Node, name: str) -> str:
    """An object of a type as its declarator spells it: a struct or an enum may have a typedef's name only."""
    made = copy.deepcopy(node)
    inner = made
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
    if inner is made:
        made.quals = []
    without_attributes(made)
    return to_c(c_ast.Decl(name, [], [], [], [], made, None, None))


def _pointer_to(t: CType, node: c_ast.Node | None, name: str) -> str:
    """The declaration of a pointer to objects of this type that may be written to; "" if C has no way to spell it."""
    if isinstance(node, c_ast.TypeDecl):
        inner = copy.deepcopy(node)
        inner.quals, inner.declname = [], name
        return to_c(c_ast.Decl(name, [], [], [], [], c_ast.PtrDecl([], inner), None, None))
    tag = t.record.tag if isinstance(t, Struct) else t.body.tag if isinstance(t, Enum) else ""
    if isinstance(t, Array) or tag.startswith(ANONYMOUS):
        return ""
    return declare(Pointer(t), name)


def _of_bits(bits: int, t: Int) -> str:
    """The least type that holds a bit-field's values."""
    if bits == 1:
        return "_Bool"
    sign = "" if t.signed else "unsigned "
    return "signed char" if t.signed and bits <= 8 else f"{sign}char" if bits <= 8 else t.name


def _address(place: str) -> str:
    inner = _POINTED.fullmatch(place)
    return f"&*{inner[1]}" if inner else f"&{place}"


def _dot(place: str, member: str) -> str:
    inner = _POINTED.fullmatch(place)
    return f"{inner[1]}->{member}" if inner else f"{place}.{member}"


def _member_name(shown: str, member: str) -> str:
    """`read(*p)` and `x` make `read(p->x)`, `*get()` and `x` make `get()->x`."""
    outside = _OUTSIDE.fullmatch(shown)
    if outside:
        return f"{outside[1]}({outside[2]}->{member})"
    if shown.startswith("*"):
        return f"{shown[1:]}->{member}"
    return f"{shown[:-1]}.{member})" if shown.endswith(")") and not shown.endswith("()") else f"{shown}.{member}"


def _is_plain(t: CType) -> bool:
    """Numbers of which every pattern is one."""
    return (isinstance(t, Int) and t.name != "_Bool" and t.bits <= 64) or is_float(t)


def _is_bytes(t: CType) -> bool:
    """Objects of which all bytes may have any value."""
    t = unqualified(t)
    if isinstance(t, Array):
        return t.length is not None and _is_bytes(t.of)
    if isinstance(t, Struct):
        return all(_is_bytes(member.type) for member in t.record.members or ())
    return (isinstance(t, Int) and t.name != "_Bool") or is_float(t)
