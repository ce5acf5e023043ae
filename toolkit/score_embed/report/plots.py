"""The paper's plots as SVG. Text stays text, and the same figures give the same file.

matplotlib is large and needed for nothing else: it is an extra (`score-embed[plots]`), and is asked for when a plot is.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from score_embed.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "score-embed", "axes.grid": True, "grid.alpha": 0.3}
_MARKS = "os^Dv"

Series = Mapping[str, Sequence[tuple[int, float]]]  # by name: (clients, value), fewest clients first


def require() -> None:
    """Raise an error that says what to do if plots cannot be made: before anything takes long."""
    if find_spec("matplotlib") is None:
        hint = "Install it with: pip install 'score-embed[plots]'"
        raise UsageError("plots need matplotlib, which is not installed", "", hint)


def tests_over_clients(series: Series, unit: str) -> str:
    """Tests (`unit`: in all, a second …) over the number of clients, both in powers of two if there are many."""

    def draw(axes: Axes) -> None:
        _lines(axes, series)
        counts = {clients for points in series.values() for clients, _ in points}
        if min(counts) * 8 <= max(counts):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
        axes.set_ylabel(unit)

    return _drawn(draw)


def workload(boxes: Sequence[tuple[str, Sequence[int]]]) -> str:
    """A box for each fleet: quartiles of its clients' tests; the whiskers are the least and the most."""

    def draw(axes: Axes) -> None:
        places = range(1, len(boxes) + 1)
        axes.boxplot([list(tests) for _, tests in boxes], positions=list(places), whis=(0, 100), widths=0.5)
        axes.set_xticks(places, [name for name, _ in boxes])
        axes.set_xlabel("clients")
        axes.set_ylabel("tests a client")

    return _drawn(draw)


def not_redundant(series: Series) -> str:
    """The share of tests that are not redundant, over the number of clients."""

    def draw(axes: Axes) -> None:
        _lines(axes, {name: [(clients, 100 * share) for clients, share in points] for name, points in series.items()})
        axes.set_ylim(0, 105)
        axes.set_ylabel("tests that are not redundant, %")

    return _drawn(draw)


def _lines(axes: Axes, series: Series) -> None:
    for number, (name, points) in enumerate(series.items()):
        mark = _MARKS[number % len(_MARKS)]
        axes.plot([clients for clients, _ in points], [value for _, value in points], marker=mark, label=name)
    axes.set_xlabel("clients")
    if len(series) > 1:
        axes.legend()


def _drawn(draw: Callable[[Axes], None]) -> str:
    require()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    out = io.StringIO()
    with rc_context(_STYLE):
        figure = Figure(figsize=(6, 4), layout="tight")
        draw(figure.add_subplot())
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()
