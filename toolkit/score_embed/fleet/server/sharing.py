"""Pairs from client to client, as the server sees it: it brings who waits to who has, and records whose they are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

from score_embed.fleet import tickets
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
    Peer,
    Receiver,
    Req,
    Settled,
    in_one_message,
)
from score_embed.fleet.origin import Origin
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
        self._by_way_of_server: set[str] = set()  # clients that give nothing directly; for look-ups only
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
        """The receiver has got pairs: are they what the record has, and the giver's to give?"""
        if len(message.marks) != tickets.MARK_BYTES * len(message.ids):
            self._table.fault(session.peer.client, session.origin, "its ACK has not a mark for each pair")
            return
        session.turn = max(session.turn, message.turn)
        session.queue = max(session.queue, len(message.ids))
        campaign = self._table.campaign_of(session)
        asked = self._table.deals.close(message.req, message.giver, session.peer)
        marks = self._marks(campaign, session.peer, message.ids)
        if asked:
            marks |= self._marks(campaign, message.giver, message.ids)
        drop, is_wrong = campaign.assign(message, marks)
        if is_wrong:
            self._distrust(session, message.giver)
        if asked and len(drop) < len(message.ids):
            session.useful = self._table.now
        self._table.say_then(Noted(session.peer, message.req, drop))
        if message.giver != SERVER_PEER and (asked or len(drop) < len(message.ids)):
            self._table.say_then(Settled(message.giver, message.req, session.peer, taken=True))
        for giver in campaign.matcher.arrived(message.req, session):
            self._table.relieve(giver)

    def _marks(self, campaign: Campaign, owner: Peer, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """What the pairs that are this client's say in the record."""
        owned = [ident for ident in dict.fromkeys(ids) if campaign.frontier.owner(ident) == owner]
        return {pair.id: tickets.mark(pair) for pair in self._read(campaign.number, owned)} if owned else {}

    def _distrust(self, receiver: Session, giver: Peer) -> None:
        """One of them lies, and nobody knows which. So nothing goes directly to or from them any more: what goes by way
        of the server it sees, and then it knows."""
        self._table.counts["wrong hand-overs"] += 1
        receiver.address = ""
        self._by_way_of_server.add(giver.client)

    def request(self, session: Session, request: Request) -> None:
        receivers = tuple(self._receiver(session, to, request.number) for to in request.receivers.values())
        for receiver in receivers:
            self._table.deals.open(request.number, session.peer, receiver.peer)
        self._table.say(Req(session.peer, request.number, receivers))

    def _receiver(self, giver: Session, to: Session, req: int) -> Receiver:
        if not to.address or giver.peer.client in self._by_way_of_server:
            return Receiver(to.peer, "")
        ticket = tickets.ticket(tickets.secret_of(self._table.secret, to.peer), req, giver.peer)
        return Receiver(to.peer, to.address, to.origin.public, ticket)

    def ask_others(self, session: Session, message: Nack) -> None:
        matcher = self._table.campaign_of(session).matcher
        matcher.rest(session, self._table.now)
        for peer in message.receivers:
            self._table.deals.close(message.req, session.peer, peer)
        self._table.relieve(matcher.refused(message.req, session, message.receivers))

    def ask_others_than(self, request: Request) -> None:
        """It does not answer: those who wait need not wait for it."""
        matcher = self._table.campaign_of(request.giver).matcher
        matcher.rest(request.giver, self._table.now)
        self._table.counts["unanswered"] += 1
        self._table.relieve(matcher.refused(request.number, request.giver, tuple(request.receivers)))

    def answer(self, session: Session, message: Ask) -> None:
        """Was a gift taken? Not if its pairs are still the giver's and the receiver is over."""
        taken = self._table.campaign_of(session).frontier.owner(message.id) != session.peer
        if not taken and self._table.deals.is_open(message.req, session.peer, message.receiver):
            is_there = message.receiver.client in self._table.sessions or self._table.now < self.patience
            if is_there and not self._table.is_over(message.receiver):
                return  # it may still say ACK
            self._table.deals.close(message.req, session.peer, message.receiver)
        self._table.counts["gifts taken back"] += not taken
        self._table.say_then(Settled(session.peer, message.req, message.receiver, taken))

    def relay(self, message: Pairs, origin: Origin) -> None:
        """Pairs that do not get from client to client directly, if they are what the record has."""
        session = self._table.sessions.get(message.to.client)
        giver = self._table.sessions.get(message.giver.client)
        if giver is None or giver.peer != message.giver or session is None or session.peer != message.to:
            return
        if not self._table.deals.is_open(message.req, message.giver, message.to):
            return
        marks = self._marks(self._table.campaign_of(giver), message.giver, [pair.id for pair in message.pairs])
        if any(marks.get(pair.id, mark) != mark for pair in message.pairs if (mark := tickets.mark(pair))):
            self._table.fault(message.giver.client, origin, "it gave others tests that are not what it has")
            return
        self._table.counts["relayed"] += 1
        self._table.say(message)

    def offer(self, grant: Grant) -> None:
        """Send pairs of the pool, once it is durable whose they are."""
        self._table.commits.then(partial(self._say_grant, grant))

    def _say_grant(self, grant: Grant) -> None:
        campaign = self._table.campaign_of(grant.receiver)
        ids = [ident for ident in grant.ids if campaign.frontier.owner(ident) == grant.receiver.peer]
        if not ids:  # who had them before has finished them
            if campaign.matcher.void(grant):
                self._table.timers.set(f"match {campaign.number}", self._table.now)
            return
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
            grant.receiver.useful = self._table.now
            self.offer(grant)
        for request in campaign.matcher.requests(self._numbers, self._table.now):
            self._table.event(request.giver, ServerEvent.CHOSEN, request)
        rested = campaign.matcher.next_rested
        if rested is not None:
            self._table.timers.set(f"match {campaign.number}", max(rested, self._table.now))
