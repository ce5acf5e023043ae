"""Pairs as clients of a fleet report them, and a campaign's record that takes such reports in."""

from __future__ import annotations

from pathlib import Path

import recorded

from score_embed.explore.pair import Pair
from score_embed.fleet import messages
from score_embed.fleet.messages import Result
from score_embed.fleet.process.campaign_record import CampaignRecord
from score_embed.fleet.server.frontier import Write


def pair(name: str, depth: int = 1) -> Pair:
    return Pair(name.encode().rjust(16), name.encode(), depth, depth, depth, 0, 0)


def said(one: Pair) -> messages.Pair:
    return messages.Pair(one.id, one.neg_limit, one.to_bytes())


def write(campaign: CampaignRecord, *tests: Result, **parts: object) -> None:
    campaign.apply(Write(campaign.number, tests, **{"known": (), "moved": (), **parts}))  # type: ignore[arg-type]


def begin(folder: Path) -> Path:
    """A campaign that has found something already, with one pair left."""
    recorded.write(folder)
    for part in ("tests", "bugs"):
        (folder / part).mkdir()
    return folder
