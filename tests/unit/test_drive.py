"""What drives the fleet, without processes: the record under the protocol, the order of a client's hand, kits."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import recorded
from msgspec import structs

from score_embed import config
from score_embed.contract.words import Layer, Note, Unflipped
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.strategy import STRATEGIES
from score_embed.fleet import messages, service
from score_embed.fleet import record as records
from score_embed.fleet.messages import DecodeError, Peer, Result
from score_embed.fleet.process.books import Books
from score_embed.fleet.process.hand import PairHand
from score_embed.fleet.process.place import place
from score_embed.fleet.process.server import _is_sound as is_sound
from score_embed.fleet.record import Tallied, TestRecord, Where
from score_embed.fleet.server.frontier import Write
from score_embed.results import summary
from score_embed.results.parts import SOURCES
from score_embed.results.store import Store

NO_TALLY = Tallied((), (), 0, 0, (0, 0, 0), 0.0, {}, {})


def pair(name: str, depth: int = 1) -> Pair:
    return Pair(name.encode().rjust(16), name.encode(), depth, depth, 0, 0)


def said(one: Pair) -> messages.Pair:
    return messages.Pair(one.id, one.neg_limit, one.to_bytes())


def a_record(client: str = "1", verdict: str = "return", **fields: object) -> TestRecord:
    plain = {
        "client": client, "seconds": 0.5, "input": b"in", "verdict": verdict, "code": 0, "conditions": 3, "is_path": True,
        "mispredicted": False, "objects": (("x", 0, 2, "bytes"),), "place": None, "confirmed": False, "output": b"o\n",
        "coverage": (), "tally": NO_TALLY, "link": (1, 2, 0, 0), "memory": (5, 6), "unchecked": 0,
    }  # fmt: skip
    return TestRecord(**{**plain, **fields})  # type: ignore[arg-type]


def result(one: Pair, path: int, *children: Pair, **fields: object) -> Result:
    data = records.encode(a_record(**fields))  # type: ignore[arg-type]
    return Result(one.id, path.to_bytes(8, "little"), data, tuple(map(said, children)))


def write(books: Books, *tests: Result, **parts: object) -> None:
    books.apply(Write(books.number, tests, **{"known": (), "moved": (), **parts}))  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign that has found something already, with one pair left."""
    recorded.write(tmp_path)
    for part in ("tests", "bugs"):
        (tmp_path / part).mkdir()
    return tmp_path


# The record -----------------------------------------------------------------------------------------------------


def test_a_commit_is_a_transaction_and_comes_back(folder: Path) -> None:
    owner = Peer("a b", 3)
    with closing(Store.open(folder)) as record:
        books = Books(record, 0, b"image")
        runs, paths = books.ledger.totals["runs"], books.ledger.totals["paths"]
        (left,) = books.opened().frontier
        one, two, three = pair("one"), pair("two"), pair("three")
        tally = Tallied(
            ((Note.GAVE_UP, 18, 2),), ((6, Unflipped.UNSAT, 3),), 1, 4, (5, 6, 7), 0.5, {Layer.SMT: 18}, {Layer.SMT: 0.5}
        )
        write(books, known=[(said(one), owner), (said(two), None), (said(three), owner)])
        write(books, result(one, 77, coverage=(6,), tally=tally), moved=[(two.id, owner), (three.id, None)])
        books.attended("1", 2.0)
        books.commit(5, {"relayed": 1}, {"Results": 4})
        number = books.number
        write(books, result(two, 78))  # not committed
    with Store.open(folder) as record:
        books = Books(record, 0, b"image")
        opened = books.opened(9)
        assert (books.number, books.epoch, opened.image, opened.limit) == (number, 5, b"image", 9)
        assert opened.frontier == {left: None, two.id: owner, three.id: None}
        assert [p.data for p in books.read([two.id, one.id])] == [two.to_bytes()]
        assert (books.ledger.totals["runs"], books.ledger.totals["paths"]) == (runs + 1, paths + 1)
        assert 6 in books.ledger.coverage.covered
        found = summary.of(record)
        fleet = found["fleet"]
        assert (fleet["tests"], fleet["messages"], fleet["protocol"]) == (1, {"Results": 4}, {"relayed": 1})
        assert [(c["name"], c["tests"], c["seconds"], c["busy"]) for c in fleet["clients"]] == [("1", 1, 2.0, 0.5)]
        assert found["solver"]["by"]["smt"] >= 18
        assert Note.GAVE_UP in {item["what"] for item in found["incomplete"]}
        assert books.outcome == "drained"
        (row,) = (row for row in record.tests() if row.path_hash == 77)
        assert (row.input, row.outcome, row.inputs, row.output) == (b"in", "new", {"x": "696e"}, "o")


