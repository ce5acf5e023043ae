"""Checks as C with their probes: comparisons that must hold, accesses that must lie in an object, failures."""

from __future__ import annotations

from score_embed.contract.outcome import Verdict
from score_embed.contract.sites import SiteKind
from score_embed.frontend.emit.probes import ARRAY, ByStatement, Probes, on
from score_embed.frontend.ir.body import BoundsCheck, Check, Fail, Sized, SpanCheck, Stray, TextCheck
from score_embed.frontend.ir.exp import Const, Exp, Load, Raw, SlotRef
from score_embed.frontend.probes.templates import oriented

# How a test ends that violates a check.
VERDICTS = {
    "null": Verdict.NULL_DEREFERENCE,
    "bounds": Verdict.OUT_OF_BOUNDS,
    "division": Verdict.DIVISION_BY_ZERO,
    "overflow": Verdict.OVERFLOW,
    "shift": Verdict.SHIFT_RANGE,
    "unreachable": Verdict.UNREACHABLE,
}


class CheckEmitter:
    """Prints checks and failures."""

    def __init__(self, probes: Probes) -> None:
        self.p = probes
        self.by_statement: ByStatement = dict(
            [
                on(Check, self._check),
                on(BoundsCheck, self._bounds_check),
                on(SpanCheck, self._span_check),
                on(Stray, self._stray),
                on(TextCheck, self._text_check),
                on(Sized, self._sized),
                on(Fail, self._fail),
            ]
        )

    def _check(self, s: Check) -> str:
        op, left, right = oriented(s.op, s.left, s.right)
        template = self.p.new_template()
        template.comparison(op, self.p.said(left), self.p.said(right))
        site = self.p.site(SiteKind.CHECK, template.site_words(), s.kind)
        verdict, holds = _verdict(s.kind), f"{left.c()} {op} {right.c()}"
        if not (s.tracked and template.can_be_tainted):
            return f"if (!({holds})) sc_fail(sc_f, {self.p.descriptor(site, [verdict, '0'])});"
        d = self.p.descriptor(site, [verdict, *template.descriptor()])
        probe = self.p.call("sc_check", ["sc_f", d, "sc_v"], template.passed(), 1)
        tainted = [] if template.memory else self.p.slot_test(template.slots)
        guard = f"if ({' | '.join(['!sc_v', *tainted])}) " if tainted else ""
        return f"{{ sc_uint sc_v = {holds}; {guard}{probe}; }}"

    def _bounds_check(self, s: BoundsCheck) -> str:
        return self._bounds(s.address, s.origin, s.text, Const(self.p.types.size, s.size))

    def _span_check(self, s: SpanCheck) -> str:
        probe = self._bounds(s.pointer, s.origin, s.pointer.c(), s.size)
        if not isinstance(s.size, SlotRef):
            return probe
        return f"{self._asked(s.size) if s.asks else ''}if ({s.size.c()}) {probe}"

    def _asked(self, size: SlotRef) -> str:
        """Whether there are any bytes to check: a condition of its own, since of none any pointer is right."""
        template = self.p.new_template()
        template.comparison("!=", self.p.said(size), Const(size.type, "0"))
        if not template.can_be_tainted:
            return ""
        site = self.p.site(SiteKind.CHECK, template.site_words(), "bounds")
        d = self.p.descriptor(site, ["0", *template.descriptor()])
        probe = self.p.call("sc_asks", ["sc_f", d, f"!!{size.c()}"], template.passed(), 0) + ";"
        tainted = [] if template.memory else self.p.slot_test(template.slots)
        return f"if ({' | '.join(tainted)}) {probe} " if tainted else f"{probe} "

    def _bounds(self, address: Exp, origin: Exp, text: str, size: Exp) -> str:
        """The probe that asks whether `size` bytes at the address lie in the object that the origin points into."""
        self.p.numbering.finds_objects = True
        template, count, of_origin = (self.p.new_template() for _ in range(3))
        constant = isinstance(size, Const)
        if isinstance(size, SlotRef):
            count.add(size)
        template.leaves = list(count.leaves)  # its first is the size
        template.add(self.p.said(address))
        of_origin.add(self.p.said(origin))
        pointers = f"(const volatile void *) {text}, (const volatile void *) {origin.c()}"
        varies = template.can_be_tainted and not (
            of_origin.can_be_tainted and set(template.leaves[len(count.leaves) :]) <= set(of_origin.leaves)
        )
        follows = template.can_be_tainted and not (varies or count.can_be_tainted)  # nothing but the origin is symbolic
        if isinstance(size, Raw) or not (varies or count.can_be_tainted or follows):
            d = self.p.descriptor(self.p.site(SiteKind.CHECK, self.p.nothing(), "bounds"), ["0"])
            return f"sc_within(sc_f, {d}, {pointers}, {size.c()});"
        kind = SiteKind.BOUNDS if constant else SiteKind.SPAN
        site_words = [*([size.c()] if constant else []), *template.site_words(), *of_origin.site_words()]
        site = self.p.site(kind, site_words, "bounds")
        leaves = [*template.descriptor(), *of_origin.descriptor()]
        words = f"({ARRAY} {{ {', '.join([*template.passed(), *of_origin.passed()])} }}"
        if follows:
            return f"sc_from(sc_f, {self.p.descriptor(site, ['0', *leaves])}, {pointers}, {size.c()}, {words});"
        if constant:
            d = self.p.descriptor(site, [f"(sc_d) ({size.c()} < 0x7fff ? {size.c()} : 0x7fff)", *leaves])
            return f"sc_bounds(sc_f, {d}, {pointers}, {words});"
        return f"sc_span(sc_f, {self.p.descriptor(site, ['0', *leaves])}, {pointers}, {size.c()}, {words});"

    def _stray(self, s: Stray) -> str:
        quick = "if (sc_strays) " if s.value == s.origin else ""
        varies = "0"
        if isinstance(s.made_of, SlotRef) and self.p.maybe.slot(s.made_of.slot.index):
            varies = f"!!{self.p.slot_test({s.made_of.slot.index})[0]}"
        return f"{quick}sc_stray({s.where}, {s.value}, {s.origin}, {varies});"

    def _sized(self, s: Sized) -> str:
        self.p.numbering.finds_objects = True
        template = self.p.new_template()
        template.add(Load(s.limit.type, s.limit))
        site = self.p.site(SiteKind.SIZED, template.site_words(), "bounds")
        d = self.p.descriptor(site, template.descriptor())
        return f"sc_sized(sc_f, {d}, (const volatile void *) {s.pointer.c()}, (const sc_uptr *) &{s.limit.text});"

    def _text_check(self, s: TextCheck) -> str:
        d = self.p.descriptor(self.p.site(SiteKind.CHECK, self.p.nothing(), "bounds"), [])
        return f"sc_string_within(sc_f, {d}, (const char *) {s.array}, {s.size});"

    def _fail(self, s: Fail) -> str:
        if s.kind == "assume":
            return "sc_assume_fail();"
        if s.kind == "unreachable":
            site = self.p.site(SiteKind.CHECK, self.p.nothing(), s.kind)
            return f"sc_fail(sc_f, {self.p.descriptor(site, [_verdict(s.kind), '0'])});"
        return f"sc_assert_fail(sc_f, {self.p.note('assertion')});"


def _verdict(kind: str) -> str:
    """The runtime's word for the end of a test that violates such a check."""
    return f"SC_VERDICT_{VERDICTS[kind].name}"
