"""Simulated fleets for tests: everything about one follows from its seed."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from score_embed.fleet.protocol import Timing
from score_embed.fleet.simulation.faults import schedule
from score_embed.fleet.simulation.simulate import Costs, World
from score_embed.fleet.simulation.trees import SHAPES, Tree

# Everything that is waited for is short, so that little simulated time shows much.
TIMING = Timing(
    batch_tests=16, batch_seconds=0.2, resend=0.2, resend_most=1.0, hold=0.2, rest=0.05, status=0.5, dead=3.0, stall=8.0
)
LONGEST = 1000.0  # simulated seconds
EVENTS = 20_000  # a client


def troubled(seed: int, largest: int = 24, **types: Any) -> World:
    """A fleet of 3 … `largest` clients with all faults of this seed."""
    rng = random.Random(seed)
    clients = rng.choice([n for n in (3, 4, 6, 10, 16, 24, 64, 128, 256) if n <= largest])
    shapes = rng.choices(list(SHAPES), k=rng.choice((1, 1, 2, 3)))
    sizes = [100 if shape == "chain" else rng.choice((60, 200, 600)) for shape in shapes]
    costs = Costs(test=rng.choice((0.005, 0.02, 0.1)), commit=rng.choice((0.001, 0.02, 0.2)))
    at_once = 2 if {"chain", "skewed"} & set(shapes) else clients
    faults = schedule(seed, clients, max(2.0, sum(sizes) * costs.test / at_once), TIMING.dead, len(sizes))
    padding = rng.choice((0, 100))
    trees = [
        Tree(shape, size, 10 * seed + n, padding) for n, (shape, size) in enumerate(zip(shapes, sizes, strict=True))
    ]
    timing = replace(TIMING, batch_bytes=rng.choice((300, 3000, 1 << 20)), backlog_bytes=rng.choice((1000, 1 << 20)))
    return World(trees, clients, costs, timing, faults, seed, checked=True, direct=rng.random() < 0.8, **types)


def survive(world: World) -> World:
    """Let it run to its end. Raises Violation if that is not as it must be."""
    world.run(LONGEST, EVENTS * world.clients)
    world.verify()
    return world
