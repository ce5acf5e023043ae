"""What may be symbolic at all: a static analysis over the whole program, so that probes which can never fire are left
out.

Flow-insensitive: a slot may be symbolic if something that may be is ever assigned to it. Memory may always be, but for
*private* variables: scalars of static storage whose address is never taken, so that nothing reaches them except by
name. The analysis errs on one side only: what it says is concrete is never tainted on the target (tainted values come
from inputs, assignments, calls and the results of opaque calls, and all of these are followed).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import AsmLabel
from score_embed.frontend.c.signature import attribute_texts
from score_embed.frontend.ir.body import Assign, Body, Call, Stmt, Symbolic
from score_embed.frontend.ir.exp import Exp, GlobalAddress, Load, Place, Raw, SlotRef
from score_embed.frontend.ir.flow import RESULT_SLOT
from score_embed.frontend.types.ctype import is_scalar

IsPrivate = Callable[[str], bool]
_Node = tuple[int, int] | str  # a slot of a function, by the id of its body, or a variable's name
_ANY = 0  # in place of a body: a function that is called through a pointer


class Maybe:
    """What may be symbolic in one function. `waited`: what may change while the program only looks at it."""

    def __init__(
        self, slots: Set[int], variables: set[str], is_private: IsPrivate, waited: Callable[[Place], bool]
    ) -> None:
        self._slots, self._variables, self._is_private = slots, variables, is_private
        self.waited = waited

    def slot(self, index: int) -> bool:
        return index in self._slots

    def is_private(self, name: str) -> bool:
        """Whether nothing reaches the variable but by its name."""
        return self._is_private(name)

    def among(self, slots: frozenset[int]) -> Maybe:
        """The same at a point of the function where no other slots' taint bits can be set."""
        return Maybe(slots, self._variables, self._is_private, self.waited)

    def including(self, slots: Set[int]) -> Maybe:
        """The same with these slots, which may be symbolic, too."""
        return Maybe(self._slots | slots, self._variables, self._is_private, self.waited)

    def place(self, place: Place) -> bool:
        """The value that lies there."""
        name = variable_of(place)
        return name is None or not self._is_private(name) or name in self._variables

    def exp(self, exp: Exp) -> bool:
        """The value of the expression (an address counts as what it is computed from)."""
        match exp:
            case SlotRef():
                return self.slot(exp.slot.index)
            case Load():
                return self.place(exp.place)
            case Raw():
                return False  # has no formula: its result is a constant
        return any(map(self.exp, exp.children()))


class Analysis:
    """The least set of slots and private variables that is closed under everything the program does.

    What leads to what is a graph, made in one look at every statement, and the set is what its starts reach: time and
    memory grow with the program, not with its square.
    """

    def __init__(self, bodies: Sequence[Body], is_private: IsPrivate, waited: Callable[[Place], bool]) -> None:
        self._is_private, self._waited = is_private, waited
        self._variables: set[str] = set()
        self._slots: dict[int, set[int]] = {id(body): set() for body in bodies}
        self._named: dict[str, list[Body]] = {}
        self._leads: dict[_Node, list[_Node]] = {}
        self._starts: list[_Node] = []
        for body in bodies:
            self._named.setdefault(body.emitted_name, []).append(body)
        for body in bodies:
            for statement in body.statements:
                self._statement(body, statement)
            for index in range(1, body.scalars + 1):
                self._lead((_ANY, index), (id(body), index))
        self._reach()

    def of(self, body: Body) -> Maybe:
        return Maybe(self._slots[id(body)], self._variables, self._is_private, self._waited)

    def _statement(self, body: Body, statement: Stmt) -> None:
        match statement:
            case Assign():
                self._flow(body, statement.exp, _node(body, statement.dest))
            case Symbolic():
                self._start(_node(body, statement.dest))
            case Call():
                self._call(body, statement)

    def _call(self, body: Body, call: Call) -> None:
        # A pointer may lead to any function; an opaque one's result is remembered as coming from symbolic data.
        callees = self._named.get(call.callee, []) if call.kind == "known" else []
        for index, exp in enumerate((a.exp for a in call.args if isinstance(a.exp, Exp)), 1):
            if call.kind == "indirect":
                self._flow(body, exp, (_ANY, index))
            for callee in callees:
                if index <= callee.scalars:
                    self._flow(body, exp, (id(callee), index))
        if isinstance(call.dest, SlotRef):
            dest = _node(body, call.dest)
            if call.kind != "known":
                self._start(dest)
            for callee in callees:
                self._lead((id(callee), RESULT_SLOT), dest)

    def _flow(self, body: Body, exp: Exp, dest: _Node | None) -> None:
        """`dest` may be symbolic if something is that `exp` is computed from."""
        match exp:
            case SlotRef():
                self._lead((id(body), exp.slot.index), dest)
            case Load():
                name = variable_of(exp.place)
                if name is None or not self._is_private(name):
                    self._start(dest)
                else:
                    self._lead(name, dest)
            case Raw():
                pass  # as Maybe.exp says
            case _:
                for child in exp.children():
                    self._flow(body, child, dest)

    def _lead(self, source: _Node, dest: _Node | None) -> None:
        if dest is not None:
            self._leads.setdefault(source, []).append(dest)

    def _start(self, dest: _Node | None) -> None:
        if dest is not None:
            self._starts.append(dest)

    def _reach(self) -> None:
        """Everything that the starts lead to."""
        waiting, seen = self._starts, set(self._starts)
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                self._variables.add(node)
            elif node[0] != _ANY:
                self._slots[node[0]].add(node[1])
            new = [dest for dest in self._leads.get(node, ()) if dest not in seen]
            seen.update(new)
            waiting += new


def _node(body: Body, dest: SlotRef | Place) -> _Node | None:
    return (id(body), dest.slot.index) if isinstance(dest, SlotRef) else variable_of(dest)


def variable_of(place: Place) -> str | None:
    """The name of the scalar variable of static storage that lies there, if it is read and written by its name."""
    address = place.address
    if isinstance(address, GlobalAddress) and is_scalar(place.type) and not place.type.volatile:
        return address.text if address.text == place.text else None
    return None


def names_with_address(tree: c_ast.Node) -> Iterator[str]:
    """Every name that stands under `&` somewhere, whatever it names."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            inner = node.expr
            while isinstance(inner, c_ast.ArrayRef) or (isinstance(inner, c_ast.StructRef) and inner.type == "."):
                inner = inner.name
            if isinstance(inner, c_ast.ID):
                yield inner.name
        stack += [child for _, child in node.children()]


def aliased_names(ext: c_ast.Node) -> Iterator[str]:
    """Both names of a variable that has two (attributes alias and weakref, an asm label)."""
    labels = [node.name.value for node in getattr(ext, "attributes", None) or [] if isinstance(node, AsmLabel)]
    texts = [text for text in attribute_texts(ext) if "alias" in text or "weakref" in text]
    quoted = [name for text in (*labels, *texts) for name in re.findall(r'"(\w+)"', text)]
    if quoted:
        yield from (ext.name, *quoted)
