"""How far a campaign has come: the running totals that are committed with each batch, and that it goes on from."""

from __future__ import annotations

from msgspec import Struct

from score_embed.contract.outcome import LinkCounters
from score_embed.contract.words import Stop
from score_embed.explore.tally import TallyRows


class Memory(Struct, frozen=True):
    """Bytes: the largest resident size of the host's processes, and what the target has free."""

    host_rss: int = 0
    target: int = 0

    def with_(self, other: Memory) -> Memory:
        """Of two processes, or of two moments, the second of which knows the target better."""
        return Memory(max(self.host_rss, other.host_rss), other.target or self.target)


class Totals(Struct):
    """Of all tests."""

    runs: int = 0
    paths: int = 0  # distinct ones
    redundant: int = 0
    mispredicted: int = 0
    re_asked: int = 0  # runs of a path for a flip of it whose question had been forgotten; they are no tests
    unchecked: int = 0  # accesses through pointers of which nobody knows the bounds
    retried: int = 0  # tests whose target died once, and that another one ran to an end
    conditions: int = 0  # of all distinct paths together
    longest: int = 0  # the most of one


class Progress(Struct, frozen=True):
    totals: Totals
    notes: tuple[tuple[str, str, int, int], ...]  # what, file, line, how often: besides the explorers'
    stopped: Stop | None  # None: it runs, or was killed
    seconds: float  # of all sessions
    queue: int  # runs that the work list has seen
    tally: TallyRows  # of all explorers
    link: LinkCounters  # of all sessions
    memory: Memory
