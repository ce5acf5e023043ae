"""Local search over the values of formulas (the engine's `search.cpp`)."""

from __future__ import annotations

from score_embed.engine._core import search

__all__ = ["search"]
