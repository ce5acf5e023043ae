"""Simulated fleets for tests: everything about one follows from its seed."""

from __future__ import annotations

import random
from typing import Any

from score_embed.fleet.faults import schedule
from score_embed.fleet.protocol import Timing
from score_embed.fleet.simulate import Costs, World
from score_embed.fleet.trees import SHAPES, Tree

# Everything that is waited for is short, so that little simulated time shows much.
TIMING = Timing(
    batch_tests=16, batch_seconds=0.2, resend=0.2, resend_most=1.0, hold=0.2, status=0.5, dead=3.0, batch_bytes=2000, rest=0.05
)
LONGEST = 1000.0  # simulated seconds


def troubled(seed: int, largest: int = 24, **types: Any) -> World:
    """A fleet of 3 … `largest` clients with all faults of this seed."""
    rng = random.Random(seed)
    clients = rng.choice([n for n in (3, 4, 6, 10, 16, 24, 64, 128, 256) if n <= largest])
    shape = rng.choice(list(SHAPES))
    tests = 100 if shape == "chain" else rng.choice((60, 200, 600))
    costs = Costs(test=rng.choice((0.005, 0.02, 0.1)), commit=rng.choice((0.001, 0.02, 0.2)))
    span = max(2.0, tests * costs.test / (2 if shape in ("chain", "skewed") else clients))
    faults = schedule(seed, clients, span, TIMING.dead)
    tree = Tree(shape, tests, seed, padding=rng.choice((0, 100)))
    return World(tree, clients, costs, TIMING, faults, seed, checked=True, direct=rng.random() < 0.8, **types)


def survive(world: World) -> World:
    """Let it run to its end. Raises Violation if that is not as it must be."""
    world.run(LONGEST)
    world.verify()
    return world
