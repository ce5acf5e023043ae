"""Reads and stores at symbolic addresses: what the formulas say of other inputs is what the program does with them.

The program is a list of operations on one object in memory, or on that and another one that a pointer may lead to. A
target that could not be simpler runs it, knows which bytes depend on the input, and sends what the probes would. Then
another input is tried: if it fulfils the path's conditions and pins, it has to leave in every place the value that the
place's formula gives.
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
APART, SMALL = BASE + 12, 4  # another one, with a gap before it
MEMORY = APART + SMALL - BASE
FIRST = bytes(range(0x80, 0x80 + MEMORY))  # what they hold at first
OPERATIONS = READ, LOOK, MEMBER, PLACED, FOUND, ANYWHERE, READ_ANY, STORE_ANY, SPARSE = range(9)
WIDTH = {READ: 8, LOOK: 8, MEMBER: 16, PLACED: 16, FOUND: 16, ANYWHERE: 16, READ_ANY: 16, STORE_ANY: 16, SPARSE: 16}
STRIDE = {READ: 1, LOOK: 1, MEMBER: 4, PLACED: 2, FOUND: 4, ANYWHERE: 1, READ_ANY: 1, STORE_ANY: 1, SPARSE: 4}
IS_STORE = {PLACED, FOUND, ANYWHERE, STORE_ANY, SPARSE}
SEVERAL = {READ_ANY, STORE_ANY, SPARSE}  # both objects are said
BYTEWISE = {ANYWHERE, STORE_ANY, SPARSE}  # all bytes are symbolic then
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
        stride = 0 if kind in BYTEWISE else STRIDE[kind]
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
    *(site_of(kind, index) for kind in OPERATIONS for index in range(INPUTS)),
    *(site for place in range(MEMORY) for site in shown(place, memory(8))),
    *shown(MEMORY, slot(9, 16)),
)


@dataclass
class Target:
    """One run, with its events. `known`: what slot 9 holds, and whether that depends on the input."""

    data: bytes
    content: bytearray = field(default_factory=lambda: bytearray(FIRST))
    tainted: set[int] = field(default_factory=set)  # of the objects' bytes
    known: tuple[int, bool] = (0x4142, False)
    stream: Stream = field(default_factory=Stream)
    _sent: dict[int, bytes] = field(default_factory=dict)

    def run(self, operations: list[tuple[int, int]]) -> Target:
        for i in range(INPUTS):
            self.stream.head(16 + i)
        for kind, index in operations:
            (self._store if kind in IS_STORE else self._read)(kind, index)
        return self

    def _object(self, base: int, size: int) -> None:
        """What an event says of an object."""
        self.stream.address(base)
        first = base - BASE
        tainted = [i for i in range(size) if first + i in self.tainted]
        content = bytes(0 if i in tainted else self.content[first + i] for i in range(size))
        self.stream.raw(b"\1" if content == self._sent.get(base) else b"\0" + content)
        self._sent[base] = content
        at = 0
        for i in tainted:
            self.stream.varint(i - at + 1).varint(1)
            at = i + 1
        self.stream.raw(b"\0")

    def _objects(self, kind: int) -> None:
        if kind in SEVERAL:
            self.stream.varint(2 << 1 | 1)
            for base, size in ((BASE, SIZE), (APART, SMALL)):
                self.stream.varint(size)
                self._object(base, size)
            return
        if kind not in KNOWN:
            self.stream.varint(SIZE << 2 | (kind == ANYWHERE) << 1 if kind in IS_STORE else SIZE << 1)
        self._object(BASE, SIZE)

    def _begins(self, kind: int, index: int) -> int | None:
        """Sends head and leaves; the offset into memory, or None if the address is not in the object, or one of
        them."""
        at, size = STRIDE[kind] * self.data[index], WIDTH[kind] // 8
        in_other = kind in SEVERAL and APART <= BASE + at <= APART + SMALL - size
        inside = at + size <= SIZE or in_other
        self.stream.head(100 + 10 * kind + index, int(inside))
        if kind in IS_STORE:
            value, is_tainted = self.known
            self.stream.varint(0b0101 if is_tainted else 0b0100)
            if not is_tainted:
                self.stream.signed(value)
        if inside:
            return at
        if kind in KNOWN:
            self.stream.address(BASE)
        return None

    def _read(self, kind: int, index: int) -> None:
        at = self._begins(kind, index)
        if at is None:
            self.known = (0x4142, False)
            return
        self._objects(kind)
        self.known = (int.from_bytes(self.content[at : at + WIDTH[kind] // 8], "little"), True)
        self.stream.signed(self.known[0])

    def _store(self, kind: int, index: int) -> None:
        value, _ = self.known
        at = self._begins(kind, index)
        if at is None:
            return
        self._objects(kind)
        self.stream.signed(value)
        self.content[at : at + 2] = value.to_bytes(2, "little")
        if kind in BYTEWISE:
            self.tainted |= set(range(SIZE))
            self.tainted |= set(range(APART - BASE, MEMORY)) if kind in SEVERAL else set()
        else:
            stride = STRIDE[kind]
            self.tainted |= {place + i for place in range(at % stride, SIZE - 1, stride) for i in range(2)}

    def show(self) -> dict[int, int]:
        """Sends what depends on the input now; returns it, by place."""
        found = {place: self.content[place] for place in sorted(self.tainted)}
        for place, value in found.items():
            self.stream.head(SHOWN + place).address(BASE + place).signed(value).head(SEEN + place)
        if self.known[1]:
            found[MEMORY] = self.known[0]
            self.stream.head(SHOWN + MEMORY).signed(self.known[0]).head(SEEN + MEMORY)
        return found


MOST = MEMORY + 1  # of an index
inputs = st.lists(st.integers(0, MOST), min_size=INPUTS, max_size=INPUTS).map(bytes)
operations = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, INPUTS - 1)), min_size=1, max_size=6)


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
    near = [bytes([*data[:i], (data[i] + 1) % (MOST + 1), *data[i + 1 :]]) for i in range(INPUTS)]
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
