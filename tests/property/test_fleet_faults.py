"""Whatever goes wrong in a fleet, nothing is lost, nothing recorded twice, and it comes to its end; see
docs/design/fleet.md.

With --all a thousand schedules of faults at up to 256 clients.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from fleets import TIMING, survive, troubled
from liars import KINDS, Liar
from proof import FULL

from score_embed.fleet.client.client import Client
from score_embed.fleet.client.reporting import Batches
from score_embed.fleet.messages import Ack, Bye, Pairs, Peer, Results, Stored
from score_embed.fleet.protocol import ClientAction, ServerAction, Status
from score_embed.fleet.server.campaign import Taken
from score_embed.fleet.server.frontier import Commit, Write
from score_embed.fleet.server.server import Server
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.simulation.faults import Faults
from score_embed.fleet.simulation.journal import Journal, Violation
from score_embed.fleet.simulation.simulate import World
from score_embed.fleet.simulation.trees import SHAPES, Tree, pairs

SCHEDULES = 1000 if FULL else 0
SUPPORT = Path(__file__).parents[1] / "support"


@pytest.mark.parametrize("part", range(12))
def test_schedules_of_faults(part: int) -> None:
    for seed in range(10 * part, 10 * part + 10):
        survive(troubled(seed))


@pytest.mark.parametrize("part", range(12))
def test_schedules_of_faults_with_rounds(part: int) -> None:
    """Clients run up to so many tests at once, and report them as one."""
    for seed in range(10 * part + 200, 10 * part + 205):
        survive(troubled(seed, round_tests=(2, 7, 30)[seed % 3]))


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


def test_who_leaves_may_have_many_results_to_report_first() -> None:
    """It had some hundred of them, two in a batch, at a server that takes 0.2 s for a commit: meanwhile its pairs
    wait."""
    survive(troubled(992))


@pytest.mark.skipif(not SCHEDULES, reason="a thousand schedules: --all")
def test_many_schedules_of_faults() -> None:
    for seed in range(10_000, 10_000 + SCHEDULES):
        survive(troubled(seed, largest=256))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("clients", [1, 2, 7, 40])
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("at_once", [1, 2, 20])
def test_without_faults_every_pair_is_run_once(shape: str, clients: int, direct: bool, at_once: int) -> None:
    tree = Tree(shape, 300, clients)
    world = World([tree], clients, timing=TIMING, seed=clients, checked=True, direct=direct, round_tests=at_once)
    survive(world)
    record = world.journal.records[1]
    assert world.run_count == 300
    assert set(world.runs) == {pair.id for pair in pairs(tree)} == {*record.done, *record.below}


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
        for campaign in self.campaigns.values():
            table = [session.status for session in self.sessions()]
            if campaign.frontier.tests and table and all(status is Status.IDLE for status in table):
                campaign.frontier._owner.clear()
                campaign.frontier._tests.clear()
                campaign.frontier._known.clear()
                campaign.frontier._moved.clear()
                self._finish_if_done(campaign)
        return super().tick(now)


class AcknowledgeBeforeCommit(Server):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self._table.record = partial(self._record_at_once, self._table.record)  # type: ignore[method-assign]

    def _record_at_once(self, record, message, owner, origin):  # type: ignore[no-untyped-def]
        taken = record(message, owner, origin)
        self._table.commits._waiting.pop()()
        return taken


class NoIncarnation(Client):
    def __init__(self, peer: Peer, *rest) -> None:  # type: ignore[no-untyped-def]
        super().__init__(Peer(peer.client, 1), *rest)

    def _start_anew(self, why) -> None:  # type: ignore[no-untyped-def]
        self._conversation.peer = Peer(self.peer.client, 0)
        super()._start_anew(why)


class NoReqId(Client):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self.actions[ClientAction.TAKE] = self._take

    def _take(self, message: Pairs) -> None:
        self._receiving._taken.clear()
        self._receiving.take(message)


class _AlwaysClear(Batches):
    clear = True


class EmptyBeforeFlush(Client):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self._reporting.batches = _AlwaysClear(self._conversation.timing)


class ChildrenNotAtomic(Journal):
    def interrupt(self, commit: Commit, rng) -> None:  # type: ignore[no-untyped-def]
        writes = [Write(write.campaign, write.tests, (), write.moved) for write in commit.writes]
        super().interrupt(Commit(commit.number, commit.epoch, writes), rng)


class DrainWithoutHandOver(Server):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self.actions[ServerAction.PART] = self._part

    def _part(self, session: Session, message: Bye) -> None:
        frontier = self.campaigns[session.campaign].frontier
        held, frontier._held = frontier._held, {}
        self._members.part(session, message)
        frontier._held = held


class LateResultDropped(Server):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self._table.record = partial(self._record_in_time, self._table.record)  # type: ignore[method-assign]

    def _record_in_time(self, record, message, owner, origin):  # type: ignore[no-untyped-def]
        if owner is None and isinstance(message, Results):
            self._table.say(Stored(message.peer, message.batch, ()))
            return Taken(0, 0, (), ())
        return record(message, owner, origin)


class AckNotJournalled(Server):
    def __init__(self, *args) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args)
        self.actions[ServerAction.ASSIGN] = self._assign

    def _assign(self, session: Session, message: Ack) -> None:
        self._sharing.assign(session, message)
        for ident in message.ids:
            self.campaigns[session.campaign].frontier._moved.pop(ident, None)


MUTANTS = [
    AllIdleMeansStop,
    AcknowledgeBeforeCommit,
    NoIncarnation,
    NoReqId,
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


# Liars: whatever one of them says, the others find all there is ----------------------------------------------------


def test_a_liar_that_starves_itself_is_nobodys_fault() -> None:
    """It had said to have taken pairs, so nobody gave it any."""
    deceived("steals", 326)


@pytest.mark.parametrize("seed", [41, 62])
def test_what_an_expelled_liar_had_given_is_not_run(seed: int) -> None:
    """Its pairs went to the one that it had given them to as something else: that one took them for the record's."""
    deceived("cheats", seed)


