"""The pairs that wait to be run, in the order of a strategy. Memory holds the first ones, the backlog all.

The backlog is the campaign's record, which knows every waiting pair with its rank anyway. So to spill is to forget. The
queue is the engine's (`queue.cpp`, which tells of lanes and of what was put off).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from score_embed.engine import _core
from score_embed.engine._core import Order, Pair, PairBatch, Unpacked, next_lane, ranked

__all__ = ["Backlog", "PairBatch", "Queue", "Unpacked", "lane_of", "next_lane", "ranked"]

MEMORY = 64 << 20  # bytes of pairs, about
_LANE = 2  # bytes of a rank that say its lane: how often it was put off, and the strategy's first


class Backlog(Protocol):
    """Knows all pairs that wait. What `Queue.add` returned must be in it before the next `take`."""

    def waiting(self) -> int: ...
    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those ranked above `rank`, in order of rank."""

    def unranked(self) -> Iterator[Pair]:
        """Those without a rank, the oldest first: the fleet's clients each have an order."""

    def rerank(self, pair: Pair, rank: bytes) -> None:
        """This pair has another rank from now on."""


class Queue(_core.Queue):
    """A priority queue of bounded size. Without a backlog its size is not bounded."""

    def __init__(self, order: Order, backlog: Backlog | None = None, memory: int = MEMORY) -> None:
        super().__init__(order, backlog, memory)


def lane_of(rank: bytes) -> bytes:
    return rank[:_LANE]
