"""The server's status table at work: an event comes, `protocol.SERVER` says what is to be done, and what the server says.

What everything else of the server stands on: who joins and leaves is in `membership`, who gives to whom in `exchange`.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import partial
from typing import Any

from score_embed.fleet.messages import (
    FromServer,
    Pairs,
    Peer,
    Results,
    Stored,
    ToServer,
)
from score_embed.fleet.protocol import EPOCH_SHIFT, IGNORE, SERVER, Send, ServerEvent, Status, Timing, Wake
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.frontier import Commit, Commits, Reader, Snapshot
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.timers import Timers

Effect = Send | Commit | Wake


class ServerTable:
    """All that the server knows. Its actions are the methods `_do_…`, of whoever has them."""

    def __init__(self, snapshot: Snapshot, read: Reader, timing: Timing, seed: int = 0) -> None:
        self.epoch = snapshot.epoch + 1
        self.counts: Counter[str] = Counter()
        self._read, self._timing = read, timing
        self._rng = random.Random(seed)
        self._numbers = itertools.count((self.epoch << EPOCH_SHIFT) + 1)  # of REQs and hand-overs
        self._campaigns: dict[int, Campaign] = {}
        self._sessions: dict[str, Session] = {}  # by client
        self._ended: dict[str, int] = {}  # client → its last incarnation that is over
        self._assigned: dict[str, int] = {}  # client → the campaign somebody wants it to work on
        self._snapshot = snapshot
        self._ready = False
        self._early: list[ToServer | Pairs] = []  # messages that came before
        self._commits = Commits(self.epoch)
        self._timers = Timers()
        self._effects: list[Effect] = []
        self._now = self._patience = 0.0  # until then, who was not heard of may still be there

    @property
    def full(self) -> bool:
        """Some campaign has recorded as many tests as somebody wants."""
        return any(campaign.full for campaign in self._campaigns.values())

    def _event(self, session: Session, event: ServerEvent, what: Any = None) -> None:
        """Look up what is to be done, and do it."""
        before = session.status
        session.status, action = SERVER[before, event]
        if session.status is not before:
            session.since = self._now
            self._moved(session)
        if action != IGNORE:
            getattr(self, f"_do_{action}")(session, *(() if what is None else (what,)))

    def _moved(self, session: Session) -> None:
        """Its status has changed: it may be asked for pairs, or not any more."""
        if session.status is Status.GONE:
            del self._sessions[session.peer.client]
            self._ended[session.peer.client] = session.peer.incarnation
        matcher = self._campaigns[session.campaign].matcher
        if session.status is Status.BUSY:
            matcher.can_give(session)
        elif session.status is Status.IDLE:
            matcher.release(session)
        elif session.status is not Status.SERVING_REQ:
            self._relieve(matcher.leaves(session))

    def _relieve(self, giver: Session | None) -> None:
        if giver is not None and giver.status is Status.SERVING_REQ:
            giver.queue //= 2  # a guess, until it tells
            self._event(giver, ServerEvent.RELIEVED)

    def _is_over(self, peer: Peer) -> bool:
        current = self._sessions.get(peer.client)
        if current is not None and peer.incarnation < current.peer.incarnation:
            return True
        return peer.incarnation <= self._ended.get(peer.client, -1)

    def _await(self, peer: Peer, campaign: int) -> Session:
        """A client that has not said HELLO to this server yet."""
        session = Session(peer, campaign, heard=self._now, joined=self._now)
        self._sessions[peer.client] = session
        return session

    def _record(self, message: Results, owner: Peer | None) -> int:
        """Put results into the record; says how many were new."""
        campaign = self._campaigns.get(message.campaign)
        if campaign is None:
            return 0
        new, drop = campaign.record(message, owner)
        self._say_then(Stored(message.peer, message.batch, drop))
        return new

    def _say(self, message: FromServer) -> None:
        self._effects.append(Send(message, message.to))

    def _say_then(self, message: FromServer) -> None:
        """Say it when all that has changed until now is durable."""
        self._commits.then(partial(self._say, message))
