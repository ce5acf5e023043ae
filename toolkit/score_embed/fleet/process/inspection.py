"""What a client reports is looked at before any of it gets near the record: all of a message, or nothing of it.

A client of ours reports nothing that fails here. So what does was not said by one: it is dropped, and counted against
who said it. Whatever passes can be stored, run, and shown: pairs decode fully, results are those of this image, numbers
are such as a test can bring.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from score_embed.campaign.describing import Counted, Entry
from score_embed.campaign.engine_loop import ORDINARY
from score_embed.contract.outcome import Verdict
from score_embed.contract.words import Note, Unflipped
from score_embed.errors import ScoreError
from score_embed.explore import pair as explored
from score_embed.explore.tally import TallyRows
from score_embed.fleet import messages
from score_embed.fleet.messages import DecodeError, Result, Results
from score_embed.fleet.process.payload import Payload, Reader, RoundPayload, TestPayload
from score_embed.results.bugs import Place
from score_embed.results.sourcemap import SourceMap
from score_embed.results.testcase import Named
from score_embed.results.vectors import require_taken

_MOST_TIMES = 1 << 32  # how often something was counted between two reports
_MOST_BYTES = 1 << 33  # that a link has carried between them
_MOST_MEMORY = 1 << 50
_MOST_SECONDS = 1e9
_MOST_KINDS = 50_000  # of notes, and of directions not taken, that all clients together tell of
_MOST_TARGETS = 1 << 16  # directions that a test may lead to
_MOST_ASKED = 4  # times that a question is put off
_MOST_NUMBER = 16  # bytes of an integer
_LONGEST = 4096  # characters of a name that the image has
_DEEPEST = 64  # functions on a stack
_MOST_CALLS = 1000  # that confinement has refused, each at each line
_CALL = re.compile(r"[a-z0-9_ ]{1,40}")
_TOLD = re.compile("|".join(re.sub(r"\\\{[^}]*\}", ".*", re.escape(note.value)) for note in Note), re.DOTALL)

Kind = TypeVar("Kind")


class Unsound(ValueError):
    """What no client of ours reports; the text says what."""


class Inspector:
    """Knows the image of a campaign by what its record says of it."""

    def __init__(self, sources: SourceMap, reader: Reader) -> None:
        """`reader`: keeps what was read for whoever enters it."""
        self._reader = reader
        self._sites = {0, *sources.sites}
        self._decisions, self._directions = sources.decisions, sources.directions.keys()
        self._notes: set[tuple[str, int]] = set()  # what was told of, and of which site; for look-ups only, as the next
        self._calls: set[tuple[str, str, int]] = set()
        self._unflipped: set[tuple[int, Unflipped]] = set()

    def inspect(self, message: Results, may_round: bool) -> None:
        """`may_round`: not all its tests have to be looked at. Raises Unsound."""
        bare: set[bytes] = set()  # known without data: their results have to follow
        for result in message.results:
            bare.discard(result.id)
            self._result(result, message.peer.client, may_round)
            for child in result.children:
                if child.data:
                    _pair(child)
                else:
                    bare.add(child.id)
        if bare:
            raise Unsound("a test without its data, and without its result behind it")

    def _result(self, result: Result, client: str, may_round: bool) -> None:
        try:
            told = self._reader.read(result.payload)
        except DecodeError as error:
            raise Unsound(f"a result that makes no sense: {error}") from None
        if told.client != client:
            raise Unsound("a result in another client's name")
        if _tests_of(told) != result.tests:
            raise Unsound("a result that is not of as many tests as it says")
        if told.counted is not None:
            self._tally(told.counted.tally)
            self._refused(told.counted.refused)
            _check_counts(told.counted)
        if isinstance(told, TestPayload):
            self._test(told)
            _check_loss(told.entry, told.counted, result)
        if isinstance(told, RoundPayload):
            if not may_round:
                raise Unsound("tests of which nobody could look at each")
            self._round(told)

    def _test(self, told: TestPayload) -> None:
        entry = told.entry
        if entry.verdict is Verdict.LOST and entry.is_path:
            raise Unsound("a path of a test that was lost")
        if not 0 <= entry.path_hash < 1 << 64:
            raise Unsound("a path's hash of more than 64 bits")
        _check_inputs(entry.objects)
        if entry.taken is not None:
            if not entry.is_path:
                raise Unsound("vectors of a test that took no path")
            try:
                require_taken(entry.taken, self._decisions, self._directions)
            except ValueError as error:
                raise Unsound(str(error)) from None
        if entry.place is not None:
            if not entry.verdict.is_bug:
                raise Unsound("the place of a bug, of a test that shows none")
            _place(entry.place)

    def _round(self, told: RoundPayload) -> None:
        for layout in told.layouts:
            _check_inputs(layout)
        for test in told.tests:
            if test.verdict not in ORDINARY or test.layout >= len(told.layouts):
                raise Unsound("a test that is no ordinary one, among those that are")

    def _refused(self, refused: Iterable[tuple[str, str, int, int]]) -> None:
        for call, file, line, count in refused:
            if (
                not _CALL.fullmatch(call)
                or len(file) > _LONGEST
                or not 0 <= line < 1 << 31
                or not 0 < count <= _MOST_TIMES
            ):
                raise Unsound("a refused call that is none")
        kinds = {(call, file, line) for call, file, line, _ in refused}
        _remember(self._calls, kinds, _MOST_CALLS)

    def _tally(self, tally: TallyRows) -> None:
        times = [count for _, _, count in (*tally.notes, *tally.unflipped)]
        times += [tally.divergences, tally.concretized, *(count for _, count in tally.forks)]
        if not all(0 <= count <= _MOST_TIMES for count in times):
            raise Unsound("a count that no client can have reached")
        notes = {(what, site) for what, site, _ in tally.notes}
        if any(len(what) > _LONGEST or not _TOLD.fullmatch(what) or site not in self._sites for what, site in notes):
            raise Unsound("a note that is none")
        if any(site not in self._sites for site, _ in tally.forks):
            raise Unsound("a site that the program does not have")
        _remember(self._notes, notes)
        _remember(self._unflipped, {(index, why) for index, why, _ in tally.unflipped})


def _tests_of(told: Payload) -> int:
    if isinstance(told, RoundPayload):
        return len(told.tests)
    return 1 if isinstance(told, TestPayload) else 0


def _check_inputs(objects: Iterable[Named]) -> None:
    for named in objects:
        most = messages.MAX_INPUT if named.kind in ("bytes", "text") else _MOST_NUMBER
        if len(named.name) > _LONGEST or not (0 <= named.offset <= messages.MAX_INPUT and 0 <= named.size <= most):
            raise Unsound("an input that is none")


def _check_loss(entry: Entry, counted: Counted | None, result: Result) -> None:
    """What is not compared with another's run is at least told of: then nobody calls the campaign exhausted."""
    if (entry.mispredicted or entry.verdict is Verdict.WATCHDOG) and not (counted and counted.tally.notes):
        raise Unsound("a test of which something was lost, and no word of that")
    if entry.verdict is Verdict.LOST and entry.lost is None and not result.children:
        raise Unsound("a lost test that nobody can repeat")


