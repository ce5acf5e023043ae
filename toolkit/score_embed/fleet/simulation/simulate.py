"""The real protocol code of one server and 1 to 4096 clients, in simulated time, with simulated work and faults.

Events are taken in order of time, then of their making; all chance comes from one seed; nothing depends on the order of
a set. So a run is repeated exactly by its seed, which its digest shows. While it runs, what must never happen is
watched (`Violation`): a STOP while something is left to do, a result acknowledged and not in the record, a pair
recorded twice. Costs are parameters: they decide how long everything takes, not what is right.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from typing import Any

from score_embed.fleet import messages
from score_embed.fleet.client import conversation
from score_embed.fleet.client.client import Client
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.messages import Message, Pair, Pairs, Peer, Result, Results, Stop, Stored
from score_embed.fleet.origin import Origin, Standing
from score_embed.fleet.protocol import ClientState, End, Run, Send, Timing, Wake
from score_embed.fleet.server import table as server_table
from score_embed.fleet.server.admission import Expel
from score_embed.fleet.server.frontier import Commit
from score_embed.fleet.server.server import Server
from score_embed.fleet.simulation.faults import SERVER, Change, Crash, Faults
from score_embed.fleet.simulation.journal import Journal, Violation, image
from score_embed.fleet.simulation.trees import Explorable, seed_of

_RICH = 4  # pairs


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds that things take."""

    test: float = 0.05  # of a test on average
    latency: float = 0.0005  # of a message, at least
    jitter: float = 0.0005  # and at most so much more
    commit: float = 0.005  # of a transaction …
    row: float = 0.00001  # … and for each test in it
    message: float = 0.00005  # for the server to take a message in …
    result: float = 0.00001  # … and each test in it


@dataclass(slots=True)
class Node:
    """One client's process and target, in all its lives."""

    number: int
    client: Client | None = None
    life: int = 0  # of the process; events of an earlier one are void
    incarnation: int = 0
    free_at: float = 0.0  # when its target has ended what it runs
    busy: float = 0.0  # seconds of its target's tests, the one that runs included
    wakes_at: float = 0.0
    tests: int = 0
    joined: float = 0.0
    ended: float | None = None

    @property
    def name(self) -> str:
        return f"c{self.number}"

    @property
    def origin(self) -> Origin:
        """As the line proves it: each client has a key of its own."""
        return Origin(Standing.KEY, self.name, host=self.name)


