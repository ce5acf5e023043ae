"""A table of texts, as `run` prints it into files and pipes: there it need not fit into a window. Then it looks as rich
draws it, whose import takes longer than a small campaign's tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from score_embed.errors import printable

WIDEST = 1000  # columns of a line that nobody looks at in a window
_SIMPLE = "…"  # beside ASCII: whose characters are one column each


class Grid(NamedTuple):
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def lines(self) -> list[str] | None:
        """The table drawn; None if it takes more to lay it out: it is too wide, or who knows how wide."""
        rows = [[printable(text) for text in row] for row in (self.header, *self.rows)]
        if not all(text.replace(_SIMPLE, "").isascii() for row in rows for text in row):
            return None
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        whole = sum(widths) + 3 * len(widths) + 1
        if whole > WIDEST or len(self.caption) > whole:
            return None
        before = " " * ((whole - len(self.caption)) // 2)
        return [*_drawn(rows, widths), *([f"{before}{self.caption}".ljust(whole)] if self.caption else [])]


def _drawn(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    yield _rule(widths, "┏━┳┓")
    yield _row(rows[0], widths, "┃")
    yield _rule(widths, "┡━╇┩")
    for row in rows[1:]:
        yield _row(row, widths, "│")
    yield _rule(widths, "└─┴┘")


def _rule(widths: Sequence[int], box: str) -> str:
    left, line, middle, right = tuple(box)
    return left + middle.join(line * (width + 2) for width in widths) + right


def _row(row: Sequence[str], widths: Sequence[int], edge: str) -> str:
    cells = (f" {text:{width}} " for text, width in zip(row, widths, strict=True))
    return edge + edge.join(cells) + edge
