"""Server and clients together on a perfect line: joining, refusals, several campaigns, moving, removing, relays."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from score_embed.fleet import tickets
from score_embed.fleet.client.client import Client
from score_embed.fleet.client.conversation import Effect
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.client.reporting import Batches
from score_embed.fleet.messages import (
    MAX_FRAME,
    VERSION,
    Ack,
    Alive,
    Empty,
    FromServer,
    Hello,
    Pair,
    Pairs,
    Peer,
    Rejoin,
    Result,
    Results,
    Settled,
    Stored,
    encode,
)
from score_embed.fleet.protocol import ClientState, End, Run, Send, Status, Timing, Wake
from score_embed.fleet.server import condition
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.frontier import Commit, Opened, Snapshot
from score_embed.fleet.server.server import Server
from score_embed.fleet.simulation.trees import Tree


class Line:
    """Everything arrives at once; tests are run one by one, the clients by turns."""

    def __init__(self, **sizes: int) -> None:
        self.trees = {number: Tree("balanced", size, number) for number, size in enumerate(sizes.values(), start=1)}
        self.known: dict[tuple[int, bytes], Pair] = {}
        self.done: dict[int, list[bytes]] = {number: [] for number in self.trees}
        self.clients: dict[str, Client] = {}
        self.to_run: dict[str, tuple[int, Pair]] = {}
        self.refused: dict[str, tuple[str, str]] = {}
        self.messages: list[Any] = []
        self.now = 0.0
        self._queue: deque[Any] = deque()
        self.server = Server(Snapshot(0, [Opened(9, b"old", {})] if not sizes else []), self.read, Timing())
        self.carry_out(None, self.server.start(0.0))
        for number, tree in self.trees.items():
            self.carry_out(None, self.server.open(number, b"image%d" % number, tree.first, 0.0))
        self.settle()

    def read(self, campaign: int, ids: Sequence[bytes]) -> list[Pair]:
        return [self.known[campaign, ident] for ident in ids]

    def join(self, name: str, image: bytes = b"", address: str = "here") -> Client:
        client = self.clients[name] = Client(Peer(name, 1), Stack(), Timing(), address, image=image)
        self.carry_out(name, client.start(self.now))
        self.settle()
        return client

    def settle(self) -> None:
        while self._queue:
            what = self._queue.popleft()
            if isinstance(what, Commit):
                self.commit(what)
            elif what.to is None:
                self.carry_out(None, self.server.receive(what.message, self.now))
            elif what.to.client in self.clients:
                client = self.clients[what.to.client]
                self.carry_out(what.to.client, client.receive(what.message, self.now, direct=bool(what.address)))

    def carry_out(self, name: str | None, effects: Sequence[Any]) -> None:
        for effect in effects:
            match effect:
                case Send():
                    self.messages.append(effect)
                    self._queue.append(effect)
                case Commit():
                    self._queue.append(effect)
                case Run(pair):
                    assert name is not None
                    client = self.clients[name]
                    self.to_run[name] = client.campaign, pair
                case End(refused) if refused is not None:
                    assert name is not None
                    self.refused[name] = refused
                case End() | Wake():
                    pass

    def commit(self, commit: Commit) -> None:
        for write in commit.writes:
            self.done[write.campaign] += [result.id for result in write.tests]
            for pair, _ in write.known:
                self.known[write.campaign, pair.id] = pair
        self.carry_out(None, self.server.committed(commit.number, self.now))

    def step(self, seconds: float = 0.3) -> None:
        """Every client ends its test, and time passes."""
        for name, (campaign, pair) in list(self.to_run.items()):
            del self.to_run[name]
            self.carry_out(name, self.clients[name].ran((self.trees[campaign].run(pair),), self.now))
            self.settle()
        self.now += seconds
        for name, client in self.clients.items():
            self.carry_out(name, client.tick(self.now))
        self.carry_out(None, self.server.tick(self.now))
        self.settle()

    def status(self) -> dict[str, Status]:
        return {session.peer.client: session.status for session in self.server.sessions()}


def test_clients_share_a_campaign_and_stop() -> None:
    line = Line(a=64)
    clients = [line.join(name) for name in ("one", "two", "three")]
    for _ in range(60):
        line.step()
    assert len(line.done[1]) == len(set(line.done[1])) == 64
    assert all(client.state is ClientState.STOPPED for client in clients)
    assert line.server.finished
    assert not line.status()


def test_statuses_are_those_of_the_paper() -> None:
    line = Line(a=1000)
    line.join("one")
    line.join("two")
    assert line.status() == {"one": Status.SERVING_REQ, "two": Status.IDLE}
    line.step()
    assert line.status() == {"one": Status.BUSY, "two": Status.BUSY}


@pytest.mark.parametrize(
    ("hello", "what"),
    [
        ({"version": 99}, "version 99"),
        ({"image": b"other"}, "6f74686572"),
        ({"campaign": 77}, "campaign 77"),
    ],
)
def test_who_does_not_fit_is_refused_with_a_reason(hello: dict[str, Any], what: str) -> None:
    line = Line(a=10)
    plain: dict[str, Any] = {"version": VERSION, "address": "", "where": "", "campaign": 0, "image": b""}
    client = line.clients["one"] = Client(Peer("one", 1), Stack(), Timing())
    line.carry_out("one", line.server.receive(Hello(Peer("one", 1), 0, **{**plain, **hello}), 0.0))
    line.settle()
    assert client.state is ClientState.STOPPED
    assert what in line.refused["one"][0]
    assert line.refused["one"][1]
    assert not line.status()


def test_an_image_decides_about_the_campaign() -> None:
    line = Line(a=100, b=100)
    line.join("one", image=b"image2")
    line.join("two", image=b"image2")
    line.join("three")
    assert {s.peer.client: s.campaign for s in line.server.sessions()} == {"one": 2, "two": 2, "three": 1}


def test_clients_move_between_campaigns_and_nothing_is_lost() -> None:
    line = Line(a=300, b=40)
    for name in ("one", "two", "three", "four"):
        line.join(name)
    campaigns = {s.peer.client: s.campaign for s in line.server.sessions()}
    assert sorted(campaigns.values()) == [1, 1, 2, 2]
    for _ in range(3):
        line.step()
    line.carry_out(None, line.server.assign(1, lambda session: True, 1, line.now))
    line.settle()
    for _ in range(3):
        line.step()
    assert sorted(s.campaign for s in line.server.sessions()) == [1, 1, 1, 2]
    # When a campaign is finished, its clients go on with the other.
    for _ in range(200):
        line.step()
    assert {number: len(set(done)) for number, done in line.done.items()} == {1: 300, 2: 40}
    assert all(len(done) == len(set(done)) for done in line.done.values())
    assert all(client.state is ClientState.STOPPED for client in line.clients.values())


def test_clients_are_removed_by_condition_and_by_number() -> None:
    line = Line(a=500)
    for name in ("one", "two", "three", "four", "five"):
        line.join(name)
    for _ in range(5):
        line.step()
    chosen = condition.parse("tests >= 0")
    line.carry_out(None, line.server.remove(lambda s: chosen(s.values(line.now)), 2, line.now))
    line.settle()
    for _ in range(3):
        line.step()
    assert list(line.status()) == ["three", "four", "five"]
    line.carry_out(None, line.server.remove(lambda s: s.peer.client == "four", None, line.now))
    line.carry_out("five", line.clients["five"].leave(line.now))
    line.settle()
    for _ in range(600):
        line.step()
    assert len(line.done[1]) == len(set(line.done[1])) == 500
    assert not line.status()


def test_without_an_address_pairs_go_by_way_of_the_server() -> None:
    line = Line(a=200)
    for name in ("one", "two", "three"):
        line.join(name, address="")
    for _ in range(100):
        line.step()
    gifts = [
        send for send in line.messages if isinstance(send.message, Pairs) and send.message.giver.client != "server"
    ]
    assert gifts
    assert not any(send.address for send in gifts)
    assert line.server.counts["relayed"] == len(gifts) / 2  # to the server, and from it
    assert len(set(line.done[1])) == 200


def test_who_has_given_to_one_that_is_gone_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gift that never arrives: its giver need not wait until it may ask what became of it."""
    line = Line(a=200)
    one, two = line.join("one"), line.join("two")
    hear = two.receive

    def hear_the_server(message: FromServer, now: float, direct: bool = False) -> list[Effect]:
        return [] if direct else hear(message, now)

    monkeypatch.setattr(two, "receive", hear_the_server)
    while not any(send.address for send in line.messages):
        line.step(0.0)
    for name, client in (("two", two), ("one", one)):
        line.to_run.pop(name, None)
        line.carry_out(name, client.leave(line.now, broken=True))
        line.settle()
    assert (two.state, one.state) == (ClientState.STOPPED, ClientState.STOPPED)
    settled = [send.message for send in line.messages if isinstance(send.message, Settled)]
    assert Settled(one.peer, settled[-1].req, two.peer, taken=False) == settled[-1]
    line.join("three")
    for _ in range(300):
        line.step()
    assert len(line.done[1]) == len(set(line.done[1])) == 200


