"""Which volatile objects may change while the program does nothing but look at them: then a loop that waits for one is
no hang.

An interrupt handler changes them, code that runs beside the program, a function that nobody calls by its name (a
callback of a timer's). Only what C calls volatile is looked at: another object that changes so is a fault of the
program's.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from score_embed.contract.sites import is_main
from score_embed.frontend.ir.body import Assign, Body, Copy, ForgetObject, Stmt, Store
from score_embed.frontend.ir.exp import GlobalAddress, LocalAddress, Place, base_of


class Waiting:
    """Of one program. `beside`: it has handlers, or code without probes which may be one; `called`: functions that
    somebody calls by name."""

    def __init__(self, bodies: Sequence[Body], called: Set[str], *, beside: bool) -> None:
        self._beside = beside
        by_themselves = [body for body in bodies if not (body.name in called or is_main(body.name))]
        self._changed = {name for body in by_themselves for s in body.statements if (name := _written(s))}

    def may_end(self, place: Place) -> bool:
        """Whether the value there may become another one although nothing is stored to it meanwhile."""
        if not place.type.volatile:
            return False
        base = base_of(place.address)
        if isinstance(base, LocalAddress):
            return False
        return self._beside or (isinstance(base, GlobalAddress) and base.text in self._changed)


def _written(s: Stmt) -> str:
    """The variable of static storage that the statement stores to, if it is volatile."""
    place = s.dest if isinstance(s, (Assign, Copy, Store)) else s.place if isinstance(s, ForgetObject) else None
    base = base_of(place.address) if isinstance(place, Place) and place.type.volatile else None
    return base.text if isinstance(base, GlobalAddress) else ""
