"""What is wrong with an event stream, and its numbers (the engine's `cursor.cpp`).

The bytes come from a board over a wire, so nothing about them is trusted: whatever they are, the result is a number
or a TraceError that says at which byte.
"""

from __future__ import annotations

from score_embed.engine._core import MAX_DEPTH, Cursor, damage_is
from score_embed.errors import TargetError

__all__ = ["MAX_DEPTH", "Cursor", "TraceError"]


class TraceError(TargetError):
    """The events are not what the image's probes send."""

    def __init__(self, what: str, where: str = "") -> None:
        hint = "The link damages data in a way its checksums miss, or the program overwrote the probe runtime."
        super().__init__(f"the trace is damaged: {what}", where, hint)


damage_is(TraceError)
