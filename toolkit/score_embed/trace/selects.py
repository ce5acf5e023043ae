"""Reads at symbolic addresses: from the object that was read to the formula of whatever lies at the address.

That the address is in the object is a condition of the path (it has no other direction in the program, so it is in
neither path hash nor coverage); beyond it the formula would say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from score_embed.contract.sites import SelectFlag, Site
from score_embed.contract.words import Note
from score_embed.formula import build
from score_embed.formula.expr import WIDEST, Expr, Kind
from score_embed.formula.select import Cell, follow, select, within
from score_embed.trace.concrete import Concrete
from score_embed.trace.cursor import TraceError
from score_embed.trace.decoded import Decoded
from score_embed.trace.outcome import Chosen, OnBranch, Outcome, place
from score_embed.trace.template import KEPT, Programs

Reader = Callable[[], tuple[Expr, ...]]
Store = Callable[[Expr], None]


class Constants(Protocol):
    """What the image holds that no program can change."""

    def object_at(self, address: int) -> tuple[int, int] | None:
        """Address and size of the constant that this is a byte of, or of a piece of what has no name. No two overlap."""

    def read(self, address: int, size: int) -> bytes | None:
        """The bytes there, if they are constant and the image has them all."""

    def initial(self, address: int, size: int) -> bytes | None:
        """The bytes there as the program begins with them, constant or not."""


class NoConstants:
    """For streams without an image."""

    def object_at(self, address: int) -> tuple[int, int] | None:
        return None

    def read(self, address: int, size: int) -> bytes | None:
        return None

    def initial(self, address: int, size: int) -> bytes | None:
        return None


class Object(NamedTuple):
    """Its address, its bytes, and the formulas in it. `sent`: the target said so; else it is constant. `known`: it is not the
    element alone that was read."""

    base: int
    content: bytes
    cell: Cell | None
    sent: bool
    known: bool = True

    def element(self, at: int, size: int) -> Expr:
        """What lies at an offset."""
        formula = self.cell(at) if self.cell else None
        return formula or build.const(int.from_bytes(self.content[at : at + size], "little"), 8 * size)


def inside_of(address: Expr, base: int, length: int, size: int) -> tuple[Expr, Expr]:
    """How far into the object the address is, and that this is in it."""
    offset = build.binary(Kind.SUB, address, build.const(base, address.width))
    return offset, within(offset, length - size)


class Selects:
    """The steps of one image's selects."""

    def __init__(self, decoded: Decoded, on_branch: OnBranch, concrete: Concrete, constants: Constants) -> None:
        self.decoded, self._cursor, self._mirror = decoded, decoded.cursor, decoded.mirror
        self._on_branch, self._concrete, self._constants = on_branch, concrete, constants
        # Runs read the same tables again and again: by site, leaves, object and its bytes.
        self._known: dict[tuple[int, tuple[Expr, ...], int, bytes], tuple[Expr, Expr | None]] = {}
        self._pointers: dict[tuple[Expr, int], tuple[Expr, Expr] | None] = {}

    def compile(
        self, site: Site, direction: int, programs: Programs, read: Reader, store: Store
    ) -> Callable[[], object]:
        """The step of the site's events. Direction 1: the address is in the object; 0: it is not, or there is none."""
        program, value, decoded = programs.get(site), programs.value, self.decoded
        assert site.dest is not None
        size = site.dest.bits // 8
        if not 1 <= size <= WIDEST // 8:
            raise TraceError(f"site {site.id} reads a number of {site.dest.bits} bits", place(site))

        def outside() -> None:
            leaves = read()
            address = value(program, decoded.said(leaves))
            if not site.size:
                self._concrete.address(site, address)
                return
            _, inside = inside_of(address, self._cursor.next_address(), site.size, size)
            self.outside(site, leaves, address, inside)

        def within_object() -> None:
            leaves = read()
            said = decoded.said(leaves)
            address = value(program, said)
            base, content, cell, sent, known = self._object(site, decoded.value(address), size)
            known = known or self._concrete.is_few(address)  # then each place is an object
            # Which constants a table leads to says the formula alone: all runs of a path must agree on the object.
            followed = None if site.size or sent else self._followed(address, size)
            inside, found = followed or self._formulas(site, said, address, base, content, cell, size)
            chosen = None
            if followed:
                chosen = self.chosen(address, 0, 0, size)
            elif known and not site.size:
                chosen = self.chosen(address, base, len(content), size)
            outcome = Outcome(-1, 1, inside, (), chosen)
            fork = None if found is not None and (known or followed) else self._concrete.fork(site, address)
            if not self._on_branch(site, leaves, (outcome, fork) if fork else (outcome,)):
                return
            if sent:
                decoded.keep_content(base, content)
            if address.origins and not address.deps:
                decoded.note(Note.OPAQUE_ADDRESS, site.id)
            if found is None or not (known or followed):
                if not fork:
                    self._concrete.address(site, address)
                at = build.const(decoded.value(address) - base, address.width)
                found = select(at, content, size, cell)
                assert found is not None
            store(found)

        return within_object if direction else outside

    def outside(self, site: Site, leaves: tuple[Expr, ...], address: Expr, inside: Expr) -> None:
        """The address is not in the object, and used as it is in this run."""
        outcome = Outcome(-1, 0, build.negate(inside), ())
        fork = self._concrete.fork(site, address)
        went_on = self._on_branch(site, leaves, (outcome, fork) if fork else (outcome,))
        if went_on and not fork:
            self._concrete.address(site, address, Note.OUTSIDE)

    def _formulas(
        self,
        site: Site,
        leaves: tuple[Expr, ...],
        address: Expr,
        base: int,
        content: bytes,
        cell: Cell | None,
        size: int,
    ) -> tuple[Expr, Expr | None]:
        """That the address is in the object, and what lies there (None: too much to say)."""
        key = site.id, leaves, base, content
        found = self._known.get(key) if cell is None else None
        if found is None:
            offset, inside = inside_of(address, base, len(content), size)
            found = inside, select(offset, content, size, cell)
            if len(self._known) >= KEPT:
                self._known.clear()
            if cell is None:
                self._known[key] = found
        return found

    def chosen(self, address: Expr, base: int, length: int, size: int) -> Chosen:
        """The object at `base` is one of those that the address may be in; `size`: bytes of the access."""

        def inside(base: int, length: int) -> Expr:
            if length:
                return inside_of(address, base, length, size)[1]
            followed = self._followed(address, size)
            return followed[0] if followed else build.FALSE

        return Chosen(address, base, length, inside)

    def _followed(self, address: Expr, size: int) -> tuple[Expr, Expr] | None:
        key = address, size
        if key not in self._pointers:
            if len(self._pointers) >= KEPT:
                self._pointers.clear()
            self._pointers[key] = follow(address, size, lambda at: self._constants.read(at, size))
        return self._pointers[key]

    # --- objects -----------------------------------------------------------------------------------------------

    def _object(self, site: Site, address: int, size: int) -> Object:
        """The object that the address is in. Where nobody knows it, it is the element alone."""
        if site.size and site.flags & SelectFlag.CONSTANT:
            base = self._cursor.next_address()
            if site.size < size:
                raise TraceError(f"site {site.id} reads more than its object has", place(site))
            return Object(base, self._constant(site, base, site.size), None, False)
        length = site.size or self._cursor.varint()
        if length:
            return self.variable(site, length, size)
        base, length = self._constants.object_at(address) or (address, 0)
        known = address - base <= length - size
        if not known:
            base, length = address, size
        return Object(base, self._constant(site, base, length), None, False, known)

    def _constant(self, site: Site, base: int, length: int) -> bytes:
        content = (self._constants.initial if site.size else self._constants.read)(base, length)
        if content is None:
            raise TraceError(f"site {site.id} reads a constant at {base:#x}, where the image has none", place(site))
        return content

    def variable(self, site: Site, length: int, size: int) -> Object:
        """What the target says of an object of `length` bytes that can change; `size`: bytes of the access."""
        cursor = self._cursor
        base = cursor.next_address()
        if length < size:
            raise TraceError(f"site {site.id} reads more than its object has", place(site))
        content: bytes | None
        if cursor.take(1) == b"\1":
            content = self.decoded.contents.get((base, length))
            if content is None:
                raise cursor.fail(f"the object at {base:#x} was never sent")
        else:
            content = cursor.take(length)
        runs: list[tuple[int, int]] = []
        at = 0
        while gap := cursor.varint():
            at += gap - 1
            count = cursor.varint()
            if not 0 < count <= length - at:
                raise cursor.fail("a part of an object that it does not have")
            runs.append((at, count))
            at += count
        return Object(base, content, self._cell(runs, content, base, size) if runs else None, True)

    def _cell(self, runs: list[tuple[int, int]], content: bytes, base: int, size: int) -> Cell:
        tainted = 0
        for at, count in runs:
            tainted |= ((1 << count) - 1) << at
        mirror, all_bytes = self._mirror, (1 << size) - 1

        def cell(offset: int) -> Expr | None:
            mask = tainted >> offset & all_bytes
            if not mask:
                return None
            value = int.from_bytes(content[offset : offset + size], "little")
            return mirror.read_partly(base + offset, size, mask, value)

        return cell
