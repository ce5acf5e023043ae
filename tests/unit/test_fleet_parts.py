"""The parts of the fleet's protocol one by one: batches, queues, gifts, timers, frontier, conditions."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from score_embed.errors import UsageError
from score_embed.fleet.client.queue import Stack, split
from score_embed.fleet.client.reporting import ROOM, Batches
from score_embed.fleet.client.sharing import Sharing
from score_embed.fleet.messages import (
    MAX_DROP,
    MAX_FRAME,
    MAX_INPUT,
    MAX_PAIRS,
    MAX_PAYLOAD,
    MAX_SHARE,
    Pair,
    Peer,
    Receiver,
    Req,
    Result,
    Results,
    decode,
    encode,
)
from score_embed.fleet.protocol import Status, Timing
from score_embed.fleet.server import condition
from score_embed.fleet.server.frontier import Frontier
from score_embed.fleet.server.sessions import Session, SessionSet
from score_embed.fleet.timers import Timers

ME, YOU, THEY = Peer("me", 1), Peer("you", 1), Peer("they", 1)


def pair(number: int, data: bytes = b"x") -> Pair:
    return Pair(number.to_bytes(16, "big"), number, data)


def result(number: int, *children: Pair, payload: bytes = b"") -> Result:
    return Result(number.to_bytes(16, "big"), payload, children)


# Batches --------------------------------------------------------------------------------------------------------


def test_batches_go_one_at_a_time_and_in_order() -> None:
    batches = Batches(Timing(batch_tests=2))
    for number in range(5):
        batches.add(result(number, pair(10 + number)))
    assert batches.full
    sent = []
    while batches.waits:
        batch = batches.next()
        sent.append([int.from_bytes(one.id, "big") for one in batch.results])
        assert batches.is_fresh(pair(10 + sent[-1][0]).id)
        assert not batches.stored(batch.number + 1)
        assert batches.stored(batch.number)
        assert not batches.stored(batch.number)
        assert not batches.is_fresh(pair(10 + sent[-1][0]).id)
    assert sent == [[0, 1], [2, 3], [4]]
    assert batches.clear
    assert not batches.has_fresh


def test_no_batch_is_too_big_for_a_frame() -> None:
    """Though tests have as many and as large children as they may."""
    rng = random.Random(1)
    batches = Batches(Timing())
    for number in range(60):
        size = rng.choice((10, 300, 100_000, MAX_INPUT))
        children: list[Pair] = []
        while len(children) < ROOM[0] and size * len(children) < ROOM[1] and rng.random() > 0.001:
            children.append(pair(10_000 * number + len(children) + 1, bytes(size)))
        children.append(pair(10_000 * number + 9_999, bytes(size)))  # for the rest
        batches.add(result(10_000 * number, *children, payload=bytes(rng.choice((0, MAX_PAYLOAD)))))
    largest = 0
    while batches.waits:
        batch = batches.next()
        message = Results(ME, 1, 1, batch.number, 0, batch.results)
        assert decode(encode(message)) == message
        assert sum(len(one.children) for one in batch.results) <= MAX_DROP
        largest = max(largest, len(encode(message)))
        batches.stored(batch.number)
    assert MAX_FRAME // 4 < largest < MAX_FRAME


def test_pairs_done_in_the_same_batch_travel_without_data() -> None:
    one, other = pair(1), pair(2)
    batches = Batches(Timing())
    batches.add(result(0, one, other))
    batches.add(result(1))
    assert batches.next().results == (result(0, Pair(one.id, one.depth, b""), other), result(1))


# Queues ---------------------------------------------------------------------------------------------------------


def test_a_stack_gives_the_newest_pair_and_keeps_each_once() -> None:
    stack = Stack()
    stack.add([pair(1), pair(2), pair(3)])
    stack.add([pair(2), pair(4)])
    stack.drop([pair(3).id, pair(9).id])
    assert [stack.take().depth for _ in range(len(stack))] == [4, 2, 1]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_split_is_fair_in_number_and_depth(count: int) -> None:
    pairs = [pair(number) for number in range(40)]
    shares = split(random.Random(1).sample(pairs, 40), count)
    assert len(shares) == count - 1
    given = [one for share in shares for one in share]
    assert len({one.id for one in given}) == len(given)
    for share in shares:
        assert abs(len(share) - 40 / count) < 1
        assert all(b.depth - a.depth == count for a, b in pairwise(share))


def test_a_share_fits_in_a_message() -> None:
    (share,) = split([pair(number) for number in range(4 * MAX_PAIRS)], 2)
    assert len(share) == MAX_PAIRS
    (share,) = split([pair(number, bytes(100_000)) for number in range(100)], 2)
    assert 0 < sum(len(one.data) for one in share) <= MAX_SHARE
    (share,) = split([pair(number, bytes(MAX_SHARE)) for number in range(4)], 2)
    assert len(share) == 1


# Gifts ----------------------------------------------------------------------------------------------------------


def test_a_held_req_is_served_when_there_is_something() -> None:
    sharing, stack = Sharing(Timing()), Stack()
    req = Req(ME, 7, (Receiver(YOU, "a"), Receiver(THEY, "")))
    assert sharing.hold(req, 0.0) == ([], [])
    assert sharing.share(stack, lambda _: False, 0.1) == []
    stack.add(pair(number) for number in range(9))
    assert sharing.share(stack, lambda _: True, 0.1) == []  # all are fresh
    gifts = sharing.share(stack, lambda _: False, 0.2)
    assert [gift.receiver.peer for gift in gifts] == [YOU, THEY]
    assert len(stack) == 3
    assert not sharing.asked
    assert sharing.open
    # A copy of the REQ brings the same gifts again, not others.
    assert sharing.hold(req, 0.3) == (gifts, [])
    assert sharing.settle(7, YOU, taken=True) == ()
    assert sharing.settle(7, THEY, taken=False) == gifts[1].pairs
    assert sharing.settle(7, THEY, taken=False) == ()
    assert not sharing.open
    assert sharing.hold(req, 0.4) == ([], [])


def test_what_was_refused_stays_refused() -> None:
    sharing = Sharing(Timing(hold=1.0))
    req = Req(ME, 7, (Receiver(YOU, ""),))
    sharing.hold(req, 0.0)
    assert sharing.due == 1.0
    assert sharing.refuse(0.5) == {}
    assert sharing.refuse(1.0) == {7: [YOU]}
    assert sharing.hold(req, 1.1) == ([], [YOU])


def test_a_gift_is_asked_after_ever_more_rarely() -> None:
    sharing, stack = Sharing(Timing(resend=1.0, resend_most=3.0)), Stack()
    stack.add([pair(1), pair(2)])
    sharing.hold(Req(ME, 7, (Receiver(YOU, ""),)), 0.0)
    sharing.share(stack, lambda _: False, 0.0)
    times = []
    for tenth in range(100):
        if sharing.overdue(tenth / 10):
            times.append(tenth / 10)
    assert times == [1.0, 3.0, 6.0, 9.0]


# Frontier -------------------------------------------------------------------------------------------------------


def test_a_frontier_records_each_pair_once_and_only_what_remains_to_be_known() -> None:
    frontier = Frontier(1, {})
    frontier.add(pair(0), None)
    assert frontier.pool == 1
    frontier.add(pair(1), ME)
    frontier.add(pair(1), YOU)
    assert frontier.owner(pair(1).id) == ME
    assert frontier.done(result(0))
    assert not frontier.done(result(0))
    write = frontier.take_changes()
    assert write.tests == (result(0),)
    assert write.known == [(pair(1), ME)]
    assert not frontier.changed
    assert len(frontier) == 1


def test_who_has_what_is_committed_as_it_is_in_the_end() -> None:
    frontier = Frontier(1, {pair(n).id: ME for n in range(4)})
    frontier.move(pair(0).id, YOU)
    frontier.move(pair(0).id, THEY)
    frontier.move(pair(1).id, YOU)
    frontier.done(result(1))
    frontier.add(pair(9), YOU)
    frontier.move(pair(9).id, None)
    assert frontier.free(ME, keep=[pair(2).id]) == 1
    write = frontier.take_changes()
    assert dict(write.moved) == {pair(0).id: THEY, pair(3).id: None}
    assert write.known == [(pair(9), None)]
    assert frontier.first_of_pool(5) == [pair(9).id, pair(3).id]
    assert set(frontier.owners()) == {ME, THEY}


# Timers, crowds, conditions --------------------------------------------------------------------------------------


def test_timers_tell_only_what_the_driver_does_not_know() -> None:
    timers: Timers[str] = Timers(1.0, 3.0)
    timers.set("a", 5.0)
    assert timers.wake() == 5.0
    timers.set("b", 7.0)
    assert timers.wake() is None
    timers.start("b", 1.0)  # it runs already
    timers.set("c", 2.0)
    assert timers.wake() == 2.0
    assert timers.due(2.0) == ["c"]
    assert timers.wake() == 5.0
    pauses = []
    now = 10.0
    for _ in range(4):
        timers.repeat("d", now)
        due = next(t / 10 for t in range(1000) if t / 10 > now and "d" in timers.due(t / 10))
        pauses.append(round(due - now, 1))
        now = due
    assert pauses == [1.0, 2.0, 3.0, 3.0]


def test_a_crowd_is_sampled_evenly() -> None:
    crowd, rng = SessionSet(), random.Random(1)
    sessions = [Session(Peer(f"c{n}", 1), 1, 0.0, 0.0) for n in range(10)]
    for session in sessions:
        crowd.add(session)
        crowd.add(session)
    crowd.discard(sessions[3])
    crowd.discard(sessions[3])
    found = [session.peer for _ in range(3000) for session in crowd.sample(rng, 3)]
    assert len(crowd) == 9
    assert sessions[3].peer not in found
    assert all(800 < found.count(s.peer) < 1200 for s in sessions if s is not sessions[3])


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("queue < 5", True),
        ("queue<4", False),
        ("queue < 5 or time > 3600", True),
        ("queue >= 5 or time > 3600", False),
        ("not (queue >= 5 or time > 3600) and tests == 100", True),
        ("tests != 100 or queue <= 4 and time > 59.5", True),
        ("(tests != 100 or queue <= 4) and waiting > 1", False),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    session = Session(ME, 1, heard=0.0, joined=0.0, status=Status.BUSY, queue=4, tests=100)
    assert condition.parse(text)(session.values(60.0)) is holds


@pytest.mark.parametrize(
    "text",
    ["", "queue", "queue <", "queue < x", "5 < queue", "queue < 5 time > 1", "(queue < 5", "queue < 5)", "age < 5",
     "queue = 5", "queue < 5 or", "queue < -1", "import os", "queue < 5; time", "(" * 60 + "queue < 1" + ")" * 60,
     "not " * 60 + "queue < 1"],
)  # fmt: skip
def test_what_is_no_condition_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        condition.parse(text)
    assert "no condition: " in caught.value.what
    assert "queue < 5" in caught.value.hint