def test_what_is_new_is_decided_here(folder: Path) -> None:
    with Store.open(folder) as record:
        books = Books(record, 0, b"")
        names = ("a", "b", "c", "d")
        write(books, known=[(said(pair(name)), None) for name in names])
        place = Where("p.c", 3, "f", ("f", "main"))
        bug = {"verdict": "abort", "place": place, "confirmed": True}
        before = len(books.ledger.bugs)
        write(
            books,
            result(pair("a"), 101, client="1", **bug),
            result(pair("b"), 101, client="2", **bug),
            result(pair("c"), 102, mispredicted=True),
            result(pair("d"), 0, verdict="assumption", is_path=False),
        )
        books.commit(1, {}, {})
        assert [row.outcome for row in record.tests()][-4:] == ["new", "redundant", "mispredicted", "no path"]
        assert len(books.ledger.bugs) == before + 1
        (found,) = (b for b in record.bugs() if b.kind == "abort")
        assert (found.count, found.confirmed, found.place.stack) == (2, True, ("f", "main"))
        assert {c["name"]: c["tests"] for c in summary.of(record)["fleet"]["clients"]} == {"1": 3, "2": 1}


def test_another_path_the_second_time_is_told_and_not_merged(folder: Path) -> None:
    with Store.open(folder) as record:
        books = Books(record, 0, b"")
        one = pair("one")
        write(books, known=[(said(one), None)])
        write(books, result(one, 7))
        again = [result(one, 7, client="2"), result(one, 8, client="3"), result(pair("unheard of"), 9)]
        again.append(Result(one.id, bytes(8), b"nonsense", ()))
        again.append(result(one, 0, verdict="lost", is_path=False))
        runs = books.ledger.totals["runs"]
        before = summary_after(books)["divergences"]
        write(books, again=again)
        found = summary_after(books)
        assert found["divergences"] == before + 1
        assert [i["what"] for i in found["incomplete"] if "client" in i["what"]] == [Note.CLIENT_DIFFERS.of("3")]
        assert books.ledger.totals["runs"] == runs
        assert 8 not in record.path_hashes()


def summary_after(books: Books) -> dict[str, Any]:
    books.commit(1, {}, {})
    return summary.of(books.record)


@pytest.mark.parametrize("data", [b"", b"nonsense", records.encode(a_record(verdict="no such verdict"))])
def test_an_unreadable_test_is_noted(folder: Path, data: bytes) -> None:
    with Store.open(folder) as record:
        books = Books(record, 0, b"")
        one = pair("one")
        write(books, known=[(said(one), None)])
        write(books, Result(one.id, bytes(8), data, ()))
        found = summary_after(books)
        assert Note.CLIENT_UNREADABLE in {item["what"] for item in found["incomplete"]}
        assert one.id not in books.opened().frontier


def test_a_record_fits_into_a_message() -> None:
    large = a_record(output=bytes(messages.MAX_RECORD))
    assert records.decode(records.encode(large)) == a_record(output=b"")
    many = tuple((f"x{n}", n, 1, "unsigned") for n in range(30_000))
    assert records.decode(records.encode(a_record(objects=many))) == a_record(objects=(), output=b"")
    with pytest.raises(ValueError, match="too large for a fleet"):
        records.encode(a_record(input=bytes(messages.MAX_RECORD)))


@pytest.mark.parametrize("seed", range(20))
def test_mutated_records_are_decode_errors(seed: int) -> None:
    rng = random.Random(seed)
    good = records.encode(a_record(place=Where("p.c", 3, "f", ("f",)), coverage=(1, 2)))
    for _ in range(200):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        try:
            records.decode(bytes(bad))
        except DecodeError:
            continue


