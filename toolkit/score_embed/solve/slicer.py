"""The conditions of a path, cut down to the slice of a flip; with undo, so that it follows the trail (the engine's
`slicer.cpp`)."""

from __future__ import annotations

from score_embed.engine._core import Slicer

__all__ = ["Slicer"]
