"""A session of the fleet's server: its clients, its limits, Ctrl-C, the live view; and its end in good order.

To end early is to let every client leave: each ends its test, reports, hands back what it holds. A client that dies is
replaced; one whose target is lost is not, and with the last of them the session ends.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from score_embed.campaign.interrupt import Interrupt
from score_embed.campaign.status import Status
from score_embed.contract.words import Stop
from score_embed.errors import ScoreError, TargetError, UsageError, printable
from score_embed.fleet import service
from score_embed.fleet.process.launcher import Ended, Launcher, slot_of
from score_embed.fleet.process.server import FleetServer, Hosted
from score_embed.fleet.protocol import Timing
from score_embed.fleet.transport.line import Listener

_TURN = 0.1  # seconds between two looks at clients, limits and Ctrl-C
_START = 30.0  # seconds for the first client to come; then the time begins without
_DRAIN = 40.0  # seconds that clients may take to leave: a board's test can be long
_GO = 5.0  # seconds for a process that has nothing left to do
_INTERNAL = ScoreError.exit_code  # of a client that has met a fault of ours
MOST_CLIENTS = max(16, 2 * (os.cpu_count() or 1))  # that a server starts by order
_DEATHS = 5  # of clients without a test in between, until nobody is replaced


@dataclass(frozen=True)
class Plan:
    """`clients`: how many to start; `time`: seconds that the session may take; `until_bug`: it ends with the first that
    is confirmed; `stays`: also without clients."""

    title: str
    clients: int
    time: float | None = None
    stays: bool = False
    until_bug: bool = False


class FleetSession:
    def __init__(
        self, line: Listener, campaigns: Sequence[Hosted], launcher: Launcher, plan: Plan, timing: Timing
    ) -> None:
        self._campaigns, self._launcher, self._plan = campaigns, launcher, plan
        self._server = FleetServer(line, campaigns, timing, self._obey)
        self._stopped: Stop | None = None  # why no more tests are wanted
        self._stop_at = float("inf")
        self._has_begun = False
        self._begin_by = float("inf")
        self._deaths = 0
        self._tests = 0  # when somebody last died
        self._last_words: str = ""
        self._witnesses = [hosted.witness for hosted in campaigns if hosted.witness is not None]

    def run(self) -> Stop | None:
        """Until nothing is left, or somebody wants an end; returns why. Raises TargetError if no target is left.
        All that is known is in the records then."""
        with Interrupt(lambda: None) as interrupt, Status(self._plan.title) as status:
            self._begin_by = time.monotonic() + _START
            try:
                self._explore(interrupt, status)
                for hosted in self._campaigns:
                    hosted.record.ledger.end()
                self._write_end()  # who is in a hurry loses nothing
                for witness in self._witnesses:
                    witness.finish(hurried=self._stopped is Stop.INTERRUPTED)
            except TargetError:
                self._write_end()
                raise
            finally:
                self._launcher.end(0.0)
                for hosted in self._campaigns:
                    if hosted.work is not None:
                        hosted.work.forget()  # who did not leave in time was killed by us
                for witness in self._witnesses:
                    witness.close()
        self._write_end()
        return self._stopped

    def _explore(self, interrupt: Interrupt, status: Status) -> None:
        """Until the last client has gone."""
        self._server.start(expects=self._plan.clients > 0)
        if not self._server.protocol.finished:
            self._launcher.start(self._plan.clients)
        while not self._is_over():
            self._server.turn(_TURN)
            for witness in self._witnesses:
                witness.turn()
            self._look_after_clients()
            self._begin(interrupt)
            self._heed(interrupt)
            if status.due:
                self._show(status)
        self._launcher.dismiss()
        self._launcher.end(_GO)

    def _write_end(self) -> None:
        """Say in the record why it ended."""
        protocol = self._server.protocol
        for hosted in self._campaigns:
            ledger = hosted.record.ledger
            done = protocol.campaigns[hosted.record.number].finished
            ledger.stopped = ledger.outcome if done else self._stopped or Stop.ERROR
            if done:
                hosted.record.store.pairs.forget_told()
            hosted.record.commit(protocol.epoch, protocol.counts, self._server.messages)

    def _is_over(self) -> bool:
        server = self._server
        if server.protocol.finished:
            return True
        if not self._stopped:
            return False
        return not (server.present or len(self._launcher)) or time.monotonic() > self._stop_at

    def _begin(self, interrupt: Interrupt) -> None:
        """The time of a session begins with its first client, as that of a single client begins with its target."""
        now = time.monotonic()
        if self._has_begun or not (self._server.present or now >= self._begin_by):
            return
        self._has_begun = True
        if self._plan.time is not None:
            interrupt.deadline = now + self._plan.time
        for hosted in self._campaigns:
            hosted.record.ledger.begin()

    def _heed(self, interrupt: Interrupt) -> None:
        """Does somebody want an end? Then let all leave."""
        if not self._stopped:
            if interrupt.wanted:
                self._stopped = Stop.INTERRUPTED
            elif interrupt.deadline is not None and time.monotonic() >= interrupt.deadline:
                self._stopped = Stop.TIME
            elif self._server.protocol.full:
                self._stopped = Stop.MAX_TESTS
            elif self._plan.until_bug and self._has_bug():
                self._stopped = Stop.BUG
            elif all(hosted.record.is_reached() for hosted in self._campaigns):
                self._stopped = Stop.GOAL
            if self._stopped:
                self._stop_at = time.monotonic() + _DRAIN
                self._launcher.dismiss()
        if self._stopped:
            self._server.remove(lambda session: True)

    def _look_after_clients(self) -> None:
        for ended in self._launcher.reap():
            self._count_death(ended)
            self._server.lost(ended.name)
            if not self._stopped:
                self._replace(ended)
        if not (len(self._launcher) or self._stopped or self._plan.stays or self._server.present):
            self._server.expect_nobody()
            if self._server.protocol.finished:
                return
            raise TargetError("no client is left", "", self._last_words or "Every client was removed.")

    def _count_death(self, ended: Ended) -> None:
        """What it had in work when it was killed."""
        slot = slot_of(ended.name)
        for hosted in self._campaigns:
            if hosted.work is not None and slot is not None:
                hosted.work.count(range(slot, slot + 1))

    def _replace(self, ended: Ended) -> None:
        """A client that died is started anew; one that went, or has lost its target, is not."""
        if ended.code == 0 or self._server.protocol.finished:
            return
        self._last_words = ended.words
        tests = sum(hosted.record.ledger.totals.runs for hosted in self._campaigns)
        self._deaths = self._deaths + 1 if tests == self._tests else 1
        self._tests = tests
        died = ended.code < 0 or ended.code == _INTERNAL
        print(printable(f"client {ended.name} {_how(ended)}"), file=sys.stderr, flush=True)
        if died and self._deaths <= _DEATHS:
            self._launcher.start(1)

    def _obey(self, order: service.Order) -> service.Done:
        if order.what == "stop":
            self._stopped = self._stopped or Stop.INTERRUPTED
            self._stop_at = time.monotonic() + _DRAIN
            self._launcher.dismiss()
            return service.Done("the server stops when the tests in work have ended")
        if self._stopped:
            raise UsageError("the server is about to stop", "", "Start it again with --resume.")
        wanted, room = order.number or 1, MOST_CLIENTS - len(self._launcher)
        if wanted > room:
            what = f"{wanted} clients more are too many: there are {len(self._launcher)} of {MOST_CLIENTS} at most"
            raise UsageError(
                what, "", "A target for each processor core is enough; clients elsewhere join by themselves."
            )
        self._launcher.start(wanted)
        return service.Done(f"{wanted} clients started")

    def _has_bug(self) -> bool:
        seen = (hosted.record.ledger.has_bug for hosted in self._campaigns)
        return any(seen) or any(witness.has_found for witness in self._witnesses)

    def _show(self, status: Status) -> None:
        frontiers = (campaign.frontier for campaign in self._server.protocol.campaigns.values())
        ledgers = [hosted.record.ledger for hosted in self._campaigns]
        status.show(ledgers, sum(map(len, frontiers)), len(self._server.present))


def _how(ended: Ended) -> str:
    how = f"was killed by signal {-ended.code}" if ended.code < 0 else f"ended with exit code {ended.code}"
    return f"{how}: {ended.words}" if ended.words else how
