"""One campaign's record as the fleet's server keeps it: a `Write` of the protocol becomes rows, totals, files.

All of a write and the totals after it are one transaction. A result says nothing of other clients' tests, so what is
new in the campaign (a path, covered branches, a bug) is seen here.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from score_embed.campaign.describing import NOWHERE, Entry
from score_embed.campaign.ledger import REPEATED, Ledger
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.contract.words import Note, Stop
from score_embed.explore import pair as explored
from score_embed.explore.paths import PathSet
from score_embed.explore.tally import Tally
from score_embed.fleet import payload as payloads
from score_embed.fleet.messages import DecodeError, Pair, Peer, Result
from score_embed.fleet.payload import AnswerPayload, Tallied, TestPayload
from score_embed.fleet.server.frontier import Opened, Write
from score_embed.results import completeness, summary
from score_embed.results.bugs import Place
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.parts import EPOCH, FLEET, FLEET_NUMBER, PROGRESS
from score_embed.results.progress import Memory, Progress
from score_embed.results.store import Store
from score_embed.results.testcase import Named, is_kind
from score_embed.solve.chain import SolverStats


@dataclass(slots=True)
class _Attendance:
    """What a client has done for the campaign."""

    tests: int = 0
    seconds: float = 0.0
    busy: float = 0.0


class CampaignRecord:
    def __init__(self, store: Store, seed: int, image: bytes) -> None:
        """`image`: the build id of what is tested."""
        store.survive_power_cuts()  # what a client was told to be kept it forgets
        self.store, self._seed, self._image = store, seed, image
        self._sources = store.sources()
        self.ledger = Ledger(store, self._sources.directions)
        self._paths = PathSet(store.path_hashes())
        self._tally = Tally()
        self._link = LinkCounters()
        self._rss = self._free_ram = 0
        self._runs = 0  # of the queue of a client that goes on alone
        self._seconds = 0.0  # of earlier sessions
        self._attendance: dict[str, _Attendance] = {}  # by client
        self._earlier = FleetFigures((), {}, 0, 0, 0.0)
        self._began = time.monotonic()
        self._ended: float | None = None
        self.stopped: Stop | None = None
        progress = store.get(PROGRESS)
        if progress is not None:
            self._restore(progress)
        self._runs_before = self.ledger.totals["runs"]
        number = store.get(FLEET_NUMBER)
        self.number: int = number if number is not None else random.SystemRandom().randrange(1, 2**31)
        if number is None:
            store.put(FLEET_NUMBER, self.number)
        self.epoch: int = store.get(EPOCH) or 0

    def _restore(self, progress: Progress) -> None:
        self.ledger.restore(progress)
        self._tally, self._runs = Tally.of(progress.explorer), progress.explorer.queue
        self._link, self._seconds = progress.link, progress.seconds
        self._rss, self._free_ram = progress.memory.host_rss, progress.memory.target
        self._earlier = self.store.get(FLEET) or self._earlier
        for client in self._earlier.clients:
            self._attendance[client.name] = _Attendance(client.tests, client.seconds, client.busy)

    def begin(self) -> None:
        """The session's time begins now: the clients are there."""
        self._began = time.monotonic()

    def end(self) -> None:
        """The session's time is over: no test follows."""
        self._ended = self._ended or time.monotonic()

    @property
    def _lasted(self) -> float:
        return (self._ended or time.monotonic()) - self._began

    # What the server asks of the record ---------------------------------------------------------------------

    def opened(self, limit: int | None = None) -> Opened:
        frontier = {ident: _peer(owner) for ident, owner in self.store.owners()}
        return Opened(self.number, self._image, frontier, limit)

    def read(self, idents: Sequence[bytes]) -> list[Pair]:
        found = self.store.pairs(idents)
        return [Pair(ident, _depth(found[ident]), found[ident]) for ident in idents if ident in found]

    def apply(self, write: Write) -> None:
        """Take the changes in. Nothing is durable before `commit`."""
        for result in write.tests:
            self._enter(result)
        for pair, owner in write.known:
            self.store.add_pairs([(pair.id, b"", pair.data)], _text(owner))
        for ident, owner in write.moved:
            self.store.move(ident, _text(owner))
        for result in write.again:
            self._compare(result)

    def attended(self, client: str, seconds: float) -> None:
        """The client was there for so much longer."""
        self._attendance.setdefault(client, _Attendance()).seconds += seconds

    def commit(self, epoch: int, counts: Mapping[str, int], messages: Mapping[str, int]) -> None:
        """`counts`: what the protocol has counted in this session; `messages`: sent in it, by kind."""
        if epoch != self.epoch:
            self.store.put(EPOCH, epoch)
            self.epoch = epoch
        self.store.put(FLEET, self._figures(counts, messages))
        self.store.commit(self._progress())

    def _figures(self, counts: Mapping[str, int], messages: Mapping[str, int]) -> FleetFigures:
        earlier = self._earlier
        return FleetFigures(
            tuple(ClientFigures(name, a.tests, a.seconds, a.busy) for name, a in self._attendance.items()),
            Counter(earlier.messages) + Counter(messages),
            earlier.tests + self.ledger.totals["runs"] - self._runs_before,
            earlier.redundant + counts.get("repeated", 0),
            earlier.seconds + self._lasted,
            Counter(earlier.protocol) + Counter(counts),
        )

    def _progress(self) -> Progress:
        memory = Memory(max(self._rss, summary.host_rss()), self._free_ram)
        explorer = self._tally.state(self._runs)
        return self.ledger.progress(self.stopped, self._seconds + self._lasted, explorer, self._link, memory)

    @property
    def outcome(self) -> Stop:
        """What an empty frontier means: everything was explored, or something got lost on the way."""
        return completeness.word(self._sources, self._tally.notes, self.ledger.notes)

    # Tests --------------------------------------------------------------------------------------------------

    def _enter(self, result: Result) -> None:
        number = self.ledger.totals["runs"] + 1
        path_hash = int.from_bytes(result.path, "little")
        try:
            test = payloads.decode(result.payload)
            if isinstance(test, AnswerPayload):
                self._answered(result, test)
                return
            entry = _entry(test, path_hash)
        except (DecodeError, ValueError):
            self.ledger.note(Note.CLIENT_UNREADABLE, "", 0)
            self.store.pair_done(result.id)
            return
        new = entry.is_path and self._paths.add(path_hash)
        fresh = self.ledger.coverage.add(entry.coverage)
        self.ledger.enter(number, entry, new, fresh)
        self.store.pair_done(result.id, path_hash if entry.is_path else None)
        self._runs += bool(result.children)
        attendance = self._attendance.setdefault(test.client, _Attendance())
        attendance.tests += 1
        attendance.busy += test.seconds
        self._tally.add(_tally(test.tally))
        self._link = self._link.plus(LinkCounters(*test.link))
        self._rss = max(self._rss, test.memory[0])
        self._free_ram = test.memory[1] or self._free_ram

    def _answered(self, result: Result, asked: AnswerPayload) -> None:
        """A pending flip is done with."""
        self.store.pair_done(result.id)
        self._attendance.setdefault(asked.client, _Attendance()).busy += asked.seconds
        self.ledger.totals[REPEATED] += asked.again
        self._tally.add(_tally(asked.tally))

    def _compare(self, result: Result) -> None:
        """A test that was recorded before: a board that takes another path the second time is told of, never merged."""
        before = self.store.path_of(result.id)
        try:
            test = payloads.decode(result.payload)
        except DecodeError:
            return
        if (
            before is None
            or isinstance(test, AnswerPayload)
            or not test.is_path
            or before == int.from_bytes(result.path, "little")
        ):
            return
        self._tally.divergences += 1
        file, line = (test.place.file, test.place.line) if test.place else ("", 0)
        self.ledger.note(Note.CLIENT_DIFFERS.of(test.client), file, line)


