"""Branches, switches and jumps as C with their probes.

The runtime does a condition's comparison where it can: then a call site computes no truth value. That is so where each
side is a constant or one leaf, perhaps widened, in one word of the machine: the leaf's value is then the low part of
the side's, and one word serves for both.
"""

from __future__ import annotations

from dataclasses import dataclass

from score_embed.contract.descriptors import Relation, RelationFlag
from score_embed.contract.sites import CondFlag, SiteKind
from score_embed.contract.sites import Place as Where
from score_embed.frontend.emit.probes import ByStatement, Probes, on
from score_embed.frontend.ir.body import Begin, Branch, Goto, Jump, Label, Switch, Tick
from score_embed.frontend.ir.exp import Const, Convert, Exp, Load, Raw, SlotRef
from score_embed.frontend.probes.templates import TemplateText, long_words, oriented
from score_embed.frontend.types.ctype import Pointer, as_int, declare, is_float, is_integer, unqualified

_RELATIONS = {"==": Relation.EQ, "!=": Relation.NE, "<": Relation.LT, "<=": Relation.LE}


@dataclass(frozen=True)
class Test:
    """The probe of such a condition: its name, its descriptor's words after the coverage index, its arguments."""

    probe: str
    words: list[str]
    passed: list[str]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: what the program computes, and how the site says it."""

    computed: Exp
    said: Exp

    def word(self) -> str:
        return f"(sc_word) {self.computed.c()}"


def comparison_test(op: str, left: Side, right: Side, template: TemplateText) -> Test | None:
    """The test for `left op right`, if there is one. `op` is one of == != < <=; `template` is what the site says."""
    t = left.computed.type
    if is_float(t):
        return None
    signed = is_integer(t) and as_int(t).signed
    relation = _RELATIONS[op] | (RelationFlag.SIGNED if signed else 0)
    for constant, side, where in (
        (_constant(left.said), right, RelationFlag.CONSTANT_LEFT),
        (_constant(right.said), left, 0),
    ):
        if constant is not None:
            return _with_constant(relation | where, signed, side, constant, template)
    return _of_two(relation, left, right, template)


def _constant(exp: Exp) -> Const | None:
    """A constant, also a null pointer of another type."""
    if isinstance(exp, Convert) and isinstance(exp.type, Pointer):
        inner = _constant(exp.operand)
        return inner if inner is not None and inner.value == 0 else None
    return exp if isinstance(exp, Const) else None


def _with_constant(relation: int, signed: bool, side: Side, constant: Const, template: TemplateText) -> Test | None:
    value = constant.value
    if value is None or not (-0x8000 <= value < 0x8000 if signed else 0 <= value < 0x10000):
        return None
    if len(template.leaves) != 1 or not _is_widened_leaf(side.said, template):
        return None
    leaf = template.leaves[0]
    text = "0" if isinstance(constant.type, Pointer) else constant.text
    words = [str(relation << 8 | 1), leaf.descriptor(), f"(sc_d) ({text})"]
    if leaf.where is Where.SLOT:
        return Test("sc_test", words, [side.word()])
    return Test("sc_test_at", words, [side.word(), f"(const volatile void *) {leaf.passed[0]}"])


def _of_two(relation: int, left: Side, right: Side, template: TemplateText) -> Test | None:
    leaves = template.leaves
    if len(leaves) != 2 or any(leaf.where is not Where.SLOT for leaf in leaves):
        return None
    if not (_is_widened_leaf(left.said, template) and _is_widened_leaf(right.said, template)):
        return None
    words = [str(relation << 8 | 2), *(leaf.descriptor() for leaf in leaves)]
    return Test("sc_test2", words, [left.word(), right.word()])


def _is_widened_leaf(exp: Exp, template: TemplateText) -> bool:
    """Whether the low part of the value is the leaf's, and the whole has one word."""
    if template.bits_of(exp.type) > template.types.model.pointer:
        return False
    while isinstance(exp, Convert):
        if template.bits_of(exp.operand.type) > template.bits_of(exp.type):
            return False
        exp = exp.operand
    return isinstance(exp, (SlotRef, Raw)) or (isinstance(exp, Load) and exp.place.bit_field is None)


