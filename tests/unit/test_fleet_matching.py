"""Who gives pairs to whom: that nobody who waits is forgotten, and nobody who gives is taken for busy for good."""

from __future__ import annotations

import itertools
import random

import pytest

from score_embed.fleet.messages import Pair, Peer
from score_embed.fleet.protocol import Timing
from score_embed.fleet.server.frontier import Frontier
from score_embed.fleet.server.matching import Grant, Matcher, Request
from score_embed.fleet.server.sessions import Session

IDENT = bytes(16)


def session(name: str) -> Session:
    return Session(Peer(name, 1), 1, 0.0, 0.0)


class Table:
    """A campaign with a pair of nobody's, if any, and its matcher."""

    def __init__(self, pairs: int = 0) -> None:
        self.frontier = Frontier(1, {})
        for number in range(pairs):
            self.frontier.add(Pair(number.to_bytes(16, "big"), 0, b"x"), None)
        self.matcher = Matcher(self.frontier, Timing(), random.Random(1))
        self._numbers = itertools.count(1)

    def requests(self) -> list[Request]:
        return list(self.matcher.requests(self._numbers, 0.0))

    def grants(self) -> list[Grant]:
        return list(self.matcher.grants(self._numbers, 0.0))


@pytest.mark.parametrize("answers", [0, 1])
def test_an_ack_frees_all_who_were_to_serve_its_sender(answers: int) -> None:
    """It waited, got pairs from elsewhere, and waited again before the first giver had answered."""
    table, waiting = Table(), session("waits")
    givers = [session("one"), session("two")]
    requests = []
    for giver in givers:
        table.matcher.waits(waiting)
        table.matcher.can_give(giver)
        requests += table.requests()
    assert [request.giver for request in requests] == givers
    freed = table.matcher.arrived(requests[answers].number, waiting)
    assert {giver.peer for giver in freed} == {giver.peer for giver in givers[answers:]}
    assert table.matcher.arrived(requests[answers].number, waiting) == []


def test_who_was_granted_what_is_over_waits_again() -> None:
    table, waiting, giver = Table(pairs=1), session("waits"), session("gives")
    table.matcher.waits(waiting)
    (grant,) = table.grants()
    assert grant.ids == (IDENT,)
    table.matcher.can_give(giver)
    assert table.requests() == [], "it is promised"
    assert table.matcher.void(grant)
    assert table.matcher.open_grant_of(waiting) is None
    assert [list(request.receivers) for request in table.requests()] == [[waiting.peer]]


def test_a_grant_that_was_taken_is_not_void() -> None:
    table, waiting = Table(pairs=1), session("waits")
    table.matcher.waits(waiting)
    (grant,) = table.grants()
    assert table.matcher.arrived(grant.number, waiting) == []
    assert not table.matcher.void(grant)
