"""A pair (test case, neg_limit): what queues hold, the record keeps and clients exchange.

It carries its prediction, so that whoever runs it can tell whether the run went where the solver said: the hash over the
first `predicted` conditions, which the target compares, and the id of their decisions, which the host can work out where
it sees the whole path. The second knows of objects, too, and nothing but the same decisions has it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from score_embed.errors import StorageError
from score_embed.explore.lineage import Origin
from score_embed.explore.scope import Route
from score_embed.formula.digest import digest
from score_embed.trace.hash import START, value
from score_embed.trace.path import Condition

ID_BYTES = 16
_HEAD = struct.Struct("<BIIIQIII")  # version, neg_limit, place, predicted, condition hash, site, targets from, to
_MORE = struct.Struct(
    "<BBH16s"
)  # behind the id: `pending`, `behind`, how many objects are left out, the address's digest
_OBJECT = struct.Struct("<QQ")
_DECISION = struct.Struct("<IiB")
_VERSION = 7
_HAS_DECISIONS = 0x8000  # beside the number of objects
MOST_LEFT_OUT = 64
_NEVER = 0xFFFFFFFF  # a limit no path reaches
_SOON = 16  # values of a fork that are tried in their turn; more of them wait behind what does not fork


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Of the objects that an address may be in, or the values that a formula may have, those that need not be looked for
    any more."""

    address: bytes  # the formula's digest
    objects: tuple[tuple[int, int], ...]  # base, size in bytes; or value, 0


@dataclass(frozen=True, slots=True)
class Pair:
    """`neg_limit`: conditions before it are not flipped. `site`: the branch whose other side it is (0: the first).

    A path's conditions are more than the target counts: forks are the host's own. So there are two numbers for what is
    predicted: the first `place` conditions of the path, and the first `predicted` that the target counts.

    `targets`: the coverage indices it may lead to; none if that is not known. `pending`: the flip of condition
    `neg_limit` that nobody has an input for yet, which is asked for the `pending`-th time when its turn comes; `input` is
    that of the run whose condition it is. `behind`: how often it was put off: those that were put off less come first.
    """

    id: bytes  # of the predicted decisions: the same pair derived twice has the same id
    input: bytes
    neg_limit: int
    place: int
    predicted: int
    condition_hash: int
    site: int
    targets: range = range(0)
    left_out: LeftOut | None = None
    decided: bytes | None = None  # the id of the predicted decisions, if it is not `id`
    pending: int = 0
    behind: int = 0
    route: Route | None = field(default=None, compare=False, repr=False)  # of a pending flip; in memory only
    origin: Origin | None = field(default=None, compare=False, repr=False)  # known in memory only

    @property
    def depth(self) -> int:
        """The number of conditions of its path that are decided, with the one that is flipped."""
        return self.neg_limit + bool(self.pending)

    def to_bytes(self) -> bytes:
        start, stop = self.targets.start, self.targets.stop
        numbers = self.neg_limit, self.place, self.predicted, self.condition_hash, self.site
        head = _HEAD.pack(_VERSION, *numbers, start, stop)
        address, objects = (self.left_out.address, self.left_out.objects) if self.left_out else (bytes(16), ())
        count = len(objects) | (_HAS_DECISIONS if self.decided is not None else 0)
        more = _MORE.pack(self.pending, self.behind, count, address) + b"".join(
            _OBJECT.pack(*found) for found in objects
        )
        return head + self.id + more + (self.decided or b"") + self.input

    @staticmethod
    def from_bytes(data: bytes) -> Pair:
        start = _HEAD.size + ID_BYTES
        if len(data) < start + _MORE.size or data[0] != _VERSION:
            raise StorageError("a stored test to run is damaged", "", "Start a new campaign.")
        _, neg_limit, place, predicted, condition_hash, site, *targets = _HEAD.unpack_from(data)
        pending, behind, count, address = _MORE.unpack_from(data, start)
        end = start + _MORE.size + (count & ~_HAS_DECISIONS) * _OBJECT.size
        rest_of_it = end + (ID_BYTES if count & _HAS_DECISIONS else 0)
        if len(data) < rest_of_it:
            raise StorageError("a stored test to run is damaged", "", "Start a new campaign.")
        objects = tuple(_OBJECT.iter_unpack(data[start + _MORE.size : end]))
        left_out = LeftOut(address, objects) if objects else None
        ident, decisions = data[_HEAD.size : start], data[end:rest_of_it] or None
        of = range(*targets)
        flip = (neg_limit, place, predicted, condition_hash, site, of, left_out, decisions, pending, behind)
        return Pair(ident, data[rest_of_it:], *flip)