# A client's hand ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", config.STRATEGIES)
def test_the_hand_keeps_the_order_of_the_queue(strategy: str) -> None:
    make: Callable[[], object] = lambda: STRATEGIES[strategy](3, {1})  # noqa: E731
    queue, hand = Queue(make()), PairHand(make())  # type: ignore[arg-type]
    rng = random.Random(5)
    made = 0
    while made < 300:
        fresh = [
            Pair(bytes([made % 256, made // 256, n]).rjust(16), b"", n + 1, n + 1, 0, 0, range(n % 3, n % 3 + 1))
            for n in range(rng.randrange(1, 6))
        ]
        made += len(fresh)
        queue.add(fresh)
        hand.add(hand.derived(fresh))
        for _ in range(rng.randrange(0, 3)):
            if len(queue):
                wanted = queue.take()
                assert wanted is not None
                assert (hand.take().id, hand.taken) == (wanted.id, wanted)
    while len(queue):
        wanted = queue.take()
        assert wanted is not None
        assert hand.take().id == wanted.id
    assert len(hand) == 0


def test_the_hand_forgets_and_takes_in_once() -> None:
    hand = PairHand(STRATEGIES["dfs"](0, set()))
    pairs = [pair(str(n)) for n in range(3000)]
    hand.add(map(said, pairs))
    hand.add(map(said, pairs[:5]))
    assert len(hand) == 3000
    hand.drop([one.id for one in pairs[2:]] + [b"nobody"])
    assert sorted(one.id for one in hand) == [pairs[0].id, pairs[1].id]
    hand.add([said(pairs[2])])
    assert [hand.take().id for _ in range(3)] == [pairs[2].id, pairs[1].id, pairs[0].id]
    assert hand.taken == pairs[0]  # read from bytes


# Frames ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_mutated_frames_are_decode_errors(seed: int) -> None:
    rng = random.Random(seed)
    row = service.ClientRow("1", "o", "IDLE", "here", 1, 2, 3.0, 4.0)
    good: list[service.Frame] = [
        service.KitWanted(1, "0.1.0"),
        service.Kit(1, "{}", "native", "/boards/native.yaml", bytes(16), 10, bytes(32)),
        service.Part(1, 0, b"abc"),
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


def test_only_pairs_that_can_be_run_get_into_the_record() -> None:
    one, two = pair("one"), pair("two")

    def results(*tests: Result) -> messages.Results:
        return messages.Results(Peer("1", 0), 1, 1, 1, 0, tests)

    bare = messages.Pair(two.id, 1, b"")
    parent = Result(one.id, bytes(8), b"", (bare,))
    assert is_sound(results(result(one, 1, two)))
    assert is_sound(results(parent, result(two, 2)))
    assert not is_sound(results(parent))
    for data in (b"x", two.to_bytes()[:10], one.to_bytes(), b"\xff" + two.to_bytes()[1:]):
        assert not is_sound(results(Result(one.id, bytes(8), b"", (messages.Pair(two.id, 1, data),))))


def test_what_a_killed_server_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, tempfile; from score_embed.fleet.process.place import place; here = place(); here.__enter__(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=60, check=True)
    (left,) = tmp_path.iterdir()
    (tmp_path / "score-embed-fleet-nobody's").mkdir()  # without a lock: perhaps it is being made
    with place() as one:
        assert not left.exists()
        with place() as two:
            assert one.is_dir()
            assert two.stat().st_mode & 0o077 == 0
        assert not two.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["score-embed-fleet-nobody's"]


def test_what_the_ledger_of_a_fleet_notes_keeps_it_from_being_exhausted(folder: Path) -> None:
    with Store.open(folder) as record:
        record.put(SOURCES, structs.replace(record.sources(), losses=()))
        books = Books(record, 0, b"")
        books.ledger.notes.clear()
        books._tally.notes.clear()
        assert books.outcome == "exhausted"
        books.ledger.note("the first test took different paths when run again", "p.c", 3)
        assert books.outcome == "drained"
        books.ledger.notes.clear()
        record.put(SOURCES, structs.replace(record.sources(), losses=(("s is one character, not a text", "p.c", 1),)))
        assert Books(record, 0, b"").outcome == "drained"
