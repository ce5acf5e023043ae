"""The server of the fleet, sans I/O: keeps the frontiers, puts results into the record, brings those who wait to those
who have.

Its driver hands in messages, the time and the ends of commits, and carries out the effects that come back. Nothing is
answered before what it rests on is committed; commits go one at a time, each with all that has come meanwhile. What
decides about a client is in `protocol.SERVER`, what decides that a campaign is finished is its durable frontier.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from score_embed.fleet import admission
from score_embed.fleet.assignment import Campaign
from score_embed.fleet.client_side import EPOCH_SHIFT
from score_embed.fleet.committing import Committing
from score_embed.fleet.dealing import Grant, Request
from score_embed.fleet.frontier import Commit, Opened, Reader, Snapshot
from score_embed.fleet.messages import (
    SERVER as SERVER_PEER,
)
from score_embed.fleet.messages import (
    Ack,
    Alive,
    Ask,
    Bye,
    Empty,
    FromServer,
    Gone,
    Hello,
    Leave,
    Nack,
    Noted,
    Pair,
    Pairs,
    Peer,
    Receiver,
    Refused,
    Rejoin,
    Req,
    Results,
    Settled,
    Stop,
    Stored,
    ToServer,
    Welcome,
)
from score_embed.fleet.protocol import IGNORE, SERVER, Send, ServerEvent, Status, Timing, Wake
from score_embed.fleet.sessions import Session
from score_embed.fleet.timers import Timers

Effect = Send | Commit | Wake

_EVENTS: dict[type, ServerEvent] = {
    Hello: ServerEvent.HELLO,
    Results: ServerEvent.RESULTS,
    Alive: ServerEvent.ALIVE,
    Empty: ServerEvent.EMPTY,
    Ack: ServerEvent.ACK,
    Nack: ServerEvent.NACK,
    Ask: ServerEvent.ASK,
    Bye: ServerEvent.BYE,
}
_IN_ANY_EPOCH = (Hello, Results, Bye)  # true whatever the server has forgotten

_EARLY = 10_000  # messages kept while the server starts
_REMOVABLE = frozenset({Status.IDLE, Status.BUSY, Status.SERVING_REQ})


class Server:
    """Call `start` and wait for its commit; then `open` campaigns, `receive`, `committed` and `tick` as things happen."""

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
        self._commits = Committing(self.epoch)
        self._timers = Timers()
        self._effects: list[Effect] = []
        self._now = self._patience = 0.0  # until then, who was not heard of may still be there

    # What happens -------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[Effect]:
        """Take over the record. A new epoch is durable before anybody hears of it."""
        self._now = now
        self._patience = now + self._timing.dead
        for opened in self._snapshot.campaigns:
            campaign = self._add_campaign(opened)
            for peer in campaign.frontier.owners():
                self._await(peer, campaign.number)
        self._timers.set("look", now + self._timing.resend / 2)
        self._commit(always=True)
        return self._done()

    def open(self, campaign: int, image: bytes, first: Pair, now: float) -> list[Effect]:
        """Begin a campaign, unless the record has it."""
        self._now = now
        if campaign not in self._campaigns:
            self._add_campaign(Opened(campaign, image, {})).frontier.add(first, None)
        return self._done()

    def receive(self, message: ToServer | Pairs, now: float) -> list[Effect]:
        self._now = now
        if self._ready:
            self._take(message)
        elif len(self._early) < _EARLY:
            self._early.append(message)
        return self._done()

    def _take(self, message: ToServer | Pairs) -> None:
        if isinstance(message, Pairs):
            self._relay(message)
            return
        session = self._sessions.get(message.peer.client)
        if session is None or session.peer != message.peer:
            session = self._stranger(message, session)
        if session is not None:
            session.heard = self._now
            if isinstance(message, Hello | Results) and message.campaign not in (0, session.campaign):
                self._correct(session, message.campaign)
            if not self._is_late(session, message):
                self._event(session, _EVENTS[type(message)], message)

    def committed(self, number: int, now: float) -> list[Effect]:
        """The commit of that number is durable."""
        self._now = now
        self._commits.end(number)
        self._ready = True
        for campaign in self._campaigns.values():
            self._finish_if_done(campaign)
        early, self._early = self._early, []
        for message in early:
            self._take(message)
        return self._done()

    def tick(self, now: float) -> list[Effect]:
        """Time has passed."""
        self._now = now
        if "look" in self._timers.due(now):
            self._timers.set("look", now + self._timing.resend / 2)
            self._look()
        return self._done()

    # What somebody wants ------------------------------------------------------------------------------------

    def remove(
        self, wanted: Callable[[Session], bool], count: int | None, now: float, again: bool = False
    ) -> list[Effect]:
        """Let clients leave: those `wanted`, at most `count`. `again`: they are to join once more."""
        self._now = now
        chosen = [session for session in self._sessions.values() if session.status in _REMOVABLE and wanted(session)]
        for session in chosen[:count]:
            session.again = again
            self._event(session, ServerEvent.REMOVED)
        return self._done()

    def assign(self, campaign: int, wanted: Callable[[Session], bool], count: int | None, now: float) -> list[Effect]:
        """Let clients of other campaigns work on this one."""

        def others(session: Session) -> bool:
            return session.campaign != campaign and wanted(session)

        chosen = [s for s in self._sessions.values() if s.status in _REMOVABLE and others(s)][:count]
        for session in chosen:
            self._assigned[session.peer.client] = campaign
        return self.remove(lambda session: session in chosen, None, now, again=True)

    def lost(self, client: str, now: float) -> list[Effect]:
        """Somebody knows that this client is dead: no need to wait until it was silent for long."""
        self._now = now
        session = self._sessions.get(client)
        if session is not None:
            self._event(session, ServerEvent.SILENT)
        return self._done()

    @property
    def full(self) -> bool:
        """Some campaign has recorded as many tests as somebody wants."""
        return any(campaign.full for campaign in self._campaigns.values())

    @property
    def campaigns(self) -> Mapping[int, Campaign]:
        return self._campaigns

    def session(self, client: str) -> Session | None:
        return self._sessions.get(client)

    def sessions(self) -> list[Session]:
        """The status table."""
        return list(self._sessions.values())

    @property
    def finished(self) -> bool:
        """All campaigns are finished, and every client knows."""
        return all(campaign.finished for campaign in self._campaigns.values()) and not self._sessions

    # Events -------------------------------------------------------------------------------------------------

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
        dealer = self._campaigns[session.campaign].dealer
        if session.status is Status.BUSY:
            dealer.can_give(session)
        elif session.status is Status.IDLE:
            dealer.release(session)
        elif session.status is not Status.SERVING_REQ:
            self._relieve(dealer.leaves(session))

    def _is_late(self, session: Session, message: ToServer) -> bool:
        """From before this server began, or an EMPTY from before the last hand-over."""
        if message.epoch != self.epoch and session.status is not Status.AWAITED:
            if isinstance(message, _IN_ANY_EPOCH):
                return False
            # Perhaps it does not know us: its HELLO may have been meant for the server before.
            self._say(Rejoin(session.peer, self.epoch, given_up=False))
            return True
        return isinstance(message, Empty) and message.turn < session.turn

    def _stranger(self, message: ToServer, current: Session | None) -> Session | None:
        """A message from a client, or a life of one, that is not in the table. Returns its session if it gets one."""
        peer = message.peer
        if isinstance(message, Bye):
            self._say(Gone(peer))
            return None
        if self._is_over(peer):
            if isinstance(message, Results):
                self.counts["repeated"] += len(message.results) - self._record(message, None)
            self._say(Rejoin(peer, self.epoch, given_up=True))
            return None
        if isinstance(message, Hello):
            problem = admission.objection(message, self._campaigns)
            if problem is not None:
                self._say(Refused(peer, *problem))
                return None
            clients = Counter(session.campaign for session in self._sessions.values())
            assigned = self._assigned.get(peer.client)
            campaign = admission.work_for(message, self._campaigns, assigned, clients)
        elif isinstance(message, Results) and message.campaign in self._campaigns:
            campaign = message.campaign
        else:
            self._say(Rejoin(peer, self.epoch, given_up=False))
            return None
        if current is not None:
            self._event(current, ServerEvent.SILENT)
        return self._await(peer, campaign)

    def _correct(self, session: Session, campaign: int) -> None:
        """It works on another campaign than the table says, as after a HELLO from before this server's start."""
        if campaign not in self._campaigns:
            return
        before = self._campaigns[session.campaign]
        self._relieve(before.dealer.leaves(session))
        before.frontier.free(session.peer)
        session.campaign = campaign
        if session.status not in (Status.AWAITED, Status.LEAVING):
            session.status = Status.BUSY
            self._moved(session)

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

    # Joining and leaving ------------------------------------------------------------------------------------

    def _do_welcome(self, session: Session, message: Hello) -> None:
        session.address, session.where = message.address, message.where
        campaign = self._campaigns[session.campaign]
        if campaign.finished:
            self._event(session, ServerEvent.FINISHED)
        else:
            self._say(Welcome(session.peer, self.epoch, campaign.number, campaign.image, campaign.limited))

    def _do_ask_to_join(self, session: Session, _: Any) -> None:
        self._say(Rejoin(session.peer, self.epoch, given_up=False))

    def _do_record_and_ask_to_join(self, session: Session, message: Results) -> None:
        self._do_record(session, message)
        self._do_ask_to_join(session, message)

    def _do_part(self, session: Session, _: Bye) -> None:
        """It goes with nothing left to report; its pairs are free."""
        frontier = self._campaigns[session.campaign].frontier
        self.counts["handed back"] += frontier.free(session.peer)
        self._say_then(Gone(session.peer))

    def _do_give_up(self, session: Session) -> None:
        """It is dead, or seems so: its pairs go to others. If it is not dead, its results are still welcome."""
        self._campaigns[session.campaign].frontier.free(session.peer)
        self.counts["given up"] += 1

    def _do_forget(self, session: Session) -> None:
        """It never said BYE; nothing is left to do anyway."""

    def _do_dismiss(self, session: Session) -> None:
        session.pause = session.pause or self._timing.resend
        session.due = self._now + session.pause
        self._say(Leave(session.peer, session.again))

    def _do_stop(self, session: Session, _: Any = None) -> None:
        session.pause = session.pause or self._timing.resend
        session.due = self._now + session.pause
        again = any(not campaign.finished for campaign in self._campaigns.values())
        self._say(Stop(session.peer, session.campaign, again))

    # Results ------------------------------------------------------------------------------------------------

    def _do_record(self, session: Session, message: Results) -> None:
        self._do_note_queue(session, message)
        new = self._record(message, session.peer)
        session.tests += new
        if message.batch > session.batch and not self.full:
            self.counts["repeated"] += len(message.results) - new
            session.batch = message.batch

    def _do_note_queue(self, session: Session, message: Results | Alive) -> None:
        session.queue = message.queue
        self._campaigns[session.campaign].dealer.told(session)

    def _record(self, message: Results, owner: Peer | None) -> int:
        """Put results into the record; says how many were new."""
        campaign = self._campaigns.get(message.campaign)
        if campaign is None:
            return 0
        new, drop = campaign.record(message, owner)
        self._say_then(Stored(message.peer, message.batch, drop))
        return new

    def _finish_if_done(self, campaign: Campaign) -> None:
        """STOP if and only if the durable frontier is empty. To be asked right after a commit."""
        frontier = campaign.frontier
        if campaign.finished or len(frontier) or frontier.changed:
            return
        campaign.finished = True
        for session in list(self._sessions.values()):
            if session.campaign == campaign.number:
                self._event(session, ServerEvent.FINISHED)

    # Pairs from hand to hand --------------------------------------------------------------------------------

    def _do_free(self, session: Session, message: Empty) -> None:
        """It holds nothing: what the table still assigns to it is free, and it waits."""
        session.turn, session.queue = message.turn, 0
        campaign = self._campaigns[session.campaign]
        grant = campaign.dealer.open_grant_of(session)
        self.counts["freed"] += campaign.frontier.free(session.peer, grant.ids if grant else ())
        if grant is None:
            campaign.dealer.waits(session)

    def _do_remind(self, session: Session, _: Empty) -> None:
        """It still waits; if it was sent something, that seems to be lost."""
        grant = self._campaigns[session.campaign].dealer.open_grant_of(session)
        if grant is not None and grant.due <= self._now:
            self._commits.then(partial(self._say_grant, grant))

    def _do_assign(self, session: Session, message: Ack) -> None:
        session.turn = max(session.turn, message.turn)
        session.queue = max(session.queue, len(message.ids))
        campaign = self._campaigns[session.campaign]
        self._say_then(Noted(session.peer, message.req, campaign.assign(message)))
        if message.giver != SERVER_PEER:
            self._say_then(Settled(message.giver, message.req, session.peer, taken=True))
        self._relieve(campaign.dealer.arrived(message.req, session))

    def _do_request(self, session: Session, request: Request) -> None:
        receivers = tuple(Receiver(peer, to.address) for peer, to in request.receivers.items())
        self._say(Req(session.peer, request.number, receivers))

    def _do_ask_others(self, session: Session, message: Nack) -> None:
        dealer = self._campaigns[session.campaign].dealer
        dealer.rest(session, self._now)
        self._relieve(dealer.refused(message.req, message.receivers))

    def _relieve(self, giver: Session | None) -> None:
        if giver is not None and giver.status is Status.SERVING_REQ:
            giver.queue //= 2  # a guess, until it tells
            self._event(giver, ServerEvent.RELIEVED)

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

    def _deal(self, campaign: Campaign) -> None:
        if campaign.finished:
            return
        for grant in campaign.dealer.grants(self._numbers, self._now):
            self._commits.then(partial(self._say_grant, grant))
        for request in campaign.dealer.requests(self._numbers, self._now):
            self._event(request.giver, ServerEvent.CHOSEN, request)
        rested = campaign.dealer.next_rested
        if rested is not None:
            self._timers.set(f"deal {campaign.number}", max(rested, self._now))

    # Time ---------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Who is silent, and what was not answered?"""
        for session in list(self._sessions.values()):
            if self._now - session.heard > self._timing.dead:
                self._event(session, ServerEvent.SILENT)
            elif session.status in (Status.LEAVING, Status.STOPPING) and session.due <= self._now:
                session.pause = min(2 * session.pause, self._timing.resend_most)
                (self._do_dismiss if session.status is Status.LEAVING else self._do_stop)(session)
        for campaign in self._campaigns.values():
            for deal in campaign.dealer.overdue(self._now):
                if isinstance(deal, Grant):
                    self._commits.then(partial(self._say_grant, deal))
                else:
                    self._do_request(deal.giver, deal)

    # How ----------------------------------------------------------------------------------------------------

    def _add_campaign(self, opened: Opened) -> Campaign:
        campaign = self._campaigns[opened.campaign] = Campaign(opened, self._timing, self._rng)
        return campaign

    def _say(self, message: FromServer) -> None:
        self._effects.append(Send(message, message.to))

    def _say_then(self, message: FromServer) -> None:
        """Say it when all that has changed until now is durable."""
        self._commits.then(partial(self._say, message))

    def _commit(self, always: bool = False) -> None:
        commit = self._commits.begin([campaign.frontier for campaign in self._campaigns.values()], always)
        if commit is not None:
            self._effects.append(commit)

    def _done(self) -> list[Effect]:
        if self._ready:
            for campaign in self._campaigns.values():
                self._deal(campaign)
            self._commit()
        wake = self._timers.wake()
        if wake is not None:
            self._effects.append(Wake(wake))
        effects, self._effects = self._effects, []
        return effects
