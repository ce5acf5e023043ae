"""The page of an experiment, and of a simulated fleet: how many clients are worth it, beside what the paper
published."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from score_embed.report import experiment, fleet, paper
from score_embed.report.fleet import Yield
from score_embed.report.page import charts
from score_embed.report.page.campaign import FILE
from score_embed.report.page.charts import Chart, Points
from score_embed.report.page.render import page, percent
from score_embed.report.table import Cell, Table, shown
from score_embed.results.fleet import FleetFigures
from score_embed.results.trial import Trial

_OURS = "ours"
_BEST, _WORST = "the paper’s best program", "its worst"


@dataclass(frozen=True)
class ShownTable:
    """`name`: in the paper; `rows`: of (shown, for sorting). `published`: the paper's figures."""

    ident: str
    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[tuple[str, Cell]]]
    note: str
    published: ShownTable | None


def of_experiment(trials: Sequence[Trial], told: Mapping[str, str], beside: Path) -> str:
    """The HTML text. `told`: what was tried, by name; `beside`: the folder that the page is written to, where links to
    the campaigns' own pages start."""
    values: dict[str, object] = {
        "heading": "Experiment",
        "more": told.get("Program", ""),
        "cards": _experiment_cards(trials),
        "charts": list(_experiment_charts(trials)),
        "tables": [_shown(f"table-{number}", table) for number, table in experiment.numbered(trials).items()],
        "trials": [_trial(one, beside) for one in trials],
        "facts": [(name, value) for name, value in told.items() if value],
    }
    return page("fleets.html", values)


def of_simulation(fleets: Sequence[FleetFigures], told: str) -> str:
    """The HTML text. `told`: what was simulated."""
    tables = fleet.tables(fleets)
    values: dict[str, object] = {
        "heading": "Simulated fleet",
        "more": "",
        "cards": _simulation_cards(fleets),
        "charts": list(_simulation_charts(fleets)),
        "tables": [_shown(f"table-{number}", table) for number, table in enumerate(tables, 1)],
        "trials": [],
        "facts": [("Simulated", told.removeprefix("Simulated: "))],
    }
    return page("fleets.html", values)


def _shown(ident: str, table: Table) -> ShownTable:
    rows = [[(shown(cell), cell if cell is not None else "") for cell in row] for row in table.rows]
    published = _shown(f"{ident}-paper", table.published) if table.published is not None else None
    name = table.title.partition("(")[2].partition(",")[0].rstrip(")")
    return ShownTable(ident, name, table.title, table.columns, rows, table.note, published)


@dataclass(frozen=True)
class _Trial:
    """A line of the table of trials."""

    clients: int
    kind: str
    seed: int
    tests: int
    paths: int
    covered: int
    directions: int
    seconds: float
    links: Sequence[str]


def _trial(one: Trial, beside: Path) -> _Trial:
    pages = [folder / FILE for folder in one.folders]
    links = [
        quote(os.fsencode(os.path.relpath(page.absolute(), beside.absolute()))) for page in pages if page.is_file()
    ]
    return _Trial(
        clients=one.clients,
        kind=experiment.kind(one),
        seed=one.seed,
        tests=one.tests,
        paths=one.paths,
        covered=one.covered,
        directions=one.directions,
        seconds=one.seconds,
        links=links,
    )


# Cards: (name, value, what it is of) ---------------------------------------------------------------------------------


def _experiment_cards(trials: Sequence[Trial]) -> list[tuple[str, str, str]]:
    groups = _averages(trials)
    most = max(groups)
    fleets = [one.fleet for one in trials if one.clients == most and one.fleet is not None]
    useful = sum(one.useful_time for one in fleets) / max(1, len(fleets))
    together = max((one for one in trials if one.is_distributed), key=lambda one: one.covered)
    return [
        ("Clients", str(most), "at most"),
        ("Different paths", _count(groups[most].tests), f"with {most}"),
        *_yields(groups[most], groups.get(1)),
        ("Useful time", f"{100 * useful:.1f} %", f"of {most} clients’"),
        ("Branch directions", percent(together.covered, together.directions), "at best"),
        ("Trials", str(len(trials)), "of both kinds"),
    ]


