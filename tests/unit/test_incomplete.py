"""What keeps a result from being complete: runs that are not as their formulas say, objects that nobody knows, and what
is noted of them."""

from __future__ import annotations

import pytest
from events import Stream, assign, compare, condition, copy_template, pin, replay, slot, table
from exploring import answered, next_pair, record, search
from msgspec import structs
from test_concolic import OBJECTS, TABLE, X, exploration, finish, ints, run_foo, run_objects

from score_embed.contract.outcome import Verdict
from score_embed.contract.sites import Op, Site, SiteKind, Step, Template
from score_embed.explore.pair import MOST_LEFT_OUT, Pair, first_pair, first_pairs
from score_embed.trace.trail import Trail

# What a path says that the run did not do ----------------------------------------------------------------------------


def test_a_value_that_differs_from_its_formula_is_noted_and_nothing_is_derived() -> None:
    sites = table(X, assign(30, slot(2), copy_template(slot(1))), condition(23, compare(Op.EQ, slot(1), 5)))
    made = search(sites, bytes(4), trail=Trail(sites, verify=True))
    pair = next_pair(made)
    stream = Stream().head(16).head(30).signed(7).head(23, 0).signed(0)  # it stored 7 where 0 is right
    path = replay(sites, bytes(stream), pair.input, verify=True)
    outcome = record(made, pair, finish(path), path.data).outcome
    assert outcome.notes == {("value differs from its formula", 30): 1}
    assert outcome.children == ()
    assert made.explorer.divergences == 1


def test_what_a_path_was_cut_at_is_not_flipped() -> None:
    sites = table(X, condition(23, compare(Op.EQ, slot(1), 5)), condition(24, compare(Op.EQ, slot(1), 6)))
    made, pair = exploration(bytes(4), sites)
    path = replay(sites, bytes(Stream().head(16).head(23, 0).head(24, 1)), pair.input)
    assert path.diverged == 24
    outcome = record(made, pair, finish(path), path.data).outcome
    assert [child.neg_limit for child in outcome.children] == [1]
    assert outcome.notes == {("divergence", 24): 1}
    assert made.explorer.unflipped == {(sites[24].coverage, "diverged"): 1}
    assert (made.explorer.divergences, made.explorer.concretized) == (1, 0)


def test_what_was_used_concretely_is_counted() -> None:
    sites = table(X, pin(30, slot(1)), condition(23, compare(Op.EQ, slot(1), 5)))
    made, pair = exploration(bytes(4), sites)
    path = replay(sites, bytes(Stream().head(16).head(30).head(30).head(23, 0)), pair.input)
    outcome = record(made, pair, finish(path), path.data).outcome
    assert outcome.notes == {("symbolic address", 30): 2}
    assert made.explorer.concretized == 2
    child = next_pair(made)
    path = replay(sites, bytes(Stream().head(16).head(30).head(23, 1)), child.input)
    record(made, child, finish(path), path.data)
    assert made.explorer.concretized == 3


def test_a_path_of_other_length_than_the_target_counted_is_not_believed() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    outcome = record(made, pair, finish(path, conditions=2), path.data).outcome
    assert outcome.children == ()
    assert ("operands differ from their formulas", 20) in outcome.notes


@pytest.mark.parametrize(
    ("verdict", "code", "what"),
    [
        (Verdict.DEVICE_WAIT, 1, "waits for a volatile variable at 0x2a"),
        (Verdict.DEVICE_WAIT, 0, "waits for a device register at 0x2a"),
        (Verdict.WATCHDOG, 0, "watchdog"),
    ],
)
def test_what_a_run_waited_for_is_said(verdict: Verdict, code: int, what: str) -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    outcome = record(made, pair, finish(path, verdict=verdict, code=code, address=42, site=20), path.data).outcome
    assert outcome.notes[what, 20] == 1


def test_why_a_test_says_no_more_is_said() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    lost = finish(path, verdict=Verdict.ABORT, why_lost="the line was cut", site=20)
    assert record(made, pair, lost, path.data).outcome.notes["abort: the line was cut", 20] == 1


# Objects that nobody knows ------------------------------------------------------------------------------------------

AT_X = Template((slot(1),), (Step(Op.LEAF, 32, 0),))
ANY = Site(23, SiteKind.SELECT, "a.c", 23, "main", dest=slot(4, 8), template=AT_X)


