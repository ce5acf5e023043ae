"""The host's side of the link as a state machine: bytes in, bytes out, no I/O, no clock.

One test at a time. Whatever is damaged on the way is asked for again: the END by AGAIN, missing pieces of events,
coverage and output by running the test again (runs are deterministic) with the prefix already held left out, the input
in full when the target lost what the difference was made against. Every attempt has its own number on the wire, so that
late answers are recognised. The number of attempts that bring nothing new is bounded.
"""

from __future__ import annotations

import struct
import sys
import zlib
from typing import NamedTuple

from score_embed.contract.outcome import Verdict
from score_embed.contract.wire import WIRE_VERSION, Capability, EndFlag, Type
from score_embed.errors import TargetError
from score_embed.link import message
from score_embed.link.frame import BadSequence, DecodeError, Decoder, encode
from score_embed.link.pieces import Pieces

MAX_ATTEMPTS = 20  # that bring nothing new
MAX_REFUSALS = 200  # of a frame of ours that arrives damaged; these are cheap
SMALLEST_CHUNK = 16  # bytes of payload; with 1 % of bytes damaged, 3 of 4 such frames arrive
CLEAN_TESTS = 16  # since the last damage, until payloads grow again


class Request(NamedTuple):
    """One test. `prefix`: event bytes the host already holds and expects; they are not sent again.

    `tell_from`: say all at once, for the test may be the target's end, and after so many event bytes also where it is;
    `bounded`: end it where the input does; `vectors`: say of all conditions how they came out, and nothing else.
    """

    data: bytes
    predicted: int = 0
    condition_hash: int = 0
    max_branches: int = 1_000_000
    watchdog_ms: int = 10_000
    prefix: bytes = b""
    tell_from: int | None = None
    bounded: bool = False
    vectors: bool = False


class Known(NamedTuple):
    """What has arrived of a test that has told no end."""

    events: bytes  # from the first one to the first that is missing
    coverage: tuple[int, ...]
    output: bytes
    sites: tuple[tuple[int, int], ...]  # where it came by, of a test that is eager, and how many event bytes before


class Result(NamedTuple):
    end: message.End
    input_used: int  # bytes
    events: bytes  # empty if the run was mispredicted
    coverage: tuple[int, ...]
    output: bytes


class WrongImage(TargetError):
    """The target answers, but what it runs is not the image expected."""