def _remember(known: set[Kind], told: set[Kind], most: int = _MOST_KINDS) -> None:
    """Each kind takes room in the record."""
    fresh = told - known
    if len(known) + len(fresh) > most:
        raise Unsound("more kinds of notes than a program has")
    known.update(fresh)


def _check_counts(counted: Counted) -> None:
    link, memory, solver = counted.link, counted.memory, counted.tally.solver
    answers = solver.sat, solver.unsat, solver.unknown, *solver.by.values(), *solver.gave_up.values()
    answers += link.crc_errors, link.reruns
    good = all(0 <= count <= _MOST_TIMES for count in answers)
    good = good and all(0 <= count <= _MOST_BYTES for count in (link.bytes_in, link.bytes_out))
    good = good and all(0 <= size <= _MOST_MEMORY for size in (memory.host_rss, memory.target))
    if not good or not all(0 <= some <= _MOST_SECONDS for some in (solver.seconds, *solver.seconds_by.values())):
        raise Unsound("a count that no client can have reached")


def _pair(given: messages.Pair) -> None:
    """It can be run, and says of itself what is said of it."""
    try:
        pair = explored.Pair.from_bytes(given.data)
    except ScoreError:
        raise Unsound("a test that cannot be run") from None
    if pair.id != given.id or pair.depth != given.depth:
        raise Unsound("a test that is not the one it says")
    if pair.decided is None and (pair.pending or pair.left_out):
        raise Unsound("a test whose decisions nobody knows")
    if pair.pending > _MOST_ASKED or len(pair.targets) > _MOST_TARGETS:
        raise Unsound("a test that cannot be run")


def _place(place: Place) -> None:
    names = (place.file, place.function, *place.stack)
    if not 0 <= place.line < 1 << 31 or len(place.stack) > _DEEPEST or any(len(name) > _LONGEST for name in names):
        raise Unsound("the place of a bug that is none")
