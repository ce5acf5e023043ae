"""Sets of values of one input byte and of two: what most conditions of parsers are over.

A byte set is the 256-bit set of the values of one byte that satisfy a condition; a flip is then one AND of two integers
(the engine's `columns.cpp`). Assignments of one or two bytes together are rows (its `rows.cpp`): the value of the first
byte times 256, plus that of the second.
"""

from __future__ import annotations

from array import array

from score_embed.engine._core import (
    all_rows,
    byte_set,
    cost,
    intervals,
    members,
    rows_within,
    smallest,
    split,
    table,
)

__all__ = [
    "FULL", "Rows", "all_rows", "byte_set", "cost", "intervals", "members", "rows_within", "smallest", "split", "table",
]  # fmt: skip

FULL = (1 << 256) - 1
Rows = array  # of "H", in rising order
