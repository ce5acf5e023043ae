"""Which run a pair was derived from: what two paths have in common, without comparing their conditions (the engine's
`lineage.hpp`). It is kept in memory only, and by waiting pairs only."""

from __future__ import annotations

from score_embed.engine._core import Origin

__all__ = ["Origin"]
