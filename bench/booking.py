"""Tests that a fleet's server can write down: `python bench/booking.py [tests]`

The server as it is (frames are decoded, inspected, entered into its books and committed to a record on the disk), with
clients that have no targets: what they report of a made-up tree is made beforehand, and only the server's processor
time counts. By how many tests a client runs at once (`campaign/rounds.py`): each by itself, as clients of other people
report them, and as many as go into a round of 20 ms at 2 ms and at 60 microseconds a test.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from score_embed.campaign.describing import Entry, PathTest
from score_embed.config import Settings
from score_embed.contract.outcome import Verdict
from score_embed.explore.pair import Pair as Explored
from score_embed.fleet import service
from score_embed.fleet.client.client import Client
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.messages import FromServer, Pair, Peer, Result
from score_embed.fleet.origin import OWN, Origin
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.campaign_record import CampaignRecord
from score_embed.fleet.process.payload import RoundPayload, TestPayload
from score_embed.fleet.process.server import FleetServer, Hosted
from score_embed.fleet.protocol import Run, Send, Timing
from score_embed.fleet.simulation.trees import Tree
from score_embed.fleet.transport.line import Heard
from score_embed.results.parts import PROGRAM, SETTINGS, SOURCES, Program
from score_embed.results.sourcemap import SourceMap
from score_embed.results.store import Store
from score_embed.results.testcase import Named

CLIENTS = 4
AT_ONCE = (1, 10, 330)  # tests of a result
INPUT = bytes(range(82))
LAYOUT = (Named("b", 0, len(INPUT), "bytes"),)
ALONE = 20_000  # tests a second of a client with a small program, about


class Line:
    """The server's: frames come from the clients of this process and go to them."""

    def __init__(self) -> None:
        self.heard: deque[Heard] = deque()
        self.said: deque[tuple[str, bytes]] = deque()

    def wait(self, seconds: float) -> list[Heard]:
        frames = list(self.heard)
        self.heard.clear()
        return frames

    def send(self, to: tuple[int, bytes], frame: bytes) -> None:
        self.said.append((to[1].decode(), frame))

    def expel(self, origin: Origin) -> None:
        raise SystemExit("a client was sent away")


class Reporter:
    """A client that reports the tests of a tree, so many at once."""

    def __init__(self, name: str, tree: Tree, at_once: int, line: Line) -> None:
        self._name, self._tree, self._at_once, self._line = name, tree, at_once, line
        self._client = Client(Peer(name, 1), Stack(), Timing())
        self._carry_out(self._client.start(time.monotonic()))

    def hear(self, frame: bytes) -> None:
        message = service.decode(frame)
        if isinstance(message, FromServer):
            self._carry_out(self._client.receive(message, time.monotonic()))
        elif isinstance(message, service.Check):  # the first test, as no others are run again
            end = Verdict.RETURN.value, 0, _hash(self._tree.first), False, b""
            self._say(service.Checked(self._client.peer, 0, message.number, *end))

    def tick(self) -> None:
        self._carry_out(self._client.tick(time.monotonic()))

    def _carry_out(self, effects: Sequence[object]) -> None:
        waiting = deque(effects)
        while waiting:
            effect = waiting.popleft()
            if isinstance(effect, Send):
                self._say(effect.message)
            elif isinstance(effect, Run):
                waiting += self._client.ran((self._ran(effect.pair),), time.monotonic())

    def _say(self, frame: service.Frame) -> None:
        self._line.heard.append(Heard((0, self._name.encode()), OWN, service.encode(frame)))

    def _ran(self, first: Pair) -> Result:
        ran, left = [first], list(self._below(first))
        while left and len(ran) < self._at_once:
            ran.append(left.pop())
            left += self._below(ran[-1])
        if self._at_once == 1:
            told: TestPayload | RoundPayload = TestPayload(self._name, 0.0, _entry(first), None)
        else:
            told = RoundPayload(self._name, 0.0, tuple(map(_path, ran)), (LAYOUT,), 0, 0, None)
        return Result(first.id, payloads.encode(told), tuple(left), len(ran))

    def _below(self, pair: Pair) -> tuple[Pair, ...]:
        data = Explored.from_bytes(pair.data).input
        return tuple(map(_sent, self._tree.run(Pair(pair.id, pair.depth, data)).children))


def _sent(pair: Pair) -> Pair:
    data = Explored(pair.id, pair.data, pair.depth, pair.depth, pair.depth, 0, 0).to_bytes()
    return Pair(pair.id, pair.depth, data)


def _hash(pair: Pair) -> int:
    return int.from_bytes(pair.id[:8], "big")


def _entry(pair: Pair) -> Entry:
    return Entry(INPUT, Verdict.RETURN, 0, _hash(pair), 30, True, False, LAYOUT, None, b"", (), False, 0)


def _path(pair: Pair) -> PathTest:
    return PathTest(INPUT, Verdict.RETURN, 0, _hash(pair), 30, 0, "")


def _record(folder: Path, first: Pair) -> CampaignRecord:
    for part in ("tests", "bugs"):
        (folder / part).mkdir()
    store = Store.create(folder)
    store.put(SETTINGS, Settings())
    store.put(PROGRAM, Program("p", "native", "dfs", 0, "2030-01-02T03:04:05Z", None, ("p.c",), False, ()))
    store.put(SOURCES, SourceMap("/", {}, {}, (), 0, (), (), {}))
    store.pairs.add([(first.id, b"", first.data)])
    record = CampaignRecord(store, b"image")
    record.commit(0, {}, {})
    return record


def _no_orders(_: object) -> Any:
    raise AssertionError


def booked(tests: int, at_once: int) -> tuple[float, int]:
    """Processor seconds of the server, and bytes of the record."""
    with tempfile.TemporaryDirectory() as work:
        folder, tree = Path(work), Tree("uneven", tests, 1)
        record = _record(folder, _sent(tree.first))
        with closing(record.store):
            line, job = Line(), cast("Any", None)
            server = FleetServer(line, [Hosted("o", "p", record, job, None)], Timing(), _no_orders)
            record.sample = 0.0  # nobody here could run a test again
            server.start()
            clients = {name: Reporter(name, tree, at_once, line) for name in map(str, range(CLIENTS))}
            seconds = 0.0
            while not server.protocol.finished:
                began = time.process_time()
                server.turn(0.0)
                seconds += time.process_time() - began
                while line.said:
                    name, frame = line.said.popleft()
                    clients[name].hear(frame)
                for client in clients.values():
                    client.tick()
            assert record.ledger.totals.paths == tests
        return seconds, (folder / "campaign.db").stat().st_size


def main() -> None:
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    print("| tests a result | tests a second | microseconds a test | clients of 20,000 | bytes a test |")
    print("|---|---|---|---|---|")
    for at_once in AT_ONCE:
        seconds, size = booked(tests, at_once)
        rate = tests / seconds
        print(f"| {at_once} | {rate:,.0f} | {seconds / tests * 1e6:.1f} | {rate / ALONE:.1f} | {size / tests:.0f} |")


if __name__ == "__main__":
    main()
