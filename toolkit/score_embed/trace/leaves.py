"""Leaves compiled per site: how to read the operands of a template from the stream and the mirror.

What a site can send is known from the site table, so the questions "slot or memory, how wide, how many" are
answered once, when the reader is made, not at every event.
"""

from __future__ import annotations

from collections.abc import Callable

from score_embed.contract.sites import Leaf, Place, Site
from score_embed.formula.build import const
from score_embed.formula.expr import Expr
from score_embed.trace.cursor import Cursor
from score_embed.trace.memory import Mirror
from score_embed.trace.template import fit

UNTAINTED, TAINTED, PARTLY = 0, 1, 2

LeafReader = Callable[[int], Expr]  # takes the leaf's taint
Reader = Callable[[], tuple[Expr, ...]]


def compile_leaves(site: Site, cursor: Cursor, mirror: Mirror) -> Reader:
    """Reads the formulas of all leaves of the site's template."""
    if site.template is None:
        raise cursor.fail(f"site {site.id} has no template")
    leaves = site.template.leaves
    readers = [_compile_leaf(leaf, cursor, mirror) for leaf in leaves]
    if not leaves:
        return lambda: ()
    if len(leaves) == 1:
        return _one(leaves[0], readers[0], cursor)
    if len(leaves) == 2:
        return _two(site, readers[0], readers[1], cursor)
    return _many(site, readers, cursor)


def _one(leaf: Leaf, read: LeafReader, cursor: Cursor) -> Reader:
    """One leaf that can only be tainted as a whole needs no mask: nothing untainted is sent."""
    if leaf.place is Place.SLOT or leaf.place is Place.NONE or leaf.bits <= 8:
        return lambda: (read(TAINTED),)
    return lambda: (read(cursor.varint()),)


def _two(site: Site, first: LeafReader, second: LeafReader, cursor: Cursor) -> Reader:
    def read() -> tuple[Expr, ...]:
        mask = cursor.varint()
        if mask > 15:
            raise cursor.fail(f"site {site.id} has fewer leaves")
        return first(mask & 3), second(mask >> 2)

    return read


def _many(site: Site, readers: list[LeafReader], cursor: Cursor) -> Reader:
    def read() -> tuple[Expr, ...]:
        mask = cursor.varint()
        found = []
        for reader in readers:
            found.append(reader(mask & 3))
            mask >>= 2
        if mask:
            raise cursor.fail(f"site {site.id} has fewer leaves")
        return tuple(found)

    return read


def _compile_leaf(leaf: Leaf, cursor: Cursor, mirror: Mirror) -> LeafReader:
    if leaf.place is Place.SLOT:
        return _slot(leaf, cursor, mirror)
    if leaf.place is Place.NONE:
        return _nowhere(leaf, cursor)
    return _memory(leaf, cursor, mirror)


def _slot(leaf: Leaf, cursor: Cursor, mirror: Mirror) -> LeafReader:
    bits, where = leaf.bits, leaf.where

    def read(taint: int) -> Expr:
        if taint == TAINTED:
            found = mirror.slot(cursor.depth, where)
            return found if found.width == bits else fit(found, bits)
        if taint == UNTAINTED:
            return const(cursor.signed(), bits)
        raise cursor.fail("a leaf with an impossible taint")

    return read


def _nowhere(leaf: Leaf, cursor: Cursor) -> LeafReader:
    def read(taint: int) -> Expr:
        if taint != UNTAINTED:
            raise cursor.fail("a leaf with an impossible taint")
        return const(cursor.signed(), leaf.bits)

    return read


def _memory(leaf: Leaf, cursor: Cursor, mirror: Mirror) -> LeafReader:
    bits, size, sent = leaf.bits, leaf.bits // 8, leaf.place is Place.MEMORY

    def read(taint: int) -> Expr:
        if taint == UNTAINTED:
            return const(cursor.signed(), bits)
        if taint > PARTLY:
            raise cursor.fail("a leaf with an impossible taint")
        address = cursor.next_address() if sent else leaf.where
        if taint == TAINTED:
            return mirror.read(address, size)
        mask = cursor.varint()
        if not 0 < mask < (1 << size) - 1:
            raise cursor.fail("a partly tainted leaf with an impossible mask")
        return mirror.read_partly(address, size, mask, cursor.signed())

    return read
