"""A rehearsal: a simulated fleet of what a user asks for (tree, costs, time, faults), and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from score_embed.fleet.protocol import Timing
from score_embed.fleet.simulation.faults import Faults, schedule
from score_embed.fleet.simulation.recorded import RecordedTree, Recording
from score_embed.fleet.simulation.simulate import Costs, Node, World
from score_embed.fleet.simulation.trees import Explorable, Tree
from score_embed.results.fleet import ClientFigures, FleetFigures

MOST_CLIENTS = 4096
EACH = 1000  # tests a client
_ENDLESS = 10**15  # tests
_EVER = 1e9  # seconds


@dataclass(frozen=True)
class Plan:
    """`recording` goes before `shape`; without `seconds` the fleet works until nothing is left to do."""

    shape: str = "balanced"
    each: int | None = EACH  # tests a client; None: more than can be run
    recording: Recording | None = None
    seconds: float | None = None
    costs: Costs = field(default_factory=Costs)
    seed: int = 0
    faults: int | None = None  # seed of the schedule; None: nothing goes wrong
    direct: bool = True  # clients reach each other

    def run(self, clients: int) -> FleetFigures:
        """Raises Violation if the protocol did what it must never do."""
        tree = self._tree(clients)
        world = World([tree], clients, self.costs, faults=self._faults(clients, tree), seed=self.seed)
        world.checked, world.direct = self.faults is not None, self.direct
        world.run(_EVER if self.seconds is None else self.seconds)
        if self.seconds is None:
            world.verify()
        return figures(world)

    def _tree(self, clients: int) -> Explorable:
        if self.recording is not None:
            return RecordedTree(self.recording, self.seed)
        return Tree(self.shape, _ENDLESS if self.each is None else self.each * clients, self.seed)

    def _faults(self, clients: int, tree: Explorable) -> Faults:
        if self.faults is None:
            return Faults()
        span = tree.tests * self.costs.test / clients
        return schedule(self.faults, clients, min(span, self.seconds or span), Timing().dead)


def costs(given: dict[str, float | None], recording: Recording | None) -> Costs:
    """The costs that are given; a test takes what was recorded, if nothing is said."""
    plain = Costs() if recording is None else Costs(test=recording.mean)
    return replace(plain, **{name: value for name, value in given.items() if value is not None})


def figures(world: World) -> FleetFigures:
    clients = tuple(_client(node, node.ended if node.ended is not None else world.now) for node in world.nodes)
    end = max(node.ended if node.ended is not None else world.now for node in world.nodes)
    return FleetFigures(clients, dict(world.messages), world.journal.done, world.redundant, end)


def _client(node: Node, end: float) -> ClientFigures:
    """What it was still running at the end does not count as work before it."""
    busy = node.busy - max(0.0, node.free_at - end)
    return ClientFigures(node.name, node.tests, end - node.joined, busy)
