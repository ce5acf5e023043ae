"""The QEMU target: a machine in an emulator, the link its first UART or two semihosting FIFOs, QMP to reset it.

UART and QMP are socket pairs, so nothing listens anywhere. QEMU gets SIGKILL when its host dies. Semihosting executes
what the firmware asks for (SYS_SYSTEM, SYS_OPEN, SYS_REMOVE …) as QEMU's own process: hence that process may do little.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from score_embed.board.profile import QemuRun
from score_embed.confine.rights import Rights
from score_embed.confine.start import start
from score_embed.contract.outcome import Verdict
from score_embed.device.endings import RESTARTED, Ending
from score_embed.device.startup import LOOKS, PAUSE, Seen, by_monitor
from score_embed.device.wired import WiredTarget
from score_embed.errors import TargetError, UsageError
from score_embed.link.transport import Channel

if TYPE_CHECKING:
    from score_embed.device.qmp import Qmp

_PACKAGES = {
    "qemu-system-arm": "qemu-system-arm",
    "qemu-system-riscv32": "qemu-system-misc",
    "qemu-system-avr": "qemu-system-misc",
}
_WITHOUT_RESET = ("qemu-system-avr",)  # its system_reset resets the devices and lets the CPU run on
_STARTED_AGAIN = 86  # exit status of a machine that was reset: it finds no FIFOs any more (runtime/bare/semihosting.c)
_FATAL = "qemu: fatal:"  # the processor cannot go on
# What QEMU is made of, where distributions put it.
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/qemu", "/nix/store", "/gnu/store")
_SHARED_MEMORY = "/dev/shm"
_NETWORKS = ("-nic", "-netdev", "-net", "-gdb", "-s", "-vnc")
_SOCKETS = ("tcp:", "udp:", "unix:", "telnet:", "websocket:", "socket,")


class _Ends:
    """The host's ends of the link, and how QEMU is told of its own."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.passed: list[int] = []  # descriptors that QEMU gets, closed here once it has them
        self.folder: str | None = None  # QEMU's working folder, if the link lies in it
        self.files: tuple[str, ...] = ()  # of the link
        self.channel: Channel

    def close_passed(self) -> None:
        for descriptor in self.passed:
            os.close(descriptor)
        self.passed.clear()


def _uart() -> _Ends:
    """The first UART on a socket pair: nothing listens anywhere."""
    ends = _Ends()
    ours, theirs = socket.socketpair()
    number = theirs.detach()
    ends.passed.append(number)
    ends.arguments = ["-chardev", f"socket,id=u0,fd={number}", "-serial", "chardev:u0"]
    descriptor = ours.detach()
    ends.channel = Channel(descriptor, descriptor)
    return ends


