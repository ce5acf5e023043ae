"""Checks of the heap: that an access is within the block that its pointer is meant for, as a condition of the path."""

from __future__ import annotations

from collections.abc import Callable

from score_embed.frontend.sites import Site
from score_embed.solve import build
from score_embed.solve.expr import Expr, Kind
from score_embed.solve.select import within
from score_embed.trace.decoded import Decoded
from score_embed.trace.outcome import OnBranch, Outcome
from score_embed.trace.template import Programs

Reader = Callable[[], tuple[Expr, ...]]


def compile_heap_check(
    site: Site, direction: int, programs: Programs, read: Reader, decoded: Decoded, on_branch: OnBranch
) -> Callable[[], object]:
    """The step of the site's events. Direction 0: the access is not in the block, and the test ends."""
    program, value, cursor, said = programs.get(site), programs.value, decoded.cursor, decoded.said

    def step() -> None:
        leaves = read()
        address = value(program, said(leaves))
        start, length = cursor.next_address(), cursor.varint()
        offset = build.binary(Kind.SUB, address, build.const(start, address.width))
        inside = within(offset, length - site.size) if length >= site.size else build.FALSE
        on_branch(site, leaves, (Outcome(-1, direction, inside if direction else build.negate(inside), ()),))

    return step