def own_part(data: bytes) -> int:
    """How many bytes of a serialised pair are its own: a pending flip ends with its run's input, as others do."""
    start = _HEAD.size + ID_BYTES
    if len(data) < start + _MORE.size or data[0] != _VERSION:
        return len(data)
    pending, _, count, _ = _MORE.unpack_from(data, start)
    objects, decisions = (count & ~_HAS_DECISIONS) * _OBJECT.size, ID_BYTES if count & _HAS_DECISIONS else 0
    return start + _MORE.size + objects + decisions if pending else len(data)


def is_serialised(data: bytes, ident: bytes) -> bool:
    """Are these the bytes of a pair of this id, as far as can be seen without reading it?"""
    start = _HEAD.size
    return len(data) >= start + ID_BYTES and data[0] == _VERSION and data[start : start + ID_BYTES] == ident


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
    return [first_pair(inputs[0]), *others[:count], *(replace(pair, neg_limit=_NEVER) for pair in others[count:])]


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
    return replace(pair, id=blake2b(pair.id + b"again", digest_size=ID_BYTES).digest(), decided=pair.decided or pair.id)


def asked_later(pair: Pair) -> Pair:
    """A pending flip whose answer was not waited for, under another id: this one is done with."""
    return replace(pair, id=blake2b(pair.id + b"later", digest_size=ID_BYTES).digest())


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
        return replace(pair, id=ident, decided=pair.decided or pair.id, route=None, origin=None)
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

    `decisions`: the id of those before; `left_out`: the side is that of any other object; which one the run will say, and flip that on to the next.
    """
    ident, site = elsewhere_id(decisions, condition, left_out), condition.site
    before = value(condition.before)
    if left_out is not None:
        flip = (index, index, condition.counted, before, site)
        later = condition.is_fork and len(left_out.objects) > _SOON
        return Pair(ident, data, *flip, left_out=left_out, decided=decisions, behind=int(later), origin=origin)
    if condition.loose:
        return Pair(ident, data, _NEVER, index, condition.counted, before, site, decided=decisions, origin=origin)
    leads_to = condition.elsewhere
    targets = range(leads_to[0], leads_to[-1] + 1) if leads_to else range(0)
    hashed = condition.hash(flipped=True)
    return Pair(ident, data, index + 1, index + 1, condition.counted + 1, hashed, site, targets, origin=origin)


def decided(before: bytes, condition: Condition, flipped: bool = False) -> bytes:
    """The id of the decisions `before` followed by this condition's direction, or its other side.

    A cryptographic hash, unlike the target's: two pairs taken for one would lose paths.
    """
    decision = _DECISION.pack(condition.site, condition.chain, condition.direction ^ flipped)
    chosen = condition.chosen
    which = _OBJECT.pack(chosen.base, chosen.size) if chosen else b""
    return blake2b(before + decision + which, digest_size=ID_BYTES).digest()


class Decisions:
    """Follows a trail: the ids of the decisions before each of its conditions, and of all."""

    def __init__(self) -> None:
        self.ids = [ROOT]

    def cut(self, count: int) -> None:
        del self.ids[count + 1 :]

    def pass_by(self, condition: Condition) -> None:
        self.ids.append(decided(self.ids[-1], condition))


def elsewhere_id(before: bytes, condition: Condition, left_out: LeftOut | None = None) -> bytes:
    """The id of the decisions `before` followed by the condition's other side."""
    other = decided(before, condition, flipped=True)
    if left_out is None or len(left_out.objects) == 1:
        return other
    return blake2b(other + _left(left_out), digest_size=ID_BYTES).digest()


def _left(out: LeftOut) -> bytes:
    return len(out.objects).to_bytes(2, "little") + out.address + b"".join(_OBJECT.pack(*found) for found in out.objects)


def without(pair: Pair, index: int, condition: Condition) -> LeftOut | None:
    """The objects that condition `index` of the pair's run need not be flipped to: its own, and those that led to it."""
    chosen = condition.chosen
    if chosen is None:
        return None
    address, before = digest(chosen.address), pair.left_out
    is_same = before is not None and (index, condition.site, address) == (pair.neg_limit, pair.site, before.address)
    known = before.objects if before and is_same else ()
    return LeftOut(address, (*known, (chosen.base, chosen.size)))