class OneByte:
    """Constants of which nobody knows more than the byte that is read."""

    def object_at(self, address: int) -> None:
        return None

    def read(self, address: int, size: int) -> bytes:
        return bytes(size)

    initial = read
    bounds = ()
    has_bounds = False


def test_the_other_side_of_what_the_target_cannot_tell_is_run_for_its_end() -> None:
    sites = table(X, ANY, condition(24, compare(Op.EQ, slot(1), 9)))
    made = search(sites, ints(3, 0)[:4], trail=Trail(sites, constants=OneByte()))
    pair = next_pair(made)

    def run(data: bytes) -> Trail:
        trail = Trail(sites, constants=OneByte())
        x = int.from_bytes(data, "little")
        trail.follow(bytes(Stream().head(16).head(23, 1).varint(0).head(24, int(x == 9))), data)
        return trail

    path = run(pair.input)
    children = answered(made, record(made, pair, finish(path), path.data).outcome.children)
    (elsewhere,) = (child for child in children if child.predicted == 0)
    assert elsewhere.input != pair.input
    assert made.explorer.notes["symbolic address outside of its object", 23] == 1
    assert len(elsewhere.targets) == 0
    assert Pair.from_bytes(elsewhere.to_bytes()) == elsewhere
    path = run(elsewhere.input)
    outcome = record(made, elsewhere, finish(path), path.data).outcome
    assert outcome.children == ()  # nothing is derived from it
    assert not outcome.mispredicted


def test_so_many_objects_are_looked_for_and_no_more() -> None:
    made, pair = exploration(bytes(4), OBJECTS)
    path = run_objects(pair.input)
    outcome = record(made, pair, finish(path), path.data).outcome
    (elsewhere,) = (child for child in outcome.children if child.left_out)
    assert elsewhere.left_out is not None
    assert elsewhere.left_out.objects == ((0, 8),)
    for count, is_flipped in ((MOST_LEFT_OUT - 1, True), (MOST_LEFT_OUT, False)):
        others = tuple((0x100000 + n, 8) for n in range(count))
        made, _ = exploration(bytes(4), OBJECTS)
        many = elsewhere.but(left_out=structs.replace(elsewhere.left_out, objects=others))
        path = run_objects(elsewhere.input)
        outcome = record(made, many, finish(path), path.data).outcome
        assert not outcome.mispredicted
        assert any(child.left_out for child in outcome.children) is is_flipped
        assert (("symbolic address outside of its object", 23) in outcome.notes) is not is_flipped


def test_a_campaign_may_begin_with_several_inputs() -> None:
    first, *others = first_pairs([b"one", b"two", b"two"])
    assert first == first_pair(b"one")
    assert [other.input for other in others] == [b"two", b"two"]
    assert len({pair.id for pair in (first, *others)}) == 3
    assert all((other.neg_limit, other.predicted, other.decided) == (0, 0, first.id) for other in others)
    made = search(TABLE, ints(0, 8))
    children: set[bytes] = set()
    for pair in (next_pair(made), first_pairs([b"", ints(0, 8)])[1]):
        path = run_foo(pair.input)
        outcome = record(made, pair, finish(path), path.data).outcome
        assert not outcome.mispredicted
        children |= {child.id for child in outcome.children}
    assert len(children) == 1  # the same flip of the same path is one pair
    *_, seed = first_pairs([b"one"], [ints(0, 8)])
    path = run_foo(seed.input)
    assert not record(made, seed, finish(path), path.data).outcome.children  # of a seed nothing is flipped


def test_a_run_that_ends_before_its_prediction_is_mispredicted() -> None:
    """Although the target said that it was as predicted."""
    sites = table(X, condition(23, compare(Op.EQ, slot(1), 5)), condition(24, compare(Op.EQ, slot(1), 6)))
    made, pair = exploration(bytes(4), sites)
    path = replay(sites, bytes(Stream().head(16).head(23, 0).head(24, 0)), pair.input)
    deep = record(made, pair, finish(path), path.data).outcome.children[-1]
    assert deep.predicted == 2
    short = replay(sites, bytes(Stream().head(16).head(23, 0)), deep.input)
    outcome = record(made, deep, finish(short), short.data).outcome
    assert (outcome.mispredicted, outcome.children) == (True, ())
    assert made.explorer.unflipped == {(sites[24].coverage + 1, "mispredicted"): 1}
