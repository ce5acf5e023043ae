"""Byte sets: a condition over a single input byte is the 256-bit set of the values that satisfy it (the engine's
`columns.cpp`). Most conditions of parsers are of this kind, and then a flip is one AND of two integers.
"""

from __future__ import annotations

from score_embed.engine._core import byte_set, intervals, members, smallest, table

__all__ = ["FULL", "byte_set", "intervals", "members", "smallest", "table"]

FULL = (1 << 256) - 1
