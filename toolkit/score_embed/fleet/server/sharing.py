"""Pairs from client to client, as the server sees it: it brings who waits to who has, and records whose they are."""

from __future__ import annotations

import itertools
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
    in_one_message,
)
from score_embed.fleet.protocol import EPOCH_SHIFT, ServerEvent
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.frontier import Reader
from score_embed.fleet.server.matching import Grant, Request
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.table import StatusTable


class Sharing:
    """The server's part in sharing. `read`: pairs from the record."""

    def __init__(self, table: StatusTable, read: Reader) -> None:
        self._table, self._read = table, read
        self._numbers = itertools.count((table.epoch << EPOCH_SHIFT) + 1)  # of REQs and hand-overs
        self.patience = 0.0  # until then, who was not heard of may still be there

    def free(self, session: Session, message: Empty) -> None:
        """It holds nothing: what the table still assigns to it is free, and it waits."""
        session.turn, session.queue = message.turn, 0
        campaign = self._table.campaign_of(session)
        grant = campaign.matcher.open_grant_of(session)
        self._table.counts["freed"] += campaign.frontier.free(session.peer, grant.ids if grant else ())
        if grant is None:
            campaign.matcher.waits(session)

    def remind(self, session: Session, _: Empty) -> None:
        """It still waits; if it was sent something, that seems to be lost."""
        grant = self._table.campaign_of(session).matcher.open_grant_of(session)
        if grant is not None and grant.due <= self._table.now:
            self.offer(grant)

    def assign(self, session: Session, message: Ack) -> None:
        session.turn = max(session.turn, message.turn)
        session.queue = max(session.queue, len(message.ids))
        campaign = self._table.campaign_of(session)
        self._table.say_then(Noted(session.peer, message.req, campaign.assign(message)))
        if message.giver != SERVER_PEER:
            self._table.say_then(Settled(message.giver, message.req, session.peer, taken=True))
        self._table.relieve(campaign.matcher.arrived(message.req, session))

    def request(self, session: Session, request: Request) -> None:
        receivers = tuple(Receiver(peer, to.address) for peer, to in request.receivers.items())
        self._table.say(Req(session.peer, request.number, receivers))

    def ask_others(self, session: Session, message: Nack) -> None:
        matcher = self._table.campaign_of(session).matcher
        matcher.rest(session, self._table.now)
        self._table.relieve(matcher.refused(message.req, message.receivers))

    def answer(self, session: Session, message: Ask) -> None:
        """Was a gift taken? Not if its pairs are still the giver's and the receiver is over."""
        taken = self._table.campaign_of(session).frontier.owner(message.id) != session.peer
        if not taken and not self._table.is_over(message.receiver):
            if message.receiver.client in self._table.sessions or self._table.now < self.patience:
                return  # it may still say ACK
            self._table.ended[message.receiver.client] = message.receiver.incarnation
        self._table.counts["gifts taken back"] += not taken
        self._table.say_then(Settled(session.peer, message.req, message.receiver, taken))

    def relay(self, message: Pairs) -> None:
        """Pairs that do not get from client to client directly."""
        session = self._table.sessions.get(message.to.client)
        if session is not None and session.peer == message.to:
            self._table.counts["relayed"] += 1
            self._table.say(message)

    def offer(self, grant: Grant) -> None:
        """Send pairs of the pool, once it is durable whose they are."""
        self._table.commits.then(partial(self._say_grant, grant))

    def _say_grant(self, grant: Grant) -> None:
        campaign = self._table.campaign_of(grant.receiver)
        ids = [ident for ident in grant.ids if campaign.frontier.owner(ident) == grant.receiver.peer]
        if ids:
            found = self._read(campaign.number, ids)
            pairs = in_one_message(found)
            for pair in found[len(pairs) :]:  # together too large for a message: they are nobody's again
                campaign.frontier.move(pair.id, None)
            grant.ids = tuple(pair.id for pair in pairs)
            self._table.say(Pairs(grant.receiver.peer, grant.number, campaign.number, SERVER_PEER, pairs))

    def match(self, campaign: Campaign) -> None:
        if campaign.finished:
            return
        for grant in campaign.matcher.grants(self._numbers, self._table.now):
            self.offer(grant)
        for request in campaign.matcher.requests(self._numbers, self._table.now):
            self._table.event(request.giver, ServerEvent.CHOSEN, request)
        rested = campaign.matcher.next_rested
        if rested is not None:
            self._table.timers.set(f"match {campaign.number}", max(rested, self._table.now))
