"""A client of the fleet as a process: the protocol's effects become frames and runs, its events come from both.

One thread: it listens between two tests, and before each question to the solver. While a test is in work the protocol
goes on (it shares pairs, it is told to leave); only what needs another target waits for the end of the test.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from score_embed import __version__
from score_embed.contract.outcome import Finished
from score_embed.errors import ScoreError, TargetError, UsageError
from score_embed.explore.checking import Seen
from score_embed.fleet import service
from score_embed.fleet.client.client import Client
from score_embed.fleet.client.conversation import Effect
from score_embed.fleet.client.queue import Queue
from score_embed.fleet.messages import DecodeError, FromServer, Pair, Pairs, Peer, Rejoin, Welcome
from score_embed.fleet.process import job as jobs
from score_embed.fleet.process.executor import Executor, Ran
from score_embed.fleet.process.queue import SwitchedQueue
from score_embed.fleet.protocol import ClientState, End, Run, Send, Timing, Wake
from score_embed.fleet.timers import Allowance
from score_embed.results.work import WorkNotes
from score_embed.solve.query import Stopped

_ANSWER = 30.0  # seconds for an answer about the job
_ASK_AGAIN = 2.0
_GLANCE = 0.002  # seconds between two looks at the line while there is work
_BREATH = 0.05  # … and while a test is in work
_SENT_AWAY = 20
_STRANGE, _STRANGE_A_SECOND = 64, 0.1  # late and forged hand-overs, until it listens to other clients no more
_CHECKS = 16  # that wait at most
_PATIENCE = 1.0  # seconds that a test may go on when the client is to leave

_Heard = tuple[bool, service.Frame]  # was it the server that said it?
Answer = TypeVar("Answer", service.Job, service.ImagePart)


class Line(Protocol):
    """A client's end of the line: `transport.line.Caller`, or a simulated one."""

    address: str

    def reach(self, seconds: float, enough: Callable[[], bool]) -> bool: ...

    @property
    def connected(self) -> bool: ...

    def wait(self, seconds: float) -> list[tuple[bool, bytes]]: ...

    def send(self, frame: bytes) -> None: ...

    def send_to(self, address: str, key: str, frame: bytes) -> None: ...

    def listen_no_more(self) -> None: ...


class Work(Protocol):
    """What runs a campaign's tests: `Executor`, or a simulated one."""

    @property
    def queue(self) -> Queue: ...

    def run(self, pair: Pair, may_round: bool) -> Ran: ...

    def check(self, claim: service.Check) -> tuple[Finished, Seen]: ...

    def rest(self) -> None: ...

    def close(self) -> None: ...


class Wish(Protocol):
    """Does somebody here want an end: `Interrupt`."""

    wanted: bool

    def pressing(self) -> bool: ...


@dataclass(frozen=True)
class ClientOptions:
    """What was said to this client. `image`: the build id of what its device holds, if it can hold nothing else;
    `patience`: seconds without a server; `work`: folders of campaigns, by number, in which it notes what it runs, if
    they are here, and its `slot` there."""

    name: str
    incarnation: int = 0
    where: str = ""
    board: str | None = None
    run: str | None = None
    port: str | None = None
    image: bytes = b""
    patience: float = 300.0
    work: Mapping[int, Path] = field(default_factory=dict)
    slot: int = 0
    unconfined: bool = False  # never the server's to say


