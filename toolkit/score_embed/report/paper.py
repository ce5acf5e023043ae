"""What SCORE's paper (Kim, Kim and Rothermel, ASE 2011) published, to stand beside our figures.

Six programs, five minutes each, means of 30 runs on nodes of 2011. A test of theirs took a path that no other test
took. Figures 2 to 4 are plots in the paper, so what can be said of them follows from its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from score_embed.report.table import Cell, Table

PROGRAMS = ("grep", "ptok1", "ptok2", "replace", "sed", "vim")
NODES = (64, 128, 192, 256)
_ROWS = Mapping[int, tuple[float, ...]]  # by nodes: a figure for each program
Figures = Callable[[int], Sequence[float]]  # the same, asked for

# Table III: CREST on one node, the algorithm that is not distributed
ALONE = (961, 2_315, 29_340, 25_784, 16_550, 2_378)
TESTS: _ROWS = {  # … and SCORE
    1: (997, 2_385, 29_118, 26_181, 16_679, 2_390),
    64: (76_612, 135_842, 1_184_348, 723_430, 592_491, 50_914),
    128: (134_503, 289_335, 2_310_901, 1_416_901, 1_137_879, 98_964),
    192: (260_244, 429_770, 3_490_055, 2_242_355, 1_701_740, 140_141),
    256: (322_345, 559_250, 4_553_864, 2_978_568, 2_262_199, 189_038),
}
INDEPENDENT: _ROWS = {  # Table IV: as many CRESTs with seeds of their own, all together
    64: (22_718, 47_484, 656_797, 339_735, 442_816, 2_539),
    128: (42_875, 86_125, 1_193_297, 614_645, 829_558, 3_164),
    192: (58_247, 122_410, 1_654_794, 794_858, 1_195_363, 3_758),
    256: (75_449, 147_003, 2_085_353, 906_482, 1_455_585, 3_886),
}
MESSAGES: _ROWS = {  # Table V, of all clients
    64: (3_391, 1_604, 1_598, 1_569, 2_655, 6_295),
    128: (5_363, 2_467, 1_836, 1_780, 3_317, 11_238),
    192: (6_897, 3_874, 3_118, 3_601, 4_449, 14_183),
    256: (6_900, 4_009, 3_098, 2_980, 4_607, 14_742),
}
WAITING: _ROWS = {  # Table V, % of a client's time
    64: (0.10, 0.06, 0.07, 0.07, 0.12, 0.52),
    128: (0.21, 0.11, 0.14, 0.14, 0.21, 0.73),
    192: (0.24, 0.15, 0.13, 0.18, 0.23, 0.79),
    256: (0.21, 0.13, 0.15, 0.13, 0.18, 0.74),
}
COVERAGE: _ROWS = {  # Table VII, % of the branches
    1: (24.1, 72.7, 78.7, 40.5, 21.7, 9.1),
    64: (44.1, 77.1, 81.3, 74.4, 25.4, 15.4),
    128: (44.0, 77.4, 80.4, 79.5, 27.0, 17.3),
    192: (45.0, 76.4, 81.8, 77.0, 27.9, 18.5),
    256: (46.3, 77.7, 81.5, 82.1, 27.8, 18.9),
}
HAND_MADE = (50.3, 93.6, 98.2, 93.9, 47.3, 35.8)  # Table VII: the tests that came with the programs


def efficiency(nodes: int) -> tuple[float, ...]:
    """DV5, Table VI: tests of the fleet, by those of one node, by the number of clients."""
    return tuple(tests / one / nodes for tests, one in zip(TESTS[nodes], ALONE, strict=True))


def ratios(nodes: int) -> tuple[float, ...]:
    """Table IV: tests of SCORE by those of as many independent CRESTs."""
    return tuple(ours / theirs for ours, theirs in zip(TESTS[nodes], INDEPENDENT[nodes], strict=True))


def message_shares(nodes: int) -> tuple[float, ...]:
    """Table V: messages, in % of tests."""
    return tuple(100 * count / tests for count, tests in zip(MESSAGES[nodes], TESTS[nodes], strict=True))


def times_one(nodes: int) -> tuple[float, ...]:
    """How many times as many tests as one node ran."""
    return tuple(tests / one for tests, one in zip(TESTS[nodes], ALONE, strict=True))


# As tables ------------------------------------------------------------------------------------------------------------


def tests_table() -> Table:
    rows = [_row("tests", "1, not distributed", ALONE), *_rows("tests", TESTS.__getitem__, (1, *NODES))]
    times = _rows("times the first line", times_one, decimals=1)
    return _table("Table III", "tests that are not redundant", [*rows, *times])


def comparison_table() -> Table:
    rows = [*_rows("tests of independent ones", INDEPENDENT.__getitem__), *_rows("ratio", ratios, decimals=2)]
    return _table("Table IV", "distributed against independent", rows)


def messages_table() -> Table:
    rows = [*_rows("messages of all", MESSAGES.__getitem__), *_rows("these, % of tests", message_shares, decimals=2)]
    return _table("Table V", "messages and waiting", [*rows, *_rows("waiting %", WAITING.__getitem__, decimals=2)])


def efficiency_table() -> Table:
    return _table("Table VI", "efficiency", _rows("efficiency", efficiency, decimals=2))


def coverage_table() -> Table:
    rows = _rows("% distributed", COVERAGE.__getitem__, (1, *NODES), decimals=1)
    return _table("Table VII", "branch coverage", [*rows, _row("% by hand-made tests", "", HAND_MADE, 1)])


def workload_table() -> Table:
    rows = _rows("mean", lambda nodes: [tests / nodes for tests in TESTS[nodes]])
    return _table("Fig. 3", "tests a client; a plot there, so the means of Table III", rows)


def _table(name: str, what: str, rows: Sequence[Sequence[Cell]]) -> Table:
    return Table(f"The paper's {name}: {what}", ("measure", "nodes", *PROGRAMS), rows)


def _rows(measure: str, figures: Figures, nodes: Sequence[int] = NODES, decimals: int = 0) -> list[list[Cell]]:
    return [_row(measure, number, figures(number), decimals) for number in nodes]


def _row(measure: str, nodes: int | str, figures: Sequence[float], decimals: int = 0) -> list[Cell]:
    """With as many decimals as the paper has."""
    return [measure, nodes, *(f"{figure:.{decimals}f}" for figure in figures)]
