"""Stores at symbolic addresses: each element of the object becomes the value, if the address is its own, else what it was.

That the address is in the object is a condition of the path, as of reads (selects.py), which also decode what the object
holds.
"""

from __future__ import annotations

from collections.abc import Callable

from score_embed.contract.sites import Site
from score_embed.contract.words import Note
from score_embed.formula import build
from score_embed.formula.expr import WIDEST, Expr
from score_embed.formula.select import changed
from score_embed.trace.concrete import Concrete
from score_embed.trace.cursor import TraceError
from score_embed.trace.outcome import OnBranch, Outcome, place
from score_embed.trace.selects import Object, Reader, Selects, inside_of
from score_embed.trace.template import Programs, fit


class Stores:
    """The steps of one image's stores."""

    def __init__(self, selects: Selects, on_branch: OnBranch, concrete: Concrete) -> None:
        self._selects, self._on_branch, self._concrete = selects, on_branch, concrete
        self._decoded = selects.decoded

    def compile(self, site: Site, direction: int, programs: Programs, read: Reader) -> Callable[[], object]:
        """The step of the site's events. Direction 1: the address is in the object; 0: it is not, or there is none: then
        the event of a plain assignment follows."""
        program, value, decoded, selects = programs.get(site), programs.value, self._decoded, self._selects
        assert site.dest is not None
        bits = site.dest.bits
        size = bits // 8
        if not 1 <= size <= WIDEST // 8:
            raise TraceError(f"site {site.id} stores a number of {bits} bits", place(site))

        def outside() -> None:
            leaves = read()
            address = value(program, decoded.said(leaves))
            if not site.size:
                self._concrete.address(site, address)
                return
            _, inside = inside_of(address, decoded.cursor.next_address(), site.size, size)
            selects.outside(site, leaves, address, inside)

        def within_object() -> None:
            leaves = read()
            said = decoded.said(leaves)
            address = value(program, said)
            length, anywhere = site.size, 0
            if not length:
                told = decoded.cursor.varint()
                length, anywhere = told >> 1, told & 1
            if not (site.stride or anywhere):
                raise TraceError(f"store {site.id} knows no elements", place(site))
            found = selects.variable(site, length, 1 if anywhere else size)
            offset, inside = inside_of(address, found.base, len(found.content), size)
            chosen = None if site.size else selects.chosen(address, found.base, len(found.content), size)
            if not self._on_branch(site, leaves, (Outcome(-1, 1, inside, (), chosen),)):
                return
            decoded.keep_content(found.base, found.content)
            if address.origins and not address.deps:
                decoded.note(Note.OPAQUE_ADDRESS, site.id)
            stored = fit(said[0], bits)
            if anywhere:
                self._change_bytes(offset, stored, found, size)
            else:
                self._change(site, offset, stored, found, size)
            decoded.check_stored(site.id, stored)

        return within_object if direction else outside

    def _change(self, site: Site, offset: Expr, stored: Expr, found: Object, size: int) -> None:
        """The target calls all these places symbolic now."""
        last = len(found.content) - size
        first = self._decoded.value(offset) % site.stride
        elements = [(at, found.element(at, size)) for at in range(first, last + 1, site.stride)]
        for at, before in elements:
            self._decoded.mirror.write(found.base + at, build.ite(changed(offset, last, at), stored, before))

    def _change_bytes(self, offset: Expr, stored: Expr, found: Object, size: int) -> None:
        """Where nobody knows how far apart the places are: each byte may become any byte of the value."""
        last = len(found.content) - size
        parts = [build.extract(stored, 8 * k, 8) for k in range(size)]
        after = []
        for at in range(len(found.content)):
            byte = found.element(at, 1)
            for k in range(max(0, at - last), min(size, at + 1)):
                byte = build.ite(changed(offset, last, at - k), parts[k], byte)
            after.append(byte)
        for at, byte in enumerate(after):
            self._decoded.mirror.write(found.base + at, byte)