class ClientProcess:
    def __init__(
        self,
        caller: Line,
        options: ClientOptions,
        interrupt: Wish,
        timing: Timing,
        now: Callable[[], float] = time.monotonic,
        work: Callable[[int], Work] | None = None,
    ) -> None:
        """`work`: what runs a campaign's tests, if not a target and the image that the server has."""
        self._caller, self._options, self._interrupt = caller, options, interrupt
        self._now, self._work = now, work or self._start_target
        peer = Peer(options.name, options.incarnation)
        self._queue = SwitchedQueue()
        self._client = Client(peer, self._queue, timing, caller.address, options.where, options.image)
        self._jobs: dict[int, jobs.ReadyJob] = {}
        self._executor: Work | None = None
        self._working_on = 0  # the campaign of `_executor`
        self._next: Pair | None = None  # to be run
        self._waiting: deque[_Heard] = deque()  # came while a test was in work, or an answer was waited for
        self._checks: deque[service.Check] = deque()  # what others say, to be run
        self._strange = Allowance(_STRANGE_A_SECOND, _STRANGE)  # frames at where it listens that nobody asked for
        self._busy = False  # a test is in work
        self._wake_at = float("inf")
        self._looked = self._heard = self._now()
        self._leaving: float | None = None  # since when
        self._moving: float | None = None  # since when it is on its way to another campaign
        self._sent_away = 0  # times in a row: each life of ours was over before it was welcome
        self._failed: ScoreError | None = None
        self._end: End | None = None

    def run(self) -> None:
        """Work until nothing is left, or somebody wants an end. Raises ScoreError if it cannot go on."""
        if not self._caller.reach(min(self._options.patience, _ANSWER), lambda: self._interrupt.wanted):
            return
        try:
            self.begin()
            while self._end is None:
                self.turn()
        finally:
            if self._executor is not None:
                self._executor.close()
        if self._failed is not None:
            raise self._failed
        if self._end.refused is not None:
            what, hint = self._end.refused
            raise UsageError(what, "the server", hint)

    def begin(self) -> None:
        self._carry_out(self._client.start(self._now()))

    @property
    def has_ended(self) -> bool:
        return self._end is not None

    def turn(self) -> None:
        """Listen, then run a test if there is one to run."""
        now = self._now()
        if (self._next is None and not self._checks) or now >= self._looked + _GLANCE:
            if self._next is None and self._executor is not None:
                self._executor.rest()
            idle = 0.0 if self._next is not None or self._waiting else min(0.25, max(0.0, self._wake_at - now))
            self._listen(idle)
            while self._waiting and not self.has_ended:
                self._take(*self._waiting.popleft())
            self._tick()
            if self._interrupt.wanted and self._leaving is None:
                self._leave()
            self._require_server()
        if self._checks and not self.has_ended and self._leaving is None:
            self._check(self._checks.popleft())
        elif self._next is not None and not self.has_ended:
            pair, self._next = self._next, None
            self._run_pair(pair)

    def _run_pair(self, pair: Pair) -> None:
        assert self._executor is not None
        self._busy = True
        try:
            ran = self._executor.run(pair, self._client.may_round)
        except ScoreError as error:
            self._fail(error, pair.id)
        else:
            self._carry_out(self._client.ran(ran.results, self._now()))
            if ran.failed is not None:
                self._fail(ran.failed.error, ran.failed.id)
        finally:
            self._busy = False

    def _check(self, claim: service.Check) -> None:
        """Somebody else says how this test ended: see."""
        if self._executor is None or claim.campaign != self._working_on:
            return
        self._busy = True
        try:
            finished, seen = self._executor.check(claim)
        except Stopped:
            return  # somebody else is asked
        except ScoreError as error:
            self._fail(error)
            return
        finally:
            self._busy = False
        peer, epoch = self._client.peer, 0
        end = finished.verdict.value, finished.code, finished.path_hash
        missing = b"".join(seen.missing[: service.MAX_MISSING])
        self._caller.send(service.encode(service.Checked(peer, epoch, claim.number, *end, seen.mispredicted, missing)))

    def _fail(self, error: ScoreError, pair: bytes = b"") -> None:
        """The target is lost, with this pair if any: what it was to run is for others. Report what is done, and go."""
        self._failed = error
        self._leaving = self._now()
        self._next = None
        self._carry_out(self._client.leave(self._now(), broken=True, failed=pair))

    def _leave(self) -> None:
        self._leaving = self._now()
        self._carry_out(self._client.leave(self._leaving))

    def _wants_end(self) -> bool:
        """AnswerPayload within a test: listen meanwhile; true if what it still asks of the solver should wait."""
        now = self._now()
        if now >= self._looked + _BREATH:
            self._listen(0.0)
            for _ in range(len(self._waiting)):
                is_server, frame = self._waiting.popleft()
                if isinstance(frame, Welcome):
                    self._waiting.append((is_server, frame))  # another target is for after the test
                else:
                    self._take(is_server, frame)
            self._tick()
            if self._interrupt.wanted and self._leaving is None:
                self._leave()
            if self._client.state is not ClientState.LEAVING:
                self._moving = None  # it may have come to another campaign
            elif self._moving is None:
                self._moving = now
        since = self._moving if self._leaving is None else self._leaving
        overdue = since is not None and now > since + _PATIENCE
        return overdue or self.has_ended or self._interrupt.pressing()

    # The line -----------------------------------------------------------------------------------------------

    def _listen(self, seconds: float) -> None:
        """Only what the server says is believed. Others may hand pairs over, if they have a ticket of the server's."""
        for is_server, data in self._caller.wait(seconds):
            frame: service.Frame | None = None
            with suppress(DecodeError):  # as if it had been lost
                frame = service.decode(data)
            if frame is not None and (is_server or self._is_welcome(frame)):
                self._waiting.append((is_server, frame))
            elif not is_server and not self._strange.take(1, self._now()):
                self._caller.listen_no_more()
        self._looked = self._now()

    def _is_welcome(self, frame: service.Frame) -> bool:
        return isinstance(frame, FromServer) and self._client.is_welcome(frame)

    def _take(self, is_server: bool, frame: service.Frame) -> None:
        if isinstance(frame, service.Check):
            if len(self._checks) < _CHECKS:
                self._checks.append(frame)
            return
        if not isinstance(frame, FromServer):
            return  # the late answer to a question, or not for clients
        if isinstance(frame, Welcome) and frame.to == self._client.peer:
            try:
                self._prepare(frame.campaign)
            except ScoreError as error:
                self._fail(error)
                return
            self._sent_away = 0
        elif isinstance(frame, Rejoin) and frame.given_up and frame.to == self._client.peer:
            self._sent_away += 1
            if self._sent_away > _SENT_AWAY:
                what = f"another client of the server is called {self._options.name!r}"
                raise UsageError(what, "the server", "Choose a --name that nobody else has.")
        self._carry_out(self._client.receive(frame, self._now(), direct=not is_server))

    def _tick(self) -> None:
        now = self._now()
        if now >= self._wake_at:
            self._wake_at = float("inf")
            self._carry_out(self._client.tick(now))

    def _require_server(self) -> None:
        now = self._now()
        if self._leaving is not None and now > self._leaving + self._options.patience:
            what = f"the server did not take what is left within {self._options.patience:.0f} s"
            raise TargetError(what, "", "It is found again when the campaign goes on.")
        if self._caller.connected:
            self._heard = now
        elif now > self._heard + self._options.patience:
            what = f"the server has been away for {self._options.patience:.0f} s"
            raise TargetError(what, "", "What was not reported is found again when the campaign goes on.")

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(message, to, address, key):
                    frame = service.encode(message)
                    if to is None:
                        self._caller.send(frame)
                    elif isinstance(message, Pairs):
                        self._caller.send_to(address, key, frame)
                case Run(pair):
                    self._next = pair
                case Wake(at):
                    self._wake_at = at
                case End():
                    self._end = effect

    # The job ------------------------------------------------------------------------------------------------

    def _prepare(self, campaign: int) -> None:
        """Have a target that runs this campaign's tests. Raises ScoreError."""
        if self._working_on == campaign:
            return
        if self._executor is not None:
            self._executor.close()
            self._executor = None
        self._executor = self._work(campaign)
        self._queue.inner = self._executor.queue
        self._working_on = campaign

    def _start_target(self, campaign: int) -> Work:
        if campaign not in self._jobs:
            self._jobs[campaign] = self._fetch(campaign)
        folder = self._options.work.get(campaign)
        work = WorkNotes(folder, self._options.slot) if folder is not None else None
        return Executor(self._options.name, self._jobs[campaign], self._wants_end, not self._options.unconfined, work)

    def _part(self, campaign: int, offset: int) -> service.ImagePart:
        wanted = service.ImagePartWanted(campaign, offset)
        return self._ask(wanted, service.ImagePart, lambda part: part.offset == offset)

    def _fetch(self, campaign: int) -> jobs.ReadyJob:
        wanted = service.JobWanted(campaign, __version__)
        job = self._ask(wanted, service.Job, lambda job: job.campaign == campaign)
        elf = jobs.installed(job)
        if elf is None:
            image = b""
            while len(image) < job.size:
                part = self._part(campaign, len(image))
                if not part.data:
                    break
                image += part.data
            elf = jobs.install(job, image)
        options = self._options
        return jobs.unpack(job, elf, options.board, options.run, options.port)

    def _ask(self, question: service.Service, kind: type[Answer], fits: Callable[[Answer], bool]) -> Answer:
        """The answer to a question, asked again and again. Raises UsageError if it is a problem, TargetError if none
        comes."""
        deadline = self._now() + _ANSWER
        kept: list[_Heard] = list(self._waiting)
        self._waiting.clear()
        try:
            while self._now() < deadline and not self._interrupt.wanted:
                self._caller.send(service.encode(question))
                again = self._now() + _ASK_AGAIN
                while (now := self._now()) < again and not self._interrupt.wanted:
                    self._listen(min(0.25, again - now))
                    while self._waiting:
                        is_server, frame = self._waiting.popleft()
                        if isinstance(frame, kind) and fits(frame):
                            return frame
                        if isinstance(frame, service.Problem):
                            raise UsageError(frame.what, "the server", frame.hint)
                        kept.append((is_server, frame))
        finally:
            self._waiting.extendleft(reversed(kept))
        raise TargetError(f"the server did not answer within {_ANSWER:.0f} s", "", "Does it still run?")
