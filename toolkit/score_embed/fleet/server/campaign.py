"""A campaign as the server has it: frontier, who gives pairs to whom, and what messages about pairs mean for both."""

from __future__ import annotations

import random

from score_embed.fleet.messages import MAX_DROP, Ack, Peer, Result, Results
from score_embed.fleet.protocol import Timing
from score_embed.fleet.server.frontier import Frontier, Opened
from score_embed.fleet.server.matching import Matcher


class Campaign:
    def __init__(self, opened: Opened, timing: Timing, rng: random.Random) -> None:
        self.number, self.image = opened.campaign, opened.image
        self.frontier = Frontier(opened.campaign, opened.frontier)
        self.matcher = Matcher(self.frontier, timing, rng)
        self.finished = False
        self._limit = opened.limit

    def record(self, message: Results, owner: Peer | None) -> tuple[int, tuple[bytes, ...]]:
        """Take results in, each once; their children are the owner's from now on.

        Returns how many were new, and the children that are not the owner's: done, or another's.
        """
        new = 0
        drop: list[bytes] = []
        for result in message.results:
            if self.full and result.id in self.frontier and not self.frontier.is_bare(result.id):
                # It stays to be done, and its children unknown.
                drop += [child.id for child in result.children]
                continue
            drop += self._take_children(result, owner)
            new += self.frontier.done(result)
        return new, tuple(drop[:MAX_DROP])

    @property
    def limited(self) -> bool:
        return self._limit is not None

    @property
    def full(self) -> bool:
        """As many tests were recorded as somebody wants."""
        return self._limit is not None and self.frontier.tests >= self._limit

    def _take_children(self, result: Result, owner: Peer | None) -> list[bytes]:
        """Make them known, unless the test is done: then they are known. Returns those that are not the owner's."""
        if result.id in self.frontier:
            for child in result.children:
                self.frontier.add(child, owner)
        return [child.id for child in result.children if not self._belongs(child.id, owner)]

    def _belongs(self, ident: bytes, owner: Peer | None) -> bool:
        return ident in self.frontier and self.frontier.owner(ident) == owner

    def assign(self, message: Ack) -> tuple[bytes, ...]:
        """The pairs are the receiver's now if they were the giver's or nobody's; returns those that were not."""
        drop = []
        for ident in message.ids:
            if ident in self.frontier and self.frontier.owner(ident) in (message.giver, message.peer, None):
                self.frontier.move(ident, message.peer)
            else:
                drop.append(ident)
        return tuple(drop)
