"""The processes of a fleet, without starting them: the record under the protocol, the order of a client's queue,
jobs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from reported import begin, pair, said, write

from score_embed import config
from score_embed.campaign.describing import Counted, Entry
from score_embed.contract.coverage import Condition, decision
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.contract.words import Layer, Note, Unflipped
from score_embed.errors import StorageError
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.strategy import STRATEGIES
from score_embed.explore.tally import Tally, TallyRows
from score_embed.fleet import messages, service
from score_embed.fleet.messages import DecodeError, Peer, Result
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.campaign_record import CampaignRecord, Found
from score_embed.fleet.process.inspection import Inspector, Unsound
from score_embed.fleet.process.payload import AnswerPayload, Reader, TestPayload
from score_embed.fleet.process.queue import StrategyQueue
from score_embed.fleet.process.socket_folder import socket_folder
from score_embed.fleet.server.checks import About, End, Settled
from score_embed.results import summary
from score_embed.results.bugs import Place
from score_embed.results.coverage import Direction
from score_embed.results.pairs import LostTest
from score_embed.results.parts import SOURCES, Memory
from score_embed.results.sourcemap import Position, SourceMap
from score_embed.results.store import Store
from score_embed.results.testcase import Named
from score_embed.results.vectors import Taken
from score_embed.solve.chain import SolverStats

NO_TALLY = Tally().rows()


def a_test(tally: TallyRows = NO_TALLY, client: str = "1", **fields: Any) -> TestPayload:
    plain = Entry(b"in", Verdict.RETURN, 0, 5, 3, True, False, (Named("x", 0, 2, "bytes"),), None, b"o\n", (), False, 0)
    counted = Counted(tally, LinkCounters(1, 2), Memory(5, 6))
    return TestPayload(client, 0.5, structs.replace(plain, **fields), counted)


def result(one: Pair, path: int, *said_more: Any, children: Sequence[Pair] = (), **fields: Any) -> Result:
    return Result(one.id, payloads.encode(a_test(*said_more, path_hash=path, **fields)), tuple(map(said, children)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return begin(tmp_path)


# The record -----------------------------------------------------------------------------------------------------


def test_a_commit_is_a_transaction_and_comes_back(folder: Path) -> None:
    owner = Peer("a b", 3)
    with closing(Store.open(folder)) as record:
        campaign = CampaignRecord(record, b"image")
        runs, paths = campaign.ledger.totals.runs, campaign.ledger.totals.paths
        (left,) = campaign.opened().frontier
        one, two, three = pair("one"), pair("two"), pair("three")
        solver = SolverStats(5, 6, 7, 0.5, {Layer.SMT: 18}, {Layer.SMT: 0.5})
        tally = TallyRows(((Note.GAVE_UP, 18, 2),), ((6, Unflipped.UNSAT, 3),), 1, 4, solver, ((18, 9),))
        write(campaign, known=[(said(one), owner), (said(two), None), (said(three), owner)])
        write(campaign, result(one, 77, tally, coverage=(6,)), moved=[(two.id, owner), (three.id, None)])
        campaign.attended("1", 2.0)
        campaign.commit(5, {"relayed": 1}, {"Results": 4})
        number = campaign.number
        write(campaign, result(two, 78))  # not committed
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"image")
        opened = campaign.opened(9)
        assert (campaign.number, campaign.epoch, opened.image, opened.limit) == (number, 5, b"image", 9)
        assert opened.frontier == {left: None, two.id: owner, three.id: None}
        assert [p.data for p in campaign.read([two.id, one.id])] == [two.to_bytes()]
        assert (campaign.ledger.totals.runs, campaign.ledger.totals.paths) == (runs + 1, paths + 1)
        assert 6 in campaign.ledger.coverage.covered
        found = summary.of(record)
        fleet = found.fleet
        assert fleet is not None
        assert (fleet.tests, fleet.messages, fleet.protocol) == (1, {"Results": 4}, {"relayed": 1})
        assert [(c.name, c.tests, c.seconds, c.busy) for c in fleet.clients] == [("1", 1, 2.0, 0.5)]
        assert found.solver.by[Layer.SMT] >= 18
        assert summary.ForkRow("../other/ü.c", 2, tests=1 + 9) in found.forks  # the record had one
        assert Note.GAVE_UP in {item.what for item in found.incomplete}
        assert campaign.ledger.outcome == "drained"
        (row,) = (row for row in record.tests() if row.path_hash == 77)
        assert (row.input, row.outcome, row.inputs, row.output) == (b"in", "new", {"x": "696e"}, "o")


def test_what_is_new_is_decided_here(folder: Path) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        names = ("a", "b", "c", "d")
        write(campaign, known=[(said(pair(name)), None) for name in names])
        place = Place("p.c", 3, "f", ("f", "main"))
        bug: dict[str, Any] = {"verdict": Verdict.ABORT, "place": place, "confirmed": True}
        before = len(campaign.ledger.bugs)
        write(
            campaign,
            result(pair("a"), 101, client="1", **bug),
            result(pair("b"), 101, client="2", **bug),
            result(pair("c"), 102, mispredicted=True),
            result(pair("d"), 0, verdict=Verdict.ASSUMPTION, is_path=False),
        )
        campaign.commit(1, {}, {})
        assert [row.outcome for row in record.tests()][-4:] == ["new", "redundant", "mispredicted", "no path"]
        assert len(campaign.ledger.bugs) == before + 1
        (found,) = (b for b in record.bugs() if b.kind == "abort")
        assert (found.count, found.confirmed, found.place.stack) == (2, False, ("f", "main"))
        # the next session asks
        assert [claim.about for claim in CampaignRecord(record, b"").claims].count(About.BUG) == 2
        *_, claim = (claim for claim in campaign.take_claims() if claim.about is About.BUG)
        assert (claim.client, claim.end, claim.input) == ("1", End("abort", 0, 101), b"in")
        assert not campaign.ledger.has_bug
        campaign.has_nobody_else(claim)  # then its own client's second look is all there is
        campaign.commit(1, {}, {})
        assert campaign.ledger.has_bug
        assert [b.confirmed for b in record.bugs() if b.kind == "abort"] == [False]  # a stranger may lie twice
        campaign.conclude(claim, Settled.CONFIRMED)
        campaign.commit(1, {}, {})
        assert [b.confirmed for b in record.bugs() if b.kind == "abort"] == [True]
        assert isinstance(claim.key, Found)
        claim.key.bug.confirmed = False
        campaign.believe(replace(claim, key=replace(claim.key, twice=False)))
        assert not claim.key.bug.confirmed
        campaign.believe(claim)
        assert claim.key.bug.confirmed
        told = summary.of(record).fleet
        assert told is not None
        assert {c.name: c.tests for c in told.clients} == {"1": 3, "2": 1}


def test_lost_tests_are_set_aside_and_wait_if_somebody_wants_that(folder: Path) -> None:
    one, two, rest = pair("one"), pair("two"), pair("rest", 3)
    of_test = LostTest(rest.id, rest.to_bytes(), b"in", "it died", "p.c", 3)
    of_question = LostTest(two.id, two.to_bytes(), b"in", "it was killed")
    answer = AnswerPayload("1", 0.0, False, a_test().counted, of_question)
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        write(campaign, known=[(said(one), None), (said(two), None)])
        before = set(campaign.opened().frontier)
        lost = result(one, 0, verdict=Verdict.LOST, is_path=False, lost=of_test)
        write(campaign, lost, Result(two.id, payloads.encode(answer), (), tests=0))
        found = summary_after(campaign)
        assert (found.lost, {test.why for test in found.lost_tests}) == (2, {"it died", "it was killed"})
        assert summary.NotFollowed("lost: it died", "p.c", 3, 1) in found.incomplete
        assert campaign.ledger.outcome == "drained"
        assert set(campaign.opened().frontier) == before - {one.id, two.id}
        assert record.lost.retry() == 2
        assert set(campaign.opened().frontier) == before - {one.id, two.id} | {rest.id}  # two was done with
        assert summary_after(campaign).lost == 0
        record.lost.add(structs.replace(of_test, line="x"))
        with pytest.raises(StorageError, match="lost tests"):
            summary_after(campaign)


def test_a_lost_test_that_nobody_could_repeat_is_no_payload() -> None:
    one = pair("one")
    for broken in (LostTest(one.id, b"short", b"", ""), LostTest(pair("other").id, one.to_bytes(), b"", "")):
        with pytest.raises(DecodeError):
            payloads.decode(payloads.encode(a_test(lost=broken)))


def test_what_an_earlier_session_saw_and_nobody_sees_again_is_nobodys_fault(folder: Path) -> None:
    with Store.open(folder) as record:
        before = CampaignRecord(record, b"")
        names = [f"p{number}" for number in range(40)]
        write(before, known=[(said(pair(name)), None) for name in ["bug", *names]])
        write(before, result(pair("bug"), 101, verdict=Verdict.ABORT, place=Place("p.c", 3, "f", ("f", "main"))))
        before.commit(1, {}, {})
        campaign = CampaignRecord(record, b"")
        campaign.sample = 0.0
        claim = campaign.take_claims()[-1]
        assert (claim.about, claim.client, claim.author) == (About.BUG, "", "")
        other = End("return", 0, 5)
        campaign.conclude(replace(claim, answers={"2": other, "3": other}), Settled.CONTRADICTED)
        campaign.conclude(replace(claim, answers={"2": other}), Settled.OPEN)
        assert {what for what, _, _ in campaign.ledger.notes if "client" in what} == {
            Note.CLIENT_DIFFERS.of("of an earlier session"),
            Note.CLIENT_DIFFERS.of("2"),
        }
        write(campaign, *(result(pair(name), 200 + number) for number, name in enumerate(names)))
        assert campaign.take_claims() == []  # this user's own clients are not suspected for it


def test_another_path_the_second_time_is_told_and_not_merged(folder: Path) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        one = pair("one")
        write(campaign, known=[(said(one), None)])
        write(campaign, result(one, 7))
        again = [result(one, 7, client="2"), result(one, 8, client="3"), result(pair("unheard of"), 9)]
        again.append(Result(one.id, b"nonsense", ()))
        again.append(result(one, 0, verdict=Verdict.LOST, is_path=False))
        runs = campaign.ledger.totals.runs
        before = summary_after(campaign).divergences
        write(campaign, again=again)
        found = summary_after(campaign)
        assert found.divergences == before + 1
        assert [i.what for i in found.incomplete if "client" in i.what] == [Note.CLIENT_DIFFERS.of("3")]
        assert campaign.ledger.totals.runs == runs
        assert 8 not in record.path_hashes()


def test_an_answer_is_no_test(folder: Path) -> None:
    one, two = pair("one"), pair("two")
    counted = Counted(TallyRows(((Note.GAVE_UP, 18, 1),), (), 0, 0, SolverStats(sat=1)), LinkCounters(), Memory())
    answer = AnswerPayload("1", 1.5, True, counted)
    assert payloads.decode(payloads.encode(answer)) == answer
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        before = summary_after(campaign)
        write(campaign, known=[(said(one), None)])
        write(campaign, Result(one.id, payloads.encode(answer), (said(two),), tests=0), known=[(said(two), None)])
        after = summary_after(campaign)
        assert set(campaign.opened().frontier) == {b"w", two.id}
    assert (after.runs, after.re_asked) == (before.runs, before.re_asked + 1)
    assert after.solver.sat == before.solver.sat + 1
    assert after.fleet is not None
    assert [(c.tests, c.busy) for c in after.fleet.clients] == [(0, 1.5)]


def test_a_test_without_figures_is_booked_all_the_same(folder: Path) -> None:
    one = pair("one")
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        before = summary_after(campaign)
        write(campaign, known=[(said(one), None)])
        test = structs.replace(a_test(path_hash=77), counted=None)
        write(campaign, Result(one.id, payloads.encode(test), ()))
        after = summary_after(campaign)
    assert (after.runs, after.paths) == (before.runs + 1, before.paths + 1)
    assert after.solver == before.solver


def test_what_was_inspected_is_not_read_again() -> None:
    reader = Reader()
    data = payloads.encode(a_test())
    looked_at = reader.read(data)
    assert looked_at == a_test()
    assert reader.take(data) is looked_at
    assert reader.take(data) is not looked_at
    assert reader.take(data) == looked_at
    with pytest.raises(DecodeError):
        reader.read(b"nonsense")


def test_what_nobody_enters_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "_MOST_KEPT", 1000)
    reader = Reader()
    for number in range(100):
        reader.read(payloads.encode(a_test(path_hash=number)))
    assert len(reader._kept) < 20


def test_what_several_clients_failed_with_is_lost_and_waits_if_somebody_wants_that(folder: Path) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        write(campaign, known=[(said(pair("one")), None)])
        before = set(campaign.opened().frontier)
        write(campaign, aside=[pair("one").id])
        found = summary_after(campaign)
        (lost,) = found.lost_tests
        assert (found.lost, lost.why) == (1, "3 clients lost their targets with it")
        assert set(campaign.opened().frontier) == before - {pair("one").id}
        assert campaign.ledger.outcome == "drained"
        assert record.lost.retry() == 1
        (again,) = set(campaign.opened().frontier) - before
        assert record.pairs.some([again])[again][-len(lost.input) // 2 :] == bytes.fromhex(lost.input)


def summary_after(campaign: CampaignRecord) -> summary.Summary:
    campaign.commit(1, {}, {})
    return summary.of(campaign.store)


UNREADABLE = (
    a_test(verdict="no such verdict"),
    a_test(path_hash=-1),
    a_test(code=2**63),
    a_test(Tally(solver=SolverStats(seconds=float("inf"))).rows()),
    structs.replace(a_test(), seconds=float("nan")),
)


@pytest.mark.parametrize("data", [b"", b"nonsense", *map(payloads.encode, UNREADABLE)])
def test_an_unreadable_test_is_noted(folder: Path, data: bytes) -> None:
    with Store.open(folder) as record:
        campaign = CampaignRecord(record, b"")
        one = pair("one")
        write(campaign, known=[(said(one), None)])
        write(campaign, Result(one.id, data, ()))
        found = summary_after(campaign)
        assert Note.CLIENT_UNREADABLE in {item.what for item in found.incomplete}
        assert one.id not in campaign.opened().frontier


def test_a_payload_fits_into_a_message() -> None:
    large = a_test(output=bytes(messages.MAX_PAYLOAD))
    assert payloads.decode(payloads.encode(large)) == a_test(output=b"")
    many = tuple(Named(f"x{n}", n, 1, "unsigned") for n in range(30_000))
    assert payloads.decode(payloads.encode(a_test(objects=many))) == a_test(objects=(), output=b"")
    with pytest.raises(ValueError, match="too large for a fleet"):
        payloads.encode(a_test(input=bytes(messages.MAX_PAYLOAD)))


@pytest.mark.parametrize("seed", range(20))
def test_mutated_payloads_are_decode_errors(seed: int) -> None:
    rng = random.Random(seed)
    good = payloads.encode(a_test(place=Place("p.c", 3, "f", ("f",)), coverage=(1, 2)))
    for _ in range(200):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        try:
            payloads.decode(bytes(bad))
        except DecodeError:
            continue


# A client's queue ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", config.STRATEGIES)
def test_the_hand_keeps_the_order_of_the_queue(strategy: str) -> None:
    make: Callable[[], object] = lambda: STRATEGIES[strategy](3, {1})  # noqa: E731
    queue, held = Queue(make()), StrategyQueue(make())  # type: ignore[arg-type]
    rng = random.Random(5)
    made = 0
    while made < 300:
        fresh = [
            Pair(bytes([made % 256, made // 256, n]).rjust(16), b"", n + 1, n + 1, n + 1, 0, 0, range(n % 3, n % 3 + 1))
            for n in range(rng.randrange(1, 6))
        ]
        made += len(fresh)
        queue.add(fresh)
        held.add(held.derived(fresh))
        for _ in range(rng.randrange(0, 3)):
            if len(queue):
                wanted = queue.take()
                assert wanted is not None
                assert (held.take().id, held.taken) == (wanted.id, wanted)
    while len(queue):
        wanted = queue.take()
        assert wanted is not None
        assert held.take().id == wanted.id
    assert len(held) == 0


def test_the_hand_forgets_and_takes_in_once() -> None:
    held = StrategyQueue(STRATEGIES["dfs"](0, set()))
    pairs = [pair(str(n)) for n in range(3000)]
    held.add(map(said, pairs))
    held.add(map(said, pairs[:5]))
    assert len(held) == 3000
    held.drop([one.id for one in pairs[2:]] + [b"nobody"])
    assert sorted(one.id for one in held) == [pairs[0].id, pairs[1].id]
    held.add([said(pairs[2])])
    assert [held.take().id for _ in range(3)] == [pairs[2].id, pairs[1].id, pairs[0].id]
    assert held.taken == pairs[0]  # read from bytes


# Frames ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_mutated_frames_are_decode_errors(seed: int) -> None:
    rng = random.Random(seed)
    row = service.ClientRow("1", "o", "IDLE", "here", 1, 2, 3.0, 4.0)
    good: list[service.Frame] = [
        service.JobWanted(1, "0.1.0"),
        service.Job(1, "{}", "native", "/boards/native.yaml", bytes(16), 10, bytes(32)),
        service.ImagePart(1, 0, b"abc"),
        service.Order("remove", 5, "queue < 5", "1", "o"),
        service.Problem("what", "hint"),
        service.Overview((service.CampaignRow("o", "p", 1, 2, 3, 4, 5, 6, False),), (row,)),
    ]
    for frame in good:
        data = service.encode(frame)
        assert service.decode(data) == frame
        for _ in range(50):
            bad = bytearray(data)
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            try:
                service.decode(bytes(bad[: rng.randrange(len(bad) + 1)]))
            except DecodeError:
                continue
    with pytest.raises(DecodeError, match="at most"):
        service.decode(bytes(messages.MAX_FRAME + 1))


BOTH = decision("p.c", 1, "f", (0, 1, "&&"), (Condition(7, "a"), Condition(7, "b")))
DIRECTIONS = {3: Direction(7, "p.c", 1, "f", "true")}
MAP = SourceMap("/", {7: Position("p.c", 1, "f")}, DIRECTIONS, (), 0, (), (), {}, (BOTH,))
PARENT, CHILD = pair("one"), pair("two")


def told(*tests: Result, client: str = "1") -> messages.Results:
    return messages.Results(Peer(client, 0), 1, 1, 1, 0, tests)


def without_data(one: Pair) -> messages.Pair:
    return messages.Pair(one.id, one.depth, b"")


def brought(*children: messages.Pair) -> Result:
    return structs.replace(result(PARENT, 1), children=children)


def data_of(one: Pair = CHILD, **fields: Any) -> messages.Pair:
    changed = one.but(**fields)
    return messages.Pair(changed.id, changed.depth, changed.to_bytes())


def noting(what: str, site: int = 7, times: int = 1) -> TallyRows:
    return TallyRows(((what, site, times),), (), 0, 0, SolverStats())


def a_bug(place: Place, **fields: Any) -> Result:
    return result(PARENT, 1, place=place, **{"verdict": Verdict.ABORT, **fields})


SOUND: list[tuple[Result, ...]] = [
    (result(PARENT, 2**64 - 1, children=[CHILD]),),
    (brought(without_data(CHILD)), result(CHILD, 2)),
    (brought(data_of(pending=1, decided=bytes(16), targets=range(3, 5))),),
    (result(PARENT, 1, noting(Note.GAVE_UP)), result(CHILD, 1, noting(Note.ENDED.of("lost", "a\nb"), 0))),
    (result(PARENT, 1, noting(Note.WAITS_FOR_DEVICE.of(0xE000E010))),),
    (a_bug(Place("p.c", 3, "f", ("f", "main"))),),
    (result(PARENT, 0, verdict=Verdict.LOST, is_path=False, children=[CHILD]),),
    (result(PARENT, 1, taken=Taken(((0, "TF"), (0, "F-")), (3,), 1)), result(CHILD, 1, taken=Taken((), (), 0))),
    (result(PARENT, 1, code=-(2**63)), result(CHILD, 1, code=2**63 - 1)),
]
UNSOUND: dict[str, tuple[Result, ...]] = {
    "no data, no result": (brought(without_data(CHILD)),),
    "the result before its pair": (result(CHILD, 2), brought(without_data(CHILD))),
    "brought once more": (brought(without_data(CHILD)), result(CHILD, 2), brought(without_data(CHILD))),
    "short": (brought(messages.Pair(CHILD.id, 1, CHILD.to_bytes()[:10])),),
    "cut within its middle": (brought(messages.Pair(CHILD.id, 1, data_of(decided=bytes(16)).data[:-20])),),
    "one byte": (brought(messages.Pair(CHILD.id, 1, b"x")),),
    "another version": (brought(messages.Pair(CHILD.id, 1, b"\xff" + CHILD.to_bytes()[1:])),),
    "another's data": (brought(messages.Pair(CHILD.id, 1, PARENT.to_bytes())),),
    "another depth": (brought(messages.Pair(CHILD.id, 2, CHILD.to_bytes())),),
    "a question of nobody knows what": (brought(data_of(pending=1)),),
    "asked too often": (brought(data_of(pending=200, decided=bytes(16))),),
    "leads everywhere": (brought(data_of(targets=range(2**32 - 1))),),
    "a vector of no decision": (result(PARENT, 1, taken=Taken(((1, "TT"),), (), 0)),),
    "a vector of other conditions": (result(PARENT, 1, taken=Taken(((0, "T"),), (), 0)),),
    "a vector that is none": (result(PARENT, 1, taken=Taken(((0, "Tx"),), (), 0)),),
    "a direction of no branch": (result(PARENT, 1, taken=Taken((), (4,), 0)),),
    "decisions below nothing": (result(PARENT, 1, taken=Taken((), (), -1)),),
    "vectors of no path": (result(PARENT, 1, is_path=False, taken=Taken((), (), 0)),),
    "no payload": (Result(PARENT.id, b"", ()),),
    "nonsense": (Result(PARENT.id, b"nonsense", ()),),
    "lost, and nothing left of it": (result(PARENT, 0, verdict=Verdict.LOST, is_path=False),),
    "cut, and no word of it": (result(PARENT, 0, verdict=Verdict.WATCHDOG, is_path=False),),
    "elsewhere, and no word of it": (result(PARENT, 0, mispredicted=True),),
    "another's name": (result(PARENT, 1, client="2"),),
    "not what it says": (structs.replace(result(PARENT, 1), tests=0),),
    "a code of 64 bits": (result(PARENT, 1, code=2**64 - 1),),
    "a hash below nothing": (result(PARENT, -1),),
    "a line of 64 bits": (a_bug(Place("p.c", 2**63, "f", ())),),
    "a line below nothing": (a_bug(Place("p.c", -1, "f", ())),),
    "a file's name of 10,000": (a_bug(Place("p" * 10_000, 1, "f", ())),),
    "a stack of 100": (a_bug(Place("p.c", 1, "f", ("f",) * 100)),),
    "the place of no bug": (a_bug(Place("p.c", 1, "f", ()), verdict=Verdict.RETURN),),
    "a number of 10,000 bytes": (result(PARENT, 1, objects=(Named("x", 0, 10_000, "unsigned"),)),),
    "an input before the first": (result(PARENT, 1, objects=(Named("x", -4, 4, "unsigned"),)),),
    "the path of a lost test": (result(PARENT, 1, verdict=Verdict.LOST),),
    "a site of no program": (result(PARENT, 1, noting(Note.GAVE_UP, 8)),),
    "a note of its own": (result(PARENT, 1, noting("send money")),),
    "too many times": (result(PARENT, 1, noting(Note.GAVE_UP, 7, 2**63)),),
    "too many answers": (result(PARENT, 1, TallyRows((), (), 0, 0, SolverStats(sat=2**63))),),
    "questions left below nothing": (
        result(PARENT, 1, TallyRows((), (), 0, 0, SolverStats(gave_up={Layer.FINITE: -1}))),
    ),
    "answers below nothing": (result(PARENT, 1, TallyRows((), (), 0, 0, SolverStats(sat=-1))),),
    "for ever": (result(PARENT, 1, TallyRows((), (), 0, 0, SolverStats(seconds=1e300))),),
}


@pytest.mark.parametrize("tests", SOUND)
def test_what_clients_of_ours_report_is_sound(tests: tuple[Result, ...]) -> None:
    Inspector(MAP, Reader()).inspect(told(*tests), may_round=False)


@pytest.mark.parametrize("name", UNSOUND)
def test_what_no_client_of_ours_reports_does_not_get_near_the_record(name: str) -> None:
    with pytest.raises(Unsound):
        Inspector(MAP, Reader()).inspect(told(*UNSOUND[name]), may_round=True)


def test_kinds_of_notes_do_not_fill_the_record() -> None:
    inspector = Inspector(MAP, Reader())
    for number in range(100):
        many = tuple((f"lost: {number} {n}", 7, 1) for n in range(1000))
        with suppress(Unsound):
            inspector.inspect(told(result(PARENT, 1, TallyRows(many, (), 0, 0, SolverStats()))), may_round=True)
    assert len(inspector._notes) == 50_000


def test_what_a_killed_server_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os; from score_embed.fleet.process.socket_folder import socket_folder; "
        "here = socket_folder(); here.__enter__(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=60, check=True)
    (left,) = tmp_path.iterdir()
    (tmp_path / "score-embed-fleet-nobody's").mkdir()  # without a lock: perhaps it is being made
    with socket_folder() as one:
        assert not left.exists()
        with socket_folder() as two:
            assert one.is_dir()
            assert two.stat().st_mode & 0o077 == 0
        assert not two.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["score-embed-fleet-nobody's"]


def test_what_the_ledger_of_a_fleet_notes_keeps_it_from_being_exhausted(folder: Path) -> None:
    with Store.open(folder) as record:
        record.put(SOURCES, structs.replace(record.sources(), losses=()))
        campaign = CampaignRecord(record, b"")
        campaign.ledger.notes.clear()
        campaign.ledger.tally.notes.clear()
        assert campaign.ledger.outcome == "exhausted"
        campaign.ledger.note("the first test took different paths when run again", "p.c", 3)
        assert campaign.ledger.outcome == "drained"
        campaign.ledger.notes.clear()
        record.put(SOURCES, structs.replace(record.sources(), losses=(("s is one character, not a text", "p.c", 1),)))
        assert CampaignRecord(record, b"").ledger.outcome == "drained"
