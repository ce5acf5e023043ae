"""A board on the desk, at the end of a serial line or of a program that leads to it.

The board is not ours to start and stop: it may be dead, run something else, be unplugged and come back. Before the
first test it is brought to READY with our image, if need be by resetting, power-cycling or flashing it, as far as the
profile says how. A test whose board or line fails under it is run again, then judged.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from score_embed.board.desk import DeskRun
from score_embed.confine.rights import Rights
from score_embed.confine.start import start
from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.device.commands import Commands
from score_embed.device.patience import Patience
from score_embed.device.port import Port, PortGone, PortLock, known_ports
from score_embed.device.startup import NoReady
from score_embed.device.wired import WiredTarget
from score_embed.errors import TargetError, UsageError, printable
from score_embed.link.session import Session, WrongImage
from score_embed.link.transport import Channel, Line, LinkClosed, Paced

_RETRY = 0.2  # seconds
_RESETS = 5  # until READY says that the board has just booted: on a bad line that word may be lost
_TRIALS = 3  # of a test whose board or line fails
_SETTLE = 0.3  # seconds after a reset in which what was said before it may still arrive
_POWERLESS = 1.0  # seconds without power
# Silence after which something damaged is asked for again. To ask too early does no harm: the board answers later.
_PAUSE, _PAUSE_BYTES = 0.01, 10  # seconds, and the time of so many bytes
_PATIENCE = 10  # times as long if nothing damaged came


def _bridge() -> Rights:
    """Of the program that leads to a board: it may be ssh, or a debugger that starts others."""
    devices = ("/dev", "/run")
    return Rights(
        commands=True, network=True, reads=("/proc", "/sys"), writes=(*devices, "/tmp", tempfile.gettempdir())
    )


class _Mute(NoReady):
    """The board said nothing that we understand."""


class DeskTarget(WiredTarget):
    sound = guarded = False
    hello_again = 0.25
    grace = 2.0

    def __init__(self, elf: Path, build_id: bytes, how: DeskRun, compiler: str, confined: bool = True) -> None:
        self._where = how.program[0] if how.program else how.port
        super().__init__(self._where, build_id, how.test_seconds)
        self.ready_within = how.boot_seconds
        self._how = how
        self._rights = _bridge() if confined else None
        self._commands = Commands(elf, compiler, how.port, how.probe)
        self._lock: PortLock | None = None
        self._port: Port | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (what the program writes to standard error)
        self._flashed = 0.0  # when; a board's flash wears, so once must do
        self._switched = False
        self._tests = 0
        self._test: Run | None = None

    # --- the Target protocol, where a board needs more

    def begin(self, test: Run) -> None:
        if self._how.safe_state and self._tests % self._how.safe_every == 0:
            self._commands.run("safe-state", self._how.safe_state)
        self._tests += 1
        self._test = test
        super().begin(test)

    def finish(self) -> Finished:
        assert self._test is not None
        trials = _TRIALS if self._test.tell_from is None else 1  # more are made by whoever judges it
        for trial in range(1, trials + 1):
            finished = super().finish()
            if not finished.partial:
                break
            if trial < trials:
                why = "no answer" if finished.verdict is Verdict.WATCHDOG else "the board restarted or its line broke"
                _say(f"{self._where}: {why}: the test is run again")
                super().begin(self._test)
        return finished

    def close(self) -> None:
        super().close()
        try:
            if self._tests and self._how.safe_state:
                self._tests = 0
                self._commands.run("safe-state", self._how.safe_state)
        finally:
            self._commands.close()
            self._said.close()
            if self._lock is not None:
                self._lock.release()

    def greet(self) -> str:
        """What the board says to a HELLO, in words. Nothing is changed on it. Raises TargetError if it is silent."""
        try:
            self._channel = self._launch()
            self._hello(self._channel)
        except WrongImage as error:
            return error.what
        except LinkClosed:
            self._stop()
            raise self._broken() from None
        return f"it runs the image {self._build_id.hex()}"

    # --- the line

    def _launch(self) -> Line:
        """Open the line. One that was open before is waited for: somebody may have pulled a plug."""
        patience = self._how.reconnect_seconds if self._was_there else 0.0
        deadline, told = time.monotonic() + patience, False
        while True:
            try:
                line = self._open_program() if self._how.program else self._open_port()
                break
            except TargetError:  # gone; or just back, and udev or a modem manager busy with it
                if time.monotonic() >= deadline:
                    raise
                if not told:
                    _say(f"{self._where}: the line is gone; waiting up to {patience:.0f} s for it")
                told = True
                time.sleep(_RETRY)
        pacing = self._how.pacing
        return Paced(line, pacing.bytes, pacing.seconds) if pacing else line

    @property
    def _was_there(self) -> bool:
        """The board has answered, or is expected back after we flashed it or switched it off."""
        return self._info is not None or bool(self._flashed) or self._switched

    def _open_port(self) -> Line:
        how = self._how
        if not how.port:
            raise UsageError("no serial port is given", "", f"Name it with --port. {known_ports()}")
        if self._lock is not None and not self._lock.holds(how.port):
            self._lock.release()  # the board is gone, or came back as another device
            self._lock = None
        if self._lock is None:
            self._lock = PortLock(how.port)
        self._port = Port(how.port, how.baud, how.reset_line)
        return self._port.line

    def _open_program(self) -> Line:
        words = self._commands.fill(self._how.program)
        try:
            self._process = start(
                [shutil.which(words[0]) or words[0], *words[1:]],
                self._rights,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
            )
        except OSError as error:
            what = f"the program that leads to the board cannot be run: {error.strerror}"
            raise TargetError(what, words[0], "Install it, or correct `command` in the profile.") from None
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None

        def release() -> None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

        return Channel(process.stdout.fileno(), process.stdin.fileno(), release)

    def _last_words(self, status: int) -> str:
        return "the board's line broke"

    def _terminate(self, patience: float = 0) -> int:
        self._port = None
        process, self._process = self._process, None
        if process is None:
            return 0
        process.terminate()
        try:
            return process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started

    # --- bringing the board to READY

    def _start(self) -> None:
        try:
            remedies, deadline = self._remedies(), time.monotonic() + self._how.reconnect_seconds
            while (problem := self._problem()) is not None:
                if isinstance(problem, WrongImage) and self._may_flash(problem):
                    self._flash(problem.what)
                    continue
                if isinstance(problem, PortGone) and self._was_there and time.monotonic() < deadline:
                    time.sleep(_RETRY)  # a loose contact
                    continue
                remedy = next(remedies, None) if isinstance(problem, _Mute) else None
                if remedy is None:
                    raise problem
                remedy(problem.what)
        except BaseException:
            self._stop()
            raise

    def _problem(self) -> TargetError | None:
        """Greet the board, and reset it unless it has just booted: a campaign's tests begin in a known state."""
        try:
            for resets in range(_RESETS):
                if self._channel is None:
                    self._channel = self._launch()
                if self._hello(self._channel, _SETTLE if resets else 0.0):
                    return None
                self._reset()
        except LinkClosed:
            self._stop()
            return self._broken()
        except (_Mute, WrongImage) as error:
            return error
        return None

    def _hello(self, channel: Line, settle: float = 0.0) -> bool:
        """The board is READY; has it just booted? A READY of before the reset may come first, then the other is waited
        for. Raises LinkClosed, _Mute, WrongImage."""
        self._keep_counters()
        self._session = session = Session(self._build_id)
        seen = self._greet(channel, session)
        if session.ready is None:
            raise self._mute(seen, channel.bytes_in)
        byte = 0.0 if self._how.program else 10 / self._how.baud
        if self._info is None:  # later it has learned
            pause = _PAUSE + _PAUSE_BYTES * byte
            self.patience = Patience(pause, _PATIENCE * pause)
        self._learn(session.ready)
        deadline = time.monotonic() + settle
        while not session.booted and time.monotonic() < deadline:
            session.receive(channel.receive(deadline))
        return session.booted

    def _mute(self, seen: bytes, count: int) -> _Mute:
        within = f"within {self.ready_within:g} s"
        if not seen:
            hint = "Is the board powered, are TX and RX crossed and grounds connected, is an image flashed?"
            return _Mute(f"nothing came from the board {within}", self._where, hint)
        shown = repr(seen)[1:] if seen.isascii() else seen.hex(" ")
        hint = "Is it another program's output?"
        if not self._how.program:
            hint = f"Is the baud rate {self._how.baud}? Or is it another program's output?"
        return _Mute(f"{count} bytes came from the board {within}, but no frame: {shown} …", self._where, hint)

    def _broken(self) -> PortGone:
        return PortGone(self._why_closed(), self._where, "Is the board still plugged in?")

    def _why_closed(self) -> str:
        if not self._how.program:
            return "the line broke before the board was ready"
        self._said.seek(0)
        last = self._said.read().decode(errors="replace").strip().splitlines()[-1:]
        return f"the program that leads to the board ended: {last[0] if last else 'it said nothing'}"

    def _remedies(self) -> Iterator[Callable[[str], None]]:
        """What may bring a silent board back, the gentlest first."""
        how = self._how
        if how.reset_line or how.reset_command:
            yield self._try_reset
        if how.power_on and how.power_off:
            yield self._power_cycle
        if how.flash and not self._flashed:
            yield self._flash

    def _try_reset(self, why: str) -> None:
        _say(f"{self._where}: {why}: resetting the board")
        if self._channel is None:
            self._channel = self._launch()
        self._reset()

    def _power_cycle(self, why: str) -> None:
        _say(f"{self._where}: {why}: switching the board off and on")
        self._stop()  # its port may go with its power
        self._commands.run("power off", self._how.power_off)
        self._switched = True
        time.sleep(_POWERLESS)
        self._commands.run("power on", self._how.power_on)

    def _may_flash(self, problem: WrongImage) -> bool:
        """Once. The board may need a while or a reset until it runs what was flashed."""
        if not self._flashed:
            return bool(self._how.flash)
        if time.monotonic() < self._flashed + self.ready_within:
            return True
        problem.hint = "It was flashed, but still runs that. Does the flash command write to this board?"
        return False

    def _flash(self, why: str) -> None:
        if self._flashed:
            self._reset()
            time.sleep(_RETRY)
            return
        _say(f"{self._where}: {why}: flashing the board")
        self._stop()  # the tool may need the port
        self._commands.run("flash", self._how.flash)
        self._flashed = time.monotonic()

    def _reset(self) -> bool:
        """Start the board again from its beginning. If its line goes with it, the next test finds that."""
        channel, how = self._channel, self._how
        if channel is None:
            return False
        try:
            if how.reset_command:
                self._commands.run("reset", how.reset_command)
            elif how.reset_line and self._port is not None:
                self._port.reset()
            else:
                channel.send(Session(self._build_id).reset(), time.monotonic() + 1.0)
                return True
            channel.discard()
        except (LinkClosed, PortGone):
            self._stop()
        return True


def _say(text: str) -> None:
    print(printable(f"score-embed: {text}"), file=sys.stderr, flush=True)
