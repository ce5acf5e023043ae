"""The figures of docs/design/fleet.md: simulated fleets of some sizes, for a fixed time and to the end of a campaign.

python bench/fleet.py 64 256 1024
"""

from __future__ import annotations

import sys

from score_embed.fleet.figures import Figures, figures, table
from score_embed.fleet.simulate import World
from score_embed.fleet.trees import Tree

SECONDS = 50.0  # a thousand tests of 50 ms
ENDLESS = 10**15  # tests


def for_a_time(shape: str, clients: int) -> Figures:
    world = World([Tree(shape, ENDLESS, 1)], clients)
    world.run(SECONDS)
    return figures(world)


def to_the_end(shape: str, clients: int) -> Figures:
    world = World([Tree(shape, 1000 * clients, 1)], clients)
    world.run(1e6)
    return figures(world)


for measure in (for_a_time, to_the_end):
    for shape in ("balanced", "uneven"):
        print(f"\n{measure.__name__}, {shape}:\n", flush=True)
        for line, size in enumerate(map(int, sys.argv[1:])):
            text = table([measure(shape, size)])
            print(text if not line else text.splitlines(keepends=True)[-1], end="", flush=True)
