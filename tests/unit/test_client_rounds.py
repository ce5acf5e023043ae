"""What a client makes of a round: one result, and one of the test that the engine has left to be finished."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from reported import pair

from score_embed.campaign.describing import Counted, PathTest
from score_embed.campaign.engine_loop import Begun
from score_embed.campaign.rounds import Round
from score_embed.contract.outcome import LinkCounters, Run, Verdict
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair
from score_embed.explore.strategy import DepthFirst
from score_embed.explore.tally import Tally
from score_embed.fleet import messages
from score_embed.fleet.messages import Result
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.executor import Executor
from score_embed.fleet.process.payload import RoundPayload
from score_embed.fleet.process.queue import StrategyQueue
from score_embed.results.parts import Memory

TESTS = (PathTest(b"a", Verdict.RETURN, 0, 1, 3, 0, ""), PathTest(b"b", Verdict.EXIT, 2, 2, 3, 0, "x"))
LOST = TargetError("the board is gone")


FIRST, LEFT, LATER, BEGUN = pair("first"), pair("left", 2), pair("later", 3), pair("begun", 4)
RANKS = b"\0\0" + bytes(8), b"\0\0" + b"\1" * 8


def said(one: Pair) -> messages.Pair:
    return messages.Pair(one.id, one.depth, one.to_bytes())


class Client(Executor):
    """Its rounds bring what a test says, and its target runs nothing."""

    def __init__(self, found: Round | None, fails: bool = False) -> None:
        self.queue, self._tests, self._fails = StrategyQueue(DepthFirst()), 7, fails
        self._client, self._work, self._in_work = "1", None, False
        self.asked: list[tuple[bytes, bytes, int, int]] = []
        self.began: list[int] = []
        about: Any = SimpleNamespace(go=self._go, begin=self._begin, counted=self._told, explorer=None)
        self._rounds, self._worker, self._found = about, about, found

    def _go(self, one: Pair, rank: bytes, number: int, runs: int) -> Round | None:
        self.asked.append((one.id, rank, number, runs))
        return self._found

    def _begin(self, _pair: Pair, number: int) -> Run:
        self.began.append(number)
        return Run(number, b"")

    def _told(self) -> Counted:
        return Counted(Tally().rows(), LinkCounters(), Memory())

    def _counted(self, children: Any) -> Counted | None:
        return None if children else self._told()

    def _test(self, of: Pair, begun: Run, began: float) -> Result:
        if self._fails:
            raise LOST
        return Result(of.id, b"a test", ())

    def taken(self) -> messages.Pair:
        self.queue.add([said(FIRST)])
        return self.queue.take()


def a_round(tests: tuple[PathTest, ...] = TESTS, begun: bool = False, ranked: bool = True) -> Round:
    last = Begun(BEGUN, Run(10, b"")) if begun else None
    return Round(tests, ((),), 3, 2, [LATER, LEFT], RANKS if ranked else (), last, 12)


def test_a_round_is_one_result_with_what_is_left() -> None:
    client = Client(a_round())
    ran = client.run(client.taken(), may_round=True)
    assert client.asked == [(FIRST.id, DepthFirst().rank(FIRST, 0, 0).rjust(17, b"\0"), 8, 1)]
    (found,) = ran.results
    assert (found.id, found.tests, ran.failed) == (FIRST.id, 2, None)
    assert [child.id for child in found.children] == [LATER.id, LEFT.id]
    told = payloads.decode(found.payload)
    assert isinstance(told, RoundPayload)
    assert (told.tests, told.unchecked, told.retried, told.client, told.counted) == (TESTS, 3, 2, "1", None)
    assert (client._tests, client.queue.runs) == (9, 12)
    client.queue.add(found.children)
    assert client.queue.take().id == LATER.id  # by the rank that it had in the round


def test_what_has_no_rank_of_the_round_has_one_of_the_client_s_order() -> None:
    client = Client(a_round(ranked=False))
    (found,) = client.run(client.taken(), may_round=True).results
    client.queue.add(found.children)
    assert client.queue.take().id == LEFT.id  # the next ones are last


def test_the_test_that_was_begun_has_a_result_of_its_own() -> None:
    client = Client(a_round(begun=True))
    ran = client.run(client.taken(), may_round=True)
    assert [(one.id, one.tests) for one in ran.results] == [(FIRST.id, 2), (BEGUN.id, 1)]
    assert [child.id for child in ran.results[0].children] == [LATER.id, LEFT.id, BEGUN.id]


def test_of_a_round_that_ends_at_once_there_is_only_the_test() -> None:
    client = Client(Round((), (), 0, 0, [], [], Begun(FIRST, Run(8, b"")), 1))
    ran = client.run(client.taken(), may_round=True)
    assert [(one.id, one.payload) for one in ran.results] == [(FIRST.id, b"a test")]
    assert client.began == []  # it runs already


def test_what_was_run_before_the_target_was_lost_is_reported() -> None:
    """And with which pair it was lost: the first of the round is done."""
    client = Client(a_round(begun=True), fails=True)
    ran = client.run(client.taken(), may_round=True)
    assert [one.id for one in ran.results] == [FIRST.id]
    assert BEGUN.id in [child.id for child in ran.results[0].children]
    assert ran.failed == (BEGUN.id, LOST)
    assert not client._in_work
    client = Client(Round((), (), 0, 0, [], [], Begun(FIRST, Run(8, b"")), 1), fails=True)
    with pytest.raises(TargetError):
        client.run(client.taken(), may_round=True)


@pytest.mark.parametrize("may_round", [False, True])
def test_without_a_round_the_pair_is_run_by_itself(may_round: bool) -> None:
    client = Client(None)
    ran = client.run(client.taken(), may_round)
    assert [(one.id, one.tests) for one in ran.results] == [(FIRST.id, 1)]
    assert (client.began, len(client.asked)) == ([8], may_round)
