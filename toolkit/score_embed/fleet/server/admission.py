"""Who may join a fleet, and what it is to work on."""

from __future__ import annotations

from collections.abc import Mapping

from score_embed.fleet.messages import VERSION, Hello
from score_embed.fleet.server.assignment import Campaign


def objection(message: Hello, campaigns: Mapping[int, Campaign]) -> tuple[str, str] | None:
    """What there is against this client, and what to do about it."""
    if message.version != VERSION:
        what = f"the client speaks version {message.version} of the fleet's protocol, the server version {VERSION}"
        return what, "Use the same version of score-embed on both."
    if not campaigns:
        return "the server has no campaign", "Start one, then start the client again."
    if message.image and all(campaign.image != message.image for campaign in campaigns.values()):
        what = f"the client's device holds image {message.image.hex()}, which no campaign of the server tests"
        return what, "Load the campaign's image onto the device, or let the client fetch it."
    if message.campaign and message.campaign not in campaigns:
        what = f"the client has work of campaign {message.campaign}, which the server does not have"
        return what, "Start the client anew, or the server with the folder it had."
    return None


def work_for(
    message: Hello, campaigns: Mapping[int, Campaign], assigned: int | None, clients: Mapping[int, int]
) -> int:
    """The campaign it has pairs of, or was assigned to, or else one with work left and the fewest clients."""
    if message.campaign:
        return message.campaign
    fit = [campaign for campaign in campaigns.values() if not message.image or campaign.image == message.image]
    best = min(fit, key=lambda c: (c.finished, c.number != assigned, clients.get(c.number, 0), c.number))
    return best.number
