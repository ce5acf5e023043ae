"""An experiment as the paper's tables and plots."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec

from score_embed.errors import UsageError
from score_embed.report import fleet, paper, plots
from score_embed.report.table import Cell, Table
from score_embed.results.fleet import FleetFigures
from score_embed.results.trial import Trial

DISTRIBUTED, INDEPENDENT = "distributed", "independent"


def require() -> None:
    """Raise an error that says what to do if something is missing that tables and plots need."""
    plots.require()
    if find_spec("scipy") is None:
        hint = "Install it with: pip install 'score-embed[experiment]'"
        raise UsageError("the Wilcoxon test needs scipy, which is not installed", "", hint)


def tables(trials: Sequence[Trial]) -> Mapping[str, str]:
    """The files with tables, by name."""
    found: dict[str, str] = {"trials.csv": _trials(trials).csv()}
    numbered = {"3": tests(trials), "4": comparison(trials), "7": coverage(trials)}
    fleets = [one.fleet for one in trials if one.fleet is not None]
    numbered |= {"5": _of_fleets(fleet.messages, fleets), "6": _of_fleets(fleet.efficiency, fleets)}
    for number, table in sorted(numbered.items()):
        found[f"table-{number}.csv"] = table.csv()
    found["experiment.md"] = "\n".join(table.markdown() for _, table in sorted(numbered.items()))
    return found


def figures(trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """The files with plots and their names."""
    yield "figure-2.svg", plots.tests_over_clients(_series(trials, lambda one: one.tests), "tests")
    boxes = [(str(clients), [n for one in some for n in one.workload]) for clients, some in _groups(trials, True)]
    yield "figure-3.svg", plots.workload(boxes)
    yield "figure-4.svg", plots.not_redundant(_series(trials, lambda one: one.useful))


def _series(trials: Sequence[Trial], value: Callable[[Trial], float]) -> plots.Series:
    """Means over the repeats, of both kinds."""
    kinds = {DISTRIBUTED: True, INDEPENDENT: False}
    found = {
        name: [(clients, _mean(some, value)) for clients, some in _groups(trials, kind)] for name, kind in kinds.items()
    }
    return {name: points for name, points in found.items() if points}


def _groups(trials: Sequence[Trial], is_distributed: bool) -> list[tuple[int, list[Trial]]]:
    """Trials of a kind by number of clients."""
    some = [one for one in trials if one.is_distributed == is_distributed]
    counts = sorted({one.clients for one in some})
    return [(clients, [one for one in some if one.clients == clients]) for clients in counts]


def _mean(trials: Sequence[Trial], value: Callable[[Trial], float]) -> float:
    return statistics.mean(map(value, trials))


def _trials(trials: Sequence[Trial]) -> Table:
    columns = ("clients", "kind", "seed", "tests", "paths", "useful", "covered", "directions", "seconds")
    rows: list[list[Cell]] = [
        [one.clients, _kind(one), one.seed, one.tests, one.paths, one.useful, one.covered, one.directions, one.seconds]
        for one in trials
    ]
    return Table("Trials", columns, rows)


def _kind(one: Trial) -> str:
    return DISTRIBUTED if one.is_distributed else INDEPENDENT


# The tables ----------------------------------------------------------------------------------------------------------


def tests(trials: Sequence[Trial]) -> Table:
    rows: list[list[Cell]] = []
    first: float | None = None
    for clients, some in _groups(trials, True):
        counts = [one.tests for one in some]
        rate = _mean(some, lambda one: one.tests / max(one.seconds, 1e-9))
        first = first or rate
        seconds = _mean(some, lambda one: one.seconds)
        rows.append(
            [clients, len(some), statistics.mean(counts), min(counts), max(counts), seconds, rate, rate / first]
        )
    columns = ("clients", "trials", "tests", "fewest", "most", "seconds", "tests a second", "times the first line")
    rates = "; ".join(f"{program} {one} and {all_:,}" for program, (one, all_) in paper.RATES.items())
    note = f"Means. The paper, tests a second on one node and on {paper.NODES} nodes of 2011: {rates}."
    return Table("Tests by number of clients (Table III, Fig. 2)", columns, rows, note)


def comparison(trials: Sequence[Trial]) -> Table:
    """Different paths found together, and by campaigns that know nothing of each other."""
    others = {(one.clients, one.seed): one for one in trials if not one.is_distributed}
    rows: list[list[Cell]] = []
    everything: list[tuple[int, int]] = []
    for clients, some in _groups(trials, True):
        pairs = [(one.paths, others[clients, one.seed].paths) for one in some if (clients, one.seed) in others]
        if pairs:
            everything += pairs
            ours, theirs = (statistics.mean(column) for column in zip(*pairs, strict=True))
            rows.append([clients, len(pairs), ours, theirs, ours / theirs if theirs else None, wilcoxon(pairs)])
    if len(rows) > 1:
        rows.append(["all", len(everything), None, None, None, wilcoxon(everything)])
    columns = ("clients", "pairs", "paths distributed", "paths independent", "ratio", "p")
    note = (
        "Means of different paths. p: Wilcoxon's signed-rank test, two-sided, of trials with the same number of clients "
        "and the same first seed; with fewer than 6 pairs it cannot fall below 0.05. "
    )
    return Table("Distributed against independent (Table IV)", columns, rows, note + paper.NOT_AT_HAND)


def wilcoxon(pairs: Sequence[tuple[int, int]]) -> float:
    """How likely such differences are if neither kind is better."""
    from scipy.stats import wilcoxon as test

    if all(one == other for one, other in pairs):
        return 1.0
    return float(test([one - other for one, other in pairs]).pvalue)


def coverage(trials: Sequence[Trial]) -> Table:
    others = dict(_groups(trials, False))
    rows: list[list[Cell]] = []
    for clients, some in _groups(trials, True):
        alone = others.get(clients)
        theirs = 100 * _mean(alone, lambda one: one.coverage) if alone else None
        rows.append([clients, 100 * _mean(some, lambda one: one.coverage), theirs, some[0].directions])
    columns = ("clients", "% distributed", "% independent", "directions")
    note = "Branch directions that were taken, means of the trials. " + paper.NOT_AT_HAND
    return Table("Branch coverage (Table VII)", columns, rows, note)


def _of_fleets(table: Callable[[Sequence[FleetFigures]], Table], fleets: Sequence[FleetFigures]) -> Table:
    """A line for each number of clients: the means of its trials."""
    found = table(sorted(fleets, key=lambda one: len(one.clients)))
    groups: dict[Cell, list[Sequence[Cell]]] = {}
    for row in found.rows:
        groups.setdefault(row[0], []).append(row[1:])
    rows = [[first, *map(_mean_cell, zip(*some, strict=True))] for first, some in groups.items()]
    return replace(found, rows=rows, note=f"Means of the trials. {found.note}")


def _mean_cell(column: Sequence[Cell]) -> Cell:
    numbers = [cell for cell in column if isinstance(cell, (int, float))]
    return statistics.mean(numbers) if numbers else None
