"""The server of the fleet, sans I/O: keeps the frontiers, puts results into the record, brings those who wait to those
who have.

Its driver hands in messages, the time and the ends of commits, and carries out the effects that come back. Nothing is
answered before what it rests on is committed; commits go one at a time, each with all that has come meanwhile. What
decides about a client is in `protocol.SERVER`, what decides that a campaign is finished is its durable frontier.

Its parts: `table` has the sessions and what is said, `membership` who is there, `sharing` who gives to whom.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from score_embed.fleet.messages import (
    Ack,
    Alive,
    Ask,
    Bye,
    Empty,
    Hello,
    Nack,
    Pair,
    Pairs,
    Results,
    ToServer,
)
from score_embed.fleet.origin import OWN, Origin
from score_embed.fleet.protocol import ServerAction, ServerEvent, Status, Timing
from score_embed.fleet.server.admission import Admission
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.frontier import Opened, Past, Reader, Snapshot
from score_embed.fleet.server.matching import Grant
from score_embed.fleet.server.membership import Members
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.sharing import Sharing
from score_embed.fleet.server.table import Action, Effect, StatusTable

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
_LOOK = "look"  # the timer of what is looked after regularly
_EARLY = 256  # messages kept while the server starts
_TRIES = 4  # times that a client is asked for pairs until others are
_REMOVABLE = frozenset({Status.IDLE, Status.BUSY, Status.SERVING_REQ})


class Server:
    """Call `start`, wait for its commit, then `open` campaigns, `receive`, `committed` and `tick` as things happen."""

    def __init__(
        self,
        snapshot: Snapshot,
        read: Reader,
        timing: Timing,
        seed: int = 0,
        secret: bytes = b"of nobody",
        past: Past = lambda campaign, ids: (),
    ) -> None:
        """`seed`: of all chance; `secret`: of which tickets are made, unknown to clients; `past`: what is done, where
        clients may be others'."""
        self._snapshot = snapshot
        self._rng = random.Random(seed)
        self._ready = False
        self._early: list[tuple[ToServer | Pairs, Origin]] = []  # messages that came before
        self._table = StatusTable(snapshot.epoch + 1, timing, secret, past)
        self._members = Members(self._table)
        self._sharing = Sharing(self._table, read)
        self.actions: dict[ServerAction, Action] = {
            ServerAction.WELCOME: self._members.welcome,
            ServerAction.ASK_TO_JOIN: self._members.ask_to_join,
            ServerAction.PART: self._members.part,
            ServerAction.GIVE_UP: self._members.give_up,
            ServerAction.DISMISS: self._members.dismiss,
            ServerAction.STOP: self._members.stop,
            ServerAction.RECORD: self._record,
            ServerAction.RECORD_AND_ASK_TO_JOIN: self._record_and_ask_to_join,
            ServerAction.NOTE_QUEUE: self._note_queue,
            ServerAction.FREE: self._sharing.free,
            ServerAction.REMIND: self._sharing.remind,
            ServerAction.ASSIGN: self._sharing.assign,
            ServerAction.REQUEST: self._sharing.request,
            ServerAction.ASK_OTHERS: self._sharing.ask_others,
            ServerAction.ANSWER: self._sharing.answer,
        }
        self._table.actions = self.actions

    # What happens -------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[Effect]:
        """Take over the record. A new epoch is durable before anybody hears of it."""
        self._table.now = now
        self._sharing.patience = now + self._table.timing.dead
        for opened in self._snapshot.campaigns:
            campaign = self._add_campaign(opened)
            for peer in campaign.frontier.owners():
                self._table.await_hello(peer, campaign.number)
        self._table.timers.set(_LOOK, now + self._table.timing.resend / 2)
        self._table.commit(always=True)
        return self._done()

    def open(self, campaign: int, image: bytes, first: Pair, now: float) -> list[Effect]:
        """Begin a campaign, unless the record has it."""
        self._table.now = now
        if campaign not in self._table.campaigns:
            self._add_campaign(Opened(campaign, image, {})).frontier.add(first, None)
        return self._done()

    def receive(self, message: ToServer | Pairs, now: float, origin: Origin = OWN) -> list[Effect]:
        """A message, and who has proved to have said it."""
        self._table.now = now
        if not self._table.admission.admits(message, origin):
            self._table.counts["not admitted"] += 1
        elif self._ready:
            self._take(message, origin)
        elif len(self._early) < _EARLY:
            self._early.append((message, origin))
        return self._done()

    def fault(self, client: str, origin: Origin, why: str, now: float) -> list[Effect]:
        """Its driver has heard what no client of ours says."""
        self._table.now = now
        self._table.fault(client, origin, why)
        return self._done()

    @property
    def admission(self) -> Admission:
        return self._table.admission

    def _take(self, message: ToServer | Pairs, origin: Origin) -> None:
        if isinstance(message, Pairs):
            self._sharing.relay(message, origin)
            return
        session = self._table.sessions.get(message.peer.client)
        if session is None or session.peer != message.peer:
            session = self._members.stranger(message, session, origin)
        if session is not None:
            session.heard, session.origin = self._table.now, origin
            if isinstance(message, Hello | Results) and message.campaign not in (0, session.campaign):
                self._members.correct(session, message.campaign)
            if not self._members.is_late(session, message):
                self._table.event(session, _EVENTS[type(message)], message)

    def committed(self, number: int, now: float) -> list[Effect]:
        """The commit of that number is durable."""
        self._table.now = now
        self._table.commits.end(number)
        self._ready = True
        for campaign in self._table.campaigns.values():
            self._finish_if_done(campaign)
        early, self._early = self._early, []
        for message, origin in early:
            self._take(message, origin)
        return self._done()

    def tick(self, now: float) -> list[Effect]:
        """Time has passed."""
        self._table.now = now
        if _LOOK in self._table.timers.due(now):
            self._table.timers.set(_LOOK, now + self._table.timing.resend / 2)
            self._look()
        return self._done()

    # What somebody wants ------------------------------------------------------------------------------------

    def remove(
        self, wanted: Callable[[Session], bool], count: int | None, now: float, again: bool = False
    ) -> list[Effect]:
        """Let clients leave: those `wanted`, at most `count`. `again`: they are to join once more."""
        self._table.now = now
        chosen = [
            session for session in self._table.sessions.values() if session.status in _REMOVABLE and wanted(session)
        ]
        for session in chosen[:count]:
            session.again = again
            self._table.event(session, ServerEvent.REMOVED)
        return self._done()

    def assign(self, campaign: int, wanted: Callable[[Session], bool], count: int | None, now: float) -> list[Effect]:
        """Let clients of other campaigns work on this one."""

        def others(session: Session) -> bool:
            return session.campaign != campaign and wanted(session)

        chosen = [s for s in self._table.sessions.values() if s.status in _REMOVABLE and others(s)][:count]
        for session in chosen:
            self._members.assigned[session.peer.client] = campaign
        return self.remove(lambda session: session in chosen, None, now, again=True)

    def hold(self, campaign: int, held: bool, now: float) -> list[Effect]:
        """As long as it is held a campaign is not finished: what its clients say is checked by others of them."""
        self._table.now = now
        found = self._table.campaigns[campaign]
        was, found.held = found.held, held
        if was and not held:
            self._finish_if_done(found)
        return self._done()

    def repeat(self, campaign: int, pairs: Sequence[Pair], now: float) -> list[Effect]:
        """Nobody believes any more who did these pairs: they are to be run by others, under ids of their own."""
        self._table.now = now
        found = self._table.campaigns[campaign]
        if not found.finished:
            self._table.counts["run again"] += len(pairs)
            found.repeat(pairs)
        return self._done()

    def lost(self, client: str, now: float) -> list[Effect]:
        """Somebody knows that this client is dead: no need to wait until it was silent for long."""
        self._table.now = now
        session = self._table.sessions.get(client)
        if session is not None:
            self._table.event(session, ServerEvent.SILENT)
        return self._done()

    @property
    def epoch(self) -> int:
        return self._table.epoch

    @property
    def counts(self) -> Counter[str]:
        """What happened beside tests: clients given up, pairs handed back …"""
        return self._table.counts

    @property
    def full(self) -> bool:
        """Some campaign has recorded as many tests as somebody wants."""
        return any(campaign.full for campaign in self.campaigns.values())

    @property
    def campaigns(self) -> Mapping[int, Campaign]:
        return self._table.campaigns

    def session(self, client: str) -> Session | None:
        return self._table.sessions.get(client)

    def sessions(self) -> list[Session]:
        """The status table."""
        return list(self._table.sessions.values())

    @property
    def finished(self) -> bool:
        """All campaigns are finished, and every client knows."""
        return all(campaign.finished for campaign in self._table.campaigns.values()) and not self._table.sessions

    # Results ------------------------------------------------------------------------------------------------

    def _record_and_ask_to_join(self, session: Session, message: Results) -> None:
        self._record(session, message)
        self._members.ask_to_join(session, message)

    def _record(self, session: Session, message: Results) -> None:
        taken = self._table.record(message, session.peer, session.origin)
        self._note_queue(session, message)
        session.tests += taken.tests
        if taken.new:
            session.useful = self._table.now
        # it is not: else nobody would ask it for pairs, for which others wait
        if taken.new and session.status is Status.IDLE:
            session.status = Status.BUSY
            self._table.moved(session)
        if message.batch > session.batch and not self.full:
            self._table.counts["repeated"] += message.tests - taken.tests
            session.batch = message.batch

    def _note_queue(self, session: Session, message: Results | Alive) -> None:
        """At most what the table has for it: who boasted would be asked for pairs before all others, again and
        again."""
        campaign = self._table.campaign_of(session)
        session.queue = min(message.queue, campaign.frontier.held(session.peer))
        campaign.matcher.told(session)

    def _finish_if_done(self, campaign: Campaign) -> None:
        """STOP if and only if the durable frontier is empty. To be asked right after a commit."""
        frontier = campaign.frontier
        if campaign.finished or campaign.held or len(frontier) or frontier.is_ahead:
            return
        campaign.finished = True
        for session in list(self._table.sessions.values()):
            if session.campaign == campaign.number:
                self._table.event(session, ServerEvent.FINISHED)

    # Time ---------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Who is silent, and what was not answered?"""
        for session in list(self._table.sessions.values()):
            if self._table.now - session.heard > self._table.timing.dead:
                self._table.event(session, ServerEvent.SILENT)
            elif self._is_stalled(session):
                self._give_up_stalled(session)
            elif session.status in (Status.LEAVING, Status.STOPPING) and session.due <= self._table.now:
                session.pause = min(2 * session.pause, self._table.timing.resend_most)
                (self._members.dismiss if session.status is Status.LEAVING else self._members.stop)(session)
        for campaign in self._table.campaigns.values():
            for match in campaign.matcher.overdue(self._table.now):
                if isinstance(match, Grant):
                    self._sharing.offer(match)
                elif match.tries > _TRIES:
                    self._sharing.ask_others_than(match)
                else:
                    self._sharing.request(match.giver, match)

    def _is_stalled(self, session: Session) -> bool:
        """It says that it is alive, and holds pairs for long that bring nothing, while somebody waits for pairs."""
        campaign, table = self._table.campaign_of(session), self._table
        if table.now - session.useful <= table.timing.stall or not campaign.frontier.held(session.peer):
            return False
        return any(s.campaign == session.campaign and s.status is Status.IDLE for s in table.sessions.values())

    def _give_up_stalled(self, session: Session) -> None:
        self._table.counts["stalled"] += 1
        client, origin = session.peer.client, session.origin
        self._table.event(session, ServerEvent.SILENT)
        self._table.fault(client, origin, f"it held tests for {self._table.timing.stall:.0f} s and brought nothing")

    # How ----------------------------------------------------------------------------------------------------

    def _add_campaign(self, opened: Opened) -> Campaign:
        campaign = Campaign(opened, self._table.timing, self._rng)
        self._table.campaigns[opened.campaign] = campaign
        return campaign

    def _done(self) -> list[Effect]:
        if self._ready:
            for campaign in self._table.campaigns.values():
                self._sharing.match(campaign)
            self._table.commit()
        return self._table.take_effects()
