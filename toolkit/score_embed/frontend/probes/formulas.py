"""What a formula says and when it stops being true: substitution, and which statements change its leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from score_embed.frontend.ir.body import (
    Assembly,
    Assign,
    Call,
    Clear,
    Copy,
    Fill,
    ForgetObject,
    InitObject,
    Move,
    SetPlain,
    Stmt,
    Symbolic,
    VaStart,
    Verbatim,
)
from score_embed.frontend.ir.exp import (
    AddressOf,
    Binary,
    Convert,
    Exp,
    Load,
    MathCall,
    Offset,
    Place,
    PointerAdd,
    PointerDiff,
    Raw,
    SlotRef,
    Unary,
)
from score_embed.frontend.ir.flow import loads_in, slot_written, slots_in
from score_embed.frontend.probes.maybe import Maybe, variable_of

_WRITES_MEMORY = (
    Assembly,
    Call,
    Clear,
    Copy,
    Fill,
    ForgetObject,
    InitObject,
    Move,
    SetPlain,
    Symbolic,
    VaStart,
    Verbatim,
)


def substituted(exp: Exp, known: Mapping[int, Exp]) -> Exp:
    """`exp` with what is known of slots in their place."""
    if not known:
        return exp
    match exp:
        case SlotRef():
            return known.get(exp.slot.index, exp)
        case Convert() | MathCall() | Unary():
            return replace(exp, operand=substituted(exp.operand, known))
        case Binary() | PointerDiff():
            return replace(exp, left=substituted(exp.left, known), right=substituted(exp.right, known))
        case PointerAdd():
            return replace(exp, base=substituted(exp.base, known), index=substituted(exp.index, known))
        case Offset():
            return replace(exp, base=substituted(exp.base, known))
        case AddressOf():
            return replace(exp, place=replace(exp.place, address=substituted(exp.place.address, known)))
    return exp


def mentioned(exp: Exp) -> frozenset[int]:
    """The slots whose present value a probe that says `exp` needs."""
    return frozenset(slots_in(exp)).union(slot.index for load in loads_in(exp) for slot in load.slots)


def is_pure(exp: Exp) -> bool:
    """Whether reading the leaves again gives the same, as long as nothing is stored."""
    return not any(isinstance(e, Raw) or (isinstance(e, Load) and e.place.type.volatile) for e in exp.walk())


@dataclass(frozen=True)
class Formula:
    """An expression with what it depends on."""

    exp: Exp
    slots: frozenset[int]
    loads: tuple[Place, ...]

    @staticmethod
    def of(exp: Exp) -> Formula:
        return Formula(exp, mentioned(exp), tuple(loads_in(exp)))


def changes(s: Stmt, formula: Formula, maybe: Maybe) -> bool:
    """Whether after the statement a leaf of the formula may have another value, or another taint."""
    if slot_written(s) in formula.slots:
        return True
    if not formula.loads:
        return False
    stores = isinstance(s, _WRITES_MEMORY) or (isinstance(s, Assign) and isinstance(s.dest, Place))
    return stores and any(_may_change(s, load, maybe) for load in formula.loads)


def _may_change(s: Stmt, load: Place, maybe: Maybe) -> bool:
    """Whether a statement that stores may change what lies there."""
    if not (isinstance(s, Assign) and isinstance(s.dest, Place)):
        return True
    names = [name for name in map(variable_of, (load, s.dest)) if name is not None]
    if any(map(maybe.is_private, names)):
        return variable_of(load) == variable_of(s.dest)
    return True
