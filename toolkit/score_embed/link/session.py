"""The host's side of the link as a state machine: bytes in, bytes out, no I/O, no clock. It is the engine's
(`session.hpp`).

One test at a time. Whatever is damaged on the way is asked for again, and the number of attempts that bring nothing new
is bounded: then a TargetError says so.
"""

from __future__ import annotations

from score_embed.engine._core import Result, Session, link_failures_are
from score_embed.errors import TargetError

__all__ = ["Result", "Session", "WrongImage"]


class WrongImage(TargetError):
    """The target answers, but what it runs is not the image expected."""


link_failures_are(TargetError, WrongImage)
