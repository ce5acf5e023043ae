"""The parts every probe is made of: site records, descriptors, guards, and the notes that precede a statement.

A probe is called only if something it reads or writes may be tainted; the guard that says so is built here from the
same template as the site, so that the two cannot disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from score_embed.contract.descriptors import MODEL_TABLE
from score_embed.contract.sites import MAGIC, MODEL, Op, SiteKind
from score_embed.contract.sites import Place as Where
from score_embed.frontend.c.printer import line_directive
from score_embed.frontend.declarations.objects import pointed_to
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.emit.meta import Meta, Numbering
from score_embed.frontend.ir.body import Body, Stmt
from score_embed.frontend.ir.exp import Exp, Place, Raw, SlotRef
from score_embed.frontend.ir.flow import expressions, pinned_places, tracked_reads
from score_embed.frontend.probes.blocks import Plan, plan
from score_embed.frontend.probes.bounds import CHECKED_BY_CALLERS, pointers_passed
from score_embed.frontend.probes.checks import with_checks
from score_embed.frontend.probes.formulas import substituted
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.probes.origins import Strays, with_origins
from score_embed.frontend.probes.pins import varying_part
from score_embed.frontend.probes.selects import with_selects
from score_embed.frontend.probes.stretches import MARK, Told
from score_embed.frontend.probes.templates import LeafText, TemplateText, bits_text, long_words, memory_leaf
from score_embed.frontend.types.ctype import CType, Pointer, Types, as_int, is_float, is_untracked, why_untracked

S = TypeVar("S", bound=Stmt)
ByStatement: TypeAlias = dict[type[Stmt], Callable[[Any], str]]  # the C of a statement, with its probes
ARRAY = "sc_word [])"  # how an array of a probe's words begins


def on(kind: type[S], emit: Callable[[S], str]) -> tuple[type[Stmt], Callable[[Any], str]]:
    """A row of such a table: `emit` prints statements of this kind."""
    return kind, emit


def _prepared(
    body: Body, types: Types, maybe: Maybe, checks: frozenset[str], strays: Strays
) -> tuple[Body, Plan, Maybe]:
    """The body with what is checked and selected as statements of their own, its plan, and what may be symbolic in
    it."""
    if body.name in CHECKED_BY_CALLERS:
        checks -= {"bounds"}
    if "bounds" in checks:
        made_from = with_origins(body, types, pointers_passed, strays)
        maybe = maybe.including(set(range(body.slots, made_from.slots)))
        body = made_from
    made = plan(body, types, maybe)
    separated = with_selects(body, types, made, maybe)
    if separated is not body:
        maybe = maybe.including(set(range(body.slots, separated.slots)))
        made = plan(separated, types, maybe)
    checked = with_checks(separated, checks, types, made, maybe)
    return checked, made if checked is separated else plan(checked, types, maybe), maybe


class Probes:
    """Sites, descriptors and lines of one function under emission."""

    def __init__(
        self,
        body: Body,
        types: Types,
        numbering: Numbering,
        meta: Meta,
        maybe: Maybe,
        *,
        verify: bool,
        checks: frozenset[str],
        strays: Strays,
    ) -> None:
        self.body, self.plan, maybe = _prepared(body, types, maybe, checks, strays)
        self.whole = maybe  # what may be symbolic anywhere in the function
        self.maybe = maybe  # and before the statement under emission
        self.objects = pointed_to(self.body, pointers_passed)
        self.types = types
        self.numbering = numbering
        self.meta = meta
        self.verify = verify
        self.never = self.body.slots  # the index of a slot whose bit is never set
        self.words = (self.body.slots + 1 + 31) // 32
        self.lines: list[str] = []
        self.table: list[str] = []  # of the function's descriptors
        self._table_words = 0
        self._first_site = 0
        self.sites: list[str] = []
        self._coord = body.coord
        self._known: Mapping[int, Exp] = {}  # what slots hold whose definitions have no probe
        self._coverage: dict[tuple[int, int], int] = {}  # the index of each way of stretches.py
        self._shared: Counter[tuple[str, int, int]] = Counter()  # how many branches of a line share their indices

    def at(self, s: Stmt) -> None:
        """From now on probes are those of this statement."""
        self._coord = s.coord
        self._known = self.plan.known.get(id(s), {})
        self.maybe = self.plan.maybe(s, self.whole)

    def put(self, text: str) -> None:
        """Lines of the function: the statement under emission, or a probe of it."""
        if text:
            if ARRAY in text:  # a block of its own: outside of it its place on the stack serves the next one
                text = f"{{ {text} }}"
            self.lines.append(f"{line_directive(self._coord.file, self._coord.line)}\n{text}")

    def site(self, kind: SiteKind, words: list[str], name: str = "") -> int:
        """A record of the site table, for the statement under emission."""
        site = self.numbering.next_site()
        self.sites.append(", ".join([hex(MAGIC), str(site), str(int(kind)), str(len(words)), *words]))
        self.meta.add(site, self._coord, self.body.name, name)
        return site

    def take_coverage(self, s: Stmt, outcomes: int) -> int:
        """The first of the coverage indices of a branch."""
        first = self._indices(outcomes)
        self._coverage.update({(id(s), outcome): first + outcome for outcome in range(outcomes)})
        return first

    def take_mark(self, number: int) -> int:
        """The coverage index of a mark."""
        self._coverage[MARK, number] = index = self._indices(1)
        return index

    def _indices(self, count: int) -> int:
        """The first of so many coverage indices for the statement under emission."""
        if not self.body.text:
            return self.numbering.take_coverage(count)
        here = self._coord.file, self._coord.line, count
        self._shared[here] += 1
        return self.numbering.shared_coverage((self.body.coord, self.body.text, here, self._shared[here]), count)

    def tell(self, told: Sequence[Told], beside: bool) -> None:
        """The stretches of the function go into the image, once all of it is printed. `beside`: interrupts may run
        it."""
        for one in told:
            begun, ended = (sorted(self._coverage[way] for way in some) for some in (one.begun, one.ended))
            self.meta.tell(self._first_site, self.body.name, one.lines, one.sure, begun, ended, beside=beside)

    def begin_table(self, enter: int) -> None:
        """The table begins with the site that all others are counted from."""
        self._first_site = enter
        self._tabulate([str(enter & 0xFFFF), str(enter >> 16), str(self.words), str(self.body.scalars)])
        model = MODEL_TABLE if self.body.emitted_name.startswith(MODEL) else 0
        self._tabulate([str(len(self.body.structs) | model)])

    def descriptor(self, site: int, rest: list[str]) -> str:
        """Where the descriptor stands in the function's table."""
        offset = site - self._first_site
        if offset > 0xFFFF:
            raise Unsupported("more than 65535 probes")
        return str(self._tabulate([str(offset), *rest]))

    def _tabulate(self, words: list[str]) -> int:
        at = self._table_words
        self.table.append(", ".join(words))
        self._table_words += len(words)
        return at

    def new_template(self) -> TemplateText:
        """A template without anything in it."""
        return TemplateText(self.types, self.never, self.maybe)

    def said(self, exp: Exp) -> Exp:
        """An expression as a site says it: without slots whose definitions have no probe."""
        return substituted(exp, self._known)

    def template(self, exp: Exp) -> TemplateText:
        """The template of a value."""
        template = self.new_template()
        template.add(self.said(exp))
        return template

    def slot_test(self, slots: set[int]) -> list[str]:
        """Whether one of these slots is tainted, a word of the activation's mask each."""
        masks: dict[int, int] = {}
        for slot in slots:
            masks[slot >> 5] = masks.get(slot >> 5, 0) | 1 << (slot & 31)
        return [f"(sc_m[{1 + word}] & {mask:#x}u)" for word, mask in sorted(masks.items())]

    def guard(self, slots: set[int], memory: bool) -> str:
        """What must hold for a probe to be called. Memory is nearly always tainted somewhere: then the probe looks."""
        return "" if memory else f"if ({' | '.join(self.slot_test(slots)) or '0'}) "

    @staticmethod
    def call(probe: str, head: list[str], words: list[str], most: int) -> str:
        """A probe's call: up to `most` words as arguments of a variant of its own, more of them as an array."""
        if 0 < len(words) <= most:
            return f"{probe}{len(words)}({', '.join([*head, *words])})"
        array = f"(const {ARRAY} {{ {', '.join(words)} }}" if words else "0"
        return f"{probe}({', '.join([*head, array])})"

    def bits(self, t: CType) -> int:
        """The width of a scalar."""
        if is_float(t):
            return t.bits
        return self.types.model.pointer if isinstance(t, Pointer) else as_int(t).bits

    def dest(self, dest: SlotRef | Place) -> LeafText:
        """Where a statement puts its value."""
        bits = self.bits(dest.type)
        if isinstance(dest, SlotRef):
            return LeafText(Where.SLOT, bits, str(dest.slot.index), dest.slot.index, ())
        return memory_leaf(dest, bits)

    def as_u64(self, text: str, t: CType, *, signed: bool = False) -> str:
        """The value zero-extended (or, for verify, sign-extended from its bits) to 64 bits."""
        bits = self.bits(t)
        inner = f"(__INT{bits}_TYPE__)" if signed else f"(__UINT{bits}_TYPE__)"
        return f"(sc_u64) {inner} {'(sc_word) ' if isinstance(t, Pointer) else ''}{bits_text(text, t)}"

    def value(self, text: str, t: CType) -> str:
        """The event with which verify checks what was stored."""
        return f" sc_value({self.as_u64(text, t, signed=True)});" if self.verify else ""

    def notes(self, statement: Stmt) -> list[str]:
        """Probes for what the statement uses without a formula: addresses, operands of `long double`."""
        notes: dict[str, str] = {}
        for place in pinned_places(statement):
            repeated = (id(statement), place.text) in self.plan.pinned
            if place.slots and place.text not in notes and not repeated:
                notes[place.text] = self.pin(varying_part(place.address), "address")
        for exp in expressions(statement):
            for raw in exp.walk():
                if isinstance(raw, Raw):
                    for read in tracked_reads(raw):
                        notes.setdefault(f"raw {read.c()}", self.pin(read, _why(raw)))
        return list(notes.values())

    def pin(self, exp: Exp, reason: str) -> str:
        """The probe of a value that is used concretely."""
        return self._pin(self.said(exp), reason)

    def pin_slot(self, slot: SlotRef, reason: str) -> str:
        """The same after the statement: a slot that it uses has its value still, what decided it may have changed."""
        return self._pin(slot, reason)

    def _pin(self, said: Exp, reason: str) -> str:
        template = self.new_template()
        template.add(said)
        if not template.can_be_tainted:
            return ""
        d = self.descriptor(self.site(SiteKind.PIN, template.site_words(), reason), template.descriptor())
        return f"{self.guard(template.slots, template.memory)}{self.call('sc_pin', ['sc_f', d], template.passed(), 1)};"

    def note(self, reason: str) -> str:
        """A descriptor of a note without operands."""
        site = self.site(SiteKind.PIN, self.nothing(8), reason)
        return self.descriptor(site, ["0"])

    def nothing(self, bits: int = 1) -> list[str]:
        """A template without leaves."""
        one = long_words("1", self.types.model.pointer)
        return ["0", str(1 + len(one)), str(int(Op.CONST) | bits << 8), *one]


def _why(raw: Raw) -> str:
    """Why it has no formula."""
    return next((why_untracked(part.type) for part in raw.walk() if is_untracked(part.type)), "address")
