"""The fleet's server at work: frames and the time go into the protocol, its effects into frames and the record.

Everything that came together is committed together: a commit waits until all frames at hand are taken in. What people
order is answered here, but for what concerns the server's own clients, which belong to the session.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from score_embed import __version__
from score_embed.errors import ScoreError, UsageError
from score_embed.explore.pair import is_serialised
from score_embed.fleet import service
from score_embed.fleet.messages import SERVER, Ack, DecodeError, FromClient, Pair, Pairs, Results, ToServer
from score_embed.fleet.process.campaign_record import CampaignRecord
from score_embed.fleet.process.job import OfferedJob
from score_embed.fleet.protocol import Send, Status, Timing, Wake
from score_embed.fleet.server import condition
from score_embed.fleet.server.frontier import Commit, Snapshot
from score_embed.fleet.server.server import Server
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.table import Effect
from score_embed.fleet.transport.line import Listener
from score_embed.results.work import WorkNotes
from score_embed.witness.witness import Witness

Orders = Callable[[service.Order], service.Done]  # raises ScoreError


@dataclass(frozen=True)
class Hosted:
    """A campaign of the server."""

    name: str
    program: str
    record: CampaignRecord
    job: OfferedJob
    limit: int | None  # tests in this session
    witness: Witness | None = None
    work: WorkNotes | None = None  # of clients that were started here


def _is_sound(message: Results) -> bool:
    """Every pair that becomes known has the data to run it, or its result is there, too."""
    done = {result.id for result in message.results}
    return all(
        is_serialised(child.data, child.id) or (not child.data and child.id in done)
        for result in message.results
        for child in result.children
    )


class FleetServer:
    def __init__(self, line: Listener, campaigns: Sequence[Hosted], timing: Timing, orders: Orders) -> None:
        self._line, self._orders = line, orders
        self._campaigns = {hosted.record.number: hosted for hosted in campaigns}
        epoch = max(hosted.record.epoch for hosted in campaigns)
        opened = [hosted.record.opened(hosted.limit) for hosted in campaigns]
        self.protocol = Server(Snapshot(epoch, opened), self._read, timing)
        self.messages: Counter[str] = Counter()  # sent by anybody, as far as they come by here
        self._heard: dict[str, float] = {}  # client → when last
        self._working_on: dict[str, int] = {}  # client → campaign
        self._senders: dict[str, bytes] = {}  # client → whence its frames come
        self._commit: Commit | None = None  # to be carried out when all frames at hand are taken in
        self._wake_at = float("inf")

    def start(self) -> None:
        self._carry_out(self.protocol.start(time.monotonic()))
        self._carry_commits_out()

    def turn(self, seconds: float) -> None:
        """Take in what comes; wait at most so long. Raises StorageError if it cannot be kept."""
        now = time.monotonic()
        for sender, data in self._line.wait(max(0.0, min(seconds, self._wake_at - now))):
            try:
                frame = service.decode(data)
            except DecodeError:
                continue  # as if it had been lost
            self._take(sender, frame)
        now = time.monotonic()
        if now >= self._wake_at:
            self._wake_at = float("inf")
            self._carry_out(self.protocol.tick(now))
        self._carry_commits_out()

    def remove(self, wanted: Callable[[Session], bool], count: int | None = None) -> None:
        """Let clients leave."""
        self._carry_out(self.protocol.remove(wanted, count, time.monotonic()))
        self._carry_commits_out()

    def lost(self, client: str) -> None:
        """The client's process has ended."""
        self._carry_out(self.protocol.lost(client, time.monotonic()))
        self._carry_commits_out()

    @property
    def present(self) -> list[Session]:
        """The clients that have said something to this server."""
        return [session for session in self.protocol.sessions() if session.status is not Status.AWAITED]

    # Frames -------------------------------------------------------------------------------------------------

    def _take(self, sender: bytes, frame: service.Frame) -> None:
        kind = type(frame).__name__
        if isinstance(frame, Pairs):
            self.messages[kind] += 1
            self._carry_out(self.protocol.receive(frame, time.monotonic()))
        elif isinstance(frame, FromClient):
            assert isinstance(frame, ToServer)
            if isinstance(frame, Results) and not _is_sound(frame):
                return  # nothing that comes from it may get into the record
            now = time.monotonic()
            self.messages[kind] += 1
            if isinstance(frame, Ack) and frame.giver != SERVER:
                self.messages["Pairs"] += 1  # which went directly
            self._senders[frame.peer.client] = sender
            self._carry_out(self.protocol.receive(frame, now))
            self._note_attendance(frame.peer.client, now)
        elif isinstance(frame, service.JobWanted | service.ImagePartWanted | service.Order):
            try:
                answer = self._answer(frame)
            except ScoreError as error:
                answer = service.Problem(error.what, error.hint)
            self._line.send(sender, service.encode(answer))

    def _note_attendance(self, client: str, now: float) -> None:
        """It was there since it was last heard of."""
        last, self._heard[client] = self._heard.get(client, now), now
        session = self.protocol.session(client)
        if session is None:
            self._heard.pop(client)  # it has gone
            campaign = self._working_on.pop(client, None)
        else:
            campaign = self._working_on[client] = session.campaign
        if campaign is not None:
            self._campaigns[campaign].record.attended(client, now - last)

    def _answer(self, frame: service.JobWanted | service.ImagePartWanted | service.Order) -> service.Service:
        if isinstance(frame, service.Order):
            return self._obey(frame)
        hosted = self._campaigns.get(frame.campaign)
        if hosted is None:
            raise UsageError(f"the server has no campaign {frame.campaign}", "", "Start the client anew.")
        if isinstance(frame, service.ImagePartWanted):
            return hosted.job.part(frame.offset)
        if frame.version != __version__:
            what = f"the client is score-embed {frame.version}, the server {__version__}"
            raise UsageError(what, "", "Use the same version of score-embed on both.")
        return hosted.job.message

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(message, to):
                    relayed = isinstance(message, Pairs) and message.giver != SERVER
                    self.messages["Relayed" if relayed else type(message).__name__] += 1
                    sender = self._senders.get(to.client) if to is not None else None
                    if sender is not None:
                        self._line.send(sender, service.encode(message))
                case Wake(at):
                    self._wake_at = at
                case Commit():
                    self._commit = effect

    def _carry_commits_out(self) -> None:
        while self._commit is not None:
            commit, self._commit = self._commit, None
            writes = {write.campaign: write for write in commit.writes}
            for number, hosted in self._campaigns.items():
                if number in writes:
                    hosted.record.apply(writes[number])
                if number in writes or hosted.record.epoch != commit.epoch:
                    hosted.record.commit(commit.epoch, self.protocol.counts, self.messages)
            self._carry_out(self.protocol.committed(commit.number, time.monotonic()))

    def _read(self, campaign: int, ids: Sequence[bytes]) -> Sequence[Pair]:
        return self._campaigns[campaign].record.read(ids)

    # Orders -------------------------------------------------------------------------------------------------

    def _obey(self, order: service.Order) -> service.Service:
        if order.what == "status":
            return self._overview()
        if order.what == "remove":
            return self._obey_remove(order)
        if order.what == "assign":
            return self._obey_assign(order)
        return self._orders(order)

    def _obey_remove(self, order: service.Order) -> service.Done:
        now = time.monotonic()
        if order.client:
            chosen = [s for s in self.present if s.peer.client == order.client]
            if not chosen:
                raise UsageError(f"there is no client {order.client!r}", "", "`score-embed fleet status` lists them.")
        else:
            meant = condition.parse(order.where) if order.where else None
            chosen = [s for s in self.present if meant is None or meant(s.values(now))][: order.number]
        self.remove(lambda session: session in chosen)
        return service.Done(f"{len(chosen)} clients leave when their tests have ended")

    def _obey_assign(self, order: service.Order) -> service.Done:
        fitting = [hosted for hosted in self._campaigns.values() if order.campaign in (hosted.name, hosted.program)]
        if len(fitting) != 1:
            names = ", ".join(hosted.name for hosted in self._campaigns.values())
            what = "no campaign" if not fitting else "more than one campaign"
            raise UsageError(f"there is {what} called {order.campaign!r}", "", f"There are: {names}.")
        number = fitting[0].record.number
        before = {session.peer for session in self.present if session.campaign != number}
        count = min(len(before), order.number if order.number is not None else len(before))
        self._carry_out(self.protocol.assign(number, lambda session: True, count, time.monotonic()))
        self._carry_commits_out()
        return service.Done(f"{count} clients move to {fitting[0].name} when their tests have ended")

    def _overview(self) -> service.Overview:
        now = time.monotonic()
        return service.Overview(
            tuple(self._row(hosted) for hosted in self._campaigns.values()),
            tuple(self._client_row(session, now) for session in self.protocol.sessions()[: service.MAX_CLIENTS]),
        )

    def _row(self, hosted: Hosted) -> service.CampaignRow:
        campaign, ledger = self.protocol.campaigns[hosted.record.number], hosted.record.ledger
        return service.CampaignRow(
            hosted.name,
            hosted.program,
            ledger.totals.runs,
            ledger.totals.paths,
            len(campaign.frontier),
            len(ledger.coverage.covered),
            ledger.coverage.total,
            len(ledger.bugs),
            campaign.finished,
        )

    def _client_row(self, session: Session, now: float) -> service.ClientRow:
        values = session.values(now)
        return service.ClientRow(
            session.peer.client,
            self._campaigns[session.campaign].name,
            session.status.name,
            session.where,
            session.queue,
            session.tests,
            values["time"],
            values["waiting"],
        )