def test_a_stranger_is_asked_to_join_and_has_nothing_to_report() -> None:
    """As after a new start of the server: what it does not know it does not throw away."""
    line = Line(a=10)
    peer = Peer("old", 5)
    line.clients["old"] = Client(peer, Stack(), Timing())
    line.carry_out(None, line.server.receive(Alive(peer, 1, 3), 0.0))
    assert line.messages[-1].message == Rejoin(peer, 1, given_up=False)
    tree = line.trees[1]
    line.carry_out(None, line.server.receive(Results(peer, 1, 1, 1, 0, (tree.run(tree.first),)), 0.0))
    line.settle()
    (stored,) = (send.message for send in line.messages if isinstance(send.message, Stored))
    assert stored.refused == (tree.first.id,)  # nobody has given it that pair
    assert set(stored.drop) == {child.id for child in tree.run(tree.first).children}
    assert line.done[1] == []
    assert line.status() == {"old": Status.AWAITED}


def test_an_earlier_life_is_over_and_its_results_are_taken() -> None:
    line = Line(a=10)
    line.join("one")
    tree = line.trees[1]
    line.clients["one"] = Client(Peer("one", 7), Stack(), Timing())
    line.carry_out("one", line.clients["one"].start(0.0))
    line.settle()
    line.messages.clear()
    line.carry_out(None, line.server.receive(Results(Peer("one", 1), 1, 1, 1, 0, (tree.run(tree.first),)), 0.0))
    line.settle()
    assert line.done[1] == [tree.first.id]
    assert Rejoin(Peer("one", 1), 1, given_up=True) in [send.message for send in line.messages]


