"""A campaign as the server has it: frontier, who gives pairs to whom, and what messages about pairs mean for both."""

from __future__ import annotations

import random
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from score_embed.fleet import tickets
from score_embed.fleet.messages import MAX_DROP, Ack, Pair, Peer, Results
from score_embed.fleet.protocol import Timing
from score_embed.fleet.server.frontier import Frontier, Opened
from score_embed.fleet.server.matching import Matcher

FAILURES = 3  # of different clients with a pair, until it is set aside


class Taken(NamedTuple):
    """What became of results: how many were new, and how many tests these are; the children that are not the owner's,
    since they are done, or another's; the tests that were not taken, since their pairs were never the author's."""

    new: int
    tests: int
    drop: tuple[bytes, ...]
    refused: tuple[bytes, ...]


class Campaign:
    def __init__(self, opened: Opened, timing: Timing, rng: random.Random) -> None:
        self.number, self.image = opened.campaign, opened.image
        self.frontier = Frontier(opened.campaign, opened.frontier)
        self.matcher = Matcher(self.frontier, timing, rng)
        self.finished = False
        self.held = False  # something is to be checked by who is here
        self.repeats = opened.repeats
        self._limit = opened.limit
        self._failed: dict[bytes, set[str]] = {}  # who has lost its target with a pair; for look-ups only

    def record(self, message: Results, owner: Peer | None, done: Container[bytes] = ()) -> Taken:
        """Take results in, each once; their children are the owner's from now on. A client can only be done with pairs
        that it was given, or found below those: of any other neither the result nor a child is taken. `done`: children
        that are done; who says that it has found them now lies."""
        new = tests = 0
        drop: list[bytes] = []
        refused: list[bytes] = []
        void: set[bytes] = set()  # found below what is refused
        author = message.peer.client
        last = {result.id: place for place, result in enumerate(message.results)}
        for place, result in enumerate(message.results):
            known = result.id in self.frontier
            if result.id in void if not known else not self.frontier.may_finish(result.id, author):
                refused.append(result.id)
                void.update(child.id for child in result.children)
                drop += [child.id for child in result.children if not self._belongs(child.id, owner)]
                continue
            if self.full and result.id in self.frontier and not self.frontier.is_bare(result.id):
                # It stays to be done, and its children unknown.
                drop += [child.id for child in result.children]
                continue
            children = tuple(child for child in result.children if child.data or last.get(child.id, -1) > place)
            drop += self._take_children(result.id, children, owner, author, done)
            if self.frontier.done(result):
                new, tests = new + 1, tests + result.tests
        return Taken(new, tests, tuple(drop[:MAX_DROP]), tuple(refused))

    def fail(self, ident: bytes, peer: Peer, witness: str) -> bool:
        """A client has lost its target with a pair of its own. True if that is one too many, and the pair is set
        aside."""
        if ident not in self.frontier or self.frontier.owner(ident) != peer:
            return False
        failed = self._failed.setdefault(ident, set())
        failed.add(witness)
        if len(failed) < FAILURES:
            return False
        del self._failed[ident]
        self.frontier.set_aside(ident)
        return True

    def repeat(self, pairs: Sequence[Pair]) -> None:
        """These are to be run, though what they lead to may be known or done."""
        self.repeats = True
        for pair in pairs:
            self.frontier.add(pair, None)

    @property
    def limited(self) -> bool:
        return self._limit is not None

    @property
    def full(self) -> bool:
        """As many tests were recorded as somebody wants."""
        return self._limit is not None and self.frontier.tests >= self._limit

    def _take_children(
        self, parent: bytes, children: Sequence[Pair], owner: Peer | None, author: str, done: Container[bytes]
    ) -> list[bytes]:
        """Make them known, unless the test is done: then they are known. Returns those that are not the owner's."""
        if parent in self.frontier:
            for child in children:
                if child.id not in done and not self.frontier.has_just_done(child.id):
                    self.frontier.add(child, owner, author)
        return [child.id for child in children if not self._belongs(child.id, owner)]

    def _belongs(self, ident: bytes, owner: Peer | None) -> bool:
        return ident in self.frontier and self.frontier.owner(ident) == owner

    def assign(self, message: Ack, marks: Mapping[bytes, bytes]) -> tuple[tuple[bytes, ...], bool]:
        """The pairs are the receiver's now, as far as they are already, or were the giver's and it was asked for them.

        `marks`: of the pairs that the giver had to give, and of those that are the receiver's already, what they say in
        the record. Returns those that are not the receiver's or say something else, and whether any does.
        """
        drop = []
        is_wrong = False
        for ident, told in zip(message.ids, tickets.split(message.marks), strict=True):
            if marks.get(ident) == told:
                # perhaps it is its own already: what was freed was given to it again
                self.frontier.move(ident, message.peer)
                continue
            is_wrong = is_wrong or ident in marks
            drop.append(ident)
        return tuple(drop), is_wrong
