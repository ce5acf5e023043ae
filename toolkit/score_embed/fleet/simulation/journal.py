"""The simulator's record of campaigns: what the fleet needs of `campaign.db`, in memory. It survives every crash."""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from score_embed.fleet.messages import PAIR_ID, Pair, Peer
from score_embed.fleet.server.frontier import Commit, Opened, Snapshot, Write


class Violation(AssertionError):
    """Something happened that must never happen."""


@dataclass(slots=True)
class Record:
    """One campaign."""

    known: dict[bytes, Pair] = field(default_factory=dict)  # and not done
    owner: dict[bytes, Peer | None] = field(default_factory=dict)
    done: dict[bytes, None] = field(default_factory=dict)
    below: dict[bytes, None] = field(default_factory=dict)  # done in rounds that began with others


class Journal:
    def __init__(self) -> None:
        self.epoch = 0
        self.records: dict[int, Record] = {}

    def apply(self, commit: Commit) -> None:
        self.epoch = commit.epoch
        for write in commit.writes:
            self._apply(self.records.setdefault(write.campaign, Record()), write)

    def _apply(self, record: Record, write: Write) -> None:
        for result in write.tests:
            below = [result.payload[at : at + PAIR_ID] for at in range(0, len(result.payload), PAIR_ID)]
            if any(ident in record.done or ident in record.below for ident in (result.id, *below)):
                raise Violation("a pair was recorded twice")
            record.below.update(dict.fromkeys(below))
            record.done[result.id] = None
            record.known.pop(result.id, None)
            record.owner.pop(result.id, None)
        for pair, owner in write.known:
            if pair.id not in record.done:
                if not pair.data:
                    raise Violation("a pair is known without its data")
                record.known[pair.id], record.owner[pair.id] = pair, owner
        for ident in write.aside:
            record.done[ident] = None
            record.known.pop(ident, None)
            record.owner.pop(ident, None)
        for ident, owner in write.moved:
            if ident in record.known:
                record.owner[ident] = owner

    def interrupt(self, commit: Commit, rng: random.Random) -> None:
        """The server died while this was being committed: all of it is in the record, or nothing."""
        if rng.random() < 0.5:
            self.apply(commit)

    def snapshot(self) -> Snapshot:
        opened = [Opened(number, image(number), dict(record.owner)) for number, record in self.records.items()]
        return Snapshot(self.epoch, opened)

    def read(self, campaign: int, ids: Sequence[bytes]) -> list[Pair]:
        known = self.records[campaign].known if campaign in self.records else {}  # not yet committed
        return [known[ident] for ident in ids if ident in known]

    def past(self, campaign: int, ids: Sequence[bytes]) -> Container[bytes]:
        return self.records[campaign].done if campaign in self.records else ()

    @property
    def known(self) -> int:
        return sum(len(record.known) for record in self.records.values())

    @property
    def done(self) -> int:
        return sum(len(record.done) + len(record.below) for record in self.records.values())


def image(campaign: int) -> bytes:
    return b"image %d" % campaign
