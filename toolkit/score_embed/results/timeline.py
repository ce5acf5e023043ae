"""How a campaign came along: its totals at some moments, for plots over time.

A campaign may last seconds or weeks, and the record is written each second. So the moments are a bounded number: when
they are too many every second one is dropped, and from then on they are twice as far apart.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

MOST = 240  # moments that are kept
_Count = Annotated[int, Meta(ge=0, le=2**53)]


class Moment(Struct, frozen=True, array_like=True):
    """`seconds`: of all sessions so far; `covered`: branch directions."""

    seconds: Annotated[float, Meta(ge=0, le=1e12)]
    tests: _Count
    paths: _Count
    covered: _Count
    bugs: _Count


class Timeline(Struct):
    """`apart`: seconds between two moments, at least, but for the last one, which is as new as the record."""

    moments: list[Moment] = []
    apart: float = 0.1

    def add(self, now: Moment) -> None:
        """The newest moment. It takes the place of the last one if that lies too close behind the one before."""
        moments = self.moments
        if len(moments) > 1 and moments[-1].seconds - moments[-2].seconds < self.apart:
            moments.pop()
        moments.append(now)
        if len(moments) > MOST:
            del moments[1:-1:2]
            self.apart = max(2 * self.apart, 2 * now.seconds / MOST)