def test_a_finished_record_stops_whoever_comes() -> None:
    line = Line()
    assert line.join("one").state is ClientState.STOPPED


@pytest.mark.parametrize("limit", [1, 2, 7, 63, 64, 65])
@pytest.mark.parametrize("slim", [False, True])
def test_no_more_tests_are_recorded_than_wanted(limit: int, slim: bool) -> None:
    """What is left stays to be done, with all its data; only a client that did not know of the limit may exceed it."""
    tree = Tree("uneven", 64, 5)
    batches = Batches(Timing())
    batches.whole = not slim
    waiting = [tree.first]
    while waiting:
        result = tree.run(waiting.pop())
        batches.add(result)
        waiting += result.children
    peer = Peer("a", 0)
    campaign = Campaign(Opened(1, b"", {tree.first.id: peer}, limit), Timing(), random.Random(0))
    new, _, drop, _ = campaign.record(Results(peer, 1, 1, 1, 0, batches.next().results), peer)
    write = campaign.frontier.take_changes()
    assert new == len(write.tests) == campaign.frontier.tests
    assert new == min(limit, 64) if not slim else new >= min(limit, 64)
    assert all(pair.data for pair, _ in write.known)
    done = {result.id for result in write.tests}
    assert {pair.id for pair, _ in write.known} == set(campaign.frontier._owner) == children_of(write.tests) - done
    assert done.isdisjoint(drop) or new == 64
    assert campaign.full == (limit <= 64)


def children_of(tests: Sequence[Result]) -> set[bytes]:
    return {child.id for result in tests for child in result.children}


def test_a_client_learns_of_the_limit() -> None:
    line = Line(one=30)
    line.server.campaigns[1]._limit = 1000
    client = line.join("a")
    assert client._reporting.batches.whole


