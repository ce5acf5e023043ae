"""Campaigns in which each test goes through Python, where a test of ours can look at it or change it."""

from __future__ import annotations

from typing import Any

import pytest

from score_embed.campaign.rounds import Rounds
from score_embed.explore.concolic import Explorer


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    """The engine runs none by itself."""

    def go(*_: Any) -> tuple[bool, None]:
        return False, None

    patch.setattr(Rounds, "go", go)


def send_all(patch: pytest.MonkeyPatch) -> None:
    """And each sends its events from the first one on."""

    def nothing(*_: Any) -> bytes:
        return b""

    one_by_one(patch)
    patch.setattr(Explorer, "expected", nothing)
