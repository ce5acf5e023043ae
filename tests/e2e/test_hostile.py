"""A client that means harm, by real sockets, with a key and without: the server survives, and the campaign of the
honest clients ends as if nobody else had been there."""

from __future__ import annotations

import json
import random
import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq
from proof import FULL
from test_many_clients import MANY, paths_of, recorded, run, until, verdicts_of
from test_server import clients, fleet, free_port, processes

from score_embed.campaign.describing import Counted, Entry
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.explore.pair import Pair as Explored
from score_embed.explore.tally import Tally
from score_embed.fleet import service, tickets
from score_embed.fleet.messages import (
    SERVER,
    VERSION,
    Ack,
    Alive,
    Ask,
    Bye,
    Empty,
    Gone,
    Hello,
    Nack,
    Noted,
    Pair,
    Pairs,
    Peer,
    Req,
    Result,
    Results,
    Stop,
    Stored,
    Welcome,
)
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.payload import TestPayload
from score_embed.fleet.transport import keys
from score_embed.results.bugs import Place
from score_embed.results.parts import Memory

MOST = 2**63 - 1
PROGRAM, PATHS = MANY.replace("12", "10"), 1024
# microseconds: it has to outlive 10,000 connections, 4 ms each
SLOWLY = ("--", f"-DSLOW={200_000 if FULL else 60_000}")
MANY_TIMES = 10_000 if FULL else 1_500
MEMORY = 300 << 20  # bytes that the server may take more than before


class Evil:
    """A socket that says anything. `keys`: its own, if it has any."""

    def __init__(self, address: str, own: keys.OwnKeys | None = None) -> None:
        self.address, self.own = address, own
        self.context = zmq.Context()
        self.context.set(zmq.MAX_SOCKETS, 4096)  # `setsockopt` would be of its sockets
        self.name = own.name if own is not None else "evil"
        self.peer = Peer(self.name, int(time.time() * 1000))
        self.campaign = self.epoch = 0
        self.line = self.connect()

    def connect(self) -> zmq.Socket[bytes]:
        line = self.context.socket(zmq.DEALER)
        line.setsockopt(zmq.LINGER, 0)
        line.setsockopt(zmq.SNDTIMEO, 20 if self.own is not None else 0)
        if self.own is not None:
            line.setsockopt(zmq.CURVE_SERVERKEY, self.own.server.encode())
            line.setsockopt(zmq.CURVE_PUBLICKEY, self.own.public.encode())
            line.setsockopt(zmq.CURVE_SECRETKEY, self.own.secret.encode())
        line.connect(self.address)
        return line

    def say(self, *frames: Any) -> None:
        for frame in frames:
            with suppress(zmq.Again):
                self.line.send(frame if isinstance(frame, bytes) else service.encode(frame))

    def hear(self, kind: type, seconds: float = 10.0) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.line.poll(100):
                found = service.decode(self.line.recv())
                if isinstance(found, kind):
                    return found
        raise AssertionError(f"no {kind.__name__} came")

    def join(self) -> Welcome:
        """In a new life, as often as it takes: what came before may have been too much."""
        for _ in range(20):
            self.peer = Peer(self.name, self.peer.incarnation + 1)
            self.say(Hello(self.peer, 0, VERSION, "", "here", 0, b""))
            with suppress(AssertionError):
                welcome: Welcome = self.hear(Welcome, 1.0)
                self.campaign, self.epoch = welcome.campaign, welcome.epoch
                return welcome
        raise AssertionError("it is not let in")

    def results(self, *tests: Result, batch: int = 1) -> Results:
        return Results(self.peer, self.epoch, self.campaign, batch, 0, tests)

    def beg(self) -> tuple[Pair, ...]:
        """Pairs, honestly come by."""
        pairs: Pairs | None = None
        while pairs is None:
            self.say(Empty(self.peer, self.epoch, 0))
            with suppress(AssertionError):
                pairs = self.hear(Pairs, 1.0)
        ids = tuple(pair.id for pair in pairs.pairs)
        self.say(Ack(self.peer, self.epoch, pairs.req, pairs.giver, 1, ids, tickets.marks(pairs.pairs)))
        self.hear(Noted)
        return pairs.pairs

    def close(self) -> None:
        self.context.destroy(0)


def payload(client: str, **fields: Any) -> bytes:
    plain = Entry(b"in", Verdict.RETURN, 0, 5, 3, True, False, (), None, b"", (), False, 0)
    counted = Counted(Tally().rows(), LinkCounters(), Memory())
    return payloads.encode(TestPayload(client, 0.5, msgspec.structs.replace(plain, **fields), counted))


def invented(number: int) -> Pair:
    pair = Explored(number.to_bytes(16, "big"), b"abc", 1, 1, 1, 0, 0)
    return Pair(pair.id, 1, pair.to_bytes())


# What it says -------------------------------------------------------------------------------------------------------


def truncated(evil: Evil) -> None:
    whole = [service.encode(Hello(evil.peer, 0, VERSION, "", "", 0, b"")), service.encode(service.JobWanted(1, "1"))]
    evil.say(*(frame[:end] for frame in whole for end in range(len(frame))), b"", *(b"\x00" * n for n in range(50)))
    for parts in ([b"", b"x"], [b"x"] * 100, [service.encode(evil.results())] * 3):
        with suppress(zmq.Again):
            evil.line.send_multipart(parts)


