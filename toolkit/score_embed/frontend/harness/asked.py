"""What one function asks of its numbers and texts: which constants it compares them with, which arrays it copies them
into, which elements of an array it names.

Names stand for themselves, wherever they are: `len` of a function is one number, a member `.len` is any of that name.
Where one name is another one and a constant, or is passed on with one, that is written down for `sizes.py`, which
follows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.frontend.harness.uses import Parameters, arguments, parameters_of, plain_of, walk

# The number that the condition parts from the smaller ones, less the constant.
_LEAST = {"<": 0, "<=": 1, ">": 1, ">=": 0}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARED = frozenset([*_LEAST, "==", "!="])
_FAR = 1 << 30
_WITH_TEXTS = frozenset(["strcmp", "strncmp", "strcasecmp", "strncasecmp", "strstr", "memcmp", "bcmp", "memmem"])
_INTO_TEXTS = frozenset(["strcpy", "stpcpy", "strcat", "strncpy", "stpncpy", "strncat", "sprintf", "vsprintf"])
_COPYING = _INTO_TEXTS | {"memcpy", "memmove", "mempcpy"}
TEXT = "#"  # before a key: how long the text is that it leads to
READ = "@"  # before a key: which of its elements are named by a constant
ANY = ""  # the key of whatever the function goes through

Key = str  # `name` of a variable, `.name` of a member; `*` before it: what it leads to; `a-b`: their difference
Length = Callable[[c_ast.Node], int | None]  # of an array type's declaration; or what a constant is


@dataclass
class Asked:
    """`compared`: constants that a number, or a text's length, is compared with; `rooms`: of arrays that so many
    elements are written to."""

    compared: set[int] = field(default_factory=set)
    rooms: set[int] = field(default_factory=set)

    def add(self, other: Asked, offset: int = 0) -> None:
        """What is asked of `this + offset` is asked of this."""
        self.compared |= {size - offset for size in other.compared}
        self.rooms |= {size - offset for size in other.rooms}


class Declared:
    """The arrays and literals that declarations have. `arrays`: the lengths of those of a name; `literals`: the lengths
    of those that initialise a variable; `types`: of variables."""

    def __init__(self, nodes: Iterable[c_ast.Node], constant: Length) -> None:
        self.arrays: dict[Key, set[int]] = {}
        self.literals: dict[str, set[int]] = {}
        self.types: dict[str, c_ast.Node] = {}
        for node in nodes:
            if isinstance(node, c_ast.FuncDef):
                continue
            for inner in walk(node):
                if isinstance(inner, (c_ast.Struct, c_ast.Union)):
                    for member in inner.decls or ():
                        self._array(f".{getattr(member, 'name', '')}", member, constant)
                elif isinstance(inner, c_ast.Decl) and inner.name:
                    self._array(inner.name, inner, constant)
                    self.types[inner.name] = inner.type
                    if inner.init is not None:
                        self.literals[inner.name] = set(_literals(inner.init))

    def _array(self, key: Key, decl: c_ast.Node, constant: Length) -> None:
        t = getattr(decl, "type", None)
        if isinstance(t, c_ast.ArrayDecl) and t.dim is not None:
            self.arrays.setdefault(key, set()).update({constant(t.dim) or 0} - {0})


class Body:
    """What one body does with numbers and texts. `copies`: (to, source, offset): `to` is `source + offset`; `calls`:
    function, parameter, what is passed for it, and the offset."""

    def __init__(self, function: c_ast.FuncDef, outside: Declared, constant: Length, parameters: Parameters) -> None:
        body = function.body
        self._own = Declared([*parameters_of(function), body], constant)
        self._outside, self._constant = outside, constant
        self._reached: dict[Key, int] = {}  # of numbers that are held below a constant: where a loop leaves them
        self._aliases: dict[Key, set[int]] = {}  # pointers into arrays → their lengths
        self.asked: dict[Key, Asked] = defaultdict(Asked)
        self.copies: list[tuple[Key, Key, int]] = []
        self.calls: list[tuple[str, Key, Key, int]] = []
        nodes = list(walk(body))
        for node in nodes:
            self._take(node)
        subscripts = [found for node in nodes if (found := self._subscript(node)) is not None]
        moved = {term[0] for node in nodes if (place := _moved(node)) and (term := self._term(place)) is not None}
        for node in nodes:
            self._compare(node)
            self._compare_two(node, moved)
        for node in nodes:
            self._store(node)
            if isinstance(node, c_ast.FuncCall) and node.args is not None and isinstance(node.name, c_ast.ID):
                self._call(str(node.name.name), node.args.exprs, parameters)
        for base, index, offset in subscripts:  # `for (i = 0; i < 20; i++) sum += p[i];`
            known = {0} if not index else self.asked[index].compared if index in self.asked else ()
            self.asked[f"{READ}{base}"].rooms |= {number + offset + (not index) for number in known}
        for callee, param, argument in arguments(body, parameters):
            if (source := self._term(argument)) is not None and getattr(param, "name", None):
                self.calls.append((callee, param.name, *source))

    def _number(self, node: c_ast.Node) -> int | None:
        """A constant, also the size of a variable."""
        if (known := self._constant(node)) is not None:
            return known
        match node:
            case c_ast.UnaryOp(op="sizeof", expr=c_ast.ID(name=name)) if t := self._own.types.get(name):
                return self._size(t)
            case c_ast.UnaryOp(op="sizeof", expr=c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name))):
                t = self._own.types.get(name)
                return self._size(t.type) if isinstance(t, (c_ast.PtrDecl, c_ast.ArrayDecl)) else None
            case c_ast.BinaryOp(op="+" | "-" as op):
                left, right = self._number(node.left), self._number(node.right)
                if left is None or right is None:
                    return None
                return left + right if op == "+" else left - right
        return None

    def _size(self, t: c_ast.Node) -> int | None:
        return self._constant(c_ast.UnaryOp("sizeof", c_ast.Typename(None, [], None, t)))

    def _term(self, node: c_ast.Node | None) -> tuple[Key, int] | None:
        """What an expression is, but for a constant that is added."""
        match node:
            case c_ast.Cast():
                return self._term(node.expr)
            case c_ast.Assignment(op="="):
                return self._term(node.rvalue)
            case c_ast.ID():
                return str(node.name), 0
            case c_ast.StructRef():
                return f".{node.field.name}", 0
            case c_ast.UnaryOp(op="*"):
                inner = self._term(node.expr)
                return (f"*{inner[0]}", 0) if inner is not None and not inner[1] else None
            case c_ast.FuncCall(name=c_ast.ID(name="strlen" | "__builtin_strlen")):
                inner = self._term(node.args.exprs[0])
                return (f"{TEXT}{inner[0]}", -inner[1]) if inner is not None else None
            case c_ast.BinaryOp(op="+" | "-"):
                return self._sum(node)
        return None

    def _sum(self, node: c_ast.BinaryOp) -> tuple[Key, int] | None:
        left, right = self._term(node.left), self._term(node.right)
        if left is not None and (number := self._number(node.right)) is not None:
            return left[0], left[1] + (number if node.op == "+" else -number)
        if right is not None and node.op == "+" and (number := self._number(node.left)) is not None:
            return right[0], right[1] + number
        if left is not None and right is not None and node.op == "-":
            return f"{left[0]}-{right[0]}", left[1] - right[1]
        return None

    def _take(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Decl(init=c_ast.Node() as value) if node.name:
                to = str(node.name)
            case c_ast.Assignment(op="="):
                term, value = self._term(node.lvalue), node.rvalue
                if term is None:
                    return
                to = term[0]
            case _:
                return
        source = self._term(value)
        if source is not None and source[0] != to:
            self.copies.append((to, *source))
        if rooms := self._rooms(value):
            self._aliases[to] = rooms

    def _subscript(self, node: c_ast.Node) -> tuple[Key, Key, int] | None:
        """Of `p[i + 2]` the keys, and what is added; of `p[2]` no second one."""
        match node:
            case c_ast.ArrayRef():
                base, index = self._term(node.name), node.subscript
            case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+") as at):
                base, index = self._term(at.left), at.right
            case _:
                return None
        if base is None:
            return None
        if (number := self._number(index)) is not None:
            return base[0], "", base[1] + number
        term = self._term(index)
        return (base[0], term[0], base[1] + term[1]) if term is not None else None

    def _compare(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.BinaryOp(op=op) if op in _COMPARED:
                for side, other in ((node.left, node.right), (node.right, node.left)):
                    term, number = self._term(side), self._number(other)
                    if term is not None and number is not None:
                        self.asked[term[0]].compared.add(number - term[1])
                        if op in _LEAST:
                            is_more = _LEAST[op] if side is node.left else _LEAST[_TURNED[op]]
                            reached = number - term[1] + is_more
                            self._reached[term[0]] = max(reached, self._reached.get(term[0], 0))
            case c_ast.Switch():
                term = self._term(node.cond)
                for case in walk(node.stmt) if term is not None else ():
                    if isinstance(case, c_ast.Case) and (number := self._number(case.expr)) is not None and term:
                        self.asked[term[0]].compared.add(number - term[1])

    def _compare_two(self, node: c_ast.Node, moved: set[Key]) -> None:
        """`room < length`: what is asked of one is asked of the other. `moved`: what counts in loops."""
        if isinstance(node, c_ast.BinaryOp) and node.op in _COMPARED:
            left, right = self._term(node.left), self._term(node.right)
            if left is not None and right is not None and moved.isdisjoint({left[0], right[0]}):
                offset = right[1] - left[1]
                self.copies += [(left[0], right[0], offset), (right[0], left[0], -offset)]

    def _store(self, node: c_ast.Node) -> None:
        """`line[at] = …`, `*to++ = …`: as many as the function has come through. Behind `at < sizeof line - 1` nobody
        leaves the array; behind `at < sizeof line` that may still be `line[at] = 0`."""
        if not isinstance(node, c_ast.Assignment):
            return
        match node.lvalue:
            case c_ast.ArrayRef() as place if self._number(place.subscript) is None:
                index = self._term(place.subscript)
                last = self._reached.get(index[0], _FAR) + index[1] if index is not None else _FAR
                rooms = {room for room in self._rooms(place.name) if last >= room}
            case c_ast.UnaryOp(op="*", expr=c_ast.UnaryOp(op="p++" | "++") as moved):
                rooms = self._rooms(moved.expr)
            case _:
                return
        if rooms:
            self.asked[ANY].rooms |= rooms

    def _call(self, name: str, passed: list[c_ast.Node], parameters: Parameters) -> None:
        terms = [term for node in passed if (term := self._term(node)) is not None]
        name = name.removeprefix("__builtin_")
        if name in _COPYING:
            rooms = self._rooms(passed[0])
            if self._is_moving(passed[0]):
                self.asked[ANY].rooms |= rooms
            for key, offset in terms if rooms else ():
                self.asked[key].rooms |= {room - offset for room in rooms}
                self.asked[f"{TEXT}{key}"].rooms |= {room + offset for room in rooms}
            if name not in _INTO_TEXTS and len(passed) > 2 and (number := self._number(passed[2])) is not None:
                for key, offset in terms:
                    self.asked[f"{READ}{key}"].rooms.add(number + offset)
        elif name in _WITH_TEXTS or name in parameters:
            lengths = {length for node in passed for length in self._texts(node)}
            for key, offset in terms if name in _WITH_TEXTS or not _formats(passed) else ():
                self.asked[f"{TEXT}{key}"].compared |= {length + offset for length in lengths}

    def _rooms(self, node: c_ast.Node) -> set[int]:
        """How many elements an array has from there on; several, if members of one name differ."""
        node = plain_of(node)
        match node:
            case c_ast.ID(name=name):
                own = self._own.arrays.get(name) or self._aliases.get(name)
                return own or self._outside.arrays.get(name, set())
            case c_ast.StructRef():
                return self._outside.arrays.get(f".{node.field.name}", set())
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=array, subscript=at)):
                return self._rest(array, at)
            case c_ast.BinaryOp(op="+"):
                return self._rest(node.left, node.right)
        return set()

    def _is_moving(self, node: c_ast.Node) -> bool:
        """`line + 2 * i`: where it is hangs on how far the function has come."""
        node = plain_of(node)
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(subscript=at)) | c_ast.BinaryOp(op="+", right=at):
                return self._number(at) is None
        return False

    def _rest(self, array: c_ast.Node, at: c_ast.Node) -> set[int]:
        before = self._number(at) or 0
        return {room - before for room in self._rooms(array) if room > before}

    def _texts(self, node: c_ast.Node) -> Iterator[int]:
        """The lengths of the literals that it may be."""
        yield from _literals(node)
        node = plain_of(node)
        while isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
            node = node.name
        if isinstance(node, c_ast.ID):
            yield from self._own.literals.get(node.name, self._outside.literals.get(node.name, ()))


def _moved(node: c_ast.Node) -> c_ast.Node | None:
    """What a statement counts up or down."""
    match node:
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
            return node.expr
        case c_ast.Assignment(op="+=" | "-="):
            return node.lvalue
    return None


def _literals(node: c_ast.Node) -> Iterator[int]:
    for inner in walk(node):
        if isinstance(inner, c_ast.Constant) and inner.type == "string":
            yield len(inner.value) - 2  # an escape makes it longer than it is, which does no harm


def _formats(passed: Iterable[c_ast.Node]) -> bool:
    """Whether one of them looks like what `printf` takes."""
    return any(isinstance(node, c_ast.Constant) and node.type == "string" and "%" in node.value for node in passed)
