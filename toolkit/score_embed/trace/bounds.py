"""Bounds: that an access is within the object that its pointer was made from, as a condition of the path."""

from __future__ import annotations

from collections.abc import Callable

from score_embed.contract.sites import Site, SiteKind
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind
from score_embed.formula.select import within
from score_embed.trace.decoded import Decoded
from score_embed.trace.outcome import OnBranch, Outcome
from score_embed.trace.template import Programs, fit

Reader = Callable[[], tuple[Expr, ...]]


def compile_bounds(
    site: Site, direction: int, programs: Programs, read: Reader, decoded: Decoded, on_branch: OnBranch
) -> Callable[[], object]:
    """The step of the site's events. Direction 0: the access is not in the object, and the test ends."""
    spans = site.kind is SiteKind.SPAN
    program, value, cursor, said = programs.get(site), programs.value, decoded.cursor, decoded.said

    def step() -> None:
        leaves = read()
        address = value(program, said(leaves))
        start, length = cursor.next_address(), cursor.varint()
        offset = build.binary(Kind.SUB, address, build.const(start, address.width))
        limit = decoded.limit_of(start, length, address.width)
        if limit.is_const:
            inside = _spans(leaves[0], offset, limit.value) if spans else _reaches(site.size, offset, limit.value)
        else:
            size = fit(leaves[0], offset.width) if spans else build.const(site.size, offset.width)
            inside = _within_limit(size, offset, limit)
        on_branch(site, leaves, (Outcome(-1, direction, inside if direction else build.negate(inside), ()),))

    return step


def compile_sized(
    site: Site, direction: int, programs: Programs, read: Reader, decoded: Decoded, on_branch: OnBranch
) -> Callable[[], object]:
    """The step of what an object's symbolic size says: what it is made of, or that it is enough for an access."""
    program, value, cursor, said = programs.get(site), programs.value, decoded.cursor, decoded.said

    def step() -> None:
        leaves = read()
        need = cursor.varint()
        if not need:
            decoded.keep_limit(cursor.next_address(), value(program, leaves))
            return
        limit = value(program, said(leaves))
        enough = build.less_equal(Kind.ULT, build.const(need, limit.width), limit)
        on_branch(site, leaves, (Outcome(-1, direction, enough if direction else build.negate(enough), ()),))

    return step


def _within_limit(size: Expr, offset: Expr, limit: Expr) -> Expr:
    """The same of an object whose size is symbolic."""
    room = build.binary(Kind.SUB, limit, offset)
    return build.binary(Kind.AND, build.less_equal(Kind.ULT, offset, limit), build.less_equal(Kind.ULT, size, room))


def _reaches(size: int, offset: Expr, length: int) -> Expr:
    """`size` bytes at the offset end within `length` bytes."""
    return within(offset, length - size) if length >= size else build.FALSE


def _spans(size: Expr, offset: Expr, length: int) -> Expr:
    """The same of a size that is computed."""
    size = fit(size, offset.width)
    starts = within(offset, length)
    room = build.binary(Kind.SUB, build.const(length, offset.width), offset)
    ends = within(size, room.value) if room.is_const else build.less_equal(Kind.ULT, size, room)
    return build.binary(Kind.AND, starts, ends)
