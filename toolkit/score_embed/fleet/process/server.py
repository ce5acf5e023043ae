"""The fleet's server at work: frames and the time go into the protocol, its effects into frames and the record.

Everything that came together is committed together: a commit waits until all frames at hand are taken in. What people
order is answered here, but for what concerns the server's own clients, which belong to the session.
"""

from __future__ import annotations

import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from score_embed import __version__
from score_embed.contract.words import Note
from score_embed.errors import ScoreError, UsageError
from score_embed.fleet import service
from score_embed.fleet.messages import SERVER, Ack, DecodeError, FromClient, Pair, Pairs, Results, ToServer
from score_embed.fleet.origin import Origin
from score_embed.fleet.process.campaign_record import CampaignRecord
from score_embed.fleet.process.inspection import Inspector, Unsound
from score_embed.fleet.process.job import OfferedJob
from score_embed.fleet.protocol import Send, Status, Timing, Wake
from score_embed.fleet.server import condition
from score_embed.fleet.server.admission import Expel
from score_embed.fleet.server.checks import About, Checks, Claim, End, Settled
from score_embed.fleet.server.frontier import Commit, Snapshot
from score_embed.fleet.server.server import Server
from score_embed.fleet.server.sessions import Session
from score_embed.fleet.server.table import Effect
from score_embed.fleet.tickets import SECRET_BYTES
from score_embed.fleet.transport.line import Heard, Sender
from score_embed.results.work import WorkNotes
from score_embed.witness.witness import Witness

_ABLE = frozenset({Status.IDLE, Status.BUSY, Status.SERVING_REQ})  # to run what others have said
_ORDER_HINT = "Give orders with --keys orders.key, or on the server's machine by its campaign's folder: --server DIR."

Orders = Callable[[service.Order], service.Done]  # raises ScoreError


class Line(Protocol):
    """The server's end of the line: `transport.line.Listener`, or a simulated one."""

    def wait(self, seconds: float) -> list[Heard]: ...

    def send(self, to: Sender, frame: bytes) -> None: ...

    def expel(self, origin: Origin) -> None: ...


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


def _marks(told: bytes) -> frozenset[bytes]:
    return frozenset(told[at : at + service.MARK_BYTES] for at in range(0, len(told), service.MARK_BYTES))


def _otherwise(claim: Claim) -> str:
    return "lead to more" if any(end.missing for end in claim.answers.values()) else "end otherwise"


def _question(number: int, claim: Claim) -> service.Check:
    fresh, derived = claim.about is About.BUG, claim.derived
    if derived is None:
        return service.Check(number, claim.campaign, claim.input, fresh)
    said = derived.pair, derived.told, derived.until, derived.given_up
    return service.Check(number, claim.campaign, b"", fresh, *said)


