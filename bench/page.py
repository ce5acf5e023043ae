"""Tables in pages of the documentation that benches write: between a comment that names the bench and its end."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def write_table(page: str, bench: str, table: str) -> None:
    """Put `table` (whole lines) where docs/`page` has the last one of `bench`. Raises ValueError if it has no place for
    it."""
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {bench} -->\n", f"<!-- end of {bench} -->\n"
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"{path} has no place for the table of {bench}")
    path.write_text(before + begin + table + end + after, encoding="utf-8")
