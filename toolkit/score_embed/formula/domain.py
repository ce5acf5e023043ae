"""Sets of values of one input byte and of a few: what most conditions of parsers are over.

A byte set is the 256-bit set of the values of one byte that satisfy a condition; a flip is then one AND of two integers
(the engine's `columns.cpp`). Assignments of one to eight bytes together are rows (its `rows.cpp`): numbers whose digits
of 8 bits are the values of the bytes, the last byte's the lowest.
"""

from __future__ import annotations

from array import array

from score_embed.engine._core import (
    all_rows,
    byte_set,
    cost,
    intervals,
    members,
    rows_product,
    rows_within,
    smallest,
    split,
    table,
)

__all__ = [
    "FULL", "Rows", "all_rows", "byte_set", "cost", "intervals", "members", "rows_product", "rows_within",
    "smallest", "split", "table",
]  # fmt: skip

FULL = (1 << 256) - 1
Rows = array  # of "Q", in rising order
