"""Formulas as they are where every choice in them is made as in one run (the engine's `chosen.cpp`)."""

from __future__ import annotations

from score_embed.engine._core import Chosen

__all__ = ["Chosen"]