class BranchEmitter:
    """Prints the statements that decide where a function goes on."""

    def __init__(self, probes: Probes) -> None:
        self.p = probes
        self.by_statement: ByStatement = dict(
            [
                on(Branch, self._branch),
                on(Goto, self._goto),
                on(Jump, self._jump),
                on(Label, self._label),
                on(Tick, self._tick),
                on(Begin, self._begin),
                on(Switch, self._switch),
            ]
        )

    def _branch(self, s: Branch) -> str:
        if s.constant:
            if s.decision is not None and s.decision[0].has_several:
                value = f"({s.left.c()} {s.op} {s.right.c()})"
                self.p.meta.decide(*s.decision, self.p.site(SiteKind.CONSTANT, [value]), self.p.body.name)
            return f"if ({'' if s.when else '!'}({s.left.c()} {s.op} {s.right.c()})) goto {s.label};"
        op, left, right = oriented(s.op, s.left, s.right)
        template = self.p.new_template()
        a, b = (Side(exp, self.p.said(exp)) for exp in (left, right))
        template.comparison(op, a.said, b.said)
        coverage = self.p.take_coverage(s, 2)
        words = [str(coverage), str(int(CondFlag.ASSUMPTION) if s.assumption else 0), *template.site_words()]
        site = self.p.site(SiteKind.COND, words)
        if s.decision is not None:
            self.p.meta.decide(*s.decision, site, self.p.body.name)
        head = [str(coverage & 0xFFFF), str(coverage >> 16)]
        test = comparison_test(op, a, b, template) if template.can_be_tainted else None
        holds = f"{left.c()} {op} {right.c()}"
        if test is not None:
            probe = f"{test.probe}({', '.join(['sc_f', self.p.descriptor(site, [*head, *test.words]), *test.passed])})"
        elif template.can_be_tainted:
            d = self.p.descriptor(site, [*head, *template.descriptor()])
            probe = self.p.call("sc_cond", ["sc_f", d, holds], template.passed(), 2)
        else:
            probe = f"sc_branch(sc_f, {self.p.descriptor(site, [*head, *template.descriptor()])}, {holds})"
        return f"if ({'' if s.when else '!'}{probe}) goto {s.label};"

    def mark(self, number: int) -> str:
        """The probe of a mark of the function's, which is a branch that goes one way."""
        coverage = self.p.take_mark(number)
        d = self.p.descriptor(
            self.p.site(SiteKind.MARK, [str(coverage)]), [str(coverage & 0xFFFF), str(coverage >> 16)]
        )
        return f"sc_branch(sc_f, {d}, 0);"

    def _goto(self, s: Goto) -> str:
        return f"goto {s.label};"

    def _jump(self, s: Jump) -> str:
        self.p.numbering.beyond_names = True
        return f"goto *{s.target.c()};"

    def _label(self, s: Label) -> str:
        return f"{s.name}: ;"

    def _begin(self, s: Begin) -> str:
        return ""

    def _tick(self, s: Tick) -> str:
        return "sc_tick();"

    def _switch(self, s: Switch) -> str:
        bits = self.p.bits(s.slot.type)
        leaf = self.p.dest(s.slot)
        coverage = self.p.take_coverage(s, len(s.cases) + 1)
        t = declare(unqualified(s.slot.type))
        words = [str(coverage), str(bits), *leaf.words(), str(len(s.cases))]
        for case in s.cases:
            for text in (case.first, case.last):
                words += long_words(f"(({t}) ({text}))", self.p.types.model.pointer)
        d = self.p.descriptor(
            self.p.site(SiteKind.SWITCH, words),
            [str(coverage & 0xFFFF), str(coverage >> 16), leaf.descriptor(), str(len(s.cases))],
        )
        value = self.p.as_u64(s.slot.c(), s.slot.type)
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
