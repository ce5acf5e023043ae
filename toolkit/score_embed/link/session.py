"""The host's side of the link as a state machine: bytes in, bytes out, no I/O, no clock.

One test at a time. Whatever is damaged on the way is asked for again: the END by AGAIN, missing parts of the event
stream by running the test again (runs are deterministic) with the prefix already held left out, the input in full
when the target lost what the difference was made against. Every attempt has its own number on the wire, so that
late answers are recognised. The number of attempts is bounded.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from score_embed.errors import TargetError
from score_embed.link import message
from score_embed.link.frame import DecodeError, Decoder, encode
from score_embed.link.message import Capability, EndFlag, Type

MAX_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Request:
    """One test. `prefix`: event bytes the host already holds and expects; they are not sent again."""

    data: bytes
    predicted: int = 0
    condition_hash: int = 0
    max_branches: int = 1_000_000
    watchdog_ms: int = 10_000
    prefix: bytes = b""


@dataclass(frozen=True, slots=True)
class Result:
    end: message.End
    events: bytes  # empty if the run was mispredicted
    coverage: tuple[int, ...]
    output: bytes


class Session:
    """Call `hello`, then `receive` until `ready`; `start` a test, then `receive` until `result`."""

    def __init__(self, build_id: bytes) -> None:
        self._build_id = build_id
        self._decoder = Decoder()
        self._sequence = 0
        self._number = 0  # of the attempt under way
        self._done_number = 0  # of the last test whose END we have in full
        self._held: bytes | None = None  # the input the target has
        self._request: Request | None = None
        self._attempts = 0
        self._clear()
        self.ready: message.Ready | None = None
        self.result: Result | None = None
        self.restarted = False  # a READY came while a test ran: the target started again by itself
        self.bad_frames = 0
        self.reruns = 0

    def hello(self) -> bytes:
        self._decoder.resynchronise()
        self.ready, self._held = None, None
        return self._frame(Type.HELLO, message.hello())

    def start(self, request: Request) -> bytes:
        self._request, self.result, self.restarted = request, None, False
        self._attempts = 0
        return self._attempt(request.prefix, full=False)

    def nudge(self) -> bytes:
        """It has been quiet for long: a RUN or an END may be lost."""
        if self.ready is None:
            return self._frame(Type.HELLO, message.hello())
        return self._frame(Type.AGAIN, message.again(self._number))

    def receive(self, data: bytes) -> bytes:
        """Take bytes in; returns bytes to send. Raises TargetError if the target is not ours or the link useless."""
        out = b""
        for item in self._decoder.feed(data):
            if isinstance(item, DecodeError):
                self.bad_frames += 1
                continue
            try:
                reply = message.parse(item.type, item.payload)
            except message.MessageError:
                self.bad_frames += 1
                continue
            out += self._take(reply)
        return out

    def _frame(self, kind: Type, payload: bytes) -> bytes:
        self._sequence += 1
        return encode(kind, self._sequence, payload)

    def _clear(self) -> None:
        self._events = b""
        self._output = b""
        self._coverage: tuple[int, ...] = ()

    def _attempt(self, prefix: bytes, full: bool) -> bytes:
        request = self._request
        assert request is not None
        self._attempts += 1
        if self._attempts > MAX_ATTEMPTS:
            raise TargetError(
                f"a test could not be brought over the link in {MAX_ATTEMPTS} attempts",
                hint=f"{self.bad_frames} damaged frames so far: check the cable, the baud rate and flow control",
            )
        if self._attempts > 1:
            self.reruns += 1
        self._number = (self._number + 1) & 0xFFFFFFFF
        self._clear()
        self._events = prefix
        run = message.RunMessage(
            number=self._number,
            acknowledged=self._done_number,
            data=request.data,
            base=None if full else self._held,
            predicted=request.predicted,
            condition_hash=request.condition_hash,
            elide=len(prefix),
            elide_crc=zlib.crc32(prefix),
            max_branches=request.max_branches,
            watchdog_ms=request.watchdog_ms,
        )
        self._held = request.data
        return self._frame(Type.RUN, run.encode())

    def _take(self, reply: message.Reply) -> bytes:
        match reply:
            case message.Ready():
                self._take_ready(reply)
            case message.Trace() if reply.number == self._number and self.result is None:
                if reply.offset == len(self._events):
                    self._events += reply.data
            case message.Log() if reply.number == self._number and reply.offset == len(self._output):
                self._output += reply.data
            case message.Coverage() if reply.number == self._number:
                if reply.offset == 0:
                    self._coverage = ()
                if reply.offset == len(self._coverage):
                    self._coverage += reply.indices
            case message.NeedFull() if reply.number == self._number and self._request and not self.result:
                return self._attempt(self._request.prefix, full=True)
            case message.End() if reply.number == self._number and self._request and not self.result:
                return self._take_end(reply)
            case _:
                pass  # a late answer to an earlier attempt
        return b""

    def _take_ready(self, ready: message.Ready) -> None:
        if ready.version != message.WIRE_VERSION:
            raise TargetError(
                f"the target speaks version {ready.version} of the link, expected {message.WIRE_VERSION}",
                hint="build the image again with this version of score-embed",
            )
        if ready.build_id != self._build_id:
            raise TargetError(
                f"the target runs another image: found build {ready.build_id.hex()}, expected {self._build_id.hex()}",
                hint="load the image that was built from these sources onto the target, then start again",
            )
        if self._request is not None and self.result is None and ready.capabilities & Capability.BOOTED:
            self.restarted = True
        self.ready = ready

    def _take_end(self, end: message.End) -> bytes:
        request = self._request
        assert request is not None
        self.bad_frames += end.link_errors
        if end.input_crc != zlib.crc32(request.data):
            return self._attempt(request.prefix, full=True)
        if len(self._coverage) != end.coverage_size:
            self._attempts += 1
            if self._attempts <= MAX_ATTEMPTS:
                return self._frame(Type.AGAIN, message.again(self._number))
        events = b""
        if end.flags & EndFlag.MATCHED and end.verdict != "watchdog":
            if end.flags & EndFlag.ELISION_FAILED:
                return self._attempt(b"", full=False)
            events = self._events
            if len(events) != end.event_count or zlib.crc32(events) != end.event_crc:
                whole = len(events) < end.event_count
                return self._attempt(events if whole else b"", full=False)
        self._done_number = self._number
        self.result = Result(end, events, self._coverage, self._output)
        self._request = None
        return b""
