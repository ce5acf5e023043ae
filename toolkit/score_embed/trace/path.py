"""The path of one run: events replayed over the mirror give its conditions as formulas over the input.

Each formula is evaluated under the run's own input and compared with what the target did. Where they disagree (a
*divergence*) the mirror no longer describes the run, so the path is cut there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from score_embed.frontend.sites import Leaf, Place, Site, SiteTable
from score_embed.solve import build
from score_embed.solve.expr import Expr, Kind, evaluate
from score_embed.trace import hash as hashes
from score_embed.trace.event import (
    PARTLY,
    UNTAINTED,
    Called,
    Computed,
    Copied,
    Event,
    Frame,
    Loss,
    Opaque,
    Operand,
    Returned,
    Switched,
    Symbolic,
    TraceError,
    Untainted,
    read_events,
)
from score_embed.trace.memory import Mirror, NotMirrored
from score_embed.trace.template import Program, Programs, fit

ASSUMPTION = 1  # flag of a condition


@dataclass(frozen=True, slots=True)
class Condition:
    """A tainted branch, or one link of the chain that a tainted switch stands for."""

    site: int
    chain: int  # a switch's label; -1 for a plain condition
    direction: int  # did it hold
    formula: Expr  # true in this run
    assumption: bool
    before: hashes.Lanes  # condition hash of what came before
    elsewhere: tuple[int, ...]  # coverage indices that only the other side leads to

    @property
    def flippable(self) -> bool:
        """The false side of an assumption is never asked for."""
        return not (self.assumption and self.direction)

    @property
    def concrete(self) -> bool:
        """The target took it for symbolic, but its formula depends on no input."""
        return not self.formula.deps

    def hash(self, flipped: bool = False) -> int:
        """The condition hash up to and including this one, or its other side."""
        return hashes.value(self.lanes(flipped))

    def lanes(self, flipped: bool = False) -> hashes.Lanes:
        direction = self.direction ^ flipped
        if self.chain < 0:
            return hashes.mix_condition(self.before, self.site, direction)
        return hashes.mix_label(self.before, self.site, self.chain, direction)


@dataclass(frozen=True, slots=True)
class Pin:
    """A symbolic value that the program used concretely: `formula` says that it keeps the value it had."""

    site: int
    formula: Expr
    position: int  # number of conditions before it


@dataclass(frozen=True, slots=True)
class SymbolicObject:
    """A declared input: `size` bytes of the test's input from `offset` on."""

    name: str
    offset: int
    size: int
    site: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Verify mode: the program stored another value than the formula gives."""

    site: int
    stored: int
    computed: int


@dataclass
class Path:
    """What a run's events say. `notes`: (what, site) → how often; they make a campaign's result incomplete."""

    data: bytes
    conditions: list[Condition] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    objects: list[SymbolicObject] = field(default_factory=list)
    notes: Counter[tuple[str, int]] = field(default_factory=Counter)
    diverged: int = 0  # the site where the path was cut, or 0
    diverged_elsewhere: tuple[int, ...] = ()  # coverage indices that could not be asked for there
    operand_hash: int = hashes.value(hashes.START)
    disagreements: list[Disagreement] = field(default_factory=list)

    def condition_hash(self, count: int) -> int:
        """The condition hash over the first `count` conditions."""
        return self.conditions[count - 1].hash() if count else hashes.value(hashes.START)


def replay(table: SiteTable, events: bytes, data: bytes, verify: bool = False) -> Path:
    """The path of the run with input `data` that sent `events`. Raises TraceError if they make no sense."""
    global _programs
    if _programs is None or _programs.table is not table:
        _programs = Programs(table)
    return _Replay(_programs, data).run(events, verify)


_programs: Programs | None = None  # of the table used last: a campaign has one


class _Replay:
    def __init__(self, programs: Programs, data: bytes) -> None:
        self._programs = programs
        self._sites = programs.table.sites
        self._data = data
        self._mirror = Mirror(programs.table.pointer_bits)
        self._values: dict[Expr, int] = {}  # under `data`
        self._depth = 0
        self._consumed = 0  # input bytes
        self._names: Counter[str] = Counter()
        self._lanes = self._operands = hashes.START
        self._path = Path(data)

    def run(self, events: bytes, verify: bool) -> Path:
        path = self._path
        for event in read_events(self._programs.table, events, verify):
            try:
                self._apply(event)
            except NotMirrored as error:
                site = self._sites[event.site]
                raise TraceError(f"site {site.id} reads {error}, which was never symbolic", _place(site)) from None
            if path.diverged:
                break
        path.operand_hash = hashes.value(self._operands)
        return path

    def _apply(self, event: Event) -> None:
        if isinstance(event, Frame):
            self._depth = event.depth
            return
        if isinstance(event, Loss):
            self._note(event.what, event.site)
            return
        site = self._sites[event.site]
        if isinstance(event, Computed):
            self._computed(site, event)
        elif isinstance(event, Called):
            self._call(site, event.mask)
        elif isinstance(event, Returned):
            self._store(site, self._mirror.slot(self._depth + 1, 0), 0, event.stored)
        elif isinstance(event, Copied):
            self._mirror.copy(event.to, event.source, event.size)
        elif isinstance(event, Switched):
            self._switch(site, event)
        elif isinstance(event, Symbolic):
            self._symbolic(site, event)
        elif isinstance(event, Opaque):
            bits = site.dest.bits if site.dest else 0
            if bits:
                self._store(site, build.const(event.value, bits, frozenset({site.id})), 0, None)
        else:
            assert isinstance(event, Untainted)
            self._mirror.forget(event.address, event.size)
            self._note("symbolic memory changed by an opaque call", site.id)

    def _note(self, what: str, site: int) -> None:
        self._path.notes[what, site] += 1

    def _value(self, expr: Expr) -> int:
        if expr.kind is Kind.CONST:
            return expr.value
        return evaluate(expr, self._data, self._values)

    def _leaf(self, leaf: Leaf, operand: Operand) -> Expr:
        if operand.taint == UNTAINTED:
            return build.const(operand.value, leaf.bits)
        if leaf.place is Place.SLOT:
            return fit(self._mirror.slot(self._depth, leaf.where), leaf.bits)
        if operand.taint == PARTLY:
            return self._mirror.read_partly(operand.address, leaf.bits // 8, operand.mask, operand.value)
        return self._mirror.read(operand.address, leaf.bits // 8)

    def _computed(self, site: Site, event: Computed) -> None:
        program = self._programs.get(site)
        leaves = tuple(map(self._leaf, program.leaves, event.operands))
        if site.is_branch:
            self._condition(site, program, leaves, event)
        elif site.dest is not None:
            self._store(site, self._programs.value(program, leaves), event.address, event.stored)
        else:
            self._pin(site, self._programs.value(program, leaves))

    def _store(self, site: Site, expr: Expr, address: int, stored: int | None) -> None:
        dest = site.dest
        if dest is None or dest.place is Place.NONE:
            return
        expr = fit(expr, dest.bits)
        if dest.place is Place.SLOT:
            self._mirror.set_slot(self._depth, dest.where, expr)
        else:
            self._mirror.write(address if dest.place is Place.MEMORY else dest.where, expr)
        self._verify(site, expr, stored)

    def _verify(self, site: Site, expr: Expr, stored: int | None) -> None:
        if stored is None:
            return
        actual, computed = stored & ((1 << expr.width) - 1), self._value(expr)
        if actual != computed:
            self._path.disagreements.append(Disagreement(site.id, actual, computed))

    def _condition(self, site: Site, program: Program, leaves: tuple[Expr, ...], event: Computed) -> None:
        a, b, holds, fails = self._programs.comparison(program, leaves)
        lanes = hashes.mix_operand(self._operands, self._value(a))
        self._operands = hashes.mix_operand(lanes, self._value(b))
        self._verify(site, holds, event.stored)
        direction = event.direction
        self._branch(site, -1, direction, holds if direction else fails, (site.coverage + 1 - direction,))

    def _switch(self, site: Site, event: Switched) -> None:
        leaf = site.leaves[0]
        value = fit(self._mirror.slot(self._depth, leaf.where), leaf.bits)
        self._operands = hashes.mix_operand(self._operands, self._value(value))
        self._verify(site, value, event.stored)
        for chain, formulas in enumerate(self._programs.labels(site, value)[: event.arm + 1]):
            taken = int(chain == event.arm)
            # Not taking an arm leads to any of the later ones; only taking it leads to it.
            later = range(site.coverage + chain + 1, site.coverage + site.outcomes)
            elsewhere = tuple(later) if taken else (site.coverage + chain,)
            self._branch(site, chain, taken, formulas[taken], elsewhere)
            if self._path.diverged:
                return

    def _branch(self, site: Site, chain: int, direction: int, held: Expr, elsewhere: tuple[int, ...]) -> None:
        if not self._value(held):
            self._path.diverged, self._path.diverged_elsewhere = site.id, elsewhere
            self._note("divergence", site.id)
            return
        if held.origins:
            self._note("opaque result in a condition", site.id)
        condition = Condition(site.id, chain, direction, held, bool(site.flags & ASSUMPTION), self._lanes, elsewhere)
        self._path.conditions.append(condition)
        self._lanes = condition.lanes()

    def _pin(self, site: Site, expr: Expr) -> None:
        # An argument of an opaque call loses nothing by itself: what comes of the call is noted where it matters.
        if site.name != "argument" and (expr.deps or expr.origins or not self._programs.get(site).leaves):
            if site.name == "address":
                self._note("symbolic address" if expr.deps else "opaque result in an address", site.id)
            else:
                self._note(site.name or "concretized value", site.id)
        if expr.deps:
            formula = build.binary(Kind.EQ, expr, build.const(self._value(expr), expr.width))
            self._path.pins.append(Pin(site.id, formula, len(self._path.conditions)))

    def _call(self, site: Site, mask: int) -> None:
        if mask >> len(site.leaves):
            raise TraceError(f"call {site.id} has fewer arguments", _place(site))
        mirror = self._mirror
        for i, leaf in enumerate(site.leaves):
            if mask >> i & 1:
                mirror.set_slot(self._depth + 1, i + 1, fit(mirror.slot(self._depth, leaf.where), leaf.bits))

    def _symbolic(self, site: Site, event: Symbolic) -> None:
        offset, size, dest = self._consumed, event.size, site.dest
        if offset + size > len(self._data) or dest is None or dest.place is Place.NONE:
            raise TraceError(f"site {site.id} takes more input than the test has", _place(site))
        if not size:
            return
        self._consumed += size
        if dest.place is Place.SLOT:
            value = build.from_bytes([build.byte(offset + i) for i in range(size)])
            self._mirror.set_slot(self._depth, dest.where, fit(value, dest.bits))
        else:
            address = event.address if dest.place is Place.MEMORY else dest.where
            for i in range(size):
                self._mirror.write(address + i, build.byte(offset + i))
        name = site.name or "input"
        self._names[name] += 1
        number = self._names[name]
        shown = name if number == 1 else f"{name}#{number}"
        self._path.objects.append(SymbolicObject(shown, offset, size, site.id))


def _place(site: Site) -> str:
    return f"{site.file}:{site.line}" if site.file else ""
