"""Writes event streams and site tables as an instrumented program would: the decoder's other half, for tests."""

from __future__ import annotations

from score_embed.contract.sites import Leaf, Op, Place, Site, SiteKind, SiteTable, Step, Template
from score_embed.trace.trail import Trail

NONE = Leaf(Place.NONE, 0, 0)


def slot(index: int, bits: int = 32) -> Leaf:
    return Leaf(Place.SLOT, bits, index)


def memory(bits: int) -> Leaf:
    return Leaf(Place.MEMORY, bits, 0)


def leaf_step(index: int, bits: int) -> Step:
    return Step(Op.LEAF, bits, index)


def copy_template(leaf: Leaf) -> Template:
    """The value of one leaf as it is."""
    return Template((leaf,), (leaf_step(0, leaf.bits),))


def compare(op: Op, leaf: Leaf, value: int) -> Template:
    steps = (leaf_step(0, leaf.bits), Step(Op.CONST, leaf.bits, value), Step(op, leaf.bits))
    return Template((leaf,), steps)


def table(*sites: Site, pointer_bits: int = 32) -> SiteTable:
    return SiteTable(pointer_bits, {site.id: site for site in sites})


def symbolic(ident: int, dest: Leaf, size: int, name: str = "x") -> Site:
    return Site(ident, SiteKind.SYMBOLIC, "a.c", ident, "main", name, dest=dest, size=size)


def condition(ident: int, template: Template, flags: int = 0) -> Site:
    # Two coverage indices each, from the site's number, so that no two sites share one.
    place = ("a.c", ident, "main")
    return Site(ident, SiteKind.COND, *place, template=template, coverage=2 * ident, flags=flags)


def assign(ident: int, dest: Leaf, template: Template) -> Site:
    return Site(ident, SiteKind.ASSIGN, "a.c", ident, "main", dest=dest, template=template)


def pin(ident: int, leaf: Leaf, name: str = "address") -> Site:
    return Site(ident, SiteKind.PIN, "a.c", ident, "main", name, template=copy_template(leaf))


def replay(sites: SiteTable, events: bytes, data: bytes, verify: bool = False) -> Trail:
    """The path of one run, from nothing."""
    trail = Trail(sites, verify)
    trail.follow(events, data)
    return trail


class Stream:
    """Bytes of events, in order."""

    def __init__(self, pointer_bits: int = 32) -> None:
        self.data = bytearray()
        self._pointer_bits = pointer_bits
        self._address = self._depth = 0

    def varint(self, number: int) -> Stream:
        while number > 127:
            self.data.append(number & 127 | 128)
            number >>= 7
        self.data.append(number)
        return self

    def raw(self, content: bytes) -> Stream:
        self.data += content
        return self

    def signed(self, number: int) -> Stream:
        return self.varint(number << 1 if number >= 0 else (-number << 1) - 1)

    def head(self, site: int, direction: int = 0) -> Stream:
        return self.varint(site << 1 | direction)

    def address(self, address: int) -> Stream:
        half, full = 1 << self._pointer_bits - 1, 1 << self._pointer_bits
        difference = (address - self._address + half) % full - half
        self._address = address
        return self.signed(difference)

    def frame(self, depth: int) -> Stream:
        self.varint(0).signed(depth - self._depth)
        self._depth = depth
        return self

    def __bytes__(self) -> bytes:
        return bytes(self.data)
