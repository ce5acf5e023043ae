"""The fleet's processes and their books under faults and lies, in simulated time: the record has exactly what there is.

What the protocol does alone is in `test_fleet_faults.py`; here the frames, the inspection of what is reported, the
server's turns, its commits and the record in its file take part.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from process_world import ProcessWorld, TreeWork, sent, told
from proof import FULL

from score_embed.fleet import service, tickets
from score_embed.fleet.messages import (
    VERSION,
    Ack,
    Alive,
    Empty,
    Hello,
    Leave,
    Pair,
    Pairs,
    Peer,
    Refused,
    Rejoin,
    Result,
    Results,
    Stop,
    Welcome,
)
from score_embed.fleet.process.executor import Ran
from score_embed.fleet.simulation.trees import Tree
from score_embed.results import summary
from score_embed.results.store import Store

SEEDS = range(60 if FULL else 4)
LIARS = range(500 if FULL else 4)


class Rogue:
    """Joins as others do, gets pairs, and reports what destroys a record; each time something else."""

    def __init__(self, seed: int, reports: bool = True) -> None:
        self.peer = Peer("rogue", 1)
        self._rng = random.Random(seed)
        self._held: list[Pair] = []
        self._reports = reports
        self._epoch = self._campaign = self._turns = self._said = 0

    def __call__(self, world: ProcessWorld) -> None:
        say: Callable[[Any], None] = lambda frame: world.send("rogue", "server", service.encode(frame))  # noqa: E731
        for _, data in world.due("rogue"):
            frame = service.decode(data)
            if isinstance(frame, Welcome):
                self._epoch, self._campaign = frame.epoch, frame.campaign
            elif isinstance(frame, Pairs):
                self._held += frame.pairs
                ids = tuple(pair.id for pair in frame.pairs)
                about = frame.req, frame.giver, 1, ids, tickets.marks(frame.pairs)
                say(Ack(self.peer, self._epoch, *about))
        self._turns += 1
        if self._turns % 7 == 0:
            for name, client in world.clients.items():
                for forged in self._forged(client._client.peer):
                    world.send("rogue", name, service.encode(forged))
        if self._reports and self._turns % 10 == 1:
            say(Hello(self.peer, self._epoch, VERSION, "", "", self._campaign, b""))
            say(Empty(self.peer, self._epoch, 0) if not self._held else Alive(self.peer, self._epoch, 5))
        if self._held and self._turns % 5 == 0:
            self._said += 1
            say(
                Results(
                    self.peer, self._epoch, self._campaign, self._said, 0, (self._lie(self._rng.choice(self._held)),)
                )
            )

    def _forged(self, to: Peer) -> list[service.Frame]:
        """What only a server may say, sent to where a client listens for others."""
        rubbish = tuple(sent(Pair(bytes([n]) * 16, 1, b"x")) for n in range(5))
        return [
            Welcome(to, 2**62, 7, b"", False, bytes(32)),
            Refused(to, "go", "away"),
            Stop(to, self._campaign, False),
            Leave(to, False),
            Rejoin(to, 2**62, True),
            service.Job(7, "{}", "native", "", b"", 1, bytes(32)),
            service.Check(1, self._campaign, b"", True),
            service.Problem("this server", "is gone"),
            Pairs(to, self._epoch << 32 | 1, self._campaign, Peer("server", 0), rubbish),
            Pairs(to, self._epoch << 32 | 1, self._campaign, self.peer, rubbish, bytes(16)),
        ]

    def _lie(self, mine: Pair) -> Result:
        other = Pair(bytes(self._rng.randrange(256) for _ in range(16)), 1, b"")
        good = sent(Pair(other.id, 1, b"x"))
        name = self.peer.client
        return self._rng.choice(
            [
                Result(mine.id, told(name, mine.id), (Pair(good.id, 1, good.data[:-3]),)),
                Result(mine.id, told(name, mine.id), (other,)),
                Result(mine.id, told(name, mine.id), (Pair(good.id, 2**32 - 1, good.data),)),
                Result(mine.id, told("c0", mine.id), ()),
                Result(mine.id, told(name, mine.id, code=2**64 - 1), ()),
                Result(mine.id, told(name, mine.id, path_hash=-1), ()),
                Result(mine.id, b"\xff" * 100, ()),
                Result(mine.id, told(name, mine.id), (), tests=0),
            ]
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("who", ["own", "others", "others, one lies"])
def test_the_record_has_exactly_what_there_is(seed: int, who: str, tmp_path: Path) -> None:
    tests = 150
    world = ProcessWorld(tmp_path, seed, tests, 3, faults_end=3.0, sample=0.1, own=who == "own")
    if "lies" in who:
        world.others["rogue"] = Rogue(seed)
    world.run(crashes=seed % 4)
    world.store.close()
    with Store.read(tmp_path) as record:
        assert record.path_hashes() == world.everything()
        found = summary.of(record)
        assert (found.paths, record.pairs.waiting()) == (tests, 0)
        assert found.runs == tests
    assert world.expelled <= {"rogue"}
    if "rogue" in world.expelled:
        assert any("client rogue was sent away: it reported" in item.what for item in found.incomplete)


def test_every_rogue_is_found_out(tmp_path: Path) -> None:
    world = ProcessWorld(tmp_path, 5, 400, 2)
    world.others["rogue"] = Rogue(5)
    world.run()
    assert world.expelled == {"rogue"}
    world.store.close()


def test_who_hears_only_rubbish_where_it_listens_does_so_no_more(tmp_path: Path) -> None:
    world = ProcessWorld(tmp_path, 5, 2000, 2)
    world.others["rogue"] = Rogue(5, reports=False)
    world.run()
    assert (world.deaf, world.expelled) == (set(world.clients), set())
    assert world.record.store.path_hashes() == world.everything()
    world.store.close()


class KeepsBack(TreeWork):
    """Runs its tests as it should, and tells of half of what they lead to, or of nothing."""

    def __init__(self, tree: Tree, client: str, seed: int) -> None:
        super().__init__(tree, client)
        self._rng = random.Random(seed)

    def run(self, pair: Pair, may_round: bool) -> Ran:
        (result,) = super().run(pair, may_round).results
        if not result.children or self._rng.random() < 0.5:
            return Ran((result,))
        told = tuple(child for child in result.children if self._rng.random() < 0.5)
        return Ran((structs.replace(result, children=told),))


@pytest.mark.parametrize("seed", LIARS)
@pytest.mark.parametrize("crashes", [0, 3])
def test_who_keeps_back_what_follows_is_sent_away(seed: int, crashes: int, tmp_path: Path) -> None:
    """Every test is checked, so nothing stays hidden; where the server has died it has forgotten whom to ask about
    what."""
    world = ProcessWorld(tmp_path, seed, 300, 3, faults_end=2.0 if crashes else 0.0, sample=1.0)
    world.clients["c0"] = world.client("c0", lambda tree: KeepsBack(tree, "c0", seed))
    world.run(crashes)
    world.store.close()
    assert world.expelled <= {"c0"}
    with Store.read(tmp_path) as record:
        found, paths = summary.of(record), record.path_hashes()
    assert paths <= world.everything()
    if world.server_deaths == 0:
        assert paths == world.everything()
        assert world.expelled == {"c0"}
        why = "client c0 was sent away: two others have seen a test of it lead to more"
        assert any(why in item.what for item in found.incomplete)
