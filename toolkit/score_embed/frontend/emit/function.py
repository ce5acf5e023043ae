"""From the normal form back to C, with probes: one function at a time.

Every statement is printed on one line under a `#line` of the user's position, followed or preceded by its probe. The
user's expression is always evaluated before the probe runs, so that a fault happens on the user's line.
Sites are static arrays inside the function, where every name of the user's is in scope.
"""

from __future__ import annotations

from score_embed.contract.outcome import Verdict
from score_embed.contract.program import HARNESS_FILE
from score_embed.contract.sites import CondFlag, InputFlag, SiteKind
from score_embed.contract.sites import Place as Where
from score_embed.frontend.c.own_names import HANDLER
from score_embed.frontend.c.printer import line_directive
from score_embed.frontend.declarations.objects import is_text
from score_embed.frontend.emit.calls import CallEmitter
from score_embed.frontend.emit.comparisons import Side, comparison_test
from score_embed.frontend.emit.memory import MemoryEmitter
from score_embed.frontend.emit.probes import ARRAY
from score_embed.frontend.ir.body import (
    BoundsCheck,
    Branch,
    Check,
    Fail,
    Goto,
    Jump,
    Label,
    Recall,
    SpanCheck,
    Stmt,
    Stray,
    Switch,
    Symbolic,
    TextCheck,
    Tick,
)
from score_embed.frontend.ir.exp import Const, Exp, Raw, SlotRef
from score_embed.frontend.probes.formulas import substituted
from score_embed.frontend.probes.templates import LeafText, TemplateText, long_words, oriented
from score_embed.frontend.types.ctype import as_int, declare, is_float, is_integer, unqualified

# How a test ends that violates a check.
VERDICTS = {
    "null": Verdict.NULL_DEREFERENCE,
    "bounds": Verdict.OUT_OF_BOUNDS,
    "division": Verdict.DIVISION_BY_ZERO,
    "overflow": Verdict.OVERFLOW,
    "shift": Verdict.SHIFT_RANGE,
    "unreachable": Verdict.UNREACHABLE,
}
_MOST_WORDS = 16_000  # of an array of the site table

OBJECTS = "#define SC_OBJECTS\n"  # before it, in all units, if the runtime has to find objects


