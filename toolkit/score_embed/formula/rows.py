"""Assignments of one or two input bytes as rows (the engine's `rows.cpp`): the value of the first byte times 256, plus
that of the second."""

from __future__ import annotations

from array import array

from score_embed.engine._core import all_rows, cost, split
from score_embed.engine._core import rows_within as within

__all__ = ["Rows", "all_rows", "cost", "split", "within"]

Rows = array  # of "H", in rising order
