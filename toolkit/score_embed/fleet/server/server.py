"""The server of the fleet, sans I/O: keeps the frontiers, puts results into the record, brings those who wait to those
who have.

Its driver hands in messages, the time and the ends of commits, and carries out the effects that come back. Nothing is
answered before what it rests on is committed; commits go one at a time, each with all that has come meanwhile. What
decides about a client is in `protocol.SERVER`, what decides that a campaign is finished is its durable frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

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
from score_embed.fleet.protocol import ServerEvent, Status, Wake
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.frontier import Opened
from score_embed.fleet.server.matching import Grant
from score_embed.fleet.server.membership import Members
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.sharing import Exchange
from score_embed.fleet.server.table import Effect

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
_EARLY = 10_000  # messages kept while the server starts
_REMOVABLE = frozenset({Status.IDLE, Status.BUSY, Status.SERVING_REQ})


class Server(Members, Exchange):
    """Call `start` and wait for its commit; then `open` campaigns, `receive`, `committed` and `tick` as things happen."""

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

    def _do_record_and_ask_to_join(self, session: Session, message: Results) -> None:
        self._do_record(session, message)
        self._do_ask_to_join(session, message)

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
        self._campaigns[session.campaign].matcher.told(session)

    def _finish_if_done(self, campaign: Campaign) -> None:
        """STOP if and only if the durable frontier is empty. To be asked right after a commit."""
        frontier = campaign.frontier
        if campaign.finished or len(frontier) or frontier.changed:
            return
        campaign.finished = True
        for session in list(self._sessions.values()):
            if session.campaign == campaign.number:
                self._event(session, ServerEvent.FINISHED)

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
            for match in campaign.matcher.overdue(self._now):
                if isinstance(match, Grant):
                    self._commits.then(partial(self._say_grant, match))
                else:
                    self._do_request(match.giver, match)

    # How ----------------------------------------------------------------------------------------------------

    def _add_campaign(self, opened: Opened) -> Campaign:
        campaign = self._campaigns[opened.campaign] = Campaign(opened, self._timing, self._rng)
        return campaign

    def _commit(self, always: bool = False) -> None:
        commit = self._commits.begin([campaign.frontier for campaign in self._campaigns.values()], always)
        if commit is not None:
            self._effects.append(commit)

    def _done(self) -> list[Effect]:
        if self._ready:
            for campaign in self._campaigns.values():
                self._match(campaign)
            self._commit()
        wake = self._timers.wake()
        if wake is not None:
            self._effects.append(Wake(wake))
        effects, self._effects = self._effects, []
        return effects
