"""What goes wrong in a simulated fleet, and when: a schedule that follows from a seed.

Faults come one by one or together. They end at some time, in half of the schedules early, while most of the work is
still to be done: only after that can be judged whether the fleet always gets to its end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SERVER = -1  # as a node; clients are 0 …


@dataclass(frozen=True, slots=True)
class Crash:
    """A node loses all it has in memory, and comes back after `down` seconds (never: `down` is None)."""

    at: float
    node: int
    down: float | None


@dataclass(frozen=True, slots=True)
class Partition:
    """The nodes in `apart` and the others do not reach each other."""

    start: float
    end: float
    apart: frozenset[int]


@dataclass(frozen=True, slots=True)
class Change:
    """Client number `comes` joins; or `goes` clients are removed, or moved `to` a campaign, or number `goes` leaves
    `by_itself`."""

    at: float
    comes: int | None = None
    goes: int | None = None
    to: int | None = None
    by_itself: bool = False


@dataclass(frozen=True, slots=True)
class Faults:
    """A schedule. The shares are of messages sent before `end`."""

    end: float = 0.0
    loss: float = 0.0
    twice: float = 0.0
    late: float = 0.0
    lateness: float = 0.0  # seconds at most
    crashes: tuple[Crash, ...] = ()
    partitions: tuple[Partition, ...] = ()
    changes: tuple[Change, ...] = ()  # membership; no faults, so they may come later than `end`

    def parted(self, now: float, one: int, other: int) -> bool:
        return any(p.start <= now < p.end and (one in p.apart) != (other in p.apart) for p in self.partitions)

    def fates(self, rng: random.Random, now: float, one: int, other: int) -> list[float]:
        """By how much each copy of a message is late; none arrives if the list is empty."""
        if now >= self.end:
            return [0.0]
        if self.parted(now, one, other):
            return []
        copies = 2 if rng.random() < self.twice else 1
        fates = [rng.random() * self.lateness if rng.random() < self.late else 0.0 for _ in range(copies)]
        return [late for late in fates if rng.random() >= self.loss]


def schedule(seed: int, clients: int, span: float, dead: float, campaigns: int = 1) -> Faults:
    """The faults of this seed. `span`: about how long the campaign would take without; `dead`: see `Timing`."""
    rng = random.Random(seed)
    end = span * (rng.uniform(0.2, 0.6) if seed % 2 else rng.uniform(1.0, 4.0))
    kinds = {kind for kind in ("loss", "twice", "late", "crash", "server", "parted", "changes") if rng.random() < 0.45}
    crashes: list[Crash] = []
    partitions: list[Partition] = []
    if "crash" in kinds:
        for _ in range(rng.randint(1, max(1, clients // 4))):
            node = rng.randrange(clients)
            down = rng.choice((0.0, rng.uniform(0, dead), rng.uniform(dead, 2 * dead), None if node else 0.0))
            crashes.append(Crash(rng.uniform(0, end), node, down))
    if "server" in kinds:
        crashes += [Crash(rng.uniform(0, end), SERVER, rng.uniform(0, dead)) for _ in range(rng.randint(1, 4))]
    if "parted" in kinds:
        for _ in range(rng.randint(1, 3)):
            start = rng.uniform(0, end)
            apart = frozenset(rng.sample(range(SERVER, clients), rng.randint(1, max(1, clients // 2))))
            partitions.append(Partition(start, min(end, start + rng.uniform(0, 2 * dead)), apart))
    return Faults(
        end=end,
        loss=rng.choice((0.02, 0.1, 0.3)) if "loss" in kinds else 0.0,
        twice=rng.choice((0.05, 0.3)) if "twice" in kinds else 0.0,
        late=rng.choice((0.05, 0.3)) if "late" in kinds else 0.0,
        lateness=rng.choice((0.1, 1.0, dead)),
        crashes=tuple(sorted(crashes, key=lambda crash: crash.at)),
        partitions=tuple(partitions),
        changes=_changes(rng, clients, span, campaigns) if "changes" in kinds else (),
    )


def _changes(rng: random.Random, clients: int, span: float, campaigns: int) -> tuple[Change, ...]:
    """Some clients leave or move, others come; the first one stays."""
    changes = []
    for number in range(rng.randint(1, 6)):
        at = rng.uniform(0, span)
        if rng.random() < 0.4:
            changes.append(Change(at, comes=clients + number))
        elif rng.random() < 0.4:
            changes.append(Change(at, goes=rng.randint(1, clients), to=rng.randint(1, campaigns)))
        else:
            by_itself = rng.random() < 0.5
            goes = rng.randrange(1, clients) if by_itself else rng.randint(1, max(1, clients // 4))
            changes.append(Change(at, goes=goes, by_itself=by_itself))
    return tuple(changes)
