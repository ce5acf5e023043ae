"""What a fleet came to, in the measures of SCORE's paper and ours: tests, messages, waiting, useful time, redundancy.

One type for real and simulated fleets: tables and plots are made of it, and what summary.json says under "fleet".
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

PUBLISHED = ("Empty", "Req", "Ack", "Nack", "Stop")  # the messages of the published protocol
_NO_CONTROL = frozenset(("Results", "Stored", "Alive"))


class ClientFigures(Struct, frozen=True):
    """One client, in all its lives."""

    name: str
    tests: int  # that it ran
    seconds: float  # that it was there
    busy: float  # of these, with a test: running it, or deriving others from it

    @property
    def waiting(self) -> float:
        return max(0.0, self.seconds - self.busy)


class FleetFigures(Struct, frozen=True):
    """A campaign, or what was done of it. `messages`: sent by anybody, by kind (the names of `fleet.messages`; pairs
    that went by way of the server count once more as "Relayed")."""

    clients: tuple[ClientFigures, ...]
    messages: Mapping[str, int]
    tests: int  # recorded
    redundant: int  # tests that had been run before
    seconds: float  # from the start to the end of the last client
    # what else happened: clients given up, pairs handed back …
    protocol: Mapping[str, int] = field(default_factory=dict)

    @property
    def workload(self) -> list[int]:
        """Tests of each client, fewest first."""
        return sorted(client.tests for client in self.clients)

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Of the workload: the box of a box plot. The second one is the median."""
        work = self.workload
        if len(work) < 2:
            return (float(work[0]),) * 3 if work else (0.0, 0.0, 0.0)
        import statistics  # here: only campaigns of several clients need it

        low, middle, high = statistics.quantiles(work, n=4, method="inclusive")
        return low, middle, high

    @property
    def runs(self) -> int:
        return sum(self.workload)

    @property
    def rate(self) -> float:
        """Tests a second."""
        return self.tests / self.seconds if self.seconds else 0.0

    @property
    def redundancy(self) -> float:
        """The share of redundant tests."""
        return self.redundant / max(1, self.runs)

    @property
    def useful_time(self) -> float:
        """Time spent on tests that were not redundant, of all clients' time."""
        whole = len(self.clients) * self.seconds
        return sum(client.busy for client in self.clients) * (1 - self.redundancy) / whole if whole else 0.0

    @property
    def waiting(self) -> float:
        """Time without a test, of the time the clients were there."""
        there = sum(client.seconds for client in self.clients)
        return sum(client.waiting for client in self.clients) / there if there else 0.0

    @property
    def per_client(self) -> float:
        """Messages of the published protocol, a client."""
        return sum(self.messages.get(kind, 0) for kind in PUBLISHED) / max(1, len(self.clients))

    @property
    def control(self) -> float:
        """All messages but results and signs of life, a client."""
        control = sum(count for kind, count in self.messages.items() if kind not in _NO_CONTROL)
        return control / max(1, len(self.clients))

    @property
    def per_test(self) -> float:
        """All messages, a test."""
        return sum(self.messages.values()) / max(1, self.runs)


class ToldClient(Struct, frozen=True):
    name: str
    tests: int
    seconds: float
    busy: float
    waiting: float


class ToldFleet(Struct, frozen=True):
    """The figures for summary.json. What follows from the rest is there too, so that scripts need not compute it."""

    clients: tuple[ToldClient, ...]
    messages: Mapping[str, int]
    tests: int
    redundant: int
    seconds: float
    protocol: Mapping[str, int]
    messages_per_client: float
    messages_per_test: float
    waiting: float
    useful_time: float

    @staticmethod
    def of(fleet: FleetFigures) -> ToldFleet:
        return ToldFleet(
            clients=tuple(
                ToldClient(one.name, one.tests, one.seconds, one.busy, round(one.waiting, 3)) for one in fleet.clients
            ),
            messages=fleet.messages,
            tests=fleet.tests,
            redundant=fleet.redundant,
            seconds=fleet.seconds,
            protocol=fleet.protocol,
            messages_per_client=round(fleet.per_client, 2),
            messages_per_test=round(fleet.per_test, 4),
            waiting=round(fleet.waiting, 5),
            useful_time=round(fleet.useful_time, 5),
        )
