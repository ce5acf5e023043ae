"""A simulated lab rig: a board with a UART behind a real pseudo-terminal, and all that can go wrong with it.

The file of the image is the board's flash: when it is replaced, the board is reset and runs what is there now; if it
does not exist, the board is blank and silent. SIGUSR1 is the power switch (off and on). The rig ends with its parent.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import tempfile
import termios
import time
import tty
from pathlib import Path
from types import FrameType

from msgspec import structs

from score_embed.board.profile import Board, NativeRun, QemuRun
from score_embed.contract.wire import Type
from score_embed.device.native import NativeTarget
from score_embed.device.qemu import QemuTarget
from score_embed.device.wired import WiredTarget
from score_embed.engine._core import Decoder
from score_embed.errors import ScoreError, UsageError
from score_embed.image.image import load_image
from score_embed.link.transport import Channel, LinkClosed
from score_embed.simulate.noise import Wire
from score_embed.simulate.scenario import Scenario

_POLL = 0.05  # seconds between looks at the flash, the clock and the parent
_ANSWERS = (Type.END, Type.NEED_FULL, Type.READY)  # after these the board listens again
_SPEEDS = {getattr(termios, name): int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdecimal()}


class _Socket:
    """Where the cable is plugged in: a pseudo-terminal, and a name that leads to it."""

    def __init__(self, link: Path | None) -> None:
        self._link = link
        self.master = self._slave = -1

    def plug(self) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        name = os.ttyname(self._slave)
        if self._link is not None:
            fresh = self._link.with_name(f".{self._link.name}-{os.getpid()}")
            fresh.symlink_to(name)
            fresh.replace(self._link)
        print(self._link or name, flush=True)

    def unplug(self) -> None:
        if self.master < 0:
            return
        if self._link is not None:
            self._link.unlink(missing_ok=True)
        os.close(self.master)
        os.close(self._slave)
        self.master = self._slave = -1

    def speed(self) -> int:
        """What the host has set; 0 if that is no standard speed."""
        return _SPEEDS.get(termios.tcgetattr(self._slave)[5], 0)


class _Machine:
    """The board: its flash, and the image that runs on it."""

    def __init__(self, board: Board, flash: Path, wrong: bool) -> None:
        self._board, self._flash, self._wrong = board, flash, wrong
        self._folder = tempfile.TemporaryDirectory(prefix="score-embed-rig-")
        self._target: WiredTarget | None = None
        self._running = self._state()
        self.channel: Channel | None = None

    def power_on(self) -> None:
        """Raises ScoreError."""
        self.power_off()
        self._running = self._state()
        if self._running is None:
            return  # blank
        # A copy: what runs cannot be overwritten, but flashing must.
        elf = Path(self._folder.name) / "image.elf"
        elf.unlink(missing_ok=True)
        shutil.copyfile(self._flash, elf)
        elf.chmod(0o755)
        build_id = load_image(elf).build_id
        if self._wrong:
            elf.write_bytes(elf.read_bytes().replace(build_id, bytes(byte ^ 255 for byte in build_id)))
        how = self._board.run
        if isinstance(how, QemuRun):
            self._target = QemuTarget(elf, build_id, structs.replace(how, link="uart"))
        else:
            self._target = NativeTarget(elf, build_id, how.emulator if isinstance(how, NativeRun) else ())
        line = self._target.raw()
        assert isinstance(line, Channel)
        self.channel = line

    def power_off(self) -> None:
        if self._target is not None:
            self._target.close()
        if self.channel is not None:
            self.channel.close()
        self._target = self.channel = None

    def was_flashed(self) -> bool:
        if self._state() == self._running:
            return False
        time.sleep(_POLL)  # whoever writes it should have finished
        self._wrong = False
        return True

    def close(self) -> None:
        self.power_off()
        self._folder.cleanup()

    def _state(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            info = self._flash.stat()
            return (info.st_mtime_ns, info.st_size)
        return None


class Rig:
    """Board, line and mishaps."""

    def __init__(self, board: Board, flash: Path, link: Path | None, scenario: Scenario) -> None:
        self._scenario = scenario
        self._socket = _Socket(link)
        self._machine = _Machine(board, flash, bool(scenario.wrong_image))
        self._to_board, self._to_host = Wire(scenario, 0), Wire(scenario, 1, scenario.burst)
        self._hears, self._says = Decoder(), Decoder()  # to know whether a test runs
        self._busy = False  # a test runs: nobody takes bytes out of the FIFO
        self._fifo = b""
        self._lives_at = 0.0  # when it has booted
        self._tests = 0
        self._stuck = scenario.stuck_after == 0
        self._unplugs = scenario.unplug_times
        self._resets, self._resets_at = scenario.reset_times, scenario.reset_after or -1
        self._look_at = 0.0  # at the flash
        self._plug_at = 0.0  # when the cable comes back
        self._switch = False
        self.overruns = 0

    def run(self) -> None:
        """Until a signal, or the parent's end."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _stop)
        signal.signal(signal.SIGUSR1, self._power_switched)
        parent = os.getppid()
        try:
            self._boot()
            self._socket.plug()
            while os.getppid() == parent:
                self._step()
        finally:
            self._socket.unplug()
            self._machine.close()
            lost = f", {self.overruns} bytes overrun" if self.overruns else ""
            errors = self._to_board.errors + self._to_host.errors
            print(f"simulated rig: {self._tests} tests, {errors} bytes damaged{lost}", file=sys.stderr)

    def _power_switched(self, _number: int, _frame: FrameType | None) -> None:
        self._switch = True

    def _step(self) -> None:
        now = time.monotonic()
        if self._switch:
            self._switch, self._stuck = False, self._scenario.stuck_after == 0
            self._boot()
        if now >= self._look_at:
            self._look_at = now + _POLL
            if self._machine.was_flashed():
                self._boot()
        if self._plug_at and now >= self._plug_at:
            self._plug_at = 0.0
            self._socket.plug()
        channel, master = self._machine.channel, self._socket.master
        numbers = [channel.fileno()] if channel is not None and now >= self._lives_at else []
        numbers += [master] if master >= 0 else []
        waits = [wait for wire in (self._to_board, self._to_host) if (wait := wire.wait(now)) is not None]
        ready, _, _ = select.select(numbers, [], [], min([_POLL, *waits]))  # poll would round up to milliseconds
        now = time.monotonic()
        if master in ready:
            self._read_host(now)
        if channel is not None and channel.fileno() in ready:
            self._read_board(channel, now)
        self._deliver(now)

    def _boot(self) -> None:
        """Power or reset."""
        self._busy, self._fifo = False, b""
        self._hears, self._says = Decoder(), Decoder()
        now = time.monotonic()
        self._lives_at = now + self._scenario.boot_seconds
        try:
            self._machine.power_on()
        except ScoreError as error:
            print(f"the board does not start: {error.what}", file=sys.stderr, flush=True)
        if self._scenario.chatter:
            self._to_host.put(self._scenario.chatter.encode(), now)

    def _read_host(self, now: float) -> None:
        try:
            data = os.read(self._socket.master, 1 << 16)
        except OSError:
            return
        speed = self._socket.speed()
        self._to_board.garbled = self._to_host.garbled = bool(
            self._scenario.baud and speed and speed != self._scenario.baud
        )
        self._to_board.put(data, now)

    def _read_board(self, channel: Channel, now: float) -> None:
        try:
            data = channel.receive(now)
        except LinkClosed:
            self._boot()  # a RESET frame, or the end of a process
            return
        for frame in self._says.feed(data):
            if isinstance(frame, tuple) and frame[0] in _ANSWERS:
                self._busy = False
                if frame[0] == Type.END:
                    self._tests += 1
                    self._mishaps(now)
        if self._socket.master >= 0 and not self._stuck:
            self._to_host.put(data, now)

    def _mishaps(self, now: float) -> None:
        scenario = self._scenario
        if scenario.stuck_after > 0 and self._tests == scenario.stuck_after:
            self._stuck = True
        if scenario.unplug_after and self._unplugs and self._tests % scenario.unplug_after == 0:
            self._unplugs -= 1
            self._plug_at = now + scenario.unplug_seconds
            self._socket.unplug()
            self._to_board.clear()
            self._to_host.clear()

    def _deliver(self, now: float) -> None:
        data = self._to_host.take(now)
        if data and self._socket.master >= 0:
            with contextlib.suppress(OSError):  # nobody listens: bytes fall on the floor, as on a real line
                os.write(self._socket.master, data)
        data = self._to_board.take(now)
        if now < self._lives_at or self._machine.channel is None or self._stuck:
            return
        while data or (self._fifo and not self._busy):
            if self._busy:
                self._queue(data)
                return
            data = self._up_to_a_test(self._fifo + data)

    def _up_to_a_test(self, data: bytes) -> bytes:
        """Give the board what it reads before it starts a test; returns the rest."""
        self._fifo = b""
        at = 0
        while at < len(data):
            end = data.find(0, at) + 1 or len(data)
            heard, at = self._hears.feed(data[at:end]), end
            if any(isinstance(frame, tuple) and frame[0] == Type.RUN for frame in heard):
                self._busy = True
                break
        self._send(data[:at])
        return data[at:]

    def _queue(self, data: bytes) -> None:
        self._fifo += data
        if self._scenario.fifo and len(self._fifo) > self._scenario.fifo:
            self.overruns += len(self._fifo) - self._scenario.fifo
            self._fifo = self._fifo[: self._scenario.fifo]

    def _send(self, data: bytes) -> None:
        channel = self._machine.channel
        assert channel is not None
        with contextlib.suppress(LinkClosed):  # found by the next read
            channel.send(data, time.monotonic() + 1.0)
        if self._busy and self._tests == self._resets_at and self._resets:
            self._resets -= 1
            self._resets_at += self._scenario.reset_after
            self._boot()


def image_of(what: Path) -> Path:
    """An image, or that of a campaign's folder. A file that does not exist is a blank board's flash."""
    if what.is_dir():
        image = what / "image.elf"
        if not image.is_file():
            raise UsageError("there is no campaign in this folder", str(what), "Give an image or a campaign's folder.")
        return image
    if what.exists() and not what.is_file():
        raise UsageError("this is a device or a pipe, not an image", str(what), "Give an image or a campaign's folder.")
    return what


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)
