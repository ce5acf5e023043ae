"""What an address is computed from: a base, a variable's address or a pointer, and what is added to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from score_embed.frontend.ir.exp import AddressOf, Const, Convert, Exp, Offset, PointerAdd
from score_embed.frontend.types.ctype import Pointer


def steps(address: Exp) -> Iterator[Exp]:
    """The address, what it is without what is added last, and so on to its base."""
    while True:
        yield address
        match address:
            case Offset(base=base) | PointerAdd(base=base):
                address = base
            case AddressOf(place=place):
                address = place.address
            case Convert(operand=operand) if isinstance(operand.type, Pointer):
                address = operand
            case _:
                return


def base_of(address: Exp) -> Exp:
    """The pointer that an address is computed from, or the address of a variable."""
    return list(steps(address))[-1]


def is_arithmetic(address: Exp) -> bool:
    """Whether it moves a pointer: what is one past an object, or beyond, may come of it."""
    return any(isinstance(step, (PointerAdd, Offset)) for step in steps(address))


def rebased(address: Exp, base: Exp) -> Exp:
    """The same computed from another pointer; of an address that no `&` stands in."""
    match address:
        case Offset() | PointerAdd():
            return replace(address, base=rebased(address.base, base))
        case Convert() if isinstance(address.operand.type, Pointer):
            return replace(address, operand=rebased(address.operand, base))
    return base


def indices(address: Exp) -> list[PointerAdd]:
    """Where something that is no constant is added to the base."""
    return [step for step in steps(address) if isinstance(step, PointerAdd) and not isinstance(step.index, Const)]


def stride_text(address: Exp, size: str) -> str:
    """How many bytes lie between the places that the address may be, in C; 0: that is no multiple of their size."""
    sizes = [f"({step.size})" for step in indices(address)]
    if len(sizes) == 1:
        return f"({sizes[0]} < {size} ? 0 : {sizes[0]})"
    return f"({' || '.join([f'{other} % {size}' for other in sizes] or ['1'])} ? 0 : {size})"