def test_a_client_whose_process_died_is_given_up_at_once() -> None:
    line = Line(one=30)
    line.join("a")
    assert "a" in line.to_run
    line.carry_out(None, line.server.lost("a", line.now))
    line.carry_out(None, line.server.lost("nobody", line.now))
    line.settle()
    assert line.server.sessions() == []
    line.to_run.clear()
    line.join("b")
    assert line.to_run["b"][1].id == line.trees[1].first.id


def test_a_client_that_lost_its_target_gives_its_pair_back() -> None:
    line = Line(one=30)
    client = line.join("a")
    pair = line.to_run.pop("a")[1]
    line.carry_out("a", client.leave(line.now, broken=True))
    line.settle()
    assert client.state is ClientState.STOPPED
    line.join("b")
    assert line.to_run["b"][1].id == pair.id


def test_a_client_that_parts_says_so_again_when_it_was_given_up() -> None:
    """Its BYE crossed the server's REJOIN, or was lost: it does not wait until it would be said again anyway."""
    line = Line(one=30)
    client = line.join("a")
    line.to_run.clear()
    client.leave(line.now, broken=True)  # this BYE is lost
    assert client.state is ClientState.PARTING
    line.carry_out("a", client.receive(Rejoin(client.peer, 1, given_up=True), line.now))
    line.settle()
    assert line.clients["a"].state is ClientState.STOPPED
    assert line.status() == {}


def test_pairs_that_were_lost_on_the_way_come_again_when_their_receiver_still_waits() -> None:
    line = Line(one=30)
    line.join("a")
    waits = line.join("b")
    del line.clients["b"]  # what is sent to it is lost
    line.carry_out(None, line.server.lost("a", line.now))
    line.settle()
    assert isinstance(line.messages[-1].message, Pairs)
    line.clients["b"] = waits
    empty = Empty(waits.peer, 1, 0)
    line.carry_out(None, line.server.receive(empty, line.now))  # said before they could have come
    line.settle()
    assert "b" not in line.to_run
    line.carry_out(None, line.server.receive(empty, line.now + Timing().resend))
    line.settle()
    assert line.to_run["b"][1].id == line.trees[1].first.id


def test_nobody_is_taken_for_richer_than_the_table_says() -> None:
    """Who boasted would be asked for pairs before all others, and again in each of its lives."""
    line = Line(a=64)
    line.join("one")
    line.step()
    (session,) = line.server.sessions()
    line.server.receive(Alive(session.peer, line.server.epoch, 2**63 - 1), line.now)
    assert 0 < session.queue == line.server.campaigns[1].frontier.held(session.peer) < 64


def test_pairs_of_the_pool_fit_into_a_message() -> None:
    """However large their inputs are: else the frame is dropped, said again, and the campaign never ends."""
    size, ids = 100_000, [number.to_bytes(16, "big") for number in range(200)]
    opened = Opened(1, b"image", dict.fromkeys(ids))
    server = Server(Snapshot(0, [opened]), lambda _, wanted: [Pair(one, 1, bytes(size)) for one in wanted], Timing())
    peer, effects, given = Peer("one", 1), server.start(0.0), list[bytes]()
    waiting: deque[Any] = deque(
        [Hello(peer, 1, VERSION, "", "", 0, b""), Results(peer, 1, 1, 1, 0, ()), Empty(peer, 1, 0)]
    )
    while effects or waiting:
        for effect in effects:
            match effect:
                case Commit(number):
                    waiting.append(number)
                case Send(Pairs(req=req, pairs=pairs, giver=giver) as message):
                    assert len(encode(message)) < MAX_FRAME
                    given += [pair.id for pair in pairs]
                    got = tuple(pair.id for pair in pairs)
                    waiting.append(Ack(peer, 1, req, giver, 1 + len(given), got, tickets.marks(pairs)))
                    results = tuple(Result(pair.id, b"", ()) for pair in pairs)
                    waiting.append(Results(peer, 1, 1, 1 + len(given), 0, results))
                    waiting.append(Empty(peer, 1, 1 + len(given)))
        what = waiting.popleft() if waiting else None
        effects = server.committed(what, 0.0) if isinstance(what, int) else server.receive(what, 0.0) if what else []
    assert sorted(given) == ids
    assert server.campaigns[1].finished
