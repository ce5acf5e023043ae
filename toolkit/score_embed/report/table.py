"""A table of figures, for people as Markdown and for programs as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from msgspec import Struct

Cell = int | float | str | None  # None: there is no such figure


class Table(Struct, frozen=True):
    """`note`: what is to be said of its figures. `published`: those of the paper, to be shown beside them."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    published: Table | None = None

    def markdown(self) -> str:
        cells = ([shown(cell).replace("|", "\\|") for cell in row] for row in self.rows)
        body = "".join(f"| {' | '.join(line)} |\n" for line in (self.columns, ["---"] * len(self.columns), *cells))
        note = f"\n{self.note}\n" if self.note else ""
        theirs = f"\n{self.published.markdown()}" if self.published else ""
        return f"**{self.title}**\n\n{body}{note}{theirs}"

    def csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if cell is None else _exact(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def shown(cell: Cell) -> str:
    """For people."""
    if cell is None:
        return "–"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.3f}" if abs(cell) < 10 else f"{cell:.1f}"


def _exact(cell: int | float | str) -> int | float | str:
    return round(cell, 6) if isinstance(cell, float) else cell
