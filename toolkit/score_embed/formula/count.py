"""How many values a formula can have at most: what decides whether all of them are worth a test each (the engine's
`known.cpp`)."""

from __future__ import annotations

from score_embed.engine._core import limit_of, most_values

__all__ = ["limit_of", "most_values"]