def mutated(evil: Evil) -> None:
    rng = random.Random(1)
    good = [service.encode(frame) for frame in all_kinds(evil)]
    for _ in range(2000):
        bad = bytearray(rng.choice(good))
        for _ in range(rng.randrange(1, 6)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        evil.say(bytes(bad))


def all_kinds(evil: Evil) -> list[Any]:
    """Every kind of message, also those that only a server says, in no order that makes sense."""
    me, other, ident = evil.peer, Peer("1", 0), bytes(16)
    return [
        Ack(me, 1, 1, SERVER, 1, (ident,), bytes(8)), Ack(me, 1, 1, other, 1, (ident,), b""), Nack(me, 1, 1, (other,)),
        Ask(me, 1, 1, other, ident), Empty(me, 1, 0), Alive(me, 1, 5), Stored(other, 1, ()), Noted(other, 1, ()),
        Gone(other), Stop(other, evil.campaign, False), Welcome(other, 9, evil.campaign, b""), Bye(me, 1),
        Req(other, 1, ()), Pairs(other, 1, evil.campaign, me, (invented(1),)), Pairs(me, 1, evil.campaign, other, (invented(2),)),
        service.Problem("what", "hint"), service.Done("x"), service.ImagePartWanted(evil.campaign, 1 << 30),
        service.JobWanted(evil.campaign, "0.0"), service.Checked(me, 0, 1, "return", 0, 0), service.Check(1, 1, b"", True),
        Bye(other, 1), Empty(other, 1, MOST), evil.results(Result(ident, payload("1"), ())),
    ]  # fmt: skip


def wrong_order(evil: Evil) -> None:
    for _ in range(50):
        evil.say(*all_kinds(evil))


def numbers(evil: Evil) -> None:
    """Built by hand: our own encoder would check nothing, but its types would not take these."""
    me = [evil.name, evil.peer.incarnation]
    strange: tuple[Any, ...] = (
        2**64 - 1,
        2**63,
        MOST,
        -1,
        -(2**63),
        1.5,
        float("nan"),
        None,
        "1",
        [],
        {},
        True,
        b"\xff" * 17,
    )
    encode = msgspec.msgpack.encode
    for odd in strange:
        for tag in (1, 6, 16, 18, 32, 34, 35, 37, 38, 64, 66, 68, 70, 73, odd):
            evil.say(
                encode([tag, me, odd, odd, odd, odd, odd, odd]), encode([tag, [evil.name, odd], 1, 1, 1, odd, [odd]])
            )
            evil.say(
                encode([tag, odd]), encode([tag, me, evil.epoch, evil.campaign, odd, odd, [[bytes(16), b"", odd, odd]]])
            )
    evil.say(b"\xdd\xff\xff\xff\xff" * 100, b"\x91" * 100_000, b"\xc6\xff\xff\xff\xff", b"\x81" * 3000)


def large(evil: Evil) -> None:
    """The line of who says more than it may is cut. It may come back, but not for ever."""
    evil.say(msgspec.msgpack.encode([68, "status", None, "x" * (10 << 20), "", ""]), bytes(10 << 20))
    time.sleep(0.3)
    for _ in range(8):
        evil.say(bytes((4 << 20) - 100))
    evil.line.close(0)
    evil.line = evil.connect()


def replayed(evil: Evil) -> None:
    hello = service.encode(Hello(evil.peer, 0, VERSION, "", "", 0, b""))
    evil.say(
        *[hello] * 300,
        *[service.encode(Empty(evil.peer, evil.epoch, 0))] * 300,
        *[service.encode(Bye(evil.peer, 1))] * 300,
    )


def orders(evil: Evil) -> None:
    for order in (
        service.Order("stop"),
        service.Order("add", 60),
        service.Order("remove", 60),
        service.Order("status"),
    ):
        assert "not for clients to order" in answer(evil, order).what


def answer(evil: Evil, order: service.Order) -> service.Problem:
    """Said again and again: it has said too much before."""
    for _ in range(20):
        evil.say(order)
        with suppress(AssertionError):
            problem: service.Problem = evil.hear(service.Problem, 1.0)
            return problem
    raise AssertionError("no answer to an order")


def unsound(evil: Evil) -> None:
    """Tests that would destroy a record: short pairs, numbers that it cannot hold, files' names from elsewhere."""
    evil.join()
    mine = evil.beg()
    for child in (Pair(bytes(16), 1, b"x"), Pair(bytes(16), 1, invented(1).data[:20]), Pair(bytes(16), 1, b"")):
        evil.say(evil.results(Result(mine[0].id, payload(evil.name), (child,))))
    for fields in (
        {"place": Place("/etc/passwd", 2**63, "f", ()), "verdict": Verdict.ABORT},
        {"path_hash": -1},
        {"code": -(2**63), "conditions": 2**32 - 1, "coverage": (2**32 - 1,)},
    ):
        with suppress(Exception):
            evil.say(evil.results(Result(mine[0].id, payload(evil.name, **fields), ())))


def crowded(evil: Evil) -> None:
    """Lines without end, on some of which something is said."""
    lines = []
    for number in range(MANY_TIMES // 4):
        lines.append(evil.connect())
        if number % 3 == 0:
            hello = Hello(Peer(f"{evil.name}.{number}", MOST), 0, VERSION, "", "", 0, b"")
            with suppress(zmq.Again):
                lines[-1].send(service.encode(hello), zmq.NOBLOCK)
    time.sleep(0.5)
    for line in lines:
        line.close(0)


ATTACKS = [orders, truncated, numbers, replayed, large, crowded, mutated, wrong_order]


def slow_and_many(port: int) -> Iterator[None]:
    """Connections of nobody, some of which begin to say something, a byte at a time. Held until the next step."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a shell's 1,024 would make them fewer, unseen
    lines = []
    for number in range(MANY_TIMES):
        with suppress(OSError):
            line = socket.create_connection(("127.0.0.1", port), 2)
            line.setblocking(False)
            lines.append(line)
            if number % 2:
                with suppress(OSError):
                    line.send(b"\xff" + bytes(8) + b"\x7f" if number % 4 == 1 else b"GET / HTTP/1.1\r\n")
    print(f"{len(lines)} connections")
    assert len(lines) > 0.9 * MANY_TIMES
    yield
    for line in lines:
        line.close()


def memory_of(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return 1024 * int(status.partition("VmRSS:")[2].split()[0])


@contextmanager
def attacked(work: Path, *more: str) -> Iterator[tuple[Callable[..., Evil], Any]]:
    """A server with two clients of its own that explore; and a way to make an evil one, with a key or without."""
    (work / "p.c").write_text(PROGRAM)
    keys.make(work / "k", ["evil", "worse"])
    address = f"tcp://127.0.0.1:{free_port()}"
    with processes() as start:
        words = ("--json", "--listen", address, "--keys", "k/server.key", "--clients", "2", "--out", "o")
        server = start(work, "server", *words, *more, "p.c", *SLOWLY)
        until(lambda: recorded(work / "o") > 20)
        made: list[Evil] = []

        def make(key: str = "evil") -> Evil:
            made.append(Evil(address, keys.read(work / "k" / f"{key}.key") if key else None))
            return made[-1]

        try:
            yield make, server
        finally:
            for evil in made:
                evil.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one")
    (folder / "p.c").write_text(PROGRAM)
    assert run(folder, "--out", "o", "p.c")["paths"] == PATHS
    return folder / "o"


def test_whatever_a_client_says_the_campaign_ends_as_it_should(tmp_path: Path, whole: Path) -> None:
    with attacked(tmp_path) as (make, server):
        before = memory_of(server._popen.pid)
        stranger = make(key="")
        truncated(stranger)
        wrong_order(stranger)
        crowd = slow_and_many(int(stranger.address.rpartition(":")[2]))
        next(crowd)
        evil = make()
        evil.join()
        for attack in ATTACKS:
            if attack is crowded:
                next(crowd, None)  # both together are more descriptors than a process may have
            attack(evil)
            time.sleep(0.3)
            assert server.runs, attack.__name__
        unsound(make(key="worse"))
        assert memory_of(server._popen.pid) < before + MEMORY
        assert {"1", "2"} <= set(clients(tmp_path))  # it answers who may order
        evil.close()
        out, errors = server.end(1, 200)
    found = json.loads(out)
    assert "client worse is sent away: it reported" in errors
    assert found["stopped"] == "drained"  # because of what that one may have said before
    assert (paths_of(tmp_path / "o"), verdicts_of(tmp_path / "o")) == (paths_of(whole), verdicts_of(whole))
    assert found["paths"] == PATHS
    assert [bug["confirmed"] for bug in found["bugs"]] == [True]


def test_who_invents_tests_is_sent_away_and_reported(tmp_path: Path) -> None:
    """Two others cannot see what it says to have seen."""
    with attacked(tmp_path) as (make, server):
        evil = make()
        evil.join()
        (mine, *_) = evil.beg()
        number, batch = 1, 1
        held = [mine]
        deadline = time.monotonic() + 60
        while server.runs and time.monotonic() < deadline:
            tests = []
            for pair in held[-100:]:
                children = tuple(invented(number + n) for n in range(2))
                number += 2
                data = payload(evil.name, input=number.to_bytes(12, "big"), path_hash=number, is_path=True)
                tests.append(Result(pair.id, data, children))
                held = [*held, *children][-200:]
            batch += 1
            evil.say(evil.results(*tests, batch=batch))
            try:
                evil.hear(Stored, 2.0)
            except AssertionError:
                break
        log = tmp_path / "o" / "campaign.db"
        assert log.exists()
        fleet(tmp_path, "stop", "--server", "o")
        out, errors = server.end(130, 100)
    assert "client evil is sent away: two others have seen a test of it end otherwise" in errors
    found = json.loads(out)
    assert any("client evil was sent away" in item["what"] for item in found["incomplete"])
    assert found["runs"] < 20_000
