"""The trail: the decoded path of the last run, rolled back to where a new trace first differs and extended from there (the
engine's `trail.cpp`; docs/design/trail.md says why that is sound).
"""

from __future__ import annotations

from typing import Protocol

from score_embed.contract.sites import SiteTable
from score_embed.engine import _core
from score_embed.trace.concrete import Forks
from score_embed.trace.path import Condition

KEPT = 20_000  # results of each kind that are remembered: bounds memory, and how many formulas outlive their path


class Constants(Protocol):
    """What the image holds that no program can change. What it says never changes."""

    def object_at(self, address: int) -> tuple[int, int] | None:
        """Address and size of the constant that this is a byte of, or of a piece of what has no name. No two overlap."""

    def read(self, address: int, size: int) -> bytes | None:
        """The bytes there, if they are constant and the image has them all."""

    def initial(self, address: int, size: int) -> bytes | None:
        """The bytes there as the program begins with them, constant or not."""


class Follower(Protocol):
    """What somebody knows of the path, condition by condition. It goes back when the trail does."""

    def cut(self, count: int) -> None:
        """The path is its first `count` conditions again."""

    def pass_by(self, condition: Condition) -> None:
        """The path goes on in this condition's direction."""


class Trail(_core.Trail):
    """The path of the last run. `verify`: the image was built to send what it stores."""

    def __init__(
        self,
        table: SiteTable,
        verify: bool = False,
        constants: Constants | None = None,
        forks: Forks | None = None,
    ) -> None:
        super().__init__(table, verify, constants, forks or Forks(), KEPT)
