"""Formulas with parts of them replaced by constants, where the path says what these are (the engine's `known.cpp`)."""

from __future__ import annotations

from score_embed.engine._core import replaced

__all__ = ["replaced"]
