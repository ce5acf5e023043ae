"""Which pointers something is read or stored *below*: `p[-1]`, `p[i]` with an i that may be negative, `p - n`.

A pointer to an object's first byte may as well be one past the object before it, if nobody says what it was made from
(runtime/bounds.c). For most pointers that makes no difference: they only lead upwards. For those found here an origin
is kept, and passed on with arguments, where the value alone would do (origins.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from score_embed.frontend.ir.body import Assign, Body, Call, Stmt
from score_embed.frontend.ir.exp import Binary, Const, Convert, Exp, PointerAdd, SlotRef, Unary, base_of, steps
from score_embed.frontend.ir.flow import places, slot_written
from score_embed.frontend.types.ctype import Int, Pointer


def lead_down(bodies: Sequence[Body]) -> Mapping[str, set[int]]:
    """The slots of each function, by the name that is emitted, which it or a function that it calls goes below."""
    found = {body.emitted_name: _used_below(body) for body in bodies}
    while True:
        before = sum(map(len, found.values()))
        for body in bodies:
            own = found[body.emitted_name]
            for s in body.statements:
                if isinstance(s, Call) and s.kind == "known":
                    own |= {slot for i, slot in _passed(s) if i in found.get(s.callee, ())}
                elif isinstance(s, Assign) and slot_written(s) in own:
                    own |= _made_from(s.exp)
        if before == sum(map(len, found.values())):
            return found


def _passed(s: Call) -> list[tuple[int, int]]:
    """The slots that pointers are made from which parameters get: number of the parameter and slot."""
    scalars = enumerate((a.exp for a in s.args if isinstance(a.exp, Exp)), 1)
    return [(i, slot) for i, exp in scalars for slot in _made_from(exp)]


def _made_from(exp: Exp) -> set[int]:
    base = base_of(exp)
    return {base.slot.index} if isinstance(base, SlotRef) and isinstance(base.type, Pointer) else set()


def _used_below(body: Body) -> set[int]:
    never = _never_negative(body)
    addresses = [place.address for s in body.statements for place in places(s)]
    addresses += [s.exp for s in body.statements if isinstance(s, Assign) and isinstance(s.exp.type, Pointer)]
    addresses += [a.exp for s in body.statements if isinstance(s, Call) for a in s.args if isinstance(a.exp, Exp)]
    return set().union(*(_made_from(address) for address in addresses if _goes_down(address, never)))


def _goes_down(address: Exp, never: set[int]) -> bool:
    moves = [step for step in steps(address) if isinstance(step, PointerAdd)]
    return any(step.minus or _may_be_negative(step.index, never) for step in moves)


def _never_negative(body: Body) -> set[int]:
    """The slots of integers that are only given what is not negative: those that count upwards."""
    made: dict[int, list[Stmt]] = {}
    for s in body.statements:
        index = slot_written(s)
        if index is not None and index > body.scalars:
            made.setdefault(index, []).append(s)
    found = set(made)
    while True:
        wrong = {
            i
            for i in found
            if any(not isinstance(s, Assign) or _may_be_negative(s.exp, found) for s in made[i])
        }
        if not wrong:
            return found
        found -= wrong


def _may_be_negative(exp: Exp, never: set[int]) -> bool:
    if not isinstance(exp.type, Int) or not exp.type.signed:
        return False
    match exp:
        case Const(value=value):
            return value is not None and value < 0
        case SlotRef(slot=slot):
            return slot.index not in never
        case Convert(operand=operand):
            return not isinstance(operand.type, Int) or _may_be_negative(operand, never)
        case Binary(op="&", left=left, right=right):
            return _may_be_negative(left, never) and _may_be_negative(right, never)
        case Binary(op="+" | "*" | "/" | "%" | ">>" | "|", left=left, right=right):
            return _may_be_negative(left, never) or _may_be_negative(right, never)
        case Unary() | Binary():
            return not (isinstance(exp, Binary) and exp.is_comparison)
    return True