class Session:
    """Call `hello`, then `receive` until `ready`; `start` a test, then `receive` until `result`."""

    def __init__(self, build_id: bytes) -> None:
        self._build_id = build_id
        self._decoder = Decoder()
        self._sequence = 0
        self._number = 0  # of the attempt under way, modulo 256: answers that come late come soon
        self._done = False  # all of that attempt has arrived
        self._held: bytes | None = None  # the input the target has
        self._limits = (0, 0)  # that it has, too
        self._request: Request | None = None
        self._elided = 0  # event bytes it leaves out
        self._sent = b""  # the last RUN or AGAIN
        self._fruitless = 0  # attempts since something new arrived
        self._refusals = 0  # of frames of ours since something new arrived
        self._had = 0  # bytes of the test's pieces at the last attempt
        self._events, self._output, self._coverage = Pieces(), Pieces(), Pieces()
        self._passed: list[tuple[int, int]] = []  # of a test that is eager: what, and the event bytes before it
        self._chunk = 0  # bytes of payload asked for while errors last; 0: the target's own size
        self._largest = 0  # bytes of payload that the target likes
        self._clean = 0  # tests since payloads changed
        self.ready: message.Ready | None = None
        self.booted = False  # since HELLO a READY has come that was not asked for
        self.result: Result | None = None
        self.restarted = False  # a READY came while a test ran: the target started again by itself
        self._damaged = False  # something of the answer was lost on the way
        self.late = 0  # ENDs that nobody needed any more: they were asked for too early
        self.bad_frames = 0
        self.reruns = 0

    def hello(self) -> bytes:
        self._decoder.resynchronise()
        self.ready, self.booted, self._held, self._damaged = None, False, None, False
        return self._greeting()

    def reset(self) -> bytes:
        """Ask the target to start again from its beginning."""
        return self._frame(Type.RESET, b"")

    @property
    def held(self) -> int:
        """Bytes that have arrived of the test under way: as long as they grow there is hope."""
        return len(self._events) + len(self._output) + len(self._coverage) + len(self._passed)

    @property
    def known(self) -> Known:
        """All of the test under way that has arrived; of its events what was expected counts, too."""
        taken = dict.fromkeys(what >> 1 for what, _ in self._passed if not what & 1)
        sites = tuple((what >> 1, before) for what, before in self._passed if what & 1)
        return Known(self._events.whole, tuple(taken), self._output.whole, sites)

    @property
    def doubtful(self) -> bool:
        """Something of the answer was lost, or ended in the middle: silence need not be waited for."""
        return self._damaged or self._decoder.holds_part

    def start(self, request: Request) -> bytes:
        self._request, self.result, self.restarted = request, None, False
        self._fruitless, self._refusals, self._had = 0, 0, -1
        self._output.clear()
        self._coverage.clear()
        self._passed.clear()
        self._events.clear(request.prefix)
        return self._attempt()

    def nudge(self) -> bytes:
        """It has been quiet for long: a RUN or an END may be lost."""
        if self.ready is None:
            return self._greeting()
        return b"\0" + self._again()

    def receive(self, data: bytes) -> bytes:
        """Take bytes in; returns bytes to send. Raises TargetError if the target is not ours or the link useless."""
        out = b""
        for item in self._decoder.feed(data):
            if isinstance(item, DecodeError):
                self.bad_frames += not isinstance(item, BadSequence)  # the one before it was counted, if anything came
                self._damaged = True
                continue
            try:
                reply = message.parse(item.type, item.payload)
            except message.MessageError:
                self.bad_frames += 1
                self._damaged = True
                continue
            out += self._take(reply)
        return out

    def _greeting(self) -> bytes:
        """HELLO, apart from whatever a line may have carried before."""
        return b"\0" + self._frame(Type.HELLO, message.hello())

    def _frame(self, kind: Type, payload: bytes) -> bytes:
        self._sequence += 1
        return encode(kind, self._sequence, payload)

    def _attempt(self, full: bool = False) -> bytes:
        """The test once more: what is held of its events' beginning is not sent again."""
        request = self._request
        assert request is not None
        if self._had >= 0:
            self.reruns += 1
        self._count()
        self._number = (self._number + 1) & 0xFF
        prefix = self._events.whole
        limits = (request.max_branches, request.watchdog_ms)
        run = message.RunMessage(
            number=self._number,
            acknowledged=self._done,
            data=request.data,
            base=None if full or limits != self._limits else self._held,
            predicted=request.predicted,
            condition_hash=request.condition_hash,
            elide=len(prefix),
            elide_crc=zlib.crc32(prefix),
            max_branches=request.max_branches,
            watchdog_ms=request.watchdog_ms,
            chunk=self._chunk,
            tell_from=request.tell_from,
            bounded=request.bounded,
            vectors=request.vectors,
        )
        self._held, self._limits, self._done, self._elided = request.data, limits, False, len(prefix)
        return self._send(Type.RUN, run.encode())

    def _again(self) -> bytes:
        """Ask for the END of the attempt under way."""
        return self._send(Type.AGAIN, message.again(self._number))

    def _send(self, kind: Type, payload: bytes) -> bytes:
        self._damaged = False
        self._sent = self._frame(kind, payload)
        return self._sent

    def _count(self) -> None:
        """One more attempt. Raises TargetError if nothing comes of them."""
        have = self.held
        if have > self._had:
            self._fruitless = self._refusals = 0
        else:
            self._fruitless += 1
        self._had = max(have, self._had, 0)
        if self._fruitless >= MAX_ATTEMPTS:
            raise self._hopeless(f"a test could not be brought over the link in {MAX_ATTEMPTS} attempts")

    def _refused(self) -> bytes:
        """What was sent came to the target damaged."""
        self._refusals += 1
        if self._refusals >= MAX_REFUSALS:
            raise self._hopeless(f"what was sent arrived damaged {MAX_REFUSALS} times")
        return self._sent

    def _hopeless(self, what: str) -> TargetError:
        hint = f"{self.bad_frames} damaged frames so far: check the cable, the baud rate and flow control"
        return TargetError(what, hint=hint)

    def _take(self, reply: message.Reply) -> bytes:
        match reply:
            case message.Ready():
                self._take_ready(reply)
            case message.Damaged() if self.ready is None:
                return self.hello()
            case message.Damaged() if self._request and not self.result:
                return self._refused()
            case message.Trace() if reply.number == self._number and self.result is None:
                self._events.add(reply.offset, reply.data)
            case message.Log() if reply.number == self._number:
                self._output.add(reply.offset, reply.data)
            case message.Coverage() if reply.number == self._number:
                self._coverage.add(4 * reply.offset, reply.data)
            case message.Passed() if reply.number == self._number:
                self._passed.append((reply.what, len(self._events.whole)))
            case message.NeedFull() if reply.number == self._number and self._request and not self.result:
                return self._attempt(full=True)
            case message.End() if reply.number == self._number and self._request and not self.result:
                return self._take_end(reply)
            case message.End():
                self.late += 1
            case _:
                pass  # a late answer to an earlier attempt
        return b""

    def _take_ready(self, ready: message.Ready) -> None:
        if ready.version != WIRE_VERSION:
            raise WrongImage(
                f"the target speaks version {ready.version} of the link, expected {WIRE_VERSION}",
                hint="build the image again with this version of score-embed",
            )
        if ready.build_id != self._build_id:
            raise WrongImage(
                f"the target runs another image: found build {ready.build_id.hex()}, expected {self._build_id.hex()}",
                hint="load the image that was built from these sources onto the target, then start again",
            )
        if ready.capabilities & Capability.BOOTED:
            self.booted = True
            self.restarted = self._request is not None and self.result is None
        self.ready, self._largest = ready, ready.chunk

    def _take_end(self, end: message.End) -> bytes:
        request = self._request
        assert request is not None
        self.bad_frames += end.link_errors
        events, missing = b"", False
        if end.flags & EndFlag.MATCHED and end.verdict is not Verdict.WATCHDOG:
            if end.flags & EndFlag.ELISION_FAILED:
                self._events.clear()
                return self._attempt()
            offset = self._elided if end.offset is None else end.offset
            self._events.add(offset, end.tail)
            events = self._events.whole
            missing = len(events) < offset + len(end.tail)
            if not missing and (len(events) > offset + len(end.tail) or zlib.crc32(events) != end.event_crc):
                self._events.clear()
                self._had = sys.maxsize  # runs differ, so more bytes are no progress
                return self._attempt()
        coverage, output = self._coverage[: 4 * end.coverage_size], self._output[: end.log_size]
        if missing or len(coverage) < 4 * end.coverage_size or len(output) < end.log_size:
            self._shrink()
            return self._attempt()
        self._grow()
        self._done = True
        used = len(request.data) if end.input_used is None else end.input_used
        self.result = Result(end, used, events, struct.unpack(f"<{end.coverage_size}I", coverage), output)
        self._request = None
        return b""

    def _shrink(self) -> None:
        """A frame was damaged: a shorter one has better chances, and less is sent again when it is lost."""
        self._clean = 0
        self._chunk = max(SMALLEST_CHUNK, (self._chunk or self._largest) // 4)

    def _grow(self) -> None:
        """A test came through; after many in one attempt each the line seems to be good again."""
        if not self._chunk:
            return
        self._clean += 1
        if self._clean >= CLEAN_TESTS:
            self._clean, self._chunk = 0, self._chunk * 2
            if self._chunk >= self._largest:
                self._chunk = 0
