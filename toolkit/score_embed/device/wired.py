"""What all targets at the end of a link have in common: run a test, judge a target that died, start it again.

A driver (`native.py`, `qemu.py`, `desk.py`) says how to start, stop and reset an instance; the rest is here. If the
instance died or fell silent under a test, the host says how it ended (RESET, SIGNAL …; LOST if nobody knows; WATCHDOG),
and the next test finds a fresh instance. Whether that was the test's doing is not for this module to say:
`campaign/judging.py` runs it again.
"""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from score_embed.contract.outcome import Finished, LinkCounters, Refused, Run, TargetInfo, Verdict
from score_embed.contract.wire import EndFlag
from score_embed.device.endings import (
    OVERWRITTEN,
    RESTARTED,
    SILENT,
    SUSPECT,
    UNSPECIFIC,
    Ending,
    Known,
    as_told,
    judged,
)
from score_embed.device.patience import Patience
from score_embed.device.startup import NoReady, Seen
from score_embed.engine._core import Lent, Ready
from score_embed.errors import TargetError
from score_embed.link.session import Result, Session, WrongImage
from score_embed.link.transport import Channel, Line, LinkClosed

# Times the patience for one answer that goes on and on: a program that writes to the link itself never ends.
_MOST_PATIENCES = 20
_STARTS = 5  # of an instance that somebody kills before it is ready
SEEN = 24  # bytes of what a mute target sent, for the message


