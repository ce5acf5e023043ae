"""A pair (test case, neg_limit): what queues hold, the record keeps and clients exchange.

It carries its prediction, so that whoever runs it can tell whether the run went where the solver said: the hash over
the first `predicted` conditions, which the target compares, and the id of their decisions, which the host can work out
where it sees the whole path. The second knows of objects, too, and nothing but the same decisions has it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Struct

from score_embed.engine._core import (
    ASTRAY,
    Origin,
    Pair,
    Route,
    decided,
    is_serialised,
    other_side,
    own_part,
    pairs_are,
)
from score_embed.errors import StorageError
from score_embed.formula.expr import digest
from score_embed.trace.trail import START, Condition, value

__all__ = [
    "ID_BYTES", "MOST_LEFT_OUT", "ROOT", "Known", "LeftOut", "Pair", "asked_later", "child", "decided", "first_pair",
    "first_pairs", "is_astray_elsewhere", "is_pair", "is_serialised", "once_more", "other_first", "own_part",
    "pending_flip", "put_off", "rest", "rest_id", "set_aside", "without",
]  # fmt: skip

ID_BYTES = 16
_OBJECT = struct.Struct("<QQ")
MOST_LEFT_OUT = 64
_NEVER = 0xFFFFFFFF  # a limit no path reaches
_SOON = 16  # values of a fork that are tried in their turn; more of them wait behind what does not fork


class LeftOut(Struct, frozen=True):
    """Of the objects that an address may be in, or the values that a formula may have, those that need not be looked
    for any more."""

    address: bytes  # the formula's digest
    objects: tuple[tuple[int, int], ...]  # base, size in bytes; or value, 0


def _damaged() -> StorageError:
    return StorageError("a stored test to run is damaged", "", "Start a new campaign.")


pairs_are(LeftOut, _damaged)


def is_pair(data: bytes, ident: bytes) -> bool:
    """Are these the bytes of a pair of this id? All of it is read."""
    try:
        return Pair.from_bytes(data).id == ident
    except StorageError:
        return False


ROOT = blake2b(digest_size=ID_BYTES).digest()  # the id of no decision at all


def first_pair(data: bytes) -> Pair:
    """The pair a campaign begins with: nothing is predicted, everything may be flipped."""
    return Pair(ROOT, data, 0, 0, 0, value(START), 0)


def other_first(data: bytes, number: int) -> Pair:
    """Another pair to begin with, beside the first: it has no decisions either."""
    ident = blake2b(ROOT + b"first" + number.to_bytes(4, "little"), digest_size=ID_BYTES).digest()
    return Pair(ident, data, 0, 0, 0, value(START), 0, decided=ROOT)


def first_pairs(inputs: Sequence[bytes], seeds: Sequence[bytes] = ()) -> list[Pair]:
    """The pairs of a campaign that begins with these inputs, of which there is at least one.

    `seeds`: are run, too, but nothing is flipped on their paths, which the others' flips lead to as well.
    """
    others = [other_first(data, number) for number, data in enumerate((*inputs[1:], *seeds), 1)]
    count = len(inputs) - 1
    return [first_pair(inputs[0]), *others[:count], *(pair.but(neg_limit=_NEVER) for pair in others[count:])]


def rest(pair: Pair, before: bytes, data: bytes, neg_limit: int, condition: Condition, origin: Origin) -> Pair:
    """What is left of a pair whose flips were broken off at `neg_limit`: the same path once more, flipped from there.

    `before`: the id of the decisions up to there.
    """
    if pair.pending:
        return asked_later(pair)
    left_out = pair.left_out if neg_limit == pair.neg_limit else None
    origin = Origin(origin, neg_limit)
    return Pair(
        rest_id(pair, neg_limit),
        data,
        neg_limit,
        neg_limit,
        condition.counted,
        value(condition.before),
        pair.site,
        left_out=left_out,
        decided=before,
        origin=origin,
    )


def rest_id(pair: Pair, neg_limit: int) -> bytes:
    """By which the rest of a pair from there on is known."""
    return blake2b(pair.id + neg_limit.to_bytes(4, "little"), digest_size=ID_BYTES).digest()


def once_more(pair: Pair) -> Pair:
    """A pair that is done, to be done again because nobody believes any more who did it; under another id."""
    return pair.but(id=blake2b(pair.id + b"again", digest_size=ID_BYTES).digest(), decided=pair.decided or pair.id)


def put_off(pair: Pair) -> Pair:
    """A pair whose run's path was not followed as far as to its neg_limit: all of it once more, under the id of its
    rest."""
    return (
        asked_later(pair)
        if pair.pending
        else pair.but(id=rest_id(pair, pair.neg_limit), decided=pair.decided or pair.id)
    )


def asked_later(pair: Pair) -> Pair:
    """A pending flip whose answer was not waited for, under another id: this one is done with."""
    return pair.but(id=blake2b(pair.id + b"later", digest_size=ID_BYTES).digest())


class Known(NamedTuple):
    """The conditions of a path that were seen."""

    conditions: int
    decided: bytes  # the id of their decisions
    counted: int  # of them, by the target
    condition_hash: int  # over these


def set_aside(pair: Pair, data: bytes, known: Known | None = None) -> Pair:
    """What is left of a pair whose run was lost, under another id: this one is done with.

    `data`: of the run; `known`: what was seen of its path, if it went where it was meant to: that is not flipped again.
    """
    ident = blake2b(pair.id + b"lost", digest_size=ID_BYTES).digest()
    if known is None or pair.pending or known.conditions < max(pair.place, pair.neg_limit):
        return pair.but(id=ident, decided=pair.decided or pair.id, route=None, origin=None)
    at, decisions, counted, condition_hash = known
    left_out = pair.left_out if at == pair.neg_limit else None
    return Pair(ident, data, at, at, counted, condition_hash, pair.site, left_out=left_out, decided=decisions)


def pending_flip(
    child: Pair,
    decisions: bytes,
    data: bytes,
    index: int,
    condition: Condition,
    asked: int = 1,
    behind: int = 0,
    route: Route | None = None,
) -> Pair:
    """The question for `child`, of condition `index` of the run with input `data`, asked for the `asked`-th time.

    `decisions`: the id of those before.
    """
    ident = blake2b(child.id + b"ask" + bytes([asked]), digest_size=ID_BYTES).digest()
    before = value(condition.before)
    return Pair(
        ident,
        data,
        index,
        index,
        condition.counted,
        before,
        condition.site,
        child.targets,
        child.left_out,
        decisions,
        asked,
        behind,
        route,
        child.origin,
    )


def child(
    decisions: bytes, data: bytes, index: int, condition: Condition, origin: Origin, left_out: LeftOut | None = None
) -> Pair:
    """The other side of condition `index`. Where the target cannot tell that it is, the run is for its end only.

    `decisions`: the id of those before; `left_out`: the side is that of any other object; which one the run will say,
    and flip that on to the next.
    """
    if left_out is None:
        return other_side(decisions, data, index, condition, origin)
    ident = elsewhere_id(decisions, condition, left_out)
    flip = (index, index, condition.counted, value(condition.before), condition.site)
    later = condition.is_fork and len(left_out.objects) > _SOON
    return Pair(ident, data, *flip, left_out=left_out, decided=decisions, behind=int(later), origin=origin)


def elsewhere_id(before: bytes, condition: Condition, left_out: LeftOut) -> bytes:
    """The id of the decisions `before` followed by the condition's other side."""
    other = decided(before, condition, flipped=True)
    if len(left_out.objects) == 1:
        return other
    return blake2b(other + _left(left_out), digest_size=ID_BYTES).digest()


def _left(out: LeftOut) -> bytes:
    return (
        len(out.objects).to_bytes(2, "little") + out.address + b"".join(_OBJECT.pack(*found) for found in out.objects)
    )


def without(pair: Pair, index: int, condition: Condition) -> LeftOut | None:
    """The objects that condition `index` of the pair's run need not be flipped to: its own, and those that led to
    it."""
    chosen = condition.chosen
    if chosen is None:
        return None
    address, before = digest(chosen.address), pair.left_out
    # The site may be another one: where a pointer led astray, or led astray there, it is that of its check.
    is_same = before is not None and (index, address) == (pair.neg_limit, before.address)
    known = before.objects if before and is_same else ()
    return LeftOut(address, (*known, (chosen.base, chosen.size), *chosen.others))


def is_astray_elsewhere(pair: Pair, index: int, condition: Condition) -> bool:
    """Whether a run for another object of one address ended at once by a wrong access through another symbolic pointer:
    what is left of the first one's objects then, nobody would know."""
    chosen, before = condition.chosen, pair.left_out
    if chosen is None or before is None or index != pair.neg_limit or not chosen.size & ASTRAY:
        return False
    return digest(chosen.address) != before.address