def test_a_liar_that_says_empty_and_works_on_does_not_starve_others() -> None:
    """The server took it for idle, so that it was never asked for pairs."""
    deceived("drops", 350)


def test_who_is_granted_pairs_that_are_over_waits_again() -> None:
    """Who had them before finished them; the grant stayed open, and nobody asked others for that client any more."""
    deceived("exaggerates", 259)


def test_an_ack_frees_all_who_were_to_serve_its_sender() -> None:
    """It was promised to one and got pairs from another: only one of the two was asked for pairs again."""
    deceived("drops", 434)


def test_pairs_of_a_campaign_that_is_not_durable_yet_can_be_claimed() -> None:
    deceived("steals", 244)


@pytest.mark.parametrize("kind", KINDS)
def test_liars_change_nothing(kind: str) -> None:
    """Of three clients and more, up to a third lie, while all else goes wrong, too."""
    for seed in range(500 if FULL else 8):
        deceived(kind, seed)


def deceived(kind: str, seed: int) -> World:
    world = troubled(seed, largest=10)
    # a pair that was given to a liar and lost on its way is its own, and it does not know
    if kind in ("finishes", "steals"):
        world.faults = Faults()

    def done() -> set[bytes]:
        return {ident for record in world.journal.records.values() for ident in record.done}

    def given(client: str, ident: bytes) -> bool:
        campaigns = world.server.campaigns.values() if world.server is not None else ()
        mine = [c.frontier for c in campaigns if ident in c.frontier]
        # or is about to be given
        return any(known.owner(ident) is None or known.may_finish(ident, client) for known in mine)

    for number in range(1, 1 + max(1, world.clients // 3)):
        world.liars[number] = partial(Liar, kind, world.trees, world.clients, seed, set(), done, given)  # type: ignore[index]
    survive(world)
    everything = [pair.id for tree in world.trees for pair in pairs(tree)]
    assert sorted(everything) == sorted(ident for record in world.journal.records.values() for ident in record.done)
    assert set(world.expelled) <= {f"c{number}" for number in world.liars}
    return world
