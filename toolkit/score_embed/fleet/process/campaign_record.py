"""One campaign's record as the fleet's server keeps it: a `Write` of the protocol becomes rows, totals, files.

All of a write and the totals after it are one transaction. What the tests brought goes into the books that a campaign
on one target keeps, too (`campaign/ledger.py`); here are the pairs that wait, with their owners, and who has done what.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from score_embed.campaign.ledger import Ledger
from score_embed.contract.words import Note
from score_embed.explore import pair as explored
from score_embed.fleet.messages import DecodeError, Pair, Peer, Result
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.payload import AnswerPayload, TestPayload
from score_embed.fleet.server.frontier import Opened, Write
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.parts import EPOCH, FLEET, FLEET_NUMBER
from score_embed.results.store import Store


@dataclass(slots=True)
class _Attendance:
    """What a client has done for the campaign."""

    tests: int = 0
    seconds: float = 0.0
    busy: float = 0.0


class CampaignRecord:
    def __init__(self, store: Store, image: bytes) -> None:
        """`image`: the build id of what is tested."""
        store.survive_power_cuts()  # what a client was told to be kept it forgets
        self.store, self._image = store, image
        self.ledger = Ledger(store, store.sources())
        self._earlier = store.get(FLEET) or FleetFigures((), {}, 0, 0, 0.0)
        self._attendance: dict[str, _Attendance] = {}  # by client
        for client in self._earlier.clients:
            self._attendance[client.name] = _Attendance(client.tests, client.seconds, client.busy)
        self._runs_before = self.ledger.totals.runs
        number = store.get(FLEET_NUMBER)
        self.number: int = number if number is not None else random.SystemRandom().randrange(1, 2**31)
        if number is None:
            store.put(FLEET_NUMBER, self.number)
        self.epoch: int = store.get(EPOCH) or 0

    # What the server asks of the record ---------------------------------------------------------------------

    def opened(self, limit: int | None = None) -> Opened:
        frontier = {ident: _peer(owner) for ident, owner in self.store.pairs.owners()}
        return Opened(self.number, self._image, frontier, limit)

    def read(self, idents: Sequence[bytes]) -> list[Pair]:
        found = self.store.pairs.some(idents)
        return [Pair(ident, _depth(found[ident]), found[ident]) for ident in idents if ident in found]

    def apply(self, write: Write) -> None:
        """Take the changes in. Nothing is durable before `commit`."""
        for result in write.tests:
            self._enter(result)
        for pair, owner in write.known:
            self.store.pairs.add([(pair.id, b"", pair.data)], _text(owner))
        for ident, owner in write.moved:
            self.store.pairs.move(ident, _text(owner))
        for result in write.again:
            self._compare(result)

    def attended(self, client: str, seconds: float) -> None:
        """The client was there for so much longer."""
        self._client(client).seconds += seconds

    def commit(self, epoch: int, counts: Mapping[str, int], messages: Mapping[str, int]) -> None:
        """`counts`: what the protocol has counted in this session; `messages`: sent in it, by kind."""
        if epoch != self.epoch:
            self.store.put(EPOCH, epoch)
            self.epoch = epoch
        self.store.put(FLEET, self._figures(counts, messages))
        self.ledger.commit()

    def _figures(self, counts: Mapping[str, int], messages: Mapping[str, int]) -> FleetFigures:
        earlier = self._earlier
        return FleetFigures(
            tuple(ClientFigures(name, a.tests, a.seconds, a.busy) for name, a in self._attendance.items()),
            Counter(earlier.messages) + Counter(messages),
            earlier.tests + self.ledger.totals.runs - self._runs_before,
            earlier.redundant + counts.get("repeated", 0),
            earlier.seconds + self.ledger.seconds,
            Counter(earlier.protocol) + Counter(counts),
        )

    # Tests --------------------------------------------------------------------------------------------------

    def _enter(self, result: Result) -> None:
        """A test that was run, or a pending flip that was answered: its pair is done with."""
        try:
            told = payloads.decode(result.payload)
        except DecodeError:
            self.ledger.note(Note.CLIENT_UNREADABLE)
            self.store.pairs.done(result.id)
            return
        client, ledger = self._client(told.client), self.ledger
        client.busy += told.seconds
        if isinstance(told, TestPayload):
            client.tests += 1
            ledger.enter(told.entry)
            self.store.pairs.done(result.id, told.entry.path_hash if told.entry.is_path else None)
        else:
            ledger.totals.re_asked += told.again
            if told.lost is not None:
                ledger.set_aside(told.lost)
            self.store.pairs.done(result.id)
        ledger.queue += bool(result.children)
        ledger.count(told.counted)

    def _compare(self, result: Result) -> None:
        """A test that was recorded before: a board that takes another path the second time is told of, never merged."""
        before = self.store.pairs.path_of(result.id)
        try:
            told = payloads.decode(result.payload)
        except DecodeError:
            return
        if before is None or isinstance(told, AnswerPayload):
            return
        entry = told.entry
        if entry.is_path and entry.path_hash != before:
            self.ledger.tally.divergences += 1
            file, line = (entry.place.file, entry.place.line) if entry.place else ("", 0)
            self.ledger.note(Note.CLIENT_DIFFERS.of(told.client), file, line)

    def _client(self, name: str) -> _Attendance:
        return self._attendance.setdefault(name, _Attendance())


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
