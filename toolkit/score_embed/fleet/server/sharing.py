"""Pairs from hand to hand, as the server sees it: who waits is brought to who has, and the record learns who has what."""

from __future__ import annotations

from functools import partial

from score_embed.fleet.messages import (
    SERVER as SERVER_PEER,
)
from score_embed.fleet.messages import (
    Ack,
    Ask,
    Empty,
    Nack,
    Noted,
    Pairs,
    Receiver,
    Req,
    Settled,
)
from score_embed.fleet.protocol import Send, ServerEvent
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.matching import Grant, Request
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.table import ServerTable


class Exchange(ServerTable):
    """The server's part in sharing."""

    def _do_free(self, session: Session, message: Empty) -> None:
        """It holds nothing: what the table still assigns to it is free, and it waits."""
        session.turn, session.queue = message.turn, 0
        campaign = self._campaigns[session.campaign]
        grant = campaign.matcher.open_grant_of(session)
        self.counts["freed"] += campaign.frontier.free(session.peer, grant.ids if grant else ())
        if grant is None:
            campaign.matcher.waits(session)

    def _do_remind(self, session: Session, _: Empty) -> None:
        """It still waits; if it was sent something, that seems to be lost."""
        grant = self._campaigns[session.campaign].matcher.open_grant_of(session)
        if grant is not None and grant.due <= self._now:
            self._commits.then(partial(self._say_grant, grant))

    def _do_assign(self, session: Session, message: Ack) -> None:
        session.turn = max(session.turn, message.turn)
        session.queue = max(session.queue, len(message.ids))
        campaign = self._campaigns[session.campaign]
        self._say_then(Noted(session.peer, message.req, campaign.assign(message)))
        if message.giver != SERVER_PEER:
            self._say_then(Settled(message.giver, message.req, session.peer, taken=True))
        self._relieve(campaign.matcher.arrived(message.req, session))

    def _do_request(self, session: Session, request: Request) -> None:
        receivers = tuple(Receiver(peer, to.address) for peer, to in request.receivers.items())
        self._say(Req(session.peer, request.number, receivers))

    def _do_ask_others(self, session: Session, message: Nack) -> None:
        matcher = self._campaigns[session.campaign].matcher
        matcher.rest(session, self._now)
        self._relieve(matcher.refused(message.req, message.receivers))

    def _do_answer(self, session: Session, message: Ask) -> None:
        """Was a gift taken? Not if its pairs are still the giver's and the receiver is over."""
        taken = self._campaigns[session.campaign].frontier.owner(message.id) != session.peer
        if not taken and not self._is_over(message.receiver):
            if message.receiver.client in self._sessions or self._now < self._patience:
                return  # it may still say ACK
            self._ended[message.receiver.client] = message.receiver.incarnation
        self.counts["gifts taken back"] += not taken
        self._say_then(Settled(session.peer, message.req, message.receiver, taken))

    def _relay(self, message: Pairs) -> None:
        """Pairs that do not get from hand to hand directly."""
        session = self._sessions.get(message.to.client)
        if session is not None and session.peer == message.to:
            self.counts["relayed"] += 1
            self._effects.append(Send(message, message.to))

    def _say_grant(self, grant: Grant) -> None:
        campaign = self._campaigns[grant.receiver.campaign]
        ids = [ident for ident in grant.ids if campaign.frontier.owner(ident) == grant.receiver.peer]
        if ids:
            pairs = tuple(self._read(campaign.number, ids))
            self._say(Pairs(grant.receiver.peer, grant.number, campaign.number, SERVER_PEER, pairs))

    def _match(self, campaign: Campaign) -> None:
        if campaign.finished:
            return
        for grant in campaign.matcher.grants(self._numbers, self._now):
            self._commits.then(partial(self._say_grant, grant))
        for request in campaign.matcher.requests(self._numbers, self._now):
            self._event(request.giver, ServerEvent.CHOSEN, request)
        rested = campaign.matcher.next_rested
        if rested is not None:
            self._timers.set(f"match {campaign.number}", max(rested, self._now))