class Emitter(MemoryEmitter, CallEmitter):
    """Prints one lowered function."""

    def c(self) -> str:
        """The whole function as C."""
        self_site = self._site(SiteKind.ENTER, [str(self.body.scalars)], self.body.name)
        self._begin_table(self_site)
        for statement in self.body.statements:
            self._at(statement)
            for note in self._notes(statement):
                self._put(note)
            self._put(self._statement(statement))
        self._put(self._end())
        params = [
            f"sc_struct_param(sc_f, {self._descriptor(self._site(SiteKind.COPY, []), [])}, {i}, &{name}, sizeof {name});"
            for i, name in enumerate(self.body.structs)
        ]
        opening = [
            f"{self.body.header} {{",  # on one line: where a linker says that the function is
            *self.body.declarations,
            *(["const SC_ROM sc_d *sc_passed;"] if self.body.declared is not None else []),
            *self._site_arrays(),
            *(f"{self._listed(name)}({n}, {name});" for n, name in enumerate(self.objects.static)),
            "static const SC_ROM sc_d sc_table[] = {\n  " + ",\n  ".join(self.table) + "\n};",
            f"SC_ACTIVATION({self.words}) sc_a;",
            *([f"{HANDLER};"] if self.body.handler else []),
            line_directive(self.body.coord.file, self.body.coord.line),
            f"sc_enter(sc_f, sc_table, (const void *) {self.body.emitted_name});",
            *(["sc_passed = sc_arguments();"] if self.body.declared is not None else []),
            *params,
        ]
        return "\n".join([*opening, *self.lines, "}\n"])

    def _listed(self, name: str) -> str:
        """How an object of static storage is listed: what `--entry` makes for a pointer stands for an array as well."""
        if is_text(name):
            return "SC_TEXT"
        is_one = self.body.coord.file == HARNESS_FILE and name not in self.objects.arrays
        return "SC_STATIC_ONE" if is_one else "SC_STATIC"

    def _site_arrays(self) -> list[str]:
        """The records of the site table: several arrays, as none has more than 32767 bytes where int has 16 bits."""
        arrays: list[list[str]] = [[]]
        words = 0
        for record in self.sites:
            words += record.count(",") + 1
            if words > _MOST_WORDS:
                arrays.append([])
                words = record.count(",") + 1
            arrays[-1].append(record)
        return [f"SC_SITES({n}) = {{\n  " + ",\n  ".join(records) + "\n};" for n, records in enumerate(arrays)]

    def _statement(self, s: Stmt) -> str:
        text: str = getattr(self, f"_emit_{type(s).__name__}")(s)
        return text

    def _emit_Branch(self, s: Branch) -> str:
        if s.constant:
            return f"if ({'' if s.when else '!'}({s.left.c()} {s.op} {s.right.c()})) goto {s.label};"
        op, left, right = oriented(s.op, s.left, s.right)
        template = TemplateText(self.types, self.never, self.maybe)
        a, b = (Side(exp, substituted(exp, self._known)) for exp in (left, right))
        template.comparison(op, a.said, b.said)
        coverage = self.numbering.take_coverage(2)
        words = [str(coverage), str(int(CondFlag.ASSUMPTION) if s.assumption else 0), *template.site_words()]
        site = self._site(SiteKind.COND, words)
        head = [str(coverage & 0xFFFF), str(coverage >> 16)]
        test = comparison_test(op, a, b, template) if template.can_be_tainted else None
        holds = f"{left.c()} {op} {right.c()}"
        if test is not None:
            probe = f"{test.probe}({', '.join(['sc_f', self._descriptor(site, [*head, *test.words]), *test.passed])})"
        elif template.can_be_tainted:
            d = self._descriptor(site, [*head, *template.descriptor()])
            probe = self._call("sc_cond", ["sc_f", d, holds], template.passed(), 2)
        else:
            probe = f"sc_branch(sc_f, {self._descriptor(site, [*head, *template.descriptor()])}, {holds})"
        return f"if ({'' if s.when else '!'}{probe}) goto {s.label};"

    def _emit_Goto(self, s: Goto) -> str:
        return f"goto {s.label};"

    def _emit_Jump(self, s: Jump) -> str:
        return f"goto *{s.target.c()};"

    def _emit_Label(self, s: Label) -> str:
        return f"{s.name}: ;"

    def _emit_Tick(self, s: Tick) -> str:
        return "sc_tick();"

    def _emit_Switch(self, s: Switch) -> str:
        bits = self._bits(s.slot.type)
        leaf = self._dest(s.slot)
        coverage = self.numbering.take_coverage(len(s.cases) + 1)
        t = declare(unqualified(s.slot.type))
        words = [str(coverage), str(bits), *leaf.words(), str(len(s.cases))]
        for case in s.cases:
            for text in (case.first, case.last):
                words += long_words(f"(({t}) ({text}))", self.types.model.pointer)
        d = self._descriptor(
            self._site(SiteKind.SWITCH, words),
            [str(coverage & 0xFFFF), str(coverage >> 16), leaf.descriptor(), str(len(s.cases))],
        )
        value = self._as_u64(s.slot.c(), s.slot.type)
        arms, jumps = [], []
        for arm, case in enumerate(s.cases):
            label = case.first if case.first == case.last else f"{case.first} ... {case.last}"
            arms.append(f"case {label}: sc_t = {arm}; break;")
            jumps.append(f"case {arm}: goto {case.label};")
        return " ".join(
            [
                f"{{ sc_u32 sc_t; switch ({s.slot.c()}) {{",
                *arms,
                f"default: sc_t = {len(s.cases)}; }} switch (sc_switch(sc_f, {d}, sc_t, {value})) {{",
                *jumps,
                f"default: goto {s.default}; }} }}",
            ]
        )

    def _emit_Symbolic(self, s: Symbolic) -> str:
        leaf = self._symbolic_dest(s)
        size = s.size.text if s.size else "0"
        site = self._site(SiteKind.SYMBOLIC, [*leaf.words(), size, str(_input_flags(s))], s.name)
        if isinstance(s.dest, SlotRef):
            d = self._descriptor(site, [leaf.descriptor()])
            if is_float(s.dest.type):
                return f"{s.dest.c()} = sc_float{s.dest.type.bits}(sc_sym_slot(sc_f, {d}));"
            return f"{s.dest.c()} = ({declare(unqualified(s.dest.type))}) sc_sym_slot(sc_f, {d});"
        d = self._descriptor(site, [leaf.descriptor(), str(int(s.count is not None))])
        length = s.count.c() if s.count else size
        return f"sc_sym_mem(sc_f, {d}, (void *) &{s.dest.text}, {length});"

    def _symbolic_dest(self, s: Symbolic) -> LeafText:
        if isinstance(s.dest, SlotRef):
            return self._dest(s.dest)
        if s.dest.static and s.count is None:
            return LeafText(Where.GLOBAL, 8, f"(sc_word) &{s.dest.text}", 0, ())
        return LeafText(Where.MEMORY, 8, "0", 0, ())

    def _emit_Check(self, s: Check) -> str:
        op, left, right = oriented(s.op, s.left, s.right)
        template = TemplateText(self.types, self.never, self.maybe)
        template.comparison(op, substituted(left, self._known), substituted(right, self._known))
        site = self._site(SiteKind.CHECK, template.site_words(), s.kind)
        verdict, holds = _verdict(s.kind), f"{left.c()} {op} {right.c()}"
        if not (s.tracked and template.can_be_tainted):
            return f"if (!({holds})) sc_fail(sc_f, {self._descriptor(site, [verdict, '0'])});"
        d = self._descriptor(site, [verdict, *template.descriptor()])
        probe = self._call("sc_check", ["sc_f", d, "sc_v"], template.passed(), 1)
        tainted = [] if template.memory else self._slot_test(template.slots)
        guard = f"if ({' | '.join(['!sc_v', *tainted])}) " if tainted else ""
        return f"{{ sc_uint sc_v = {holds}; {guard}{probe}; }}"

    def _emit_BoundsCheck(self, s: BoundsCheck) -> str:
        return self._bounds(s.address, s.origin, s.text, Const(self.types.size, s.size))

    def _emit_SpanCheck(self, s: SpanCheck) -> str:
        return self._bounds(s.pointer, s.origin, s.pointer.c(), s.size)

    def _bounds(self, address: Exp, origin: Exp, text: str, size: Exp) -> str:
        """The probe that asks whether `size` bytes at the address lie in the object that the origin points into."""
        self.numbering.finds_objects = True
        template, count, of_origin = (TemplateText(self.types, self.never, self.maybe) for _ in range(3))
        constant = isinstance(size, Const)
        if isinstance(size, SlotRef):
            count.add(size)
        template.leaves = list(count.leaves)  # its first is the size
        template.add(substituted(address, self._known))
        of_origin.add(substituted(origin, self._known))
        pointers = f"(const volatile void *) {text}, (const volatile void *) {origin.c()}"
        varies = template.can_be_tainted and not (
            of_origin.can_be_tainted and set(template.leaves[len(count.leaves) :]) <= set(of_origin.leaves)
        )
        if isinstance(size, Raw) or not (varies or count.can_be_tainted):
            d = self._descriptor(self._site(SiteKind.CHECK, self._nothing(), "bounds"), ["0"])
            return f"sc_within(sc_f, {d}, {pointers}, {size.c()});"
        kind = SiteKind.BOUNDS if constant else SiteKind.SPAN
        site = self._site(kind, [*([size.c()] if constant else []), *template.site_words()], "bounds")
        leaves = [*template.descriptor(), *of_origin.descriptor()]
        words = f"({ARRAY} {{ {', '.join([*template.passed(), *of_origin.passed()])} }}"
        if constant:
            d = self._descriptor(site, [f"(sc_d) ({size.c()} < 0x7fff ? {size.c()} : 0x7fff)", *leaves])
            return f"sc_bounds(sc_f, {d}, {pointers}, {words});"
        return f"sc_span(sc_f, {self._descriptor(site, ['0', *leaves])}, {pointers}, {size.c()}, {words});"

    def _emit_Stray(self, s: Stray) -> str:
        quick = "if (sc_strays) " if s.value == s.origin else ""
        return f"{quick}sc_stray({s.where}, {s.value}, {s.origin});"

    def _emit_Recall(self, s: Recall) -> str:
        return f"if (sc_strays) {s.origin} = sc_recall({s.where}, {s.value});"

    def _emit_TextCheck(self, s: TextCheck) -> str:
        d = self._descriptor(self._site(SiteKind.CHECK, self._nothing(), "bounds"), [])
        return f"sc_string_within(sc_f, {d}, (const char *) {s.array}, {s.size});"

    def _emit_Fail(self, s: Fail) -> str:
        if s.kind == "assume":
            return "sc_assume_fail();"
        if s.kind == "unreachable":
            site = self._site(SiteKind.CHECK, self._nothing(), s.kind)
            return f"sc_fail(sc_f, {self._descriptor(site, [_verdict(s.kind), '0'])});"
        return f"sc_assert_fail(sc_f, {self._note('assertion')});"


def _verdict(kind: str) -> str:
    """The runtime's word for the end of a test that violates such a check."""
    return f"SC_VERDICT_{VERDICTS[kind].name}"


def _input_flags(s: Symbolic) -> int:
    """What an input holds, as the site table says it."""
    t, flags = s.dest.type, 0
    if s.count:
        return flags
    if is_integer(t) and as_int(t).signed:
        flags |= InputFlag.SIGNED
    if s.boolean:
        flags |= InputFlag.BOOLEAN
    return flags | InputFlag.FLOAT if is_float(t) else flags
