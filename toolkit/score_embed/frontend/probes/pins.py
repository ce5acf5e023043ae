"""Addresses that are pinned already: the same constraint a second time says nothing new.

An address is pinned as the part of it that can vary: a member at a constant offset has its object's pin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from score_embed.frontend.ir.body import Stmt
from score_embed.frontend.ir.exp import AddressOf, Const, Exp, Offset, PointerAdd
from score_embed.frontend.ir.flow import Block, pinned_places
from score_embed.frontend.probes.formulas import Formula, changes, substituted
from score_embed.frontend.probes.maybe import Maybe


def varying_part(address: Exp) -> Exp:
    """What decides the address: the rest is constant offsets."""
    while True:
        match address:
            case Offset(base=base) | PointerAdd(base=base, index=Const()):
                address = base
            case AddressOf(place=place):
                address = place.address
            case _:
                return address


def repeated_pins(
    blocks: Sequence[Block], known: Mapping[int, Mapping[int, Exp]], maybe: Maybe
) -> set[tuple[int, str]]:
    """The places, by statement and text, whose address was pinned on every way to them and has not changed since."""

    def pins(s: Stmt) -> dict[str, Formula]:
        found = {place.text: place.address for place in pinned_places(s) if place.slots}
        return {
            text: Formula.of(substituted(varying_part(address), known.get(id(s), {})))
            for text, address in found.items()
        }

    return repeated(blocks, pins, maybe)


def repeated(
    blocks: Sequence[Block],
    said: Callable[[Stmt], Mapping[str, Formula]],
    maybe: Maybe,
    ends: Callable[[Stmt], bool] = lambda s: False,
) -> set[tuple[int, str]]:
    """What statements say, by statement and name, that was said on every way to them and has not changed since.

    `ends`: after such a statement nothing holds that was said.
    """
    each = {id(s): said(s) for block in blocks for s in block.statements}
    before: list[set[Formula] | None] = [None] * len(blocks)  # None: not reached yet
    before[0] = set()
    work = [0]
    while work:
        index = work.pop()
        held = set(before[index] or ())
        _run(blocks[index], each, maybe, ends, held)
        for k in blocks[index].after:
            old = before[k]
            new = set(held) if old is None else old & held
            if new != old:
                before[k] = new
                work.append(k)
    found: set[tuple[int, str]] = set()
    for block, start in zip(blocks, before, strict=True):
        found |= _run(block, each, maybe, ends, set(start or ()))
    return found


def _run(
    block: Block,
    said: Mapping[int, Mapping[str, Formula]],
    maybe: Maybe,
    ends: Callable[[Stmt], bool],
    held: set[Formula],
) -> set[tuple[int, str]]:
    """Adds to `held` what the block says and takes from it what it changes; returns what it repeats."""
    repeats = set()
    for s in block.statements:
        for name, formula in said[id(s)].items():
            if formula in held:
                repeats.add((id(s), name))
            held.add(formula)
        if ends(s):
            held.clear()
        held.difference_update([formula for formula in held if changes(s, formula, maybe)])
    return repeats
