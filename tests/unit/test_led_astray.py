"""What is known of other pointers where one of them went astray."""

from __future__ import annotations

from events import Stream, leaf_step, slot, symbolic, table

from score_embed.contract.sites import Op, Site, SiteKind, Step, Template
from score_embed.explore.pair import LeftOut, first_pair, is_astray_elsewhere, without
from score_embed.formula.expr import digest
from score_embed.trace.trail import Condition, Trail

_ADDRESS = Template((slot(1, 8), slot(2, 8)), (leaf_step(0, 8), leaf_step(1, 8), Step(Op.ADD, 8)))
_CHECK = Site(
    20, SiteKind.BOUNDS, "a.c", 20, size=1, template=_ADDRESS, origin=Template((slot(1, 8),), (leaf_step(0, 8),))
)
SITES = table(symbolic(16, slot(1, 8), 1), symbolic(17, slot(2, 8), 1, "y"), _CHECK, pointer_bits=8)


def astray() -> Condition:
    """Five bytes behind a pointer to an object of four bytes."""
    sent = Stream(8).head(16).head(17).head(20).varint(0b0101).address(32).varint((1 << 64) - 1).varint(4).raw(b"\0")
    path = Trail(SITES)
    path.follow(bytes(sent), bytes([32, 5]))
    (condition,) = path.conditions
    return condition


def test_what_was_left_out_of_one_address_says_nothing_of_another() -> None:
    condition = astray()
    assert condition.chosen is not None
    pair = first_pair(b"").but(neg_limit=0)
    same = pair.but(left_out=LeftOut(digest(condition.chosen.address), ((64, 4),)))
    other = pair.but(left_out=LeftOut(bytes(16), ((64, 4),)))
    assert not is_astray_elsewhere(pair, 0, condition)
    assert not is_astray_elsewhere(same, 0, condition)
    assert is_astray_elsewhere(other, 0, condition)
    assert not is_astray_elsewhere(other, 1, condition)


def test_right_and_wrong_objects_of_an_address_are_left_out_together() -> None:
    condition = astray()
    assert condition.chosen is not None
    own = condition.chosen.base, condition.chosen.size
    address = digest(condition.chosen.address)
    pair = first_pair(b"").but(neg_limit=0, site=999, left_out=LeftOut(address, ((64, 4),)))
    assert without(pair, 0, condition) == LeftOut(address, ((64, 4), own))
    assert without(pair.but(neg_limit=1), 0, condition) == LeftOut(address, (own,))
