"""Reads and stores at symbolic addresses: what the formulas say of other inputs is what the program does with them.

The program is a list of operations on one object in memory. A target that could not be simpler runs it, knows which bytes
depend on the input, and sends what the probes would. Then another input is tried: if it fulfils the path's conditions and
pins, it has to leave in every place the value that the place's formula gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from events import Stream, assign, copy_template, leaf_step, memory, pin, slot, symbolic, table
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.sites import Leaf, Op, Site, SiteKind, Step, Template
from score_embed.formula.expr import Expr, evaluate
from score_embed.trace.trail import Trail

INPUTS = 4  # bytes of input; each is in a slot of its own
BASE, SIZE = 0x2000, 8  # the object
FIRST = bytes(range(0x80, 0x80 + SIZE))  # what it holds at first
READ, LOOK, MEMBER, PLACED, FOUND, ANYWHERE = range(6)  # the operations
WIDTH = {READ: 8, LOOK: 8, MEMBER: 16, PLACED: 16, FOUND: 16, ANYWHERE: 16}
STRIDE = {READ: 1, LOOK: 1, MEMBER: 4, PLACED: 2, FOUND: 4, ANYWHERE: 1}
IS_STORE = {PLACED, FOUND, ANYWHERE}
KNOWN = {READ, MEMBER, PLACED}  # the object's size is known when the program is built
OUTSIDE = 40  # beside the site of an operation: its assignment where the address is not in the object
SHOWN, SEEN = 200, 300


def address_of(leaf: int, stride: int) -> tuple[Step, ...]:
    """BASE + stride * index."""
    scaled = (leaf_step(leaf, 8), Step(Op.ZEXT, 32), Step(Op.CONST, 32, stride), Step(Op.MUL, 32))
    return (*scaled, Step(Op.CONST, 32, BASE), Step(Op.ADD, 32))


def site_of(kind: int, index: int) -> Site:
    """Operation `kind` at the address that input byte `index` chooses; all stores store what slot 9 holds."""
    size, ident = SIZE if kind in KNOWN else 0, 100 + 10 * kind + index
    if kind in IS_STORE:
        template = Template((slot(9, 16), slot(1 + index, 8)), address_of(1, STRIDE[kind]))
        stride = 0 if kind == ANYWHERE else STRIDE[kind]
        return Site(
            ident, SiteKind.STORE, "a.c", ident, dest=memory(WIDTH[kind]), template=template, size=size, stride=stride
        )
    template = Template((slot(1 + index, 8),), address_of(0, STRIDE[kind]))
    return Site(ident, SiteKind.SELECT, "a.c", ident, dest=slot(9, WIDTH[kind]), template=template, size=size)


def shown(place: int, leaf: Leaf) -> tuple[Site, Site]:
    """Copies a place to a slot, whose formula the pin then has."""
    return assign(SHOWN + place, slot(10, leaf.bits), copy_template(leaf)), pin(
        SEEN + place, slot(10, leaf.bits), "argument"
    )


SITES = table(
    *(symbolic(16 + i, slot(1 + i, 8), 1, f"in{i}") for i in range(INPUTS)),
    *(site_of(kind, index) for kind in range(6) for index in range(INPUTS)),
    *(site for place in range(SIZE) for site in shown(place, memory(8))),
    *shown(SIZE, slot(9, 16)),
)


@dataclass
class Target:
    """One run, with its events. `known`: what slot 9 holds, and whether that depends on the input."""

    data: bytes
    content: bytearray = field(default_factory=lambda: bytearray(FIRST))
    tainted: set[int] = field(default_factory=set)  # of the object's bytes
    known: tuple[int, bool] = (0x4142, False)
    stream: Stream = field(default_factory=Stream)
    _sent: bytes = b""

    def run(self, operations: list[tuple[int, int]]) -> Target:
        for i in range(INPUTS):
            self.stream.head(16 + i)
        for kind, index in operations:
            (self._store if kind in IS_STORE else self._read)(kind, index)
        return self

    def _object(self, kind: int, told: int) -> None:
        """What an event says of the object."""
        if kind not in KNOWN:
            self.stream.varint(told)
        self.stream.address(BASE)
        content = bytes(0 if i in self.tainted else byte for i, byte in enumerate(self.content))
        self.stream.raw(b"\1" if content == self._sent else b"\0" + content)
        self._sent = content
        at = 0
        for i in sorted(self.tainted):
            self.stream.varint(i - at + 1).varint(1)
            at = i + 1
        self.stream.raw(b"\0")

    def _begins(self, kind: int, index: int) -> int | None:
        """Sends head and leaves; the offset into the object, or None if the address is not in it."""
        at, size = STRIDE[kind] * self.data[index], WIDTH[kind] // 8
        self.stream.head(100 + 10 * kind + index, int(at + size <= SIZE))
        if kind in IS_STORE:
            value, is_tainted = self.known
            self.stream.varint(0b0101 if is_tainted else 0b0100)
            if not is_tainted:
                self.stream.signed(value)
        if at + size <= SIZE:
            return at
        if kind in KNOWN:
            self.stream.address(BASE)
        return None

    def _read(self, kind: int, index: int) -> None:
        at = self._begins(kind, index)
        if at is None:
            self.known = (0x4142, False)
            return
        self._object(kind, SIZE)
        self.known = (int.from_bytes(self.content[at : at + WIDTH[kind] // 8], "little"), True)
        self.stream.signed(self.known[0])

    def _store(self, kind: int, index: int) -> None:
        value, _ = self.known
        at = self._begins(kind, index)
        if at is None:
            return
        self._object(kind, SIZE << 1 | (kind == ANYWHERE))
        self.stream.signed(value)
        self.content[at : at + 2] = value.to_bytes(2, "little")
        stride = STRIDE[kind]
        places = range(SIZE) if kind == ANYWHERE else range(at % stride, SIZE - 1, stride)
        self.tainted |= {place + i for place in places for i in range(1 if kind == ANYWHERE else 2)}

    def show(self) -> dict[int, int]:
        """Sends what depends on the input now; returns it, by place."""
        found = {place: self.content[place] for place in sorted(self.tainted)}
        for place, value in found.items():
            self.stream.head(SHOWN + place).address(BASE + place).signed(value).head(SEEN + place)
        if self.known[1]:
            found[SIZE] = self.known[0]
            self.stream.head(SHOWN + SIZE).signed(self.known[0]).head(SEEN + SIZE)
        return found


inputs = st.lists(st.integers(0, SIZE + 1), min_size=INPUTS, max_size=INPUTS).map(bytes)
operations = st.lists(st.tuples(st.integers(0, 5), st.integers(0, INPUTS - 1)), min_size=1, max_size=6)


@settings(deadline=None, max_examples=600)
@given(operations, inputs, st.lists(inputs, min_size=6, max_size=6))
def test_formulas_say_what_the_program_does(chosen: list[tuple[int, int]], data: bytes, others: list[bytes]) -> None:
    target = Target(data).run(chosen)
    values = target.show()
    trail = Trail(SITES, verify=True)
    trail.follow(bytes(target.stream), data)
    assert not trail.diverged
    assert not trail.disagreements
    formulas = {p.site - SEEN: p.value for p in trail.pins if p.site >= SEEN}
    kept = [p.formula for p in trail.pins if p.site < SEEN] + [c.formula for c in trail.conditions]
    assert all(evaluate(formula, data) for formula in kept)
    # Beside the inputs that came by chance, some that differ in one byte: most of them go the same way.
    near = [bytes([*data[:i], (data[i] + 1) % (SIZE + 2), *data[i + 1 :]]) for i in range(INPUTS)]
    for other in (*others, *near):
        if all(evaluate(formula, other) for formula in kept):
            again = Target(other).run(chosen)
            assert again.tainted == target.tainted
            expected = again.show()
            assert expected.keys() == values.keys()
            for place, value in expected.items():
                assert value == value_of(formulas.get(place), values[place], other)


def value_of(formula: Expr | None, value: int, data: bytes) -> int:
    """Of a place under this input; without a formula it is what it was."""
    return value if formula is None else evaluate(formula, data)
