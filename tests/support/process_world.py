"""The processes of a fleet in simulated time: the server with its books and its record in a file, clients as they
listen and take turns, lines that lose, double and delay frames; all by a seed. Only sockets, targets and clocks are not
real.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from score_embed.campaign.describing import Counted, Entry, PathTest
from score_embed.config import Settings
from score_embed.contract.outcome import Finished, LinkCounters, Verdict
from score_embed.explore.checking import Seen, mark
from score_embed.explore.pair import Pair as Explored
from score_embed.explore.tally import Tally
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.messages import Pair, Result
from score_embed.fleet.origin import OWN, Origin, Standing
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.campaign_record import SAMPLE, CampaignRecord
from score_embed.fleet.process.client import ClientOptions, ClientProcess
from score_embed.fleet.process.executor import Ran
from score_embed.fleet.process.payload import RoundPayload, TestPayload
from score_embed.fleet.process.server import FleetServer, Hosted
from score_embed.fleet.protocol import Timing
from score_embed.fleet.service import MARK_BYTES, Check
from score_embed.fleet.simulation.trees import Tree, pairs
from score_embed.fleet.transport.line import Heard
from score_embed.results.parts import PROGRAM, SETTINGS, SOURCES, Memory, Program
from score_embed.results.sourcemap import SourceMap
from score_embed.results.store import Store

STEP = 0.02  # seconds of a turn
_ROUND = 5  # tests at once
TIMING = Timing(
    batch_tests=8, batch_seconds=0.1, resend=0.2, resend_most=1.0, hold=0.2, rest=0.05, status=0.5, dead=3.0, stall=8.0
)
PLAIN = Entry(b"", Verdict.RETURN, 0, 0, 3, True, False, (), None, b"", (), False, 0)


def explored(pair: Pair) -> Explored:
    """A pair of a tree as one that a record keeps."""
    return Explored(pair.id, pair.data, pair.depth, pair.depth, pair.depth, 0, 0)


def sent(pair: Pair) -> Pair:
    return Pair(pair.id, pair.depth, explored(pair).to_bytes())


def path_of(ident: bytes) -> int:
    return int.from_bytes(ident[:8], "big")


class TreeWork:
    """Instead of a target: a tree says what a test brings."""

    def __init__(self, tree: Tree, client: str) -> None:
        self.queue, self._tree, self._client = Stack(), tree, client
        self._data = {pair.id: pair.data for pair in pairs(tree)}

    def run(self, pair: Pair, may_round: bool) -> Ran:
        known = Explored.from_bytes(pair.data)
        if may_round and not known.decided:
            return self._round(pair)
        return Ran((Result(pair.id, told(self._client, known.decided or pair.id), self._children(known)),))

    def _round(self, pair: Pair) -> Ran:
        """The last one is reported by itself, as if there were something to say of it."""
        ran, left = [pair], list(self._children(Explored.from_bytes(pair.data)))
        while left and len(ran) < _ROUND:
            ran.append(left.pop())
            below = self._children(Explored.from_bytes(ran[-1].data))
            left += below
        if len(ran) == 1:
            return Ran((Result(pair.id, told(self._client, pair.id), tuple(left)),))
        *whole, last = ran
        tests = tuple(PathTest(one.id, Verdict.RETURN, 0, path_of(one.id), 3, 0, "") for one in whole)
        data = payloads.encode(RoundPayload(self._client, 0.01, tests, ((),), 0, 0, None))
        first = *left[: len(left) - len(below)], last
        one = Result(last.id, told(self._client, last.id), below)
        return Ran((Result(pair.id, data, first, len(tests)), one))

    def check(self, claim: Check) -> tuple[Finished, Seen]:
        if not claim.pair:
            return _ends(claim.input), Seen(False, ())
        pair = Explored.from_bytes(claim.pair)
        claimed = {claim.told[at : at + MARK_BYTES] for at in range(0, len(claim.told), MARK_BYTES)}
        marks = [mark(Explored.from_bytes(child.data)) for child in self._children(pair)]
        return _ends(pair.decided or pair.id), Seen(False, tuple(m for m in marks if m not in claimed))

    def _children(self, pair: Explored) -> tuple[Pair, ...]:
        """Of a pair that is run again, too: `decided` is what it was called before."""
        ident = pair.decided or pair.id
        return tuple(map(sent, self._tree.run(Pair(ident, pair.depth, self._data[ident])).children))

    def rest(self) -> None:
        pass

    def close(self) -> None:
        pass


def _ends(ident: bytes) -> Finished:
    return Finished(Verdict.RETURN, 0, 0, 0, 0, (), path_of(ident), 3, True, 0, b"", (), 0, len(ident), b"")


def told(client: str, ident: bytes, **fields: Any) -> bytes:
    entry = {"input": ident, "path_hash": path_of(ident), **fields}
    test = Entry(**{name: entry.get(name, getattr(PLAIN, name)) for name in PLAIN.__struct_fields__})
    return payloads.encode(TestPayload(client, 0.01, test, Counted(Tally().rows(), LinkCounters(), Memory())))


class ServerLine:
    def __init__(self, world: ProcessWorld) -> None:
        self._world = world

    def wait(self, seconds: float) -> list[Heard]:
        due = self._world.due("server")
        return [Heard((0, name.encode()), self._world.origin(name), frame) for name, frame in due]

    def send(self, to: tuple[int, bytes], frame: bytes) -> None:
        self._world.send("server", to[1].decode(), frame)

    def expel(self, origin: Origin) -> None:
        self._world.expelled.add(origin.name)


class ClientLine:
    connected = True

    def __init__(self, world: ProcessWorld, name: str) -> None:
        self._world, self._name, self.address = world, name, f"tcp://{name}:1"

    def reach(self, seconds: float, enough: Any) -> bool:
        return True

    def wait(self, seconds: float) -> list[tuple[bool, bytes]]:
        return [(source == "server", frame) for source, frame in self._world.due(self._name)]

    def send(self, frame: bytes) -> None:
        self._world.send(self._name, "server", frame)

    def send_to(self, address: str, key: str, frame: bytes) -> None:
        self._world.send(self._name, address.removeprefix("tcp://").partition(":")[0], frame)

    def listen_no_more(self) -> None:
        self._world.deaf.add(self._name)


class NoWish:
    wanted = False

    def pressing(self) -> bool:
        return False


class ProcessWorld:
    """A campaign of `tests` tests in `folder`, honest clients `c0` …, and whoever is added as `others`: name → turn."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        tests: int,
        clients: int,
        faults_end: float = 0.0,
        sample: float = SAMPLE,
        own: bool = False,
    ) -> None:
        """`sample`: what share of the tests is run again by another client; `own`: clients are this user's, so they run
        several tests at once."""
        self._own = own
        self.now, self.tree = 100.0, Tree("uneven", tests, seed)
        self.expelled: set[str] = set()
        self.deaf: set[str] = set()
        self.server_deaths = 0
        self._sample = sample
        self._work: dict[str, Callable[[Tree], TreeWork]] = {}  # of clients that are not like others
        self.others: dict[str, Any] = {}
        self._rng, self._faults_end, self._seed = random.Random(seed), self.now + faults_end, seed
        self._on_the_way: list[tuple[float, str, str, bytes]] = []
        self.folder = folder
        with closing(Store.create(folder)) as record:
            record.put(SETTINGS, Settings())
            record.put(PROGRAM, Program("p", "native", "dfs", 0, "2030-01-02T03:04:05Z", None, ("p.c",), False, ()))
            record.put(SOURCES, SourceMap("/", {}, {}, (), 0, (), (), {}))
            first = explored(self.tree.first)
            record.pairs.add([(first.id, b"", first.to_bytes())])
            CampaignRecord(record, b"image").commit(0, {}, {})
        for part in ("tests", "bugs"):
            (folder / part).mkdir()
        self.start_server()
        self.clients = {name: self.client(name) for name in (f"c{number}" for number in range(clients))}

    def client(self, name: str, work: Callable[[Tree], TreeWork] | None = None) -> ClientProcess:
        """A new life of it. `work`: what it does with tests from now on."""
        if work is not None:
            self._work[name] = work
        life = int(self.now * 1000) + (work is not None)
        options = ClientOptions(name, life)
        client = ClientProcess(
            ClientLine(self, name), options, NoWish(), TIMING, lambda: self.now, lambda _: self._target(name)
        )
        client.begin()
        return client

    def _target(self, name: str) -> TreeWork:
        special = self._work.get(name)
        return special(self.tree) if special is not None else TreeWork(self.tree, name)

    # Lines ---------------------------------------------------------------------------------------------------------

    def origin(self, name: str) -> Origin:
        return OWN if self._own else Origin(Standing.KEY, name, name, host=name)

    def send(self, source: str, target: str, frame: bytes) -> None:
        if source in self.expelled:
            return
        troubled = self.now < self._faults_end
        copies = 2 if troubled and self._rng.random() < 0.1 else 1
        for _ in range(copies):
            if not troubled or self._rng.random() > 0.1:
                late = self._rng.random() * (1.0 if troubled and self._rng.random() < 0.1 else 0.01)
                self._on_the_way.append((self.now + late, target, source, frame))

    def due(self, target: str) -> list[tuple[str, bytes]]:
        found = sorted(
            (at, source, frame) for at, to, source, frame in self._on_the_way if to == target and at <= self.now
        )
        self._on_the_way = [each for each in self._on_the_way if each[1] != target or each[0] > self.now]
        return [(source, frame) for _, source, frame in found if target not in self.deaf or source == "server"]

    # The run -------------------------------------------------------------------------------------------------------

    def start_server(self) -> None:
        self.store = Store.open(self.folder)
        self.record = CampaignRecord(self.store, b"image")
        self.record.sample = self._sample
        job: Any = None
        hosted = Hosted("o", "p", self.record, job, None)
        self.server = FleetServer(ServerLine(self), [hosted], TIMING, self._no_orders, lambda: self.now)
        self.server.start()

    def crash_server(self) -> None:
        """What was not committed is gone."""
        self.store.close()
        self.server_deaths += 1
        self.start_server()

    def crash_client(self, name: str) -> None:
        self.clients[name] = self.client(name)

    @staticmethod
    def _no_orders(_: object) -> Any:
        raise AssertionError

    def run(self, crashes: int = 0, until: float = 600.0) -> None:
        """Until all honest clients have stopped."""
        end, crash_at = self.now + until, sorted(self.now + self._rng.uniform(0.2, 4.0) for _ in range(crashes))
        while not all(client.has_ended or name in self.expelled for name, client in self.clients.items()):
            assert self.now < end, "it does not end"
            self.now += STEP
            if crash_at and self.now > crash_at[0]:
                crash_at.pop(0)
                name = self._rng.choice(["server", *self.clients])
                self.crash_server() if name == "server" else self.crash_client(name)
            self.server.turn(0.0)
            for client in list(self.clients.values()):
                if not client.has_ended:
                    client.turn()
            for turn in self.others.values():
                turn(self)

    def everything(self) -> set[int]:
        """The paths there are."""
        return {path_of(pair.id) for pair in pairs(self.tree)}
