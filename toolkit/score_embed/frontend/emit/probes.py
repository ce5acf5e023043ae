"""The parts every probe is made of: site records, descriptors, guards, and the notes that precede a statement.

A probe is called only if something it reads or writes may be tainted; the guard that says so is built here from the
same template as the site, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from score_embed.frontend.probes.blocks import plan
from score_embed.frontend.probes.bounds import CHECKED_BY_CALLERS, pointers_passed
from score_embed.frontend.probes.checks import with_checks
from score_embed.frontend.probes.formulas import substituted
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.probes.origins import Strays, with_origins
from score_embed.frontend.probes.pins import varying_part
from score_embed.frontend.probes.selects import with_selects
from score_embed.frontend.probes.templates import LeafText, TemplateText, bits_text, long_words, memory_leaf
from score_embed.frontend.types.ctype import CType, Pointer, Types, as_int, is_float, is_untracked, why_untracked

ARRAY = "sc_word [])"  # how an array of a probe's words begins


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
        if body.name in CHECKED_BY_CALLERS:
            checks -= {"bounds"}
        if "bounds" in checks:
            made_from = with_origins(body, types, pointers_passed, strays)
            maybe = maybe.including(set(range(body.slots, made_from.slots)))
            body = made_from
        made = plan(body, types, maybe)
        separated = with_selects(body, made, maybe)
        if separated is not body:
            maybe = maybe.including(set(range(body.slots, separated.slots)))
            made = plan(separated, types, maybe)
        checked = with_checks(separated, checks, types, made, maybe)
        self.body = body = checked
        self.plan = made if checked is separated else plan(checked, types, maybe)
        self.whole = maybe  # what may be symbolic anywhere in the function
        self.maybe = maybe  # and before the statement under emission
        self.objects = pointed_to(body, pointers_passed)
        self.types = types
        self.numbering = numbering
        self.meta = meta
        self.verify = verify
        self.never = body.slots  # the index of a slot whose bit is never set
        self.words = (body.slots + 1 + 31) // 32
        self.lines: list[str] = []
        self.table: list[str] = []  # of the function's descriptors
        self._table_words = 0
        self._first_site = 0
        self.sites: list[str] = []
        self._coord = body.coord
        self._known: Mapping[int, Exp] = {}  # what slots hold whose definitions have no probe

    def _at(self, s: Stmt) -> None:
        """From now on probes are those of this statement."""
        self._coord = s.coord
        self._known = self.plan.known.get(id(s), {})
        self.maybe = self.plan.maybe(s, self.whole)

    def _put(self, text: str) -> None:
        if text:
            if ARRAY in text:  # a block of its own: outside of it its place on the stack serves the next one
                text = f"{{ {text} }}"
            self.lines.append(f"{line_directive(self._coord.file, self._coord.line)}\n{text}")

    def _site(self, kind: SiteKind, words: list[str], name: str = "") -> int:
        site = self.numbering.next_site()
        self.sites.append(", ".join([hex(MAGIC), str(site), str(int(kind)), str(len(words)), *words]))
        self.meta.add(site, self._coord, self.body.name, name)
        return site

    def _begin_table(self, enter: int) -> None:
        """The table begins with the site that all others are counted from."""
        self._first_site = enter
        self._tabulate([str(enter & 0xFFFF), str(enter >> 16), str(self.words), str(self.body.scalars)])
        model = MODEL_TABLE if self.body.emitted_name.startswith(MODEL) else 0
        self._tabulate([str(len(self.body.structs) | model)])

    def _descriptor(self, site: int, rest: list[str]) -> str:
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

    def _template(self, exp: Exp) -> TemplateText:
        template = TemplateText(self.types, self.never, self.maybe)
        template.add(substituted(exp, self._known))
        return template

    def _slot_test(self, slots: set[int]) -> list[str]:
        masks: dict[int, int] = {}
        for slot in slots:
            masks[slot >> 5] = masks.get(slot >> 5, 0) | 1 << (slot & 31)
        return [f"(sc_m[{1 + word}] & {mask:#x}u)" for word, mask in sorted(masks.items())]

    def _guard(self, slots: set[int], memory: bool) -> str:
        """What must hold for a probe to be called. Memory is nearly always tainted somewhere: then the probe looks."""
        return "" if memory else f"if ({' | '.join(self._slot_test(slots)) or '0'}) "

    @staticmethod
    def _call(probe: str, head: list[str], words: list[str], most: int) -> str:
        """A probe's call: up to `most` words as arguments of a variant of its own, more of them as an array."""
        if 0 < len(words) <= most:
            return f"{probe}{len(words)}({', '.join([*head, *words])})"
        array = f"(const {ARRAY} {{ {', '.join(words)} }}" if words else "0"
        return f"{probe}({', '.join([*head, array])})"

    def _bits(self, t: CType) -> int:
        if is_float(t):
            return t.bits
        return self.types.model.pointer if isinstance(t, Pointer) else as_int(t).bits

    def _dest(self, dest: SlotRef | Place) -> LeafText:
        bits = self._bits(dest.type)
        if isinstance(dest, SlotRef):
            return LeafText(Where.SLOT, bits, str(dest.slot.index), dest.slot.index, ())
        return memory_leaf(dest, bits)

    def _as_u64(self, text: str, t: CType, *, signed: bool = False) -> str:
        """The value zero-extended (or, for verify, sign-extended from its bits) to 64 bits."""
        bits = self._bits(t)
        inner = f"(__INT{bits}_TYPE__)" if signed else f"(__UINT{bits}_TYPE__)"
        return f"(sc_u64) {inner} {'(sc_word) ' if isinstance(t, Pointer) else ''}{bits_text(text, t)}"

    def _value(self, text: str, t: CType) -> str:
        return f" sc_value({self._as_u64(text, t, signed=True)});" if self.verify else ""

    def _notes(self, statement: Stmt) -> list[str]:
        """Probes for what the statement uses without a formula: addresses, operands of `long double`."""
        notes: dict[str, str] = {}
        for place in pinned_places(statement):
            repeated = (id(statement), place.text) in self.plan.pinned
            if place.slots and place.text not in notes and not repeated:
                notes[place.text] = self._pin(varying_part(place.address), "address")
        for exp in expressions(statement):
            for raw in exp.walk():
                if isinstance(raw, Raw):
                    for read in tracked_reads(raw):
                        notes.setdefault(f"raw {read.c()}", self._pin(read, _why(raw)))
        return list(notes.values())

    def _pin(self, exp: Exp, reason: str) -> str:
        template = self._template(exp)
        if not template.can_be_tainted:
            return ""
        d = self._descriptor(self._site(SiteKind.PIN, template.site_words(), reason), template.descriptor())
        return (
            f"{self._guard(template.slots, template.memory)}{self._call('sc_pin', ['sc_f', d], template.passed(), 1)};"
        )

    def _note(self, reason: str) -> str:
        """A descriptor of a note without operands."""
        site = self._site(SiteKind.PIN, self._nothing(8), reason)
        return self._descriptor(site, ["0"])

    def _nothing(self, bits: int = 1) -> list[str]:
        """A template without leaves."""
        one = long_words("1", self.types.model.pointer)
        return ["0", str(1 + len(one)), str(int(Op.CONST) | bits << 8), *one]


def _why(raw: Raw) -> str:
    """Why it has no formula."""
    return next((why_untracked(part.type) for part in raw.walk() if is_untracked(part.type)), "address")
