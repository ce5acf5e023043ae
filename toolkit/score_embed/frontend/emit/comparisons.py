"""Conditions whose comparison the runtime can do: then a call site computes no truth value.

That is so where each side is a constant or one leaf, perhaps widened, in one word of the machine: the leaf's value is
then the low part of the side's, and one word serves for both.
"""

from __future__ import annotations

from dataclasses import dataclass

from score_embed.contract.descriptors import Relation, RelationFlag
from score_embed.contract.sites import Place as Where
from score_embed.frontend.ir.exp import Const, Convert, Exp, Load, Raw, SlotRef
from score_embed.frontend.probes.templates import TemplateText
from score_embed.frontend.types.ctype import Pointer, as_int, is_float, is_integer

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
    for constant, side, where in ((_constant(left.said), right, RelationFlag.CONSTANT_LEFT), (_constant(right.said), left, 0)):
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
