"""Whatever goes wrong in a fleet, nothing is lost, nothing recorded twice, and it comes to its end; see docs/design/fleet.md.

With --all a thousand schedules of faults at up to 256 clients.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fleets import TIMING, survive, troubled
from proof import FULL

from score_embed.fleet.client.outbox import Outbox
from score_embed.fleet.client.side import Client
from score_embed.fleet.messages import Ack, Nack, Pairs, Peer, Results, Stored, ToServer
from score_embed.fleet.protocol import Status
from score_embed.fleet.server.frontier import Commit, Write
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.side import Server
from score_embed.fleet.simulation.journal import Journal, Violation
from score_embed.fleet.simulation.simulate import World
from score_embed.fleet.simulation.trees import SHAPES, Tree, pairs

SCHEDULES = 1000 if FULL else 0
SUPPORT = Path(__file__).parents[1] / "support"


@pytest.mark.parametrize("part", range(12))
def test_schedules_of_faults(part: int) -> None:
    for seed in range(10 * part, 10 * part + 10):
        survive(troubled(seed))


@pytest.mark.parametrize(
    "seed",
    [
        10_605,  # a HELLO from before the server's new start put a client into another campaign than it worked on
        10_707,  # the answer to such a HELLO was lost, and the client never learned of the new epoch
        10_184,  # a client was given up that had a gift which its server did not know of yet
    ],
)
def test_schedules_that_found_something(seed: int) -> None:
    survive(troubled(seed, largest=256))


@pytest.mark.skipif(not SCHEDULES, reason="a thousand schedules: --all")
def test_many_schedules_of_faults() -> None:
    for seed in range(10_000, 10_000 + SCHEDULES):
        survive(troubled(seed, largest=256))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("clients", [1, 2, 7, 40])
@pytest.mark.parametrize("direct", [True, False])
def test_without_faults_every_pair_is_run_once(shape: str, clients: int, direct: bool) -> None:
    world = survive(
        World([Tree(shape, 300, clients)], clients, timing=TIMING, seed=clients, checked=True, direct=direct)
    )
    assert world.run_count == 300
    assert set(world.runs) == {pair.id for pair in pairs(world.trees[0])} == set(world.journal.records[1].done)


def test_a_seed_is_replayed_byte_for_byte() -> None:
    """Also in another process, where sets and dicts of bytes have another order."""
    seeds = [3, 8, 11, 14, 29]
    here = [survive(troubled(seed)).digest.hexdigest() for seed in seeds]
    assert here == [survive(troubled(seed)).digest.hexdigest() for seed in seeds]
    assert len(set(here)) == len(seeds)
    code = f"from fleets import *; print(*(survive(troubled(s)).digest.hexdigest() for s in {seeds}))"
    path = os.pathsep.join([str(SUPPORT), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "12345"}
    there = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100, check=True
    )
    assert there.stdout.split() == here


# Mutants: each of these faults in the protocol must be found by the schedules ------------------------------------


class AllIdleMeansStop(Server):
    """The rule as published, which looks at the table only."""

    def tick(self, now: float):  # type: ignore[no-untyped-def]
        for campaign in self._campaigns.values():
            table = [session.status for session in self._sessions.values()]
            if campaign.frontier.tests and table and all(status is Status.IDLE for status in table):
                campaign.frontier._owner.clear()
                campaign.frontier._tests.clear()
                campaign.frontier._known.clear()
                campaign.frontier._moved.clear()
                self._finish_if_done(campaign)
        return super().tick(now)


class AcknowledgeBeforeCommit(Server):
    def _record(self, message, owner):  # type: ignore[no-untyped-def]
        new = super()._record(message, owner)
        self._commits._waiting.pop()()
        return new


class NoIncarnation(Client):
    def __init__(self, peer: Peer, *rest: object) -> None:
        super().__init__(Peer(peer.client, 1), *rest)  # type: ignore[arg-type]

    def _do_start_anew(self, why):  # type: ignore[no-untyped-def]
        self.peer = Peer(self.peer.client, 0)
        super()._do_start_anew(why)


class NoReqId(Client):
    def _do_take(self, message: Pairs) -> None:
        self._taken.clear()
        super()._do_take(message)


class NackLost(Client):
    def _say(self, message: ToServer) -> None:
        if not isinstance(message, Nack):
            super()._say(message)


class _AlwaysClear(Outbox):
    clear = True


class EmptyBeforeFlush(Client):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self._outbox = _AlwaysClear(self._timing)


class ChildrenNotAtomic(Journal):
    def interrupt(self, commit: Commit, rng) -> None:  # type: ignore[no-untyped-def]
        writes = [Write(write.campaign, write.tests, (), write.moved) for write in commit.writes]
        super().interrupt(Commit(commit.number, commit.epoch, writes), rng)


class DrainWithoutHandOver(Server):
    def _do_part(self, session: Session, message) -> None:  # type: ignore[no-untyped-def]
        frontier = self._campaigns[session.campaign].frontier
        held, frontier._held = frontier._held, {}
        super()._do_part(session, message)
        frontier._held = held


class LateResultDropped(Server):
    def _record(self, message, owner):  # type: ignore[no-untyped-def]
        if owner is None and isinstance(message, Results):
            self._say(Stored(message.peer, message.batch, ()))
            return 0
        return super()._record(message, owner)


class AckNotJournalled(Server):
    def _do_assign(self, session: Session, message: Ack) -> None:
        super()._do_assign(session, message)
        for ident in message.ids:
            self._campaigns[session.campaign].frontier._moved.pop(ident, None)


MUTANTS = [
    AllIdleMeansStop,
    AcknowledgeBeforeCommit,
    NoIncarnation,
    NoReqId,
    NackLost,
    EmptyBeforeFlush,
    ChildrenNotAtomic,
    DrainWithoutHandOver,
    LateResultDropped,
    AckNotJournalled,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_mutants_are_killed(mutant: type) -> None:
    kind = next(kind for kind in (Server, Client, Journal) if issubclass(mutant, kind))
    for seed in range(1000):
        try:
            survive(troubled(seed, largest=6, **{f"{kind.__name__.lower()}_type": mutant}))
        except Violation as violation:
            print(f"killed by seed {seed}: {violation}")
            return
    pytest.fail("no schedule killed it")