class _Stopped(Exception):
    """A signal has stopped the instance: it will never answer."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _KilledEarly(TargetError):
    """Somebody has killed the instance before it was ready."""


class WiredTarget(ABC):
    """Base of the drivers; implements target.base.Target."""

    grace = 5.0  # seconds beyond the target's own watch-dog
    ready_within = 10.0
    farewell = 0.5  # seconds between the end of an instance's line and its own
    hello_again = 2.0  # seconds without an answer to a HELLO
    guarded = True  # it has a watch-dog that ends each test in time
    sound = True  # nothing but the target can damage what passes the line
    ahead = 0  # tests that may be sent behind the one whose answer is waited for: the line keeps them
    complaint = ""  # what the last instance that ended wrote to its standard error

    def __init__(self, name: str, build_id: bytes, watchdog: float) -> None:
        self._name, self._build_id, self._watchdog = name, build_id, watchdog
        self.patience = Patience(0.1, 2.0)
        self._channel: Line | None = None
        self._session: Session | None = None
        self._info: TargetInfo | None = None
        self._closed_counters = LinkCounters()
        self._hurried = False  # the answer before was asked for again when it broke off
        self._sent = False  # the test that was begun has gone out …
        self._is_eager = False  # … and says all at once
        self._failure: Exception | None = None  # of its answer, as the engine has read it
        self._is_spent = False  # it has run tests whose ends nobody saw, and must run no other

    # --- what a driver provides

    @abstractmethod
    def _launch(self) -> Line:
        """Start an instance. Raises UsageError or TargetError."""

    @abstractmethod
    def _terminate(self, patience: float = 0) -> int:
        """Stop the instance, if any, after `patience` seconds for an end of its own; returns its exit status (negative:
        a signal). Safe to call twice."""

    def _connected(self) -> None:  # noqa: B027  (most drivers have nothing to do then)
        """The instance has reported READY."""

    def _look(self) -> tuple[Seen, ...]:
        """Where the running instance is, seen a few times; nothing if that cannot be known."""
        return ()

    def _has_ended(self) -> bool:
        """Whether the instance is known to be gone, though its line is not closed."""
        return False

    def _stopped_by(self) -> int:
        """The signal that has stopped the instance for good, or 0."""
        return 0

    def _reset(self) -> bool:
        """Start the running instance again from its beginning, if that is cheaper than a new one; True if done."""
        return False

    def raw(self) -> Line:
        """Start an instance and hand out its line, for somebody who speaks to it himself; `close` ends it."""
        return self._launch()

    # --- the Target protocol

    @property
    def info(self) -> TargetInfo:
        if self._info is None:
            self._start()
        assert self._info is not None
        return self._info

    @property
    def counters(self) -> LinkCounters:
        done, channel, session = self._closed_counters, self._channel, self._session
        return LinkCounters(
            done.bytes_in + (channel.bytes_in if channel else 0),
            done.bytes_out + (channel.bytes_out if channel else 0),
            done.crc_errors + (session.bad_frames if session else 0),
            done.reruns + (session.reruns if session else 0),
        )

    def take_refused(self) -> Mapping[Refused, int]:
        """Nobody notices that, but for native processes."""
        return {}

    def run(self, test: Run) -> Finished:
        self.begin(test)
        return self.finish()

    def begin(self, test: Run) -> None:
        if self._is_spent:
            self._renew()
        if self._session is None:
            self._start()
        if len(test.input) > self.info.input_capacity:
            raise TargetError(
                f"a test needs {len(test.input)} bytes of input, the target's buffer has {self.info.input_capacity}",
                self._name,
                "make less data symbolic, or give the runtime a larger buffer (SC_INPUT_CAPACITY)",
            )
        assert self._session is not None
        assert self._channel is not None
        self._is_eager = test.tell_from is not None
        run = self._session.start(
            test.input,
            test.predicted,
            test.condition_hash,
            test.max_branches,
            int(self._watchdog * 1000),
            test.prefix,
            test.tell_from,
            test.bounded,
            test.vectors,
        )
        try:
            self._sent = self._channel.send(run, self._patience_ends())
        except LinkClosed:
            self._sent = True  # it will be found closed when the answer is asked for

    def finish(self) -> Finished:
        session = self._session
        assert session is not None
        damaged = session.bad_frames
        try:
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            result = self._answer() if self._sent else None
        except LinkClosed:
            known = Known(*session.known)
            return judged(self._ending(self._stop(self.farewell)), known)
        except _Stopped as stopped:
            known = Known(*session.known)
            self._stop()
            return judged(Ending(Verdict.SIGNAL, stopped.number, f"stopped by signal {stopped.number}"), known)
        except TargetError as error:
            # Where nothing else can be on the line it was the program that babbled, or said to be another image.
            if not self.sound and (session.bad_frames > damaged or isinstance(error, WrongImage)):
                raise
            known = Known(*session.known)
            self._stop()
            return judged(Ending(Verdict.CORRUPTED, why=error.what), known)
        if result is None:
            known, restarted = Known(*session.known), session.restarted
            self._renew()
            if restarted:
                return judged(Ending(Verdict.RESET, why=RESTARTED), known)
            return judged(Ending(Verdict.LOCK_UP, why=SILENT) if self.guarded else Ending(Verdict.WATCHDOG), known)
        finished = as_told(result)
        if self._is_eager:
            known = Known(*session.known)
            finished = finished._replace(taken=known.coverage, passed=known.sites)
        intact = result.flags & EndFlag.INTACT
        if not intact and finished.verdict in UNSPECIFIC:
            finished = finished._replace(verdict=Verdict.CORRUPTED, code=0, pc=0, why_lost=OVERWRITTEN)
        if not intact or finished.verdict in SUSPECT:
            self._renew()
        return finished

    def lend(self, max_branches: int) -> Lent | None:
        """The running instance, for tests that the engine sends and whose answers it reads. None: there is none, or its
        line takes more than reading and writing."""
        session, channel = self._session, self._channel
        if session is None or self._is_spent or not self.sound or not isinstance(channel, Channel):
            return None
        self._sent, self._is_eager = True, False
        watchdog, capacity = int(self._watchdog * 1000), self.info.input_capacity
        return Lent(session, *channel.descriptors, self.patience.quick, watchdog, max_branches, capacity, self.ahead)

    def take_back(
        self, bytes_in: int, bytes_out: int, rest: bytes, failure: Exception | None, *, is_spent: bool
    ) -> None:
        """What was lent: so many bytes went over its line. `rest`: of the test in work, to be sent yet; `failure`: its
        answer was none; `is_spent`: it has run tests whose ends nobody saw, or which it did not survive; what is in
        work has its result."""
        channel = self._channel
        assert channel is not None
        channel.bytes_in += bytes_in
        channel.bytes_out += bytes_out
        self._is_spent = is_spent
        if is_spent:
            return
        self._failure = failure
        try:
            self._sent = not rest or channel.send(rest, self._patience_ends())
        except LinkClosed:
            self._sent = True

    def restart(self) -> None:
        self._renew()
        self._start()

    def forget_coverage(self) -> None:
        if self._channel is None or self._session is None or self._is_spent:
            return  # the next instance has reported nothing
        self._keep_counters()
        self._session = session = Session(self._build_id)  # a new host is told everything
        try:
            self._greet(self._channel, session)
        except LinkClosed:
            self._renew()
        else:
            if session.ready is None:
                self._renew()

    def close(self) -> None:
        self._stop()

    # --- how

    def _start(self) -> None:
        for trial in range(1, _STARTS + 1):
            try:
                if self._channel is None:
                    self._channel = self._launch()
                self._session = Session(self._build_id)
                self._handshake(self._channel, self._session)
                self._connected()
                return
            except BaseException as error:
                self._stop()
                if not isinstance(error, _KilledEarly) or trial == _STARTS:
                    raise

    def _handshake(self, channel: Line, session: Session) -> None:
        try:
            seen = self._greet(channel, session)
        except LinkClosed:
            status = self._terminate(self.farewell)
            raise (_KilledEarly if status == -signal.SIGKILL else TargetError)(
                f"no READY: {self._last_words(status)}",
                self._name,
                "is it an image built by score-embed for this machine?",
            ) from None
        if session.ready is None:
            what = f"it sent {seen.hex(' ')} …" if seen else "it sent nothing"
            raise NoReady(
                f"the target did not report READY within {self.ready_within:.0f} s: {what}",
                self._name,
                "is this image made by score-embed, and is the link the right one?",
                self._look(),
            )
        self._learn(session.ready)

    def _greet(self, channel: Line, session: Session) -> bytes:
        """HELLO until READY comes or the time is over; returns the first bytes that came. Raises LinkClosed."""
        deadline = time.monotonic() + self.ready_within
        seen = b""
        channel.send(session.hello(), deadline)
        while session.ready is None and time.monotonic() < deadline:
            patience = self.patience.quick if session.doubtful else self.hello_again
            data = channel.receive(min(deadline, time.monotonic() + patience))
            if not data and self._has_ended():
                raise LinkClosed
            seen = (seen + data)[:SEEN]
            out = session.receive(data) or (b"" if data else session.nudge())
            if out and session.ready is None:
                channel.send(out, deadline)
        return seen

    def _learn(self, ready: Ready) -> None:
        self._info = TargetInfo(ready.build_id, ready.input_capacity, ready.free_ram)

    def _patience_ends(self) -> float:
        return time.monotonic() + self._watchdog + self.grace

    def _answer(self) -> Result | None:
        """None: the deadline passed, or the target started again by itself."""
        channel, session = self._channel, self._session
        assert channel is not None
        assert session is not None
        if self._hurried:
            self.patience.learn(needless=session.late > 0)
        self._hurried, session.late = False, 0
        attempt, held, deadline = session.reruns, session.held, self._patience_ends()
        last = time.monotonic() + _MOST_PATIENCES * (self._watchdog + self.grace) if self.sound else float("inf")
        patience = self.patience.first
        while session.result is None:
            doubtful = session.doubtful
            data = channel.receive(min(deadline, time.monotonic() + (self.patience.quick if doubtful else patience)))
            if not data and not doubtful:
                patience = min(2 * patience, self.patience.most)
            out = session.receive(data) if data else session.nudge()
            self._hurried |= doubtful and not data
            if session.result is not None:
                break
            if session.restarted or time.monotonic() > deadline:
                return None
            if not data and (number := self._stopped_by()):
                raise _Stopped(number)
            if session.reruns != attempt:  # a new attempt has its own time
                attempt, held, deadline = session.reruns, session.held, min(last, self._patience_ends())
            if session.held > held:  # on a slow line an answer may take long
                held, deadline = session.held, min(last, max(deadline, time.monotonic() + self.grace))
            if out and not channel.send(out, deadline):
                return None
        return session.result

    def _renew(self) -> None:
        """The next test finds a fresh instance."""
        channel = self._channel
        if channel is None or not self._reset():
            self._stop()
            return
        self._is_spent = False
        try:
            channel.discard()
        except LinkClosed:
            self._stop()
            return
        self._keep_counters()
        self._session = None

    def _ending(self, status: int) -> Ending:
        """Of a test whose instance ended under it, with this exit status (negative: a signal)."""
        return Ending(Verdict.LOST, status, self._last_words(status))

    def _last_words(self, status: int) -> str:
        """Of the instance that was stopped last."""
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"the target ended ({': '.join(filter(None, [how, self._complaint()]))})"

    def _complaint(self) -> str:
        """The first line that the last instance wrote to its standard error, but for warnings."""
        return next((line for line in self.complaint.splitlines() if "warning:" not in line), "")

    def _keep_counters(self) -> None:
        self._closed_counters = self.counters
        if self._channel is not None:
            self._channel.bytes_in = self._channel.bytes_out = 0

    def _stop(self, patience: float = 0) -> int:
        self._keep_counters()
        channel, self._channel, self._session = self._channel, None, None
        try:
            return self._terminate(patience)
        finally:
            self._is_spent = False
            if channel is not None:
                channel.close()
