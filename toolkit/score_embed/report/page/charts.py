"""Plots as SVG that stands in a page: its colours and letters are the page's, and the same figures give the same text.

pygal computes axes and places; its own styles and scripts are taken out, since the page has both.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from score_embed.report.page.render import count, seconds

Points = Sequence[tuple[float, float]]
_WIDTH, _HEIGHT = 460, 230
_MOST_MARKS = 8
_FORM = {"js": [], "css": [], "no_prefix": True, "width": _WIDTH, "height": _HEIGHT, "margin": 6, "show_legend": False}
_UNUSED = frozenset({"defs", "desc"})
_EMPTY = frozenset({"plot overlay", "plot text-overlay", "plot tooltip-overlay", "titles"})
_XLINK = "{http://www.w3.org/1999/xlink}"


class Chart(Struct, frozen=True):
    """`legend`: what its lines are, in the order of their colours; `told`: what it shows, for who cannot see it."""

    title: str
    legend: tuple[str, ...]
    told: str
    svg: Markup


def _number(value: float) -> str:
    """Short enough for an axis."""
    for name, unit in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= 10 * unit or (abs(value) >= unit and value % unit == 0):
            return f"{value / unit:.3g}{name}"
    return count(round(value)) if value == round(value) else f"{value:.3g}"


class _Marks(Struct, frozen=True):
    """Where axes have marks, if not where the plotter likes them; and how values are written."""

    x: Sequence[float] | None = None
    y: Sequence[float] | None = None
    shown: Callable[[float], str] = _number


def over_time(title: str, lines: Sequence[tuple[str, Points]], top: float | None = None) -> Chart:
    """Numbers that grow with the seconds of a campaign; `top`: the most that they can become."""
    return _lines(title, lines, seconds, "time", top)


def over_tests(title: str, name: str, points: Points, top: float) -> Chart:
    """A number that grows with the tests. Most is found by the first few, so each ten times as many take as much
    room."""
    logarithms = [(math.log10(test), value) for test, value in points]
    return _lines(title, [(name, logarithms)], _as_power, "tests", top, _Marks(_whole(_decades(points))))


def over_clients(
    title: str, lines: Sequence[tuple[str, Points]], top: float | None = None, doubling: bool = False
) -> Chart:
    """A number that depends on how many clients there are: twice as many take the same room, wherever. `doubling`: of
    the number, too; `top`: the most that it can become."""
    high = math.log2 if doubling else float
    logarithms = [(name, [(math.log2(n), high(value)) for n, value in points]) for name, points in lines]
    most = [math.ceil(max(point[axis] for _, points in logarithms for point in points)) for axis in (0, 1)]
    least = min(0, math.floor(min(value for _, points in logarithms for _, value in points)))
    halves = [*map(float, range(least, 0)), *_whole(most[1])]  # below 1: more clients did less
    marks = _Marks(_whole(most[0]), halves if doubling else None, _doubled if doubling else _number)
    return _lines(title, logarithms, _doubled, "clients", top, marks)


def boxes(title: str, values: Sequence[tuple[str, Sequence[float]]], unit: str) -> Chart:
    """A box each: quartiles, and whiskers to the least and the most."""
    chart = _pygal().Box(**_FORM, box_mode="extremes", max_scale=5, value_formatter=_number)
    chart.x_labels = [name for name, _ in values]
    for name, numbers in values:
        chart.add(name, list(numbers))
    import statistics  # here: no small campaign has a chart

    medians = ", ".join(f"{name} {_number(statistics.median(numbers))}" for name, numbers in values)
    return Chart(title, (), f"Boxes by clients; medians, {unit}: {medians}", _svg(chart, title))


def bars(title: str, values: Sequence[tuple[str, float]], unit: str, top: float | None = None) -> Chart:
    most = max(value for _, value in values)
    form = {"range": (0, max(1, most if top is None else top)), "max_scale": 5, "value_formatter": _number}
    chart = _pygal().Bar(**_FORM, **form, show_x_labels=len(values) <= 16)
    chart.x_labels = [name for name, _ in values]
    chart.add(unit, [value for _, value in values])
    least = min(value for _, value in values)
    return Chart(title, (), f"{len(values)} bars, from {_number(least)} to {_number(most)} {unit}", _svg(chart, title))


def _lines(
    title: str,
    lines: Sequence[tuple[str, Points]],
    shown: Callable[[float], str],
    unit: str,
    top: float | None,
    marks: _Marks | None = None,
) -> Chart:
    marks = marks or _Marks()
    chart = _pygal().XY(
        **_FORM, show_dots=False, x_value_formatter=shown, value_formatter=marks.shown, max_scale=5, x_label_rotation=0
    )
    values = [value for _, points in lines for _, value in points]
    chart.range = (min(0, math.floor(min(values))), max(1, max(values) if top is None else top))
    chart.x_labels, chart.y_labels = marks.x, marks.y
    for name, points in lines:
        chart.add(name, points)
    ends = ", ".join(f"{name} {marks.shown(points[-1][1])}" for name, points in lines)
    return Chart(title, tuple(name for name, _ in lines), f"By {unit}; at the end: {ends}", _svg(chart, title))


@cache
def _pygal() -> Any:
    """It is imported when a plot is made, since that takes a while. It leaves a hook for its plugins in Python's
    imports, of a kind that Python warns of whenever anything else is imported: that goes."""
    import pygal

    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]
    return pygal


def _svg(chart: Any, title: str) -> Markup:
    """Without what would style it, run, or name its maker's hosts."""
    from pygal.etree import etree

    root = chart.render_tree()
    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag in _UNUSED or child.get("class") in _EMPTY:
                parent.remove(child)
    for element in root.iter():
        for key in [
            key for key in element.attrib if key.startswith(_XLINK) or (key == "class" and not element.get(key))
        ]:
            del element.attrib[key]
        for key, value in element.attrib.items():
            if key in ("x", "y", "d", "transform", "width", "height", "cx", "cy"):
                element.set(key, _short(value))
    del root.attrib["id"]
    for child in root:
        if child.tag == "title":
            child.text = title
    root.set("role", "img")
    root.set("aria-label", title)
    return Markup(etree.tostring(root, encoding="unicode"))


def _short(value: str) -> str:
    """Coordinates without what nobody can see of them."""
    words = value.replace(",", " , ").split(" ")
    return " ".join(_rounded(word) for word in words)


def _rounded(word: str) -> str:
    head = word[:1] if word[:1].isalpha() else ""
    try:
        return f"{head}{float(word[len(head) :]):.1f}".removesuffix(".0")
    except ValueError:
        return word


def _decades(points: Points) -> int:
    return math.ceil(math.log10(max(2, *(test for test, _ in points))))


def _whole(most: int) -> list[float]:
    """0, 1, … up to `most`, not more than can be read."""
    return [float(n) for n in range(0, most + 1, 1 + most // _MOST_MARKS)]


def _doubled(logarithm: float) -> str:
    return _number(2**logarithm)


def _as_power(logarithm: float) -> str:
    return _number(10**logarithm)
