"""Figures of fleets in words and tables: one campaign's for its report, several fleets' in the tables of SCORE's paper,
with what the paper published.

Efficiency is how much of each client a fleet gets. DV5 of the paper is: tests of the fleet, by those of one client, by
the number of clients. It compares campaigns of the same length. A campaign that came to its end has the same tests with
any number of clients, only sooner. There tests a second are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from score_embed.errors import UsageError
from score_embed.report import paper, plots
from score_embed.report.findings import Findings
from score_embed.report.table import Cell, Table
from score_embed.results.fleet import PUBLISHED, FleetFigures

_ABOUT_THE_SAME = 0.1  # of the shorter time
MOST_CLIENTS = 16  # are listed one by one
EFFICIENCY_COLUMNS = ("clients", "efficiency", "by tests a second", "useful time %", "waiting %", "redundant %")
EFFICIENCY_NOTE = (
    "Efficiency as in the paper: tests that are not redundant, by those of one client, by the number of clients. It "
    "compares campaigns of the same time; “–” where the times differ by more than a tenth, or none has one client. "
    "Useful time: spent on tests that were not redundant, of all clients' time."
)


class Yield(Struct, frozen=True):
    """What a fleet came to, or several of one size on average."""

    clients: int
    tests: float  # that are not redundant
    seconds: float


def dv5(some: Yield, one: Yield | None) -> float | None:
    """As the paper defines it; None if the times differ, or there is no campaign of one client."""
    if one is None or not one.tests or not some.clients or not _same(some.seconds, one.seconds):
        return None
    return some.tests / one.tests / some.clients


def by_rate(some: Yield, one: Yield | None) -> float | None:
    """The same of tests a second."""
    if one is None or not (one.tests and one.seconds and some.seconds and some.clients):
        return None
    return (some.tests / some.seconds) / (one.tests / one.seconds) / some.clients


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= _ABOUT_THE_SAME * min(one, other)


def lines(fleet: FleetFigures) -> Iterator[str]:
    """A campaign's fleet, for people."""
    count = len(fleet.clients)
    yield (
        f"{count} clients, {fleet.runs} tests, {fleet.redundant} of them redundant; "
        f"useful time {100 * fleet.useful_time:.1f} %, waiting {100 * fleet.waiting:.2f} %"
    )
    work, (low, middle, high) = fleet.workload, fleet.quartiles
    if work:
        yield f"tests a client: {work[0]} at least, half of them {low:.0f} to {high:.0f} (median {middle:.0f}), {work[-1]} at most"
    named = [f"{kind.upper()} {fleet.messages.get(kind, 0)}" for kind in PUBLISHED]
    others = sum(count for kind, count in fleet.messages.items() if kind not in PUBLISHED)
    yield f"messages: {', '.join(named)}, others {others}; {fleet.control:.1f} for control a client, {fleet.per_test:.2f} a test"
    for client in fleet.clients[:MOST_CLIENTS]:
        yield f"{client.name}: {client.tests} tests, waited {client.waiting:.2f} of {client.seconds:.2f} s"
    if count > MOST_CLIENTS:
        yield f"… and {count - MOST_CLIENTS} more clients, in summary.json"


def workload_plot(found: Findings) -> str:
    """A campaign's tests a client, as SVG."""
    fleet = found.fleet
    if fleet is None:
        raise UsageError(
            "one client did this campaign: there is nothing to plot", str(found.folder), "Run it with --clients."
        )
    return plots.workload([(str(len(fleet.clients)), fleet.workload)])


# The paper's tables, a fleet a line -------------------------------------------------------------------------------


def tables(fleets: Sequence[FleetFigures]) -> list[Table]:
    """All that can be said of fleets without knowing what their tests found."""
    return [tests(fleets), messages(fleets), efficiency(fleets), workload(fleets)]


def tests(fleets: Sequence[FleetFigures]) -> Table:
    rows: list[list[Cell]] = []
    for fleet in fleets:
        times = fleet.rate / fleets[0].rate if fleets[0].rate else None
        rows.append([len(fleet.clients), fleet.tests, fleet.seconds, fleet.rate, times])
    columns = ("clients", "tests", "seconds", "tests a second", "times the first line")
    return Table("Tests (Table III, Fig. 2)", columns, rows, published=paper.tests_table())


def messages(fleets: Sequence[FleetFigures]) -> Table:
    rows: list[list[Cell]] = []
    for fleet in fleets:
        count = len(fleet.clients) or 1
        waits = [client.waiting for client in fleet.clients]
        rows.append(
            [
                len(fleet.clients),
                *(fleet.messages.get(kind, 0) / count for kind in PUBLISHED),
                fleet.per_client,
                100 * fleet.per_client * count / max(1, fleet.runs),
                fleet.control,
                fleet.per_test,
                fleet.messages.get("Relayed", 0),
                sum(waits) / count,
                max(waits, default=0.0),
                100 * fleet.waiting,
            ]
        )
    names = (*(kind.upper() for kind in PUBLISHED), "these together", "these, % of tests", "all control")
    columns = ("clients", *names, "all a test", "relayed", "waiting s", "most s", "waiting %")
    note = "Messages are a client's, but where it says otherwise; control: all but results and signs of life."
    return Table("Messages and waiting (Table V)", columns, rows, note, paper.messages_table())


def efficiency(fleets: Sequence[FleetFigures]) -> Table:
    one = next((found_by(fleet) for fleet in fleets if len(fleet.clients) == 1), None)
    rows: list[list[Cell]] = []
    for fleet in fleets:
        both = [measure(found_by(fleet), one) for measure in (dv5, by_rate)]
        shares = (fleet.useful_time, fleet.waiting, fleet.redundancy)
        rows.append([len(fleet.clients), *both, *(100 * share for share in shares)])
    return Table("Efficiency (Table VI)", EFFICIENCY_COLUMNS, rows, EFFICIENCY_NOTE, paper.efficiency_table())


def found_by(fleet: FleetFigures) -> Yield:
    return Yield(len(fleet.clients), fleet.tests, fleet.seconds)


def workload(fleets: Sequence[FleetFigures]) -> Table:
    rows: list[list[Cell]] = []
    for fleet in fleets:
        work = fleet.workload or [0]
        rows.append([len(fleet.clients), sum(work) / len(work), work[0], *fleet.quartiles, work[-1]])
    columns = ("clients", "mean", "least", "a quarter up to", "median", "three quarters up to", "most")
    return Table("Tests a client (Fig. 3)", columns, rows, published=paper.workload_table())
