"""The server's status table: one session a client, what an event of it leads to, and what the server says and commits.

It is what the parts of the server share: who joins and leaves is in `membership`, who gives to whom in `sharing`. An
event is looked up in `protocol.SERVER`; `actions` are the server's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from score_embed.fleet.messages import FromServer, Peer, Results, Settled, Stored
from score_embed.fleet.origin import OWN, Origin
from score_embed.fleet.protocol import SERVER, Send, ServerAction, ServerEvent, Status, Timing, Wake
from score_embed.fleet.server.admission import Admission, Expel
from score_embed.fleet.server.campaign import Campaign, Taken
from score_embed.fleet.server.frontier import Commit, Commits, Past
from score_embed.fleet.server.sessions import Deals, Session
from score_embed.fleet.timers import Timers

Effect = Send | Commit | Wake | Expel
Action = Callable[[Session, Any], None]  # takes the message of the event, or what else belongs to it


class StatusTable:
    def __init__(self, epoch: int, timing: Timing, secret: bytes, past: Past) -> None:
        """`secret`: of which tickets are made."""
        self._past = past
        self.epoch, self.timing, self.secret = epoch, timing, secret
        self.admission = Admission()
        self.counts: Counter[str] = Counter()
        self.deals = Deals()
        self.campaigns: dict[int, Campaign] = {}
        self.sessions: dict[str, Session] = {}  # by client
        self.ended: dict[str, int] = {}  # client → its last incarnation that is over
        self.actions: Mapping[ServerAction, Action] = {}
        self.commits = Commits(epoch)
        self.timers: Timers[str] = Timers()
        self.now = 0.0
        self._effects: list[Effect] = []

    # Events -------------------------------------------------------------------------------------------------

    def event(self, session: Session, event: ServerEvent, what: object = None) -> None:
        """Look up what is to be done, and do it."""
        before = session.status
        session.status, action = SERVER[before, event]
        if session.status is not before:
            session.since = self.now
            self.moved(session)
        if action is not None:
            self.actions[action](session, what)

    def moved(self, session: Session) -> None:
        """Its status has changed: it may be asked for pairs, or not any more."""
        if session.status is Status.GONE:
            del self.sessions[session.peer.client]
            self.ended[session.peer.client] = session.peer.incarnation
            self.deals.forget(session.peer)
            for req, giver in self.deals.close_to(session.peer):  # who has given, and leaves, need not ask
                self.say_then(Settled(giver, req, session.peer, taken=False))
        matcher = self.campaign_of(session).matcher
        if session.status is Status.BUSY:
            matcher.can_give(session)
        elif session.status is Status.IDLE:
            matcher.release(session)
        elif session.status is not Status.SERVING_REQ:
            self.relieve(matcher.leaves(session))

    def relieve(self, giver: Session | None) -> None:
        if giver is not None and giver.status is Status.SERVING_REQ:
            giver.queue //= 2  # a guess, until it tells
            self.event(giver, ServerEvent.RELIEVED)

    # Who is there -------------------------------------------------------------------------------------------

    def campaign_of(self, session: Session) -> Campaign:
        return self.campaigns[session.campaign]

    def await_hello(self, peer: Peer, campaign: int, origin: Origin = OWN) -> Session:
        """A client that has not said HELLO to this server yet."""
        session = Session(peer, campaign, heard=self.now, joined=self.now, origin=origin, useful=self.now)
        self.sessions[peer.client] = session
        return session

    def is_over(self, peer: Peer) -> bool:
        current = self.sessions.get(peer.client)
        if current is not None and peer.incarnation < current.peer.incarnation:
            return True
        return peer.incarnation <= self.ended.get(peer.client, -1)

    # What is said and kept ----------------------------------------------------------------------------------

    def record(self, message: Results, owner: Peer | None, origin: Origin) -> Taken:
        """Put results into the record; says what became of them."""
        campaign = self.campaigns.get(message.campaign)
        if campaign is None:
            return Taken(0, 0, (), ())
        children = [
            child.id for result in message.results for child in result.children if child.id not in campaign.frontier
        ]
        is_unsure = origin.is_foreign or campaign.repeats
        done = self._past(campaign.number, children) if is_unsure and children else ()
        taken = campaign.record(message, owner, done)
        self.counts["refused"] += len(taken.refused)
        self.say_then(Stored(message.peer, message.batch, taken.drop, taken.refused))
        return taken

    def say(self, message: FromServer) -> None:
        self._effects.append(Send(message, message.to))

    def fault(self, client: str, origin: Origin, why: str) -> None:
        """It said what no client of ours says; perhaps it is sent away for that."""
        self.counts["faults"] += 1
        expel = self.admission.fault(client, origin, why)
        if expel is None:
            return
        self._effects.append(expel)
        for session in list(self.sessions.values()):
            if session.origin.witness(session.peer.client) == origin.witness(client):
                self.event(session, ServerEvent.SILENT)

    def say_then(self, message: FromServer) -> None:
        """Say it when all that has changed until now is durable."""
        self.commits.then(partial(self.say, message))

    def commit(self, always: bool = False) -> None:
        commit = self.commits.begin([campaign.frontier for campaign in self.campaigns.values()], always)
        if commit is not None:
            self._effects.append(commit)

    def take_effects(self) -> list[Effect]:
        """All since this was last called, and when to be woken if that has changed."""
        wake = self.timers.wake()
        if wake is not None:
            self._effects.append(Wake(wake))
        effects, self._effects = self._effects, []
        return effects
