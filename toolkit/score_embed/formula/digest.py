"""Names of formulas by content: equal formulas have equal digests, also if one died before the other was made (the
engine's `digest.cpp`). So a cache can remember formulas without keeping them alive."""

from __future__ import annotations

from score_embed.engine._core import digest

__all__ = ["digest"]