def shown(text: str) -> str:
    """What somebody else has said, such that a terminal only shows it."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])


class FleetServer:
    def __init__(
        self,
        line: Line,
        campaigns: Sequence[Hosted],
        timing: Timing,
        orders: Orders,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line, self._orders, self._now = line, orders, now
        self._campaigns = {hosted.record.number: hosted for hosted in campaigns}
        self._inspectors = {
            number: Inspector(hosted.record.store.sources(), hosted.record.reader)
            for number, hosted in self._campaigns.items()
        }
        for hosted in campaigns:
            hosted.record.strangers = self._stranger
        epoch = max(hosted.record.epoch for hosted in campaigns)
        opened = [hosted.record.opened(hosted.limit) for hosted in campaigns]
        secret = secrets.token_bytes(SECRET_BYTES)
        self.protocol = Server(Snapshot(epoch, opened), self._read, timing, secret=secret, past=self._past)
        self.messages: Counter[str] = Counter()  # sent by anybody, as far as they come by here
        self._heard: dict[str, float] = {}  # client → when last
        self._working_on: dict[str, int] = {}  # client → campaign
        self._senders: dict[str, Sender] = {}  # client → whence its frames come
        self._origins: dict[str, Origin] = {}  # … and who has proved to be it
        self._checks = Checks(random.SystemRandom())
        self._expects = False  # the first client, that it comes
        self._commit: Commit | None = None  # to be carried out when all frames at hand are taken in
        self._wake_at = float("inf")

    def start(self, expects: bool = False) -> None:
        """`expects`: clients will come. Then they run again what was seen once, also if no pair is left."""
        self._expects = expects
        self._carry_out(self.protocol.start(self._now()))
        for number, hosted in self._campaigns.items():
            self._carry_out(self.protocol.hold(number, expects and bool(hosted.record.claims), self._now()))
        self._carry_commits_out()

    def expect_nobody(self) -> None:
        """No client comes any more: what was seen once stays so."""
        self._expects = False
        self._check()

    def turn(self, seconds: float) -> None:
        """Take in what comes; wait at most so long. Raises StorageError if it cannot be kept."""
        now = self._now()
        for heard in self._line.wait(max(0.0, min(seconds, self._wake_at - now))):
            if not self.protocol.admission.has_room(heard.origin, len(heard.frame), now):
                self.protocol.counts["too much said"] += 1
                continue
            try:
                frame = service.decode(heard.frame)
            except DecodeError:
                continue  # as if it had been lost
            self._take(heard.sender, heard.origin, frame)
        now = self._now()
        if now >= self._wake_at:
            self._wake_at = float("inf")
            self._carry_out(self.protocol.tick(now))
        self._carry_commits_out()
        self._check()

    def remove(self, wanted: Callable[[Session], bool], count: int | None = None) -> None:
        """Let clients leave."""
        self._carry_out(self.protocol.remove(wanted, count, self._now()))
        self._carry_commits_out()

    def lost(self, client: str) -> None:
        """The client's process has ended."""
        self._carry_out(self.protocol.lost(client, self._now()))
        self._carry_commits_out()

    @property
    def present(self) -> list[Session]:
        """The clients that have said something to this server."""
        return [session for session in self.protocol.sessions() if session.status is not Status.AWAITED]

    # Frames -------------------------------------------------------------------------------------------------

    def _take(self, sender: Sender, origin: Origin, frame: service.Frame) -> None:
        kind, now = type(frame).__name__, self._now()
        if isinstance(frame, Pairs):
            self.messages[kind] += 1
            self._carry_out(self.protocol.receive(frame, now, origin))
        elif isinstance(frame, service.Checked):
            client = frame.peer.client
            if origin.may_be(client):
                end = End(frame.verdict, frame.code, frame.path_hash, frame.mispredicted, _marks(frame.missing))
                self._checks.answer(frame.number, client, origin.witness(client), end)
        elif isinstance(frame, FromClient):
            assert isinstance(frame, ToServer)
            client = frame.peer.client
            if not self.protocol.admission.admits(frame, origin):
                return
            if isinstance(frame, Results) and not self._is_sound(frame, origin):
                return  # nothing that comes from it may get into the record
            self.messages[kind] += 1
            if isinstance(frame, Ack) and frame.giver != SERVER:
                self.messages["Pairs"] += 1  # which went directly
            self._senders[client] = sender
            self._origins[client] = origin
            self._carry_out(self.protocol.receive(frame, now, origin))
            self._note_attendance(client, now)
        elif isinstance(frame, service.JobWanted | service.ImagePartWanted | service.Order):
            try:
                answer = self._answer(frame, origin)
            except ScoreError as error:
                answer = service.Problem(error.what, error.hint)
            self._line.send(sender, service.encode(answer))

    def _is_sound(self, results: Results, origin: Origin) -> bool:
        inspector = self._inspectors.get(results.campaign)
        if inspector is None:
            return False
        try:
            inspector.inspect(results, may_round=not origin.is_foreign)
        except Unsound as error:
            self._carry_out(self.protocol.fault(results.peer.client, origin, f"it reported {error}", self._now()))
            return False
        return True

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

    def _answer(
        self, frame: service.JobWanted | service.ImagePartWanted | service.Order, origin: Origin
    ) -> service.Service:
        if isinstance(frame, service.Order):
            if not origin.may_order:
                raise UsageError("this is not for clients to order", "", _ORDER_HINT)
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
                case Expel(client, origin, why):
                    self._expel(client, origin, why)
                case Commit():
                    self._commit = effect

    def _expel(self, client: str, origin: Origin, why: str) -> None:
        """It is not believed any more; nor can be what it has said before, so no campaign counts as explored for
        sure."""
        self._line.expel(origin)
        print(f"client {shown(client)} is sent away: {shown(why)}", file=sys.stderr, flush=True)
        for hosted in self._campaigns.values():
            hosted.record.ledger.note(Note.CLIENT_EXPELLED.of(shown(client), shown(why)))
            hosted.record.distrust(origin.witness(client))
        self._repeat()

    def _repeat(self) -> None:
        """What was done by somebody whom nobody believes any more is done again by others."""
        for number, hosted in self._campaigns.items():
            again = hosted.record.take_again()
            if again:
                self._carry_out(self.protocol.repeat(number, again, self._now()))

    def _check(self) -> None:
        """Let clients run again what others have said, and draw the conclusions."""
        if not len(self._checks) and not any(campaign.held for campaign in self.protocol.campaigns.values()):
            return
        now, there = self._now(), self._able()
        self._expects = self._expects and not there
        for number, claim, client in self._checks.to_ask(there, now):
            self._line.send(self._senders[client], service.encode(_question(number, claim)))
        for claim, settled in self._checks.settled(there):
            self._campaigns[claim.campaign].record.conclude(claim, settled)
            if settled is Settled.CONTRADICTED and claim.client in self._origins:
                why = f"two others have seen a test of it {_otherwise(claim)}"
                self._carry_out(self.protocol.fault(claim.client, self._origins[claim.client], why, now))
        self._repeat()
        for claim in self._checks.alone(there):
            self._campaigns[claim.campaign].record.has_nobody_else(claim)
        for number in self._campaigns:
            held = self._checks.has(number) if self._expects else self._checks.holds(number, there)
            self._carry_out(self.protocol.hold(number, held, now))
        self._carry_commits_out()

    def _able(self) -> dict[str, tuple[str, int]]:
        """Clients that can run what others have said: as whom each counts, and its campaign."""
        return {s.peer.client: (s.origin.witness(s.peer.client), s.campaign) for s in self.present if s.status in _ABLE}

    def _take_claims(self) -> None:
        """What was reported and others are to run again. Until they have, the campaign is not finished."""
        for number, hosted in self._campaigns.items():
            claims = hosted.record.take_claims()
            for claim in claims:
                origin = self._origins.get(claim.client)
                claim.author = origin.witness(claim.client) if origin is not None else claim.client
                if origin is not None and not origin.is_foreign:
                    hosted.record.believe(claim)  # others look at it all the same
                self._checks.add(claim)
            if claims and self._checks.holds(number, self._able()):
                self._carry_out(self.protocol.hold(number, True, self._now()))

    def _carry_commits_out(self) -> None:
        while self._commit is not None:
            commit, self._commit = self._commit, None
            writes = {write.campaign: write for write in commit.writes}
            for number, hosted in self._campaigns.items():
                if number in writes:
                    hosted.record.apply(writes[number])
                if number in writes or hosted.record.epoch != commit.epoch:
                    hosted.record.commit(commit.epoch, self.protocol.counts, self.messages)
            self._take_claims()
            self._repeat()
            self._carry_out(self.protocol.committed(commit.number, self._now()))

    def _stranger(self, client: str) -> str:
        """As whom a client counts that might lie; empty for one of this user's."""
        origin = self._origins.get(client)
        return origin.witness(client) if origin is not None and origin.is_foreign else ""

    def _read(self, campaign: int, ids: Sequence[bytes]) -> Sequence[Pair]:
        return self._campaigns[campaign].record.read(ids)

    def _past(self, campaign: int, ids: Sequence[bytes]) -> set[bytes]:
        return self._campaigns[campaign].record.store.pairs.done_among(ids)

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
        now = self._now()
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
        self._carry_out(self.protocol.assign(number, lambda session: True, count, self._now()))
        self._carry_commits_out()
        return service.Done(f"{count} clients move to {fitting[0].name} when their tests have ended")

    def _overview(self) -> service.Overview:
        now = self._now()
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