@dataclass
class World:
    """A fleet at work. `checked`: every message is encoded and decoded, and what must never happen is watched;
    `round_tests`: that a client runs at once, at most."""

    trees: Sequence[Explorable]  # a campaign each
    clients: int
    costs: Costs = field(default_factory=Costs)
    timing: Timing = field(default_factory=Timing)
    faults: Faults = field(default_factory=Faults)
    seed: int = 0
    checked: bool = False
    direct: bool = True  # clients reach each other
    round_tests: int = 1
    server_type: type[Server] = Server
    client_type: type[Client] = Client
    journal_type: type[Journal] = Journal
    liars: Mapping[int, Callable[..., Client]] = field(default_factory=dict)  # by number: clients that are not of ours

    def __post_init__(self) -> None:
        self.now = 0.0
        self._by_seed = {tree.seed: tree for tree in self.trees}
        self.journal = self.journal_type()
        self.server: Server | None = None
        self.nodes = [Node(number) for number in range(self.clients)]
        self.messages: Counter[str] = Counter()  # sent, by kind
        self.server_counts: Counter[str] = Counter()  # of all lives of the server
        self.runs: Counter[bytes] = Counter()  # by pair
        self.run_count = 0
        self.digest = blake2b(digest_size=16)
        self._rng = random.Random(self.seed)
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._made = 0
        self._ended = 0  # clients that do not lie
        self.expelled: dict[str, str] = {}  # client → why
        self._server_life = 0
        self._server_free_at = self._server_wakes_at = 0.0
        self._committing: Commit | None = None
        self._reported: dict[tuple[Peer, int], tuple[bytes, ...]] = {}  # batches on the way → pairs
        self._poor: dict[int, float] = {}  # client → since when it has waited …
        self._rich: dict[int, float] = {}  # … has had many pairs and given none away

    # The run ------------------------------------------------------------------------------------------------

    def run(self, until: float, events: int = sys.maxsize) -> None:
        """Let the fleet work until all clients have ended or the time is over. `events`: more are a violation."""
        self._start_server()
        for node in self.nodes:
            self._at(self.now, self._start_client, node)
        for crash in self.faults.crashes:
            self._at(crash.at, self._crash, crash)
        for change in self.faults.changes:
            self._at(change.at, self._change, change)
        if self.checked:
            self._at(self.faults.end, self._watch_over_the_poor)
        while self._heap:
            self.now, _, what, args = heappop(self._heap)
            if self.now > until:
                break
            events -= 1
            if not events:
                raise Violation("the fleet is busy with itself")
            what(*args)
            if self._ended == len(self.nodes) - len(self.liars):
                break

    def _at(self, time: float, what: Callable[..., None], *args: Any) -> None:
        self._made += 1
        heappush(self._heap, (time, self._made, what, args))

    # The server ---------------------------------------------------------------------------------------------

    def _start_server(self) -> None:
        self._server_life += 1
        self._committing, self._server_free_at = None, self.now
        secret = blake2b(b"%d %d" % (self.seed, self._server_life), digest_size=32).digest()
        about = self.journal.read, self.timing, self.seed, secret, self.journal.past
        self.server = self.server_type(self.journal.snapshot(), *about)
        self._carry_out(None, self.server.start(self.now))
        for campaign, tree in enumerate(self.trees, start=1):
            self._carry_out(None, self.server.open(campaign, image(campaign), tree.first, self.now))

    def _server_receives(self, origin: Origin, message: Any) -> None:
        if self.server is None:
            return
        results = len(message.results) if isinstance(message, Results) else 0
        start = max(self.now, self._server_free_at)
        self._server_free_at = start + self.costs.message + self.costs.result * results
        self._at(self._server_free_at, self._server_takes, self._server_life, origin, message)

    def _server_takes(self, life: int, origin: Origin, message: Any) -> None:
        if self.server is not None and life == self._server_life:
            self._carry_out(None, self.server.receive(message, self.now, origin))

    def _server_commits(self, life: int, commit: Commit) -> None:
        if self.server is not None and life == self._server_life:
            self.journal.apply(commit)
            self._committing = None
            self._carry_out(None, self.server.committed(commit.number, self.now))

    def _server_wakes(self, life: int, at: float) -> None:
        if self.server is not None and life == self._server_life and at == self._server_wakes_at:
            self._carry_out(None, self.server.tick(self.now))

    # Clients ------------------------------------------------------------------------------------------------

    def _start_client(self, node: Node) -> None:
        node.life += 1
        node.incarnation = max(node.incarnation + 1, int(self.now * 1000))
        address = f"tcp://{node.name}:1" if self.direct else ""
        make = self.liars.get(node.number, self.client_type)
        node.client = make(Peer(node.name, node.incarnation), Stack(), self.timing, address)
        node.joined = node.free_at = self.now
        self._carry_out(node, node.client.start(self.now))

    def _client_receives(self, node: Node, message: Any, direct: bool) -> None:
        if node.client is not None:
            self._carry_out(node, node.client.receive(message, self.now, direct))

    def _client_ran(self, node: Node, life: int, results: Sequence[Result]) -> None:
        if node.client is None or life != node.life:
            return
        node.tests += sum(result.tests for result in results)
        self._carry_out(node, node.client.ran(results, self.now))

    def _client_wakes(self, node: Node, life: int, at: float) -> None:
        if node.client is not None and life == node.life and at == node.wakes_at:
            self._carry_out(node, node.client.tick(self.now))

    # Effects ------------------------------------------------------------------------------------------------

    def _carry_out(self, node: Node | None, effects: Sequence[server_table.Effect | conversation.Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(message, to):
                    self._send(node, message, to)
                case Run(pair):
                    assert node is not None
                    self._run(node, pair)
                case Wake(at) if node is None:
                    self._server_wakes_at = at
                    self._at(max(at, self.now), self._server_wakes, self._server_life, at)
                case Wake(at) if node is not None:
                    node.wakes_at = at
                    self._at(max(at, self.now), self._client_wakes, node, node.life, at)
                case Expel(client, _, why):
                    self.expelled[client] = why
                case Commit():
                    self._committing = effect
                    rows = sum(len(write.tests) for write in effect.writes)
                    at = self.now + self.costs.commit + self.costs.row * rows
                    self._at(at, self._server_commits, self._server_life, effect)
                case End():
                    assert node is not None
                    self._end(node)

    def _run(self, node: Node, pair: Pair) -> None:
        """The pair, and as many below it as are run at once. The last of several is reported by itself."""
        ran, results, waiting = [pair], [self._test(node, pair)], list[Pair]()
        while len(ran) < self.round_tests and (waiting := [*waiting, *results[-1].children]):
            ran.append(waiting.pop())
            results.append(self._test(node, ran[-1]))
        if len(ran) > 1:
            below = b"".join(one.id for one in ran[1:-1])
            results = [Result(pair.id, below, (*waiting, ran[-1]), len(ran) - 1), results[-1]]
        self._at(node.free_at, self._client_ran, node, node.life, results)

    def _test(self, node: Node, pair: Pair) -> Result:
        self.run_count += 1
        self.runs[pair.id] += 1
        if self.checked:
            if self.runs[pair.id] > 1 and not self._given_up() and not self.liars:
                raise Violation("a pair was run twice and nobody was given up")
            self.digest.update(f"{self.now} {node.number} ".encode() + pair.id)
        tree = self._by_seed[seed_of(pair)]
        seconds = tree.seconds(pair, self.costs.test)
        node.free_at = max(self.now, node.free_at) + seconds
        node.busy += seconds
        return tree.run(pair)

    def _send(self, node: Node | None, message: Message, to: Peer | None) -> None:
        kind = type(message).__name__
        relayed = node is None and isinstance(message, Pairs) and message.giver != messages.SERVER
        self.messages["Relayed" if relayed else kind] += 1
        if self.checked:
            if node is None or node.number not in self.liars:
                self._watch(message)
            frame = messages.encode(message)
            self.digest.update(f"{self.now} ".encode() + frame)
            try:
                message = messages.decode(frame)
            except messages.DecodeError:
                return  # somebody lies
        source, target = SERVER if node is None else node.number, SERVER if to is None else int(to.client[1:])
        if isinstance(message, Pairs):
            self._rich.pop(source, None)
        for late in self.faults.fates(self._rng, self.now, source, target):
            at = self.now + self.costs.latency + self.costs.jitter * self._rng.random() + late
            if to is None:
                assert node is not None
                self._at(at, self._server_receives, node.origin, message)
            else:
                self._at(at, self._client_receives, self.nodes[target], message, node is not None)

    def _end(self, node: Node) -> None:
        if node.ended is None:
            node.ended = self.now
            self._ended += node.number not in self.liars

    # What must never happen ---------------------------------------------------------------------------------

    def _watch(self, message: Message) -> None:
        match message:
            case Stop():
                self._watch_stop(message)
            case Results():
                self._reported[message.peer, message.batch] = tuple(result.id for result in message.results)
            case Stored() if (number := int(message.to.client[1:])) not in self.liars:
                idents = self._reported.pop((message.to, message.batch), ())
                if idents and (client := self.nodes[number].client) and client.state is ClientState.LEAVING:
                    self._rich.pop(number, None)
                for ident in idents:
                    if ident not in message.refused and not any(
                        ident in record.done for record in self.journal.records.values()
                    ):
                        raise Violation("a result was acknowledged and is not in the record")

    def _watch_stop(self, message: Stop) -> None:
        """The frontier of the client's campaign is empty, or of all campaigns if it is sent away for good."""
        assert self.server is not None
        records = self.journal.records
        if message.again:
            records = {s.campaign: records[s.campaign] for s in self.server.sessions() if s.peer == message.to}
        left = sum(len(record.known) for record in records.values())
        if left or not records:
            raise Violation(f"STOP while {left} pairs are left")

    def _watch_over_the_poor(self) -> None:
        """From the end of the faults on, nobody waits for long while another keeps many pairs to itself. But who leaves
        may, as long as its results come, and liars: one that said to have taken pairs, or runs none until it counts as
        stalled."""
        for node in self.nodes:
            client = node.client if node.ended is None else None
            waits = client is not None and client.state is ClientState.IDLE and node.number not in self.liars
            self._note(self._poor, node, waits)
            self._note(self._rich, node, client is not None and client.sharable >= _RICH)
        patience = 2 * self.timing.hold + 4 * self.timing.resend_most + self.timing.dead

        def long(since: dict[int, float], of_liars: float) -> set[int]:
            """Campaigns in which a client is so for longer than is right."""
            right = {node.number: of_liars if node.number in self.liars else patience for node in self.nodes}
            late = (node for node in self.nodes if self.now - since.get(node.number, self.now) > right[node.number])
            return {node.client.campaign for node in late if node.client}

        if long(self._poor, patience) & long(self._rich, patience + self.timing.stall):
            raise Violation("a client waits while another has many pairs and gives none away")
        self._at(self.now + self.timing.resend, self._watch_over_the_poor)

    def _note(self, since: dict[int, float], node: Node, is_so: bool) -> None:
        if is_so:
            since.setdefault(node.number, self.now)
        else:
            since.pop(node.number, None)

    # Faults and changes -------------------------------------------------------------------------------------

    def _crash(self, crash: Crash) -> None:
        if crash.node == SERVER:
            self._crash_server(crash.down or 0.0)
            return
        node = self.nodes[crash.node]
        if node.client is None or node.ended is not None:
            return
        node.client = None
        node.life += 1
        node.busy -= max(0.0, node.free_at - self.now)
        if crash.down is None:
            self._end(node)
        else:
            self._at(self.now + crash.down, self._start_client, node)

    def _crash_server(self, down: float) -> None:
        if self.server is None:
            return
        self.server_counts += self.server.counts
        self.server = None
        self._server_life += 1
        if self._committing is not None:
            self.journal.interrupt(self._committing, self._rng)
        self._at(self.now + down, self._start_server)

    def _change(self, change: Change) -> None:
        if change.comes is not None:
            node = Node(len(self.nodes))
            self.nodes.append(node)
            self._start_client(node)
        elif change.to is not None:
            if self.server is not None:
                self._carry_out(None, self.server.assign(change.to, lambda session: True, change.goes, self.now))
        elif change.by_itself:
            node = self.nodes[change.goes or 0]
            if node.client is not None and node.ended is None:
                self._carry_out(node, node.client.leave(self.now))
        elif self.server is not None:
            effects = self.server.remove(lambda session: session.peer.client != "c0", change.goes, self.now)
            self._carry_out(None, effects)

    # Afterwards ---------------------------------------------------------------------------------------------

    def verify(self) -> None:
        """Everybody has stopped, and everything is done."""
        left = [node.name for node in self.nodes if node.ended is None and node.number not in self.liars]
        if left:
            raise Violation(f"after {self.now:.1f} s these have not stopped: {', '.join(left)}")
        lost = sum(tree.tests for tree in self.trees) - self.journal.done
        if lost or self.journal.known:
            raise Violation(f"{lost} pairs were lost, {self.journal.known} are left")

    @property
    def redundant(self) -> int:
        """Runs of pairs that had been run."""
        return self.run_count - len(self.runs)

    def _given_up(self) -> int:
        """Clients that seemed dead, so that what they had went to others."""
        counts = self.server_counts + (self.server.counts if self.server else Counter())
        return counts["given up"] + counts["gifts taken back"]
