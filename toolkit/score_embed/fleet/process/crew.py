"""The clients that a server starts on its own machine: one process each, with a target of its own.

They are in sessions of their own (Ctrl-C is for the server, which lets them go in good order) and die with the server,
whatever it dies of.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from score_embed.errors import StorageError, TargetError

_PR_SET_PDEATHSIG = 1
_LAST = 2000  # characters of a client's last words


@dataclass(frozen=True)
class Gone:
    """A client whose process has ended. `words`: what it wrote to its standard error."""

    name: str
    code: int  # of its exit; negative: a signal
    words: str


@dataclass
class _Member:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    device: str | None


@dataclass
class Crew:
    """`devices`: the ports of the boards, if each client needs one. `folder`: for sockets and logs."""

    address: str
    folder: Path
    devices: Sequence[str] = ()
    keys: Path | None = None
    _members: list[_Member] = field(default_factory=list)
    _lives: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._members)

    def start(self, count: int) -> None:
        """Start so many more. Raises TargetError if there is no device for them."""
        for _ in range(count):
            self._start(self._free_device())

    def reap(self) -> list[Gone]:
        """Those that have ended since this was last asked."""
        gone = []
        for member in list(self._members):
            code = member.process.poll()
            if code is not None:
                self._members.remove(member)
                gone.append(Gone(member.name, code, _words(member.log)))
        return gone

    def hurry(self) -> None:
        """Let all of them end their tests and leave."""
        for member in self._members:
            member.process.terminate()

    def end(self, seconds: float) -> None:
        """Wait for their end; who takes longer is killed. Safe to call twice."""
        deadline = time.monotonic() + seconds
        for member in self._members:
            try:
                member.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.process.kill()
                member.process.wait()
        self._members.clear()

    def _free_device(self) -> str | None:
        if not self.devices:
            return None
        taken = {member.device for member in self._members}
        for device in self.devices:
            if device not in taken:
                return device
        raise TargetError(f"all {len(self.devices)} devices have a client", "", "Plug in more, or remove a client.")

    def _start(self, device: str | None) -> None:
        running = {member.name for member in self._members}
        name = next(name for number in range(1, len(running) + 2) if (name := str(number)) not in running)
        life = self._lives[name] = max(self._lives.get(name, 0) + 1, int(time.time() * 1000))
        log = self.folder / f"client-{name}.log"
        command = [sys.executable, "-m", "score_embed.cli.main", "client", "--server", self.address, "--name", name]
        command += ["--incarnation", str(life), "--parent", str(os.getpid())]
        command += ["--listen", f"ipc://{self.folder}/client-{name}.{life}"]
        command += ["--port", device] if device is not None else []
        command += ["--keys", str(self.keys)] if self.keys is not None else []
        try:
            with log.open("wb") as errors:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                )
        except OSError as error:
            raise StorageError(f"cannot start a client: {error.strerror}", str(self.folder), "") from error
        self._members.append(_Member(name, process, log, device))


def die_with(parent: int) -> None:
    """For a client: SIGKILL when its parent dies, also if it just did."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _words(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace").strip()[-_LAST:]
    except OSError:
        return ""
