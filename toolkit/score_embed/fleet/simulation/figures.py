"""What a simulated fleet came to."""

from __future__ import annotations

from score_embed.fleet.simulation.simulate import Node, World
from score_embed.results.fleet import ClientFigures, FleetFigures


def figures(world: World) -> FleetFigures:
    clients = tuple(_client(node, node.ended if node.ended is not None else world.now) for node in world.nodes)
    end = max(node.ended if node.ended is not None else world.now for node in world.nodes)
    return FleetFigures(clients, dict(world.messages), world.journal.done, world.redundant, end)


def _client(node: Node, end: float) -> ClientFigures:
    """What it was still running at the end does not count as work before it."""
    busy = node.busy - max(0.0, node.free_at - end)
    return ClientFigures(node.name, node.tests, end - node.joined, busy)