def _semihosting() -> _Ends:
    """Two FIFOs in a folder of their own, which is QEMU's working folder. Other targets may read files, so also take
    what is in a pipe: they see nothing below /dev."""
    ends = _Ends()
    place = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    ends.folder = tempfile.mkdtemp(prefix="score-embed-", dir=place)
    names = [os.path.join(ends.folder, name) for name in ("sc.in", "sc.out")]
    for name in names:
        os.mkfifo(name, 0o600)
    ends.files = tuple(names)
    ends.arguments = ["-semihosting-config", "enable=on,target=native"]
    # Neither end may wait for the other: to open a FIFO for both is always possible on Linux.
    write_fd = os.open(names[0], os.O_RDWR | os.O_CLOEXEC)
    read_fd = os.open(names[1], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    ends.channel = Channel(read_fd, write_fd)
    return ends


def _files_of(options: Sequence[str], folder: str | None) -> tuple[str, ...]:
    """The files that a profile's options name: `-dtb FILE`, `file=FILE,format=raw`."""
    parts = (part for word in options for part in (word, *re.split("[,=]", word)))
    places = (os.path.join(folder or "", part) for part in parts if part)
    return tuple(dict.fromkeys(os.path.abspath(place) for place in places if os.path.isfile(place)))


class QemuTarget(WiredTarget):
    def __init__(
        self,
        elf: Path,
        build_id: bytes,
        how: QemuRun,
        watchdog: float = 10,
        confined: bool = True,
    ) -> None:
        super().__init__(f"{how.command} -M {how.machine}", build_id, watchdog)
        self._elf, self._how, self._confined = elf.absolute(), how, confined
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None  # to its monitor; QEMU greets there and waits
        self._qmp: Qmp | None = None
        self._folder: str | None = None

    def _launch(self) -> Channel:
        ends = _uart() if self._how.link == "uart" else _semihosting()
        self._folder = ends.folder
        control, theirs = socket.socketpair()
        number = theirs.detach()
        ends.passed.append(number)
        how = self._how
        command = shutil.which(how.command) or how.command
        arguments = [command, "-M", how.machine, *how.options, how.loader, str(self._elf)]
        arguments += ["-nodefaults", "-display", "none", "-monitor", "none", *ends.arguments]
        arguments += ["-chardev", f"socket,id=q0,fd={number}", "-mon", "chardev=q0,mode=control"]
        try:
            self._process = self._start_process(arguments, ends)
        except BaseException:
            ends.channel.close()
            control.close()
            self._remove_folder()
            raise
        finally:
            ends.close_passed()
        self._control = control
        return ends.channel

    def _start_process(self, arguments: list[str], ends: _Ends) -> subprocess.Popen[bytes]:
        try:
            return start(arguments, self._rights(arguments[0], ends), pass_fds=ends.passed, cwd=ends.folder)
        except FileNotFoundError:
            package = _PACKAGES.get(Path(self._how.command).name, "qemu-system")
            raise UsageError(
                f"{self._how.command} is not installed", hint=f"Install it: apt-get install {package}"
            ) from None
        except OSError as error:
            raise TargetError(f"cannot start {self._how.command}: {error.strerror}") from None

    def _rights(self, command: str, ends: _Ends) -> Rights | None:
        """Semihosting lets the firmware open files as QEMU: it sees none but the link's and those that its profile
        names."""
        if not self._confined:
            return None
        options = self._how.options
        named = _files_of(options, ends.folder)
        folders = [word for word in options if os.path.isabs(word) and os.path.isdir(word)]
        own = os.path.dirname(os.path.realpath(command))
        return Rights(
            threads=True,
            network=any(word in _NETWORKS or word.startswith(_SOCKETS) for word in options),
            everything=False,
            reads=(
                *_SYSTEM,
                own,
                os.path.join(own, "../share"),
                os.path.join(own, "../lib"),
                str(self._elf),
                *folders,
                *named,
            ),
            writes=(*ends.files, *named),
        )

    def _connected(self) -> None:
        self._remove_folder()  # both ends are open: should this process be killed, nothing is left

    def _remove_folder(self) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _reset(self) -> bool:
        # While the guest waits in semihosting, QEMU does not listen to QMP: a new instance is quicker.
        no = self._how.link == "semihosting" or Path(self._how.command).name in _WITHOUT_RESET
        if no or self._process is None or self._process.poll() is not None:
            return False
        from score_embed.device.qmp import QmpFailed

        try:
            self._monitor().reset()
        except QmpFailed:
            return False
        return True

    def _monitor(self) -> Qmp:
        """The control channel of the QEMU that runs; most campaigns never need it, nor what it is made of."""
        from score_embed.device.qmp import Qmp

        if self._control is not None:
            self._qmp, self._control = Qmp(self._control), None
        assert self._qmp is not None
        return self._qmp

    def _look(self) -> tuple[Seen, ...]:
        from score_embed.device.qmp import QmpFailed

        found: list[Seen] = []
        try:
            while self._process is not None and len(found) < LOOKS:
                seen = by_monitor(self._monitor().ask)
                if seen is None:
                    break
                found.append(seen)
                time.sleep(PAUSE)
        except QmpFailed:
            pass
        return tuple(found)

    def _has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _ending(self, status: int) -> Ending:
        why = self._last_words(status)
        if status == _STARTED_AGAIN:
            return Ending(Verdict.RESET, why=RESTARTED)
        if _FATAL in self.complaint:
            return Ending(Verdict.LOCK_UP, why=why)
        asked = status >= 0 and self._how.link == "semihosting" and not self._complaint()
        return Ending(Verdict.EXIT if asked else Verdict.LOST, status, why)

    def _terminate(self, patience: float = 0) -> int:
        process, self._process = self._process, None
        qmp, self._qmp = self._qmp, None
        control, self._control = self._control, None
        if process is None:
            return 0
        try:
            status = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()  # nothing in it is worth a clean end
            status = process.wait()
        if process.stderr is not None:
            self.complaint = process.stderr.read(4096).decode(errors="replace").strip()
            process.stderr.close()
        for channel in (qmp, control):
            if channel is not None:
                channel.close()
        self._remove_folder()
        return status
