"""One step per kind of event: decode its body, apply it. Compiled when the head of an event is first seen.

A head is a site and a direction, so all that can be known from the site table is decided here, once: places, widths,
labels, whether an address is sent. What is left runs at every event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from score_embed.contract.descriptors import Reserved
from score_embed.contract.sites import Place, Site, SiteKind
from score_embed.contract.words import Note
from score_embed.formula import build
from score_embed.formula.expr import Expr
from score_embed.trace.bounds import compile_bounds, compile_sized
from score_embed.trace.concrete import Concrete
from score_embed.trace.cursor import TraceError
from score_embed.trace.decoded import Decoded
from score_embed.trace.leaves import compile_leaves
from score_embed.trace.outcome import OnBranch, Outcome, place
from score_embed.trace.selects import Constants, Selects
from score_embed.trace.stores import Stores
from score_embed.trace.template import KEPT, Programs, fit

Step = Callable[[], object]


_LOSSES = {
    Reserved.OPAQUE_ARGUMENTS: Note.OPAQUE_ARGUMENTS,
    Reserved.CALLBACK_RETURN: Note.CALLBACK_RETURN,
    Reserved.LOST: Note.OUT_OF_REACH,
    Reserved.SEEN: Note.IN_HANDLER,
    Reserved.FOUND: Note.OPAQUE_FINDS,
    Reserved.SHARED: Note.HANDLER_READS,
}


class Steps:
    """The steps of one image's events, applied to `decoded`; branches go to `on_branch`."""

    def __init__(
        self, programs: Programs, decoded: Decoded, on_branch: OnBranch, concrete: Concrete, constants: Constants
    ) -> None:
        self._programs, self._concrete = programs, concrete
        self._selects = Selects(decoded, on_branch, concrete, constants)
        self._stores = Stores(self._selects, on_branch, concrete)
        self._sites = programs.table.sites
        self._decoded, self._cursor, self._mirror = decoded, decoded.cursor, decoded.mirror
        self._on_branch = on_branch
        # Runs meet the same conditions again and again: by the event's head and the leaves it read.
        self._conditions: dict[tuple[int, tuple[Expr, ...]], tuple[Outcome]] = {}
        self._links: dict[tuple[int, Expr], list[tuple[Outcome, Outcome]]] = {}

    def compile(self, head: int) -> Step:
        """The step of all events with this head. Raises TraceError if the image's probes send none."""
        site = self._sites.get(head >> 1)
        if site is None:
            return self._reserved(head)
        if site.kind in (SiteKind.COND, SiteKind.CHECK):
            return self._condition(site, head & 1)
        if site.kind is SiteKind.RANGE:
            return self._range(site, head & 1)
        if site.kind in (SiteKind.BOUNDS, SiteKind.SPAN):
            read = compile_leaves(site, self._cursor, self._mirror)
            return compile_bounds(site, head & 1, self._programs, read, self._decoded, self._on_branch)
        if site.kind is SiteKind.SIZED:
            read = compile_leaves(site, self._cursor, self._mirror)
            return compile_sized(site, head & 1, self._programs, read, self._decoded, self._on_branch)
        if site.kind is SiteKind.STORE:
            read = compile_leaves(site, self._cursor, self._mirror)
            return self._stores.compile(site, head & 1, self._programs, read)
        if site.kind is SiteKind.SELECT:
            read = compile_leaves(site, self._cursor, self._mirror)
            return self._selects.compile(site, head & 1, self._programs, read, self._store(site))
        if head & 1:
            raise self._cursor.fail(f"site {site.id} has no direction")
        compilers: dict[SiteKind, Callable[[Site], Step]] = {
            SiteKind.ASSIGN: self._assign,
            SiteKind.SWITCH: self._switch,
            SiteKind.CALL: self._call,
            SiteKind.RESULT: self._result,
            SiteKind.OPAQUE: self._opaque,
            SiteKind.COPY: self._copy,
            SiteKind.PIN: self._pin,
            SiteKind.SYMBOLIC: self._symbolic,
            SiteKind.VARIADIC: self._variadic,
        }
        if site.kind not in compilers:
            raise self._cursor.fail(f"site {site.id} sends no events")
        return compilers[site.kind](site)

    def _reserved(self, head: int) -> Step:
        cursor, number = self._cursor, head >> 1
        if head == Reserved.FRAME << 1:
            return cursor.next_depth
        if head & 1 or (number not in _LOSSES and number != Reserved.UNTAINT):
            raise cursor.fail(f"there is no site {number}")
        loss = _LOSSES.get(Reserved(number))

        def step() -> None:
            site = cursor.varint()
            if site not in self._sites:
                raise cursor.fail(f"there is no site {site}")
            if loss is None:
                self._mirror.forget(cursor.next_address(), cursor.varint())
                self._decoded.note(Note.OPAQUE_CHANGED, site)
            else:
                self._decoded.note(loss, site)

        return step

    # --- values ------------------------------------------------------------------------------------------------

    def _store(self, site: Site) -> Callable[[Expr], None]:
        """Puts a value where the site says; the address of memory comes from the stream."""
        dest, decoded, cursor, mirror = site.dest, self._decoded, self._cursor, self._mirror
        if dest is None or dest.place is Place.NONE:
            return lambda expr: None
        bits, where, in_slot, sent = dest.bits, dest.where, dest.place is Place.SLOT, dest.place is Place.MEMORY

        def store(expr: Expr) -> None:
            if expr.width != bits:
                expr = fit(expr, bits)
            if in_slot:
                mirror.set_slot(cursor.depth, where, expr)
            else:
                mirror.write(cursor.next_address() if sent else where, expr)
            decoded.check_stored(site.id, expr)

        return store

    def _assign(self, site: Site) -> Step:
        program, value = self._programs.get(site), self._programs.value
        read, store = compile_leaves(site, self._cursor, self._mirror), self._store(site)
        said = self._decoded.said_of_value
        return lambda: store(value(program, said(read())))

    def _call(self, site: Site) -> Step:
        cursor, mirror, leaves = self._cursor, self._mirror, site.leaves

        def step() -> None:
            mask = cursor.varint()
            if mask >> len(leaves):
                raise TraceError(f"call {site.id} has fewer arguments", place(site))
            depth = cursor.depth
            for i, leaf in enumerate(leaves):
                if mask >> i & 1:
                    mirror.set_slot(depth + 1, i + 1, fit(mirror.slot(depth, leaf.where), leaf.bits))

        return step

    def _result(self, site: Site) -> Step:
        cursor, mirror, store = self._cursor, self._mirror, self._store(site)
        return lambda: store(mirror.slot(cursor.depth + 1, 0))

    def _opaque(self, site: Site) -> Step:
        cursor, mirror = self._cursor, self._mirror
        bits = site.dest.bits if site.dest else 0
        where = site.dest.where if site.dest else 0
        origins = frozenset({site.id})

        def step() -> None:
            value = cursor.signed()
            if bits:
                mirror.set_slot(cursor.depth, where, build.const(value, bits, origins))

        return step

    def _copy(self, site: Site) -> Step:
        cursor, mirror = self._cursor, self._mirror
        return lambda: mirror.copy(cursor.next_address(), cursor.next_address(), cursor.varint())

    def _variadic(self, site: Site) -> Step:
        cursor, mirror = self._cursor, self._mirror

        def step() -> None:
            slot = cursor.varint()
            mirror.write(cursor.next_address(), mirror.slot(cursor.depth, slot))

        return step

    def _pin(self, site: Site) -> Step:
        program, value = self._programs.get(site), self._programs.value
        read, decoded, use = compile_leaves(site, self._cursor, self._mirror), self._decoded, self._concrete.use
        if not program.leaves:
            return lambda: decoded.note(site.name or Note.CONCRETIZED, site.id)
        symbolic = opaque = site.name or Note.CONCRETIZED
        if site.name == "argument":
            symbolic = opaque = ""
        elif site.name == "address":
            symbolic, opaque = Note.SYMBOLIC_ADDRESS, Note.OPAQUE_ADDRESS
        return lambda: use(site, value(program, decoded.said(read())), symbolic, opaque)

    def _symbolic(self, site: Site) -> Step:
        dest, decoded, cursor, mirror = site.dest, self._decoded, self._cursor, self._mirror
        if dest is None or dest.place is Place.NONE:
            raise cursor.fail(f"site {site.id} puts its input nowhere")
        in_slot, sent, bits, where = dest.place is Place.SLOT, dest.place is Place.MEMORY, dest.bits, dest.where

        def step() -> None:
            address = cursor.next_address() if sent else where
            size = site.size or cursor.varint()
            if decoded.consumed + size > len(decoded.data):
                raise TraceError(f"site {site.id} takes more input than the test has", place(site))
            if not size:
                return
            offset = decoded.declare(site.id, site.name or "input", size)
            if in_slot:
                value = build.from_bytes([build.byte(offset + i) for i in range(size)])
                mirror.set_slot(cursor.depth, where, fit(value, bits))
            else:
                for i in range(size):
                    mirror.write(address + i, build.byte(offset + i))

        return step

    # --- branches ----------------------------------------------------------------------------------------------

    def _condition(self, site: Site, direction: int, on_branch: OnBranch | None = None) -> Step:
        program, value, decoded = self._programs.get(site), self._programs.value, self._decoded
        read, branch = compile_leaves(site, self._cursor, self._mirror), on_branch or self._on_branch
        is_check = site.kind is not SiteKind.COND  # then its other side leads to no other place of the program
        elsewhere = () if is_check else (site.coverage + 1 - direction,)
        head, known = site.id << 1 | direction, self._conditions

        def step() -> None:
            leaves = read()
            said = decoded.said(leaves)
            outcome = known.get((head, said))
            if outcome is None:
                if len(known) >= KEPT:
                    known.clear()
                holds = value(program, said)
                held = holds if direction else build.negate(holds)
                outcome = known[head, said] = (Outcome(-1, direction, held, elsewhere),)
            if decoded.verify and not is_check:
                decoded.check_stored(site.id, value(program, said))
            branch(site, leaves, outcome)

        return step

    def _range(self, site: Site, direction: int) -> Step:
        """Whether a conversion to an integer is defined. If it is not, its operand is used as it is in this run."""
        decoded = self._decoded
        operands: list[Expr] = []

        def on_branch(site: Site, leaves: tuple[Expr, ...], outcomes: Sequence[Outcome]) -> bool:
            went_on = self._on_branch(site, leaves, outcomes)
            operands[:] = leaves if went_on else ()
            return went_on

        condition = self._condition(site, direction, on_branch)

        def step() -> None:
            condition()
            for operand in operands:
                if operand.deps:
                    decoded.note(Note.CONVERSION, site.id)
                    decoded.pin(site.id, operand)

        return condition if direction else step

    def _switch(self, site: Site) -> Step:
        cursor, mirror, decoded, links = self._cursor, self._mirror, self._decoded, self._chain
        (leaf,) = site.leaves

        def step() -> None:
            arm = cursor.varint()
            if arm > len(site.labels):
                raise cursor.fail(f"switch {site.id} has no label {arm}")
            value = fit(mirror.slot(cursor.depth, leaf.where), leaf.bits)
            decoded.check_stored(site.id, value)
            (said,) = decoded.said((value,))
            chain = links(site, said)
            path = [passed for passed, _ in chain[:arm]]
            if arm < len(chain):
                path.append(chain[arm][1])
            self._on_branch(site, (value,), path)

        return step

    def _chain(self, site: Site, value: Expr) -> list[tuple[Outcome, Outcome]]:
        """For each label of a switch: the value is not in it, the value is."""
        found = self._links.get((site.id, value))
        if found is None:
            if len(self._links) * len(site.labels) >= KEPT:
                self._links.clear()
            # Not taking an arm leads to any of the later ones; only taking it leads to it.
            end = site.coverage + site.outcomes
            found = self._links[site.id, value] = []
            for k, (first, last) in enumerate(site.labels):
                inside = build.member(value, first, last)
                later = tuple(range(site.coverage + k + 1, end))
                passed = Outcome(k, 0, build.negate(inside), (site.coverage + k,))
                found.append((passed, Outcome(k, 1, inside, later)))
        return found
