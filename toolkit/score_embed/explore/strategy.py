"""The orders of the queue. Algorithm 2 reaches the same set of paths in any order; an order decides which come first.

An order gives each pair a *rank* when it becomes known: bytes that sort, the smallest first. So one queue serves all
orders, and pairs that memory has no room for can be kept, sorted, where only bytes are understood. The orders are the
engine's (`orders.cpp`); what each is good for stands in docs/design/exploration.md.
"""

from __future__ import annotations

from collections.abc import Callable

from score_embed.engine._core import (
    BreadthFirst,
    Deciding,
    DepthFirst,
    Mixed,
    Order,
    OtherBranchFirst,
    Random,
    UncoveredFirst,
)

__all__ = ["STRATEGIES", "Deciding", "DepthFirst", "Order"]

STRATEGIES: dict[str, Callable[[int, set[int]], Order]] = {
    "mixed": Mixed,
    "dfs": lambda seed, covered: DepthFirst(),
    "exe": lambda seed, covered: OtherBranchFirst(),
    "bfs": lambda seed, covered: BreadthFirst(),
    "random": lambda seed, covered: Random(seed),
    "coverage": lambda seed, covered: UncoveredFirst(covered),
    "mcdc": lambda seed, covered: Deciding(covered, lambda pair: False),  # where nobody knows what is missing
}
