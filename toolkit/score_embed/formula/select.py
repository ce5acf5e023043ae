"""Reads at symbolic addresses as formulas: the object's bytes, selected by the offset into it (the engine's
`select.cpp`)."""

from __future__ import annotations

from collections.abc import Callable

from score_embed.engine._core import MOST_ENTRIES, Expr, changed, follow, select, within

__all__ = ["MOST_ENTRIES", "Cell", "changed", "follow", "select", "within"]

Cell = Callable[[int], Expr | None]  # the formula of the element at an offset, or None if its bytes are constant
