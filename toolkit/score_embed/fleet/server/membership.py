"""Who is a member of the fleet: who may join, and works on what; who moves, leaves, is given up, comes once more.

How long a client may be silent is `dead` of `Timing` in `fleet/protocol.py`; `_look` of `server.py` compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from score_embed.fleet import tickets
from score_embed.fleet.messages import (
    VERSION,
    Bye,
    Empty,
    Gone,
    Hello,
    Leave,
    Refused,
    Rejoin,
    Results,
    Stop,
    ToServer,
    Welcome,
)
from score_embed.fleet.origin import Origin
from score_embed.fleet.protocol import ServerEvent, Status
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.table import StatusTable

_IN_ANY_EPOCH = (Hello, Results, Bye)  # true whatever the server has forgotten


class Members:
    """The server's part in joining and leaving."""

    def __init__(self, table: StatusTable) -> None:
        self._table = table
        self.assigned: dict[str, int] = {}  # client → the campaign somebody wants it to work on

    def is_late(self, session: Session, message: ToServer) -> bool:
        """From before this server began, or an EMPTY from before the last hand-over."""
        if message.epoch != self._table.epoch and session.status is not Status.AWAITED:
            if isinstance(message, _IN_ANY_EPOCH):
                return False
            # Perhaps it does not know us: its HELLO may have been meant for the server before.
            self._table.say(Rejoin(session.peer, self._table.epoch, given_up=False))
            return True
        return isinstance(message, Empty) and message.turn < session.turn

    def stranger(self, message: ToServer, current: Session | None, origin: Origin) -> Session | None:
        """A message from a client, or a life of one, that is not in the table. Returns its session if it gets one."""
        peer = message.peer
        if isinstance(message, Bye):
            self._table.say(Gone(peer))
            return None
        if self._table.is_over(peer):
            if isinstance(message, Results):
                self._table.counts["repeated"] += message.tests - self._table.record(message, None, origin).tests
            self._table.say(Rejoin(peer, self._table.epoch, given_up=True))
            return None
        if isinstance(message, Hello):
            problem = objection(message, self._table.campaigns)
            if problem is not None:
                self._table.say(Refused(peer, *problem))
                return None
            clients = Counter(session.campaign for session in self._table.sessions.values())
            assigned = self.assigned.get(peer.client)
            campaign = work_for(message, self._table.campaigns, assigned, clients)
        elif isinstance(message, Results) and message.campaign in self._table.campaigns:
            campaign = message.campaign
        else:
            self._table.say(Rejoin(peer, self._table.epoch, given_up=False))
            return None
        if current is not None:
            self._table.event(current, ServerEvent.SILENT)
        return self._table.await_hello(peer, campaign, origin)

    def correct(self, session: Session, campaign: int) -> None:
        """It works on another campaign than the table says, as after a HELLO from before this server's start."""
        if campaign not in self._table.campaigns:
            return
        before = self._table.campaign_of(session)
        self._table.relieve(before.matcher.leaves(session))
        before.frontier.free(session.peer)
        session.campaign = campaign
        if session.status not in (Status.AWAITED, Status.LEAVING):
            session.status = Status.BUSY
            self._table.moved(session)

    def welcome(self, session: Session, message: Hello) -> None:
        session.address = message.address if is_its_own(message.address, session.origin) else ""
        session.where = message.where
        campaign = self._table.campaign_of(session)
        if campaign.finished:
            self._table.event(session, ServerEvent.FINISHED)
        else:
            secret = tickets.secret_of(self._table.secret, session.peer)
            whole = campaign.limited or session.origin.is_foreign  # what a stranger says is checked, pair by pair
            about = self._table.epoch, campaign.number, campaign.image, whole, secret
            self._table.say(Welcome(session.peer, *about))

    def ask_to_join(self, session: Session, _: ToServer) -> None:
        self._table.say(Rejoin(session.peer, self._table.epoch, given_up=False))

    def part(self, session: Session, message: Bye) -> None:
        """It goes with nothing left to report; its pairs are free, but for one that too many have failed with."""
        campaign = self._table.campaign_of(session)
        frontier = campaign.frontier
        if message.failed:
            who = session.origin.witness(session.peer.client)
            self._table.counts["set aside"] += campaign.fail(message.failed, session.peer, who)
        self._table.counts["handed back"] += frontier.free(session.peer)
        self._table.say_then(Gone(session.peer))

    def give_up(self, session: Session, _: None = None) -> None:
        """It is dead, or seems so: its pairs go to others. If it is not dead, its results are still welcome."""
        self._table.campaign_of(session).frontier.free(session.peer)
        self._table.counts["given up"] += 1

    def dismiss(self, session: Session, _: None = None) -> None:
        session.pause = session.pause or self._table.timing.resend
        session.due = self._table.now + session.pause
        self._table.say(Leave(session.peer, session.again))

    def stop(self, session: Session, _: object = None) -> None:
        session.pause = session.pause or self._table.timing.resend
        session.due = self._table.now + session.pause
        again = any(not campaign.finished for campaign in self._table.campaigns.values())
        self._table.say(Stop(session.peer, session.campaign, again))


def is_its_own(address: str, origin: Origin) -> bool:
    """Does this lead to the client itself? Others are sent there: not to whatever a stranger names."""
    if not origin.is_foreign:
        return True
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    return address.startswith("tcp://") and host.strip("[]") == origin.host and port.isdigit()


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
