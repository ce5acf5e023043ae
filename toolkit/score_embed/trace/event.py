"""The event stream: bytes to events, by the site table. docs/design/probes.md is its specification.

The bytes come from a board over a wire, so nothing about them is trusted: whatever they are, the result is events
or a TraceError that says at which byte and site.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from score_embed.errors import TargetError
from score_embed.frontend.sites import Leaf, Place, Site, SiteKind, SiteTable

_FRAME, _UNTAINT, _OPAQUE_ARGUMENTS, _CALLBACK_RETURN, _LOST = 0, 2, 3, 4, 5
MAX_DEPTH = 1 << 24

UNTAINTED, TAINTED, PARTLY = 0, 1, 2


class TraceError(TargetError):
    """The events are not what the image's probes send."""

    def __init__(self, what: str, where: str = "") -> None:
        hint = "The link damages data in a way its checksums miss, or the program overwrote the probe runtime."
        super().__init__(f"the trace is damaged: {what}", where, hint)


class Operand(NamedTuple):
    """A leaf as sent. `value`: of an untainted or partly tainted one; `mask`: the tainted bytes of a partly tainted."""

    taint: int
    value: int = 0
    address: int = 0
    mask: int = 0


@dataclass(slots=True)
class Computed:
    """assign, cond, pin: a template with its leaves. `stored`: the value itself, in verify images."""

    site: int
    direction: int
    operands: list[Operand]
    address: int = 0
    stored: int | None = None


@dataclass(slots=True)
class Switched:
    site: int
    arm: int
    stored: int | None = None


@dataclass(slots=True)
class Called:
    """Arguments whose bit is set in `mask` are symbolic."""

    site: int
    mask: int


@dataclass(slots=True)
class Returned:
    site: int
    stored: int | None = None


@dataclass(slots=True)
class Opaque:
    """The concrete result of an opaque call that had symbolic data."""

    site: int
    value: int


@dataclass(slots=True)
class Copied:
    site: int
    to: int
    source: int
    size: int


@dataclass(slots=True)
class Symbolic:
    site: int
    address: int
    size: int


@dataclass(slots=True)
class Frame:
    """The following events belong to the activation at `depth`."""

    site: int
    depth: int


@dataclass(slots=True)
class Untainted:
    """An opaque call changed these symbolic bytes."""

    site: int
    address: int
    size: int


@dataclass(slots=True)
class Loss:
    """Something symbolic went where it cannot be followed; `what` as in the notes of a path."""

    site: int
    what: str


Event = Computed | Switched | Called | Returned | Opaque | Copied | Symbolic | Frame | Untainted | Loss

_LOSSES = {
    _OPAQUE_ARGUMENTS: "symbolic data given to an opaque call",
    _CALLBACK_RETURN: "symbolic result given to an opaque caller",
    _LOST: "symbolic value stored out of reach",
}


def read_events(table: SiteTable, data: bytes, verify: bool = False) -> Iterator[Event]:
    """The events of a stream in order. Raises TraceError at the first byte that makes no sense."""
    return _Decoder(table, data, verify).events()