def _entry(test: TestPayload, path_hash: int) -> Entry:
    """Raises ValueError if there is no such verdict."""
    at = test.place
    return Entry(
        test.input,
        Verdict(test.verdict),
        test.code,
        path_hash,
        test.conditions,
        test.is_path,
        test.mispredicted,
        tuple(_named(*named) for named in test.objects),
        NOWHERE if at is None else Place(at.file, at.line, at.function, at.stack),
        test.output,
        test.coverage,
        test.confirmed,
        test.unchecked,
    )


def _named(name: str, offset: int, size: int, kind: str) -> Named:
    """What a client calls a kind that does not exist is shown as the bytes that it is."""
    return Named(name, offset, size, kind if is_kind(kind) else "bytes")


def _tally(told: Tallied) -> Tally:
    solver = SolverStats(*told.answers, told.seconds, dict(told.by), dict(told.seconds_by))
    notes = Counter({(what, site): count for what, site, count in told.notes})
    unflipped = Counter({(index, why): count for index, why, count in told.unflipped})
    return Tally(notes, unflipped, told.divergences, told.concretized, solver, Counter(dict(told.forks)))


def _depth(data: bytes) -> int:
    """How deep a serialised pair's flip is."""
    return explored.Pair.from_bytes(data).depth


def _text(peer: Peer | None) -> str | None:
    return None if peer is None else f"{peer.incarnation} {peer.client}"


def _peer(text: str | None) -> Peer | None:
    if text is None:
        return None
    incarnation, _, client = text.partition(" ")
    return Peer(client, int(incarnation))
