"""What may be symbolic at all: a static analysis over the whole program, so that probes which can never fire are left out.

Flow-insensitive: a slot may be symbolic if something that may be is ever assigned to it. Memory may always be, but for
*private* variables: scalars of static storage whose address is never taken, so that nothing reaches them except by
name. The analysis errs on one side only: what it says is concrete is never tainted on the target (tainted values come
from inputs, assignments, calls and the results of opaque calls, and all of these are followed).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set

from pycparser import c_ast

from score_embed.frontend.gnu_ast import AsmLabel
from score_embed.frontend.ir import Assign, Body, Call, Stmt, Symbolic
from score_embed.frontend.ir_exp import Exp, GlobalAddress, Load, Place, Raw, SlotRef
from score_embed.frontend.signature import attribute_texts
from score_embed.frontend.types import is_scalar

IsPrivate = Callable[[str], bool]


class Maybe:
    """What may be symbolic in one function."""

    def __init__(self, slots: Set[int], variables: set[str], is_private: IsPrivate) -> None:
        self._slots, self._variables, self._is_private = slots, variables, is_private

    def slot(self, index: int) -> bool:
        return index in self._slots

    def is_private(self, name: str) -> bool:
        """Whether nothing reaches the variable but by its name."""
        return self._is_private(name)

    def among(self, slots: frozenset[int]) -> Maybe:
        """The same at a point of the function where no other slots' taint bits can be set."""
        return Maybe(slots, self._variables, self._is_private)

    def including(self, slots: Set[int]) -> Maybe:
        """The same with these slots, which may be symbolic, too."""
        return Maybe(self._slots | slots, self._variables, self._is_private)

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


class Everything(Maybe):
    """For a trial: no probe is left out."""

    def __init__(self) -> None:
        super().__init__(set(), set(), lambda name: False)

    def slot(self, index: int) -> bool:
        return True

    def among(self, slots: frozenset[int]) -> Maybe:
        return self

    def including(self, slots: Set[int]) -> Maybe:
        return self


class Analysis:
    """The least set of slots and private variables that is closed under everything the program does."""

    def __init__(self, bodies: Sequence[Body], is_private: IsPrivate) -> None:
        self._is_private = is_private
        self._variables: set[str] = set()
        self._slots: dict[int, set[int]] = {id(body): set() for body in bodies}
        self._named: dict[str, list[Body]] = {}
        for body in bodies:
            self._named.setdefault(body.emitted_name, []).append(body)
        self._bodies = bodies
        while any(self._pass(body) for body in bodies):
            pass

    def of(self, body: Body) -> Maybe:
        return Maybe(self._slots[id(body)], self._variables, self._is_private)

    def _size(self) -> int:
        return len(self._variables) + sum(map(len, self._slots.values()))

    def _pass(self, body: Body) -> bool:
        """One look at all statements of a function; true if something new may be symbolic."""
        before = self._size()
        maybe = self.of(body)
        for statement in body.statements:
            self._statement(body, maybe, statement)
        return self._size() > before

    def _statement(self, body: Body, maybe: Maybe, statement: Stmt) -> None:
        match statement:
            case Assign() if maybe.exp(statement.exp):
                self._add(body, statement.dest)
            case Symbolic():
                self._add(body, statement.dest)
            case Call():
                self._call(body, maybe, statement)

    def _add(self, body: Body, dest: SlotRef | Place) -> None:
        if isinstance(dest, SlotRef):
            self._slots[id(body)].add(dest.slot.index)
            return
        name = variable_of(dest)
        if name is not None:
            self._variables.add(name)

    def _call(self, body: Body, maybe: Maybe, call: Call) -> None:
        # A pointer may lead to any function; an opaque one's result is remembered as coming from symbolic data.
        callees = self._named.get(call.callee, []) if call.kind == "known" else []
        if call.kind == "indirect":
            callees = list(self._bodies)
        scalars = [a.exp for a in call.args if isinstance(a.exp, Exp)]
        for index, exp in enumerate(scalars, 1):
            if maybe.exp(exp):
                for callee in callees:
                    if index <= callee.scalars:
                        self._slots[id(callee)].add(index)
        if isinstance(call.dest, SlotRef) and (
            call.kind != "known" or any(0 in self._slots[id(callee)] for callee in callees)
        ):
            self._add(body, call.dest)


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