class _Decoder:
    def __init__(self, table: SiteTable, data: bytes, verify: bool) -> None:
        self._table, self._data, self._verify = table, data, verify
        self._at = 0
        self._address = 0
        self._depth = 0
        self._pointer_mask = (1 << table.pointer_bits) - 1

    def events(self) -> Iterator[Event]:
        end = len(self._data)
        sites = self._table.sites
        while self._at < end:
            head = self._varint()
            site = sites.get(head >> 1)
            yield self._reserved(head) if site is None else self._event(site, head & 1)

    def _fail(self, what: str) -> TraceError:
        return TraceError(what, f"event byte {self._at} of {len(self._data)}")

    def _varint(self) -> int:
        data, at = self._data, self._at
        try:
            byte = data[at]
            at += 1
            number = byte & 127
            shift = 7
            while byte > 127:
                if shift == 70:
                    raise self._fail("a number has more than 10 bytes")
                byte = data[at]
                at += 1
                number |= (byte & 127) << shift
                shift += 7
        except IndexError:
            raise self._fail("it ends within an event") from None
        self._at = at
        return number

    def _signed(self) -> int:
        number = self._varint()
        return number >> 1 ^ -(number & 1)

    def _next_address(self) -> int:
        self._address = (self._address + self._signed()) & self._pointer_mask
        return self._address

    def _stored(self) -> int | None:
        return self._signed() if self._verify else None

    def _reserved(self, head: int) -> Event:
        if head == _FRAME:
            self._depth += self._signed()
            if not 0 <= self._depth <= MAX_DEPTH:
                raise self._fail(f"an activation at depth {self._depth}")
            return Frame(0, self._depth)
        number = head >> 1
        if head & 1 or (number not in _LOSSES and number != _UNTAINT):
            raise self._fail(f"there is no site {number}")
        site = self._varint()
        if site not in self._table.sites:
            raise self._fail(f"there is no site {site}")
        if number == _UNTAINT:
            return Untainted(site, self._next_address(), self._varint())
        return Loss(site, _LOSSES[number])

    def _event(self, site: Site, direction: int) -> Event:
        kind = site.kind
        if direction and kind is not SiteKind.COND:
            raise self._fail(f"site {site.id} has no direction")
        if kind is SiteKind.ASSIGN:
            operands = self._operands(site)
            in_memory = site.dest is not None and site.dest.place is Place.MEMORY
            address = self._next_address() if in_memory else 0
            return Computed(site.id, 0, operands, address, self._stored())
        if kind is SiteKind.COND:
            return Computed(site.id, direction, self._operands(site), 0, self._stored())
        if kind is SiteKind.CALL:
            return Called(site.id, self._varint())
        if kind is SiteKind.RESULT:
            return Returned(site.id, self._stored())
        if kind is SiteKind.COPY:
            return Copied(site.id, self._next_address(), self._next_address(), self._varint())
        if kind is SiteKind.SWITCH:
            arm = self._varint()
            if arm > len(site.labels):
                raise self._fail(f"switch {site.id} has no label {arm}")
            return Switched(site.id, arm, self._stored())
        if kind is SiteKind.PIN:
            return Computed(site.id, 0, self._operands(site))
        if kind is SiteKind.OPAQUE:
            return Opaque(site.id, self._signed())
        if kind is SiteKind.SYMBOLIC:
            in_memory = site.dest is not None and site.dest.place is Place.MEMORY
            address = self._next_address() if in_memory else 0
            return Symbolic(site.id, address, site.size or self._varint())
        raise self._fail(f"site {site.id} sends no events")

    def _operands(self, site: Site) -> list[Operand]:
        if site.template is None:
            raise self._fail(f"site {site.id} has no template")
        leaves = site.template.leaves
        if len(leaves) == 1:
            # One leaf that can only be tainted as a whole needs no mask: nothing untainted is sent.
            leaf = leaves[0]
            whole = leaf.place is Place.SLOT or leaf.place is Place.NONE or leaf.bits <= 8
            return [self._operand(leaf, TAINTED if whole else self._varint())]
        mask = self._varint() if leaves else 0
        operands = []
        for leaf in leaves:
            operands.append(self._operand(leaf, mask & 3))
            mask >>= 2
        if mask:
            raise self._fail(f"site {site.id} has fewer leaves")
        return operands

    def _operand(self, leaf: Leaf, taint: int) -> Operand:
        if taint == UNTAINTED:
            return Operand(taint, self._signed())
        in_memory = leaf.place is Place.MEMORY or leaf.place is Place.GLOBAL
        if taint > PARTLY or (taint == PARTLY and not in_memory) or leaf.place is Place.NONE:
            raise self._fail("a leaf with an impossible taint")
        address = self._next_address() if leaf.place is Place.MEMORY else leaf.where
        if taint == TAINTED:
            return Operand(taint, 0, address)
        mask = self._varint()
        if not 0 < mask < (1 << leaf.bits // 8) - 1:
            raise self._fail("a partly tainted leaf with an impossible mask")
        return Operand(taint, self._signed(), address, mask)
