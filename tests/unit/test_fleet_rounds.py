"""Rounds of a fleet's client: several tests that are one result. What the record makes of them, and who may say them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from process_world import ProcessWorld, TreeWork
from reported import begin, pair, said, write
from test_fleet_sides import Line

from score_embed.campaign.describing import PathTest
from score_embed.contract.outcome import Verdict
from score_embed.contract.words import Note
from score_embed.explore.pair import Pair
from score_embed.fleet import messages
from score_embed.fleet.client.client import Client
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.messages import DecodeError, Peer, Result
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.campaign_record import CampaignRecord, _sampled
from score_embed.fleet.process.executor import Ran
from score_embed.fleet.process.inspection import Inspector, Unsound
from score_embed.fleet.process.payload import Reader, RoundPayload, TestPayload
from score_embed.fleet.protocol import Run, Send, Timing
from score_embed.fleet.server.checks import About, End
from score_embed.results.sourcemap import Position, SourceMap
from score_embed.results.store import Store
from score_embed.results.testcase import Named

X, Y = (Named("x", 0, 2, "bytes"),), (Named("x", 0, 2, "bytes"), Named("y", 2, 4, "signed"))
MAP = SourceMap("/", {7: Position("p.c", 1, "f")}, {}, (), 0, (), (), {}, ())


FIRST, BELOW, LEFT = pair("first"), pair("below"), pair("left", 2)


def a_path(path: int, **fields: Any) -> PathTest:
    return structs.replace(PathTest(b"ab", Verdict.RETURN, 0, path, 3, 0, "out"), **fields)


def a_round(*tests: PathTest, layouts: Sequence[tuple[Named, ...]] = (X,), client: str = "1") -> RoundPayload:
    return RoundPayload(client, 0.5, tests, tuple(layouts), 4, 2, None)


def result(*tests: PathTest, left: Sequence[Pair] = (), one: Pair = FIRST, **about: Any) -> Result:
    return Result(one.id, payloads.encode(a_round(*tests, **about)), tuple(map(said, left)), len(tests))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return begin(tmp_path)


# The record -----------------------------------------------------------------------------------------------------


def test_each_test_of_a_round_is_in_the_record(folder: Path) -> None:
    with closing(Store.open(folder)) as record:
        campaign = CampaignRecord(record, b"image")
        before = structs.replace(campaign.ledger.totals)
        tests = (
            a_path(2**64 - 1, conditions=9),
            a_path(78, verdict=Verdict.EXIT, code=-3, input=b"abcdef", layout=1, output=""),
            a_path(78, conditions=50),
            a_path(79, conditions=11),
        )
        write(campaign, known=[(said(FIRST), None)])
        write(campaign, result(*tests, left=[LEFT], layouts=(X, Y)), known=[(said(LEFT), None)])
        campaign.commit(5, {}, {})
        totals = campaign.ledger.totals
        assert (totals.runs, totals.paths) == (before.runs + 4, before.paths + 3)
        assert (totals.redundant, totals.unchecked) == (before.redundant + 1, before.unchecked + 4)
        assert totals.retried == before.retried + 2
        assert (totals.conditions, totals.longest) == (before.conditions + 23, max(before.longest, 11))
        number = before.runs
    with Store.read(folder) as record:
        one, two, three = (record.test(number + n) for n in (1, 2, 3))
        assert one is not None
        assert two is not None
        assert three is not None
        assert (one.path_hash, one.objects, one.output, one.outcome) == (2**64 - 1, X, "out", "new")
        assert (two.input, two.verdict, two.code, two.objects) == (b"abcdef", "exit", -3, Y)
        assert (three.path_hash, three.outcome, three.place) == (78, "redundant", "")
        assert {2**64 - 1, 78} <= record.path_hashes()
        assert record.pairs.path_of(FIRST.id) == 2**64 - 1
        assert LEFT.id in dict(record.pairs.owners())
        assert FIRST.id not in dict(record.pairs.owners())


def test_rounds_here_and_elsewhere_are_booked_alike(tmp_path: Path) -> None:
    tests = (a_path(5, conditions=4), a_path(5, conditions=90), a_path(6, conditions=7, verdict=Verdict.EXIT, code=2))
    found = []
    for elsewhere in (False, True):
        folder = tmp_path / str(elsewhere)
        folder.mkdir()
        begin(folder)
        with closing(Store.open(folder)) as record:
            ledger = CampaignRecord(record, b"image").ledger
            if elsewhere:
                ledger.enter_round(tests, (X,), 4, 2)
            else:
                number, layout = ledger.totals.runs, record.layout(X)
                rows = [
                    [number + 1, "return", 0, 1, "new", "", layout, bytearray(b"ab"), 5, "out"],
                    [number + 2, "return", 0, 0, "redundant", "", layout, bytearray(b"ab"), 5, "out"],
                    [number + 3, "exit", 2, 1, "new", "", layout, bytearray(b"ab"), 6, "out"],
                ]
                brought: Any = SimpleNamespace(
                    rows=rows, hashes=[5, 6], lengths=[4, 90, 7], fresh=[4, 7], unchecked=4, retried=2
                )
                ledger.enter_ordinary(brought)
            ledger.commit()
            found.append((ledger.totals, list(record.tests()), record.path_hashes()))
    assert found[0] == found[1]


def test_what_a_client_has_done_counts_all_its_tests(folder: Path) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"image")
        write(campaign, result(a_path(1), a_path(2)))
        campaign.commit(5, {}, {})
        (figures,) = campaign._figures({}, {}).clients
        assert (figures.name, figures.tests, figures.busy) == ("1", 2, 0.5)


def test_of_rounds_too_a_sample_is_run_again(folder: Path) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"image")
        campaign.take_claims()
        campaign.sample = 1.0
        write(campaign, result(a_path(1), a_path(2, verdict=Verdict.EXIT, code=7, input=b"xy")))
        claims = campaign.take_claims()
        assert [(claim.about, claim.input, claim.end) for claim in claims] == [
            (About.SAMPLE, b"ab", End("return", 0, 1)),
            (About.SAMPLE, b"xy", End("exit", 7, 2)),
        ]
        assert {(claim.client, claim.derived) for claim in claims} == {("1", None)}
        campaign.sample = 0.0
        write(campaign, result(a_path(3), one=BELOW))
        assert campaign.take_claims() == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_each_test_of_a_round_is_as_likely_to_be_run_again(share: float) -> None:
    chance, times, size = random.Random(1), 4000, 50
    seen = Counter(place for _ in range(times) for place in _sampled(share, size, chance))
    assert set(seen) <= set(range(size))
    expected, deviation = times * share, (times * share * (1 - share)) ** 0.5
    assert all(abs(seen[place] - expected) <= 5 * deviation for place in range(size))
    assert abs(seen.total() - size * expected) <= 5 * deviation * size**0.5


@pytest.mark.parametrize(("path", "differs"), [(5, False), (6, True)])
def test_a_round_of_a_pair_that_was_run_before_is_compared(path: int, differs: bool, folder: Path) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"image")
        runs = campaign.ledger.totals.runs
        write(campaign, result(a_path(5), a_path(8)))
        campaign.commit(1, {}, {})
        write(campaign, again=[result(a_path(path), a_path(9))])
        assert campaign.ledger.totals.runs == runs + 2
        assert (Note.CLIENT_DIFFERS.of("1"), "", 0) in campaign.ledger.notes or not differs
        assert campaign.ledger.tally.divergences == differs


# What is let in -------------------------------------------------------------------------------------------------


def told(*results: Result) -> messages.Results:
    return messages.Results(Peer("1", 0), 1, 1, 1, 0, results)


SOUND = {
    "one": (result(a_path(1)),),
    "two, with pairs left": (result(a_path(0), a_path(2**64 - 1, layout=1), left=[LEFT], layouts=(X, Y)),),
    "one after the other": (result(a_path(1), left=[BELOW]), result(a_path(2), one=BELOW)),
}
UNSOUND = {
    "fewer than it says": (structs.replace(result(a_path(1)), tests=2),),
    "none": (structs.replace(result(a_path(1)), tests=0),),
    "no path": (result(a_path(1), a_path(1, verdict=Verdict.WATCHDOG)),),
    "a bug": (result(a_path(1), a_path(1, verdict=Verdict.ABORT)),),
    "a layout that is not there": (result(a_path(1, layout=1)),),
    "an input that is none": (result(a_path(1), layouts=((Named("x", 0, 10_000, "unsigned"),),)),),
    "another's": (result(a_path(1), client="2"),),
    "pairs that cannot be run": (
        structs.replace(result(a_path(1)), children=(messages.Pair(LEFT.id, 9, LEFT.to_bytes()),)),
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_round_of_ours_is_sound_but_not_from_whom_each_test_is_checked(name: str) -> None:
    Inspector(MAP, Reader()).inspect(told(*SOUND[name]), may_round=True)
    with pytest.raises(Unsound, match="nobody could look"):
        Inspector(MAP, Reader()).inspect(told(*SOUND[name]), may_round=False)


@pytest.mark.parametrize("name", UNSOUND)
def test_rounds_that_no_client_of_ours_reports(name: str) -> None:
    with pytest.raises(Unsound):
        Inspector(MAP, Reader()).inspect(told(*UNSOUND[name]), may_round=True)


@pytest.mark.parametrize("seed", range(10))
def test_mutated_rounds_are_decode_errors(seed: int) -> None:
    rng = random.Random(seed)
    good = payloads.encode(a_round(a_path(1), a_path(2, verdict=Verdict.EXIT), layouts=(X, Y)))
    for _ in range(200):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        try:
            payloads.decode(bytes(bad))
        except DecodeError:
            continue


def test_a_round_fits_into_a_message() -> None:
    """Its inputs are few enough; the names of what they consist of are let go."""
    many = tuple(Named(f"x{n}", n, 1, "unsigned") for n in range(30_000))
    whole = a_round(a_path(1), a_path(2, layout=1), layouts=(X, many))
    data = payloads.encode(whole)
    assert len(data) <= messages.MAX_PAYLOAD
    assert payloads.decode(data) == structs.replace(whole, layouts=((), ()))


# The server's side ----------------------------------------------------------------------------------------------


def test_the_server_counts_all_tests_of_a_round() -> None:
    line = Line(a=50)
    client = line.join("one")
    first = line.to_run.pop("one")[1]
    for batch, what in ((1, "new"), (2, "repeated")):
        ran = messages.Results(client.peer, 1, 1, batch, 0, (Result(first.id, b"", (), tests=3),))
        line.carry_out(None, line.server.receive(ran, 0.0))
        session = line.server.session("one")
        assert session is not None
        assert (session.tests, line.server.campaigns[1].frontier.tests) == (3, 3)
        assert line.server.counts["repeated"] == (3 if what == "repeated" else 0)


class InRounds(TreeWork):
    """Says of each test that it is a round of its own."""

    def run(self, pair: messages.Pair, may_round: bool) -> Ran:
        (one,) = super().run(pair, may_round).results
        entry = payloads.decode(one.payload)
        assert isinstance(entry, TestPayload)
        test = a_path(entry.entry.path_hash, input=entry.entry.input)
        return Ran((structs.replace(one, payload=payloads.encode(a_round(test, client=entry.client))),))


def test_who_reports_rounds_though_each_test_may_be_looked_at_is_sent_away(tmp_path: Path) -> None:
    world = ProcessWorld(tmp_path, 3, 100, 2)
    world.clients["c0"] = world.client("c0", lambda tree: InRounds(tree, "c0"))
    world.run()
    world.store.close()
    assert world.expelled == {"c0"}
    with Store.read(tmp_path) as record:
        assert record.path_hashes() == world.everything()


# The client's side ----------------------------------------------------------------------------------------------


def test_a_pair_that_was_done_with_at_once_is_not_run_again() -> None:
    """Its result follows that of the round, and goes with it."""
    client = Client(Peer("1", 1), Stack(), Timing(batch_tests=2))
    client.start(0.0)
    client.receive(messages.Welcome(client.peer, 1, 1, b"image"), 0.0)
    offered = messages.Pairs(client.peer, 1 << 32, 1, messages.SERVER, (said(FIRST),))
    client.receive(offered, 0.0)
    effects = client.receive(messages.Noted(client.peer, 1 << 32, ()), 0.0)
    assert [effect.pair.id for effect in effects if isinstance(effect, Run)] == [FIRST.id]
    assert client.may_round
    both = result(a_path(1), left=[LEFT, BELOW]), Result(BELOW.id, b"", (), 1)
    effects = client.ran(both, 0.0)
    assert [effect.pair.id for effect in effects if isinstance(effect, Run)] == [LEFT.id]
    (sent,) = (e.message for e in effects if isinstance(e, Send) and isinstance(e.message, messages.Results))
    assert [(one.id, one.tests) for one in sent.results] == [(FIRST.id, 1), (BELOW.id, 1)]
    assert [child.data for child in sent.results[0].children] == [LEFT.to_bytes(), b""]  # done in the same batch


def test_where_each_test_is_checked_none_is_run_in_rounds() -> None:
    client = Client(Peer("1", 1), Stack(), Timing())
    client.start(0.0)
    client.receive(messages.Welcome(client.peer, 1, 1, b"image", whole=True), 0.0)
    assert not client.may_round


@pytest.mark.parametrize("is_leaving", [False, True])
def test_the_target_is_lost_with_a_pair_of_the_round(is_leaving: bool) -> None:
    """Not with that which the round began with, or which would be run next; also if the client was to leave anyway."""
    line = Line(a=50)
    client = line.join("one")
    first = line.to_run.pop("one")[1]
    *others, last = line.trees[1].run(first).children
    if is_leaving:
        line.carry_out("one", client.leave(line.now))
    line.carry_out("one", client.ran((Result(first.id, b"", (*others, last), tests=2),), line.now))
    line.carry_out("one", client.leave(line.now, broken=True, failed=last.id))
    line.settle()
    (bye,) = (one.message for one in line.messages if isinstance(one.message, messages.Bye))
    assert bye.failed == last.id
    assert line.server.campaigns[1]._failed == {last.id: {"one"}}
