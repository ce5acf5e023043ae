"""One campaign's record as the fleet's server keeps it: a `Write` of the protocol becomes rows, totals, files.

All of a write and the totals after it are one transaction. What the tests brought goes into the books that a campaign
on one target keeps, too (`campaign/ledger.py`); here are the pairs that wait, with their owners, and who has done what.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from score_embed.campaign import criteria
from score_embed.campaign.criteria import VectorBooks, are_wanted
from score_embed.campaign.ledger import Ledger
from score_embed.config import Settings
from score_embed.contract.outcome import Verdict
from score_embed.contract.words import Note
from score_embed.explore import checking
from score_embed.explore import pair as explored
from score_embed.fleet.messages import DecodeError, Pair, Peer, Result
from score_embed.fleet.origin import APART
from score_embed.fleet.process.payload import AnswerPayload, Payload, Reader, RoundPayload, TestPayload
from score_embed.fleet.server.campaign import FAILURES
from score_embed.fleet.server.checks import About, Claim, Derived, End, Settled
from score_embed.fleet.server.frontier import Opened, Write
from score_embed.results.bugs import Bug, Place
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.known_bugs import known_to
from score_embed.results.pairs import LostTest
from score_embed.results.parts import EPOCH, FLEET, FLEET_NUMBER
from score_embed.results.store import Store

SAMPLE = 1 / 256  # of the tests are run again by another client …
SUSPECT = 1 / 4  # … and of those of a client that two others have contradicted


@dataclass(frozen=True, slots=True)
class Found:
    """A bug that is claimed. `twice`: its client says that it has seen it again, on a fresh target."""

    bug: Bug
    twice: bool


@dataclass(slots=True)
class _Attendance:
    """What a client has done for the campaign."""

    tests: int = 0
    seconds: float = 0.0
    busy: float = 0.0


class CampaignRecord:
    def __init__(self, store: Store, image: bytes, settings: Settings | None = None) -> None:
        """`image`: the build id of what is tested; `settings`: without them it has no goal, and knows no bug."""
        settings = settings or Settings()
        store.survive_power_cuts()  # what a client was told to be kept it forgets
        store.pairs.remember()  # what a client reports twice is compared
        self.store, self._image = store, image
        self.reader = Reader()  # of what comes
        self.ledger = Ledger(store, store.sources(), known_to(settings))
        self._vectors = VectorBooks(store) if are_wanted(settings) else None
        self.is_reached = criteria.reached(settings.goal, store.sources(), self.ledger.coverage, self._vectors)
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
        self._chance = random.SystemRandom()  # nobody is to foretell what is checked
        self.sample = SAMPLE
        self.strangers: Callable[[str], str] = lambda client: ""  # as whom a client counts that might lie; else empty
        self._suspects: set[str] = set()
        self._distrusted: set[str] = set()
        self._again: list[bytes] = []  # serialised pairs that are to be done by somebody else
        self.claims = self._unconfirmed()  # what others are to run again; whoever sees to that takes them

    # What the server asks of the record ---------------------------------------------------------------------

    def opened(self, limit: int | None = None) -> Opened:
        frontier = {ident: _peer(owner) for ident, owner in self.store.pairs.owners()}
        return Opened(self.number, self._image, frontier, limit, self._has_expelled())

    def read(self, idents: Sequence[bytes]) -> list[Pair]:
        found = self.store.pairs.some(idents)
        return [Pair(ident, _depth(found[ident]), found[ident]) for ident in idents if ident in found]

    def apply(self, write: Write) -> None:
        """Take the changes in. Nothing is durable before `commit`."""
        for result, told, pair in self._read_tests(write):
            self._enter(result, told, pair)
        for known, owner in write.known:
            self.store.pairs.add([(known.id, b"", known.data)], _text(owner))
        for ident, owner in write.moved:
            self.store.pairs.move(ident, _text(owner))
        for data in self.store.pairs.some(write.aside).values():
            self._set_aside(explored.Pair.from_bytes(data))
        for result in write.again:
            self._compare(result)

    def take_claims(self) -> list[Claim]:
        """What has come up to be checked since this was last called."""
        claims, self.claims = self.claims, []
        return claims

    def conclude(self, claim: Claim, settled: Settled) -> None:
        """A claim was checked, as far as that was possible."""
        if settled is Settled.CONFIRMED:
            if isinstance(claim.key, Found):
                self.ledger.confirm(claim.key.bug)
        elif claim.answers:
            if settled is Settled.CONTRADICTED and claim.author:  # of an earlier session's nobody knows it
                self._suspects.add(claim.author)
                if claim.derived is not None:
                    self._again.append(claim.derived.pair)
            named = {claim.client} if settled is Settled.CONTRADICTED else {claim.client, *claim.answers}
            who = ", ".join(sorted(named - {""})) or "of an earlier session"
            self.ledger.tally.divergences += 1
            self.ledger.note(Note.CLIENT_DIFFERS.of(who))

    def distrust(self, who: str) -> None:
        """All that this client says to have done is to be done again by others. `who`: as whom it counts."""
        self._distrusted.add(who)
        self._again += self.store.pairs.told_by(lambda client: (client + APART).startswith(who + APART)).values()

    def take_again(self) -> list[Pair]:
        """What is to be done once more, since this was last called; each once."""
        found = {pair.id: pair for pair in map(explored.once_more, map(explored.Pair.from_bytes, self._again))}
        self._again = []
        done = self.store.pairs.done_among(list(found))
        return [Pair(pair.id, pair.depth, pair.to_bytes()) for ident, pair in found.items() if ident not in done]

    def believe(self, claim: Claim) -> None:
        """A client of this user's own says so: a bug that it saw twice is confirmed, as without a fleet."""
        if isinstance(claim.key, Found) and claim.key.twice:
            self.ledger.confirm(claim.key.bug)

    def has_nobody_else(self, claim: Claim) -> None:
        """A bug that its client has seen twice stays unconfirmed, but is one where a session is to end with a bug."""
        if isinstance(claim.key, Found) and claim.key.twice:
            self.ledger.saw(claim.key.bug)

    def attended(self, client: str, seconds: float) -> None:
        """The client was there for so much longer."""
        self._client(client).seconds += seconds

    def commit(self, epoch: int, counts: Mapping[str, int], messages: Mapping[str, int]) -> None:
        """`counts`: what the protocol has counted in this session; `messages`: sent in it, by kind."""
        if epoch != self.epoch:
            self.store.put(EPOCH, epoch)
            self.epoch = epoch
        self.store.put(FLEET, self._figures(counts, messages))
        if self._vectors is not None:
            self._vectors.keep()
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

    def _set_aside(self, pair: explored.Pair) -> None:
        """Too many clients have failed with this pair."""
        left = explored.set_aside(pair, pair.input)
        why = f"{FAILURES} clients lost their targets with it"
        self.ledger.set_aside(LostTest(left.id, left.to_bytes(), pair.input, why))
        self.store.pairs.done(pair.id)

    # Tests --------------------------------------------------------------------------------------------------

    def _read_tests(self, write: Write) -> list[tuple[Result, Payload | None, bytes]]:
        """The tests with what is told of them, and the pairs of those who might lie, serialised."""
        read = [(result, self._decoded(result)) for result in write.tests]
        ran = {ident: pair.data for ident, pair in write.ran.items()}
        known = [r.id for r, told in read if told is not None and r.id not in ran and self.strangers(told.client)]
        ran.update(self.store.pairs.some(known))
        return [(result, told, ran.get(result.id, b"")) for result, told in read]

    def _enter(self, result: Result, told: Payload | None, pair: bytes) -> None:
        """A test that was run, or a round, or a pending flip that was answered: its pair is done with."""
        if told is None:
            self.ledger.note(Note.CLIENT_UNREADABLE)
            self.store.pairs.done(result.id)
            return
        who = self.strangers(told.client)
        if who and pair:
            self.store.pairs.keep_told(result.id, told.client, pair)
            if who in self._distrusted:
                self._again.append(pair)
        client, ledger = self._client(told.client), self.ledger
        client.busy += told.seconds
        if isinstance(told, TestPayload):
            client.tests += 1
            ledger.enter(msgspec.structs.replace(told.entry, confirmed=False))  # nobody else has seen it yet
            if self._vectors is not None and told.entry.is_path:
                self._vectors.enter(ledger.totals.runs, told.entry.taken, False)
            self._claim(result, told, pair if who else b"")
            self.store.pairs.done(result.id, told.entry.path_hash if told.entry.is_path else None)
        elif isinstance(told, RoundPayload):
            client.tests += len(told.tests)
            ledger.enter_round(told.tests, told.layouts, told.unchecked, told.retried)
            self._sample(told)
            self.store.pairs.done(result.id, told.tests[0].path_hash)
        else:
            ledger.totals.re_asked += told.again
            if told.lost is not None:
                ledger.set_aside(told.lost)
            self.store.pairs.done(result.id)
            if who and pair and told.lost is None and self._is_sampled(who):
                derived = _derived(pair, b"", result, told)
                self.claims.append(
                    Claim(self.number, About.SAMPLE, b"", End("", 0, 0), told.client, who, None, derived)
                )
        ledger.queue += bool(result.children)
        if told.counted is not None:
            ledger.count(told.counted)

    def _claim(self, result: Result, told: TestPayload, pair: bytes) -> None:
        """What somebody else is to run again."""
        entry, number = told.entry, self.ledger.totals.runs
        bug = next((bug for bug in self.ledger.bugs if bug.test == number), None) if entry.place is not None else None
        is_settled = entry.verdict not in (Verdict.WATCHDOG, Verdict.LOST)
        if bug is not None:
            about = About.BUG
        elif is_settled and number == 1:
            about = About.FIRST
        elif is_settled and self._is_sampled(self.strangers(told.client)):
            about = About.SAMPLE
        else:
            return
        end = End(entry.verdict.value, entry.code, entry.path_hash)
        told_bug = Found(bug, entry.confirmed) if bug is not None else None
        derived = None
        if pair and is_settled and not entry.mispredicted:
            derived = _derived(pair, entry.input, result, told)
        self.claims.append(Claim(self.number, about, entry.input, end, told.client, told.client, told_bug, derived))

    def _sample(self, told: RoundPayload) -> None:
        """The campaign's first test is not among them: it asks for more input than any before."""
        for place in _sampled(self.sample, len(told.tests), self._chance):
            test = told.tests[place]
            end = End(test.verdict.value, test.code, test.path_hash)
            self.claims.append(Claim(self.number, About.SAMPLE, test.input, end, told.client, told.client))

    def _is_sampled(self, who: str) -> bool:
        return self._chance.random() < (max(self.sample, SUSPECT) if who in self._suspects else self.sample)

    def _has_expelled(self) -> bool:
        """Was a client sent away in an earlier session?"""
        begin = Note.CLIENT_EXPELLED.partition("{")[0]
        return any(what.startswith(begin) for what, _, _ in self.ledger.notes)

    def _unconfirmed(self) -> list[Claim]:
        """Bugs of earlier sessions that nobody else has seen."""
        found = []
        for bug in self.ledger.bugs:
            row = self.store.test(bug.test) if not bug.confirmed else None
            if row is not None:
                end = End(row.verdict, row.code, row.path_hash)
                found.append(Claim(self.number, About.BUG, row.input, end, "", "", Found(bug, False)))
        return found

    def _compare(self, result: Result) -> None:
        """A test that was recorded before: a board that takes another path the second time is told of, never merged."""
        before = self.store.pairs.path_of(result.id)
        told = self._decoded(result)
        if before is None or told is None or isinstance(told, AnswerPayload):
            return
        if isinstance(told, RoundPayload):
            if told.tests[0].path_hash != before:
                self._note_difference(told.client)
            return
        entry = told.entry
        if entry.is_path and entry.path_hash != before:
            self._note_difference(told.client, entry.place)

    def _note_difference(self, client: str, place: Place | None = None) -> None:
        self.ledger.tally.divergences += 1
        file, line = (place.file, place.line) if place else ("", 0)
        self.ledger.note(Note.CLIENT_DIFFERS.of(client), file, line)

    def _decoded(self, result: Result) -> Payload | None:
        """None if it cannot be read."""
        try:
            return self.reader.take(result.payload)
        except DecodeError:
            return None

    def _client(self, name: str) -> _Attendance:
        return self._attendance.setdefault(name, _Attendance())


def _sampled(share: float, count: int, chance: random.Random) -> Iterator[int]:
    """Of so many places each with this probability, by how many are left out before the next: to ask for each one would
    take as long as to read what is told of it."""
    place = -1
    while share > 0:
        left_out = math.log(1 - chance.random()) // math.log(1 - share) if share < 1 else 0
        place += 1 + int(left_out)
        if place >= count:
            return
        yield place


def _derived(pair: bytes, data: bytes, result: Result, payload: TestPayload | AnswerPayload) -> Derived:
    """What a client says to follow from a pair. `data`: with what input it ran it, if not with the pair's own."""
    ran = explored.Pair.from_bytes(pair)
    if data:
        ran = ran.but(input=data)
    children = [explored.Pair.from_bytes(child.data) for child in result.children if child.data]
    notes = payload.counted.tally.notes if payload.counted is not None else ()
    sites = {site for what, site, _ in notes if what == Note.GAVE_UP}
    said = checking.told(ran, children, sites)
    return Derived(ran.to_bytes(), b"".join(said.marks), said.until, tuple(sites), isinstance(payload, AnswerPayload))


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
