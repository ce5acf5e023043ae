"""An experiment as the paper's tables and plots, with what the paper published."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec

from msgspec.structs import replace

from score_embed.errors import UsageError
from score_embed.report import fleet, paper, plots
from score_embed.report import fleet as measures
from score_embed.report.fleet import Yield
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
    found: dict[str, str] = {"trials.csv": all_trials(trials).csv()}
    every = numbered(trials)
    for number, table in every.items():
        found[f"table-{number}.csv"] = table.csv()
        if table.published is not None:
            found[f"table-{number}-paper.csv"] = table.published.csv()
    found["experiment.md"] = "\n".join(table.markdown() for table in every.values())
    return found


def numbered(trials: Sequence[Trial]) -> Mapping[int, Table]:
    """The tables by their number in the paper, in order."""
    return {
        3: tests(trials),
        4: comparison(trials),
        5: messages([one.fleet for one in trials if one.fleet is not None]),
        6: efficiency(trials),
        7: coverage(trials),
    }


def figures(trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """The files with plots and their names."""
    yield "figure-2.svg", plots.tests_over_clients(series(trials, lambda one: one.tests), "tests")
    yield "figure-3.svg", plots.workload(workloads(trials))
    yield "figure-4.svg", plots.not_redundant(series(trials, lambda one: one.useful))


def workloads(trials: Sequence[Trial]) -> list[tuple[str, list[int]]]:
    """By number of clients: the tests of each client of each fleet."""
    return [(str(clients), [n for one in some for n in one.workload]) for clients, some in _groups(trials, True)]


def series(trials: Sequence[Trial], value: Callable[[Trial], float]) -> plots.Series:
    """Means over the repeats, of both kinds. A campaign of one client is where both begin."""
    together, alone = (
        [(clients, _mean(some, value)) for clients, some in _groups(trials, kind)] for kind in (True, False)
    )
    if not alone:
        return {DISTRIBUTED: together}
    return {DISTRIBUTED: together, INDEPENDENT: [point for point in together if point[0] == 1] + alone}


def _groups(trials: Sequence[Trial], is_distributed: bool) -> list[tuple[int, list[Trial]]]:
    """Trials of a kind by number of clients."""
    some = [one for one in trials if one.is_distributed == is_distributed]
    counts = sorted({one.clients for one in some})
    return [(clients, [one for one in some if one.clients == clients]) for clients in counts]


def _mean(trials: Sequence[Trial], value: Callable[[Trial], float]) -> float:
    return statistics.mean(map(value, trials))


def all_trials(trials: Sequence[Trial]) -> Table:
    columns = ("clients", "kind", "seed", "tests", "paths", "useful", "covered", "directions", "seconds")
    rows: list[list[Cell]] = [
        [one.clients, kind(one), one.seed, one.tests, one.paths, one.useful, one.covered, one.directions, one.seconds]
        for one in trials
    ]
    return Table("Trials", columns, rows)


def kind(one: Trial) -> str:
    return DISTRIBUTED if one.is_distributed else INDEPENDENT


# The tables ----------------------------------------------------------------------------------------------------------


def tests(trials: Sequence[Trial]) -> Table:
    rows: list[list[Cell]] = []
    first: float | None = None
    for clients, some in _groups(trials, True):
        counts = [one.tests for one in some]
        rate = _mean(some, lambda one: one.tests / max(one.seconds, 1e-9))
        first = first or rate
        paths, seconds = (_mean(some, value) for value in (lambda one: one.paths, lambda one: one.seconds))
        times = rate / first if first else None
        means = [statistics.mean(counts), min(counts), max(counts), paths, seconds, rate, times]
        rows.append([clients, len(some), *means])
    counted = ("tests", "fewest", "most", "different paths")
    columns = ("clients", "trials", *counted, "seconds", "tests a second", "times the first line")
    return Table("Tests by number of clients (Table III, Fig. 2)", columns, rows, "Means.", paper.tests_table())


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
        "and the same first seed; with fewer than 6 pairs it cannot fall below 0.05."
    )
    return Table("Distributed against independent (Table IV)", columns, rows, note, paper.comparison_table())


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
    note = "Branch directions that were taken, means of the trials."
    return Table("Branch coverage (Table VII)", columns, rows, note, paper.coverage_table())


def messages(fleets: Sequence[FleetFigures]) -> Table:
    """A line for each number of clients: the means of its trials."""
    found = fleet.messages(sorted(fleets, key=lambda one: len(one.clients)))
    groups: dict[Cell, list[Sequence[Cell]]] = {}
    for row in found.rows:
        groups.setdefault(row[0], []).append(row[1:])
    rows = [[first, *map(_mean_cell, zip(*some, strict=True))] for first, some in groups.items()]
    return replace(found, rows=rows, note=f"Means of the trials. {found.note}")


def _mean_cell(column: Sequence[Cell]) -> Cell:
    numbers = [cell for cell in column if isinstance(cell, (int, float))]
    return statistics.mean(numbers) if numbers else None


def efficiency(trials: Sequence[Trial]) -> Table:
    one = next((average(some) for clients, some in _groups(trials, True) if clients == 1), None)
    rows: list[list[Cell]] = []
    for clients, some in _groups(trials, True):
        both = [measure(average(some), one) for measure in (measures.dv5, measures.by_rate)]
        fleets = [each.fleet for each in some if each.fleet is not None]
        shares = zip(*((each.useful_time, each.waiting, each.redundancy) for each in fleets), strict=True)
        rows.append([clients, *both, *(100 * statistics.mean(share) for share in shares)])
    note = f"Means of the trials. {fleet.EFFICIENCY_NOTE}"
    return Table("Efficiency (Table VI)", fleet.EFFICIENCY_COLUMNS, rows, note, paper.efficiency_table())


def average(trials: Sequence[Trial]) -> Yield:
    """Of trials with the same number of clients."""
    return Yield(trials[0].clients, _mean(trials, lambda one: one.paths), _mean(trials, lambda one: one.seconds))