def _simulation_cards(fleets: Sequence[FleetFigures]) -> list[tuple[str, str, str]]:
    most = max(fleets, key=lambda each: len(each.clients))
    one = next((fleet.found_by(each) for each in fleets if len(each.clients) == 1), None)
    clients = f"{len(most.clients)}"
    return [
        ("Clients", clients, "at most"),
        ("Tests", _count(most.tests), f"with {clients}"),
        *_yields(fleet.found_by(most), one),
        ("Useful time", f"{100 * most.useful_time:.1f} %", f"of {clients} clients’"),
        ("Waiting", f"{100 * most.waiting:.2f} %", f"of {clients} clients’ time"),
    ]


def _yields(most: Yield, one: Yield | None) -> Iterator[tuple[str, str, str]]:
    rate = fleet.by_rate(most, one)
    if rate is not None:
        yield "Times one client", f"{rate * most.clients:.3g}", "tests a second"
    exact = fleet.dv5(most, one)
    if exact is not None:
        yield "Efficiency", f"{exact:.3f}", "as the paper defines it"


def _averages(trials: Sequence[Trial]) -> dict[int, Yield]:
    counts = {one.clients for one in trials if one.is_distributed}
    return {n: experiment.average([one for one in trials if one.is_distributed and one.clients == n]) for n in counts}


def _count(number: float) -> str:
    return f"{round(number):,}".replace(",", "\u202f")


# Plots ---------------------------------------------------------------------------------------------------------------


def _experiment_charts(trials: Sequence[Trial]) -> Iterator[Chart]:
    """Only where there is something to see: a line needs two numbers of clients."""
    yields = _averages(trials)
    yield from _compared(yields)
    yield charts.boxes("Tests a client (Fig. 3)", _as_numbers(experiment.workloads(trials)), "tests")
    if len(yields) > 1:
        shares = experiment.series(trials, lambda one: 100 * one.useful)
        yield charts.over_clients("Tests that are not redundant, % (Fig. 4)", list(shares.items()), 100.0)
        covered = list(experiment.series(trials, lambda one: 100 * one.coverage).items())
        published = _extremes(paper.COVERAGE.__getitem__, (1, *paper.NODES))
        yield charts.over_clients("Branch directions taken, % (Table VII)", [*covered, *published], 100.0)


def _simulation_charts(fleets: Sequence[FleetFigures]) -> Iterator[Chart]:
    yields = {len(each.clients): fleet.found_by(each) for each in fleets}
    yield from _compared(yields)
    works = [(str(len(each.clients)), each.workload or [0]) for each in fleets]
    yield charts.boxes("Tests a client (Fig. 3)", _as_numbers(works), "tests")
    if len(fleets) > 1:
        useful = [(len(each.clients), 100 * each.useful_time) for each in fleets]
        yield charts.over_clients("Useful time, % of all clients’", [(_OURS, useful)], 100.0)


def _compared(yields: Mapping[int, Yield]) -> Iterator[Chart]:
    """Against one client, and against what the paper published."""
    one = yields.get(1)
    rates = [(n, rate) for n, some in sorted(yields.items()) if (rate := fleet.by_rate(some, one))]
    if len(rates) < 2:
        return
    times = [(n, n * rate) for n, rate in rates]
    title = "Tests a second, times those of one client (Fig. 2)"
    yield charts.over_clients(title, [(_OURS, times), *_extremes(paper.times_one)], doubling=True)
    exact = [(n, value) for n, some in sorted(yields.items()) if (value := fleet.dv5(some, one)) is not None]
    if len(exact) == len(rates):
        yield charts.over_clients("Efficiency (Table VI)", [(_OURS, exact), *_extremes(paper.efficiency)])
    else:
        named = "Efficiency of tests a second (Table VI)"
        yield charts.over_clients(named, [(_OURS, rates), *_extremes(paper.efficiency)])


def _extremes(figures: paper.Figures, nodes: Sequence[int] = paper.NODES) -> list[tuple[str, Points]]:
    return [(name, [(n, pick(figures(n))) for n in nodes]) for name, pick in ((_BEST, max), (_WORST, min))]


def _as_numbers(works: Sequence[tuple[str, Sequence[int]]]) -> list[tuple[str, list[float]]]:
    return [(name, [float(n) for n in work]) for name, work in works]
