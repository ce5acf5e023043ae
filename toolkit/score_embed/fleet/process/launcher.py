"""Who starts a session's clients: here on the server's machine; `ray_cluster` does it on the nodes of a cluster.

A client is a process of its own with a target of its own. Those that are started here are in sessions of their own
(Ctrl-C is for the server, which lets them go in good order) and die with the server, whatever it dies of.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from score_embed.command import held
from score_embed.errors import StorageError, TargetError
from score_embed.results.work import OWN, SLOTS

_PR_SET_PDEATHSIG = 1
_LAST = 2000  # characters of what a client wrote at its end


@dataclass(frozen=True)
class Ended:
    """A client whose process has ended. `words`: what it wrote to its standard error."""

    name: str
    code: int  # of its exit; negative: a signal
    words: str


class Launcher(Protocol):
    def __len__(self) -> int:
        """How many were started and have not ended, as far as is known."""

    def start(self, count: int) -> None:
        """Start so many more. Raises TargetError if there is no device for them."""

    def reap(self) -> list[Ended]:
        """Those that have ended since this was last asked."""

    def dismiss(self) -> None:
        """Let all of them end their tests and leave."""

    def end(self, seconds: float) -> None:
        """Wait for their end; who takes longer is killed. Safe to call twice."""


@dataclass
class _Client:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    device: str


@dataclass
class LocalLauncher:
    """`devices`: the ports of the boards, if each client needs one. `folder`: for sockets and logs; `work`: the
    campaigns' folders, by number, in which clients note what they run."""

    address: str
    folder: Path
    devices: Sequence[str] = ()
    keys: Path | None = None
    unconfined: bool = False
    work: Mapping[int, Path] = field(default_factory=dict)
    _clients: list[_Client] = field(default_factory=list)
    _lives: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._clients)

    def start(self, count: int) -> None:
        """Start so many more. Raises TargetError if there is no device for them."""
        for _ in range(count):
            self._start(free_device(self.devices, (client.device for client in self._clients)))

    def reap(self) -> list[Ended]:
        """Those that have ended since this was last asked."""
        ended = []
        for client in list(self._clients):
            code = client.process.poll()
            if code is not None:
                self._clients.remove(client)
                ended.append(Ended(client.name, code, last_words(client.log)))
        return ended

    def dismiss(self) -> None:
        """Let all of them end their tests and leave."""
        for client in self._clients:
            client.process.terminate()

    def end(self, seconds: float) -> None:
        """Wait for their end; who takes longer is killed. Safe to call twice."""
        deadline = time.monotonic() + seconds
        for client in self._clients:
            try:
                client.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                client.process.kill()
                client.process.wait()
        self._clients.clear()

    def _start(self, device: str) -> None:
        name = next_name(client.name for client in self._clients)
        life = self._lives[name] = max(self._lives.get(name, 0) + 1, int(time.time() * 1000))
        log = self.folder / f"client-{name}.log"
        line = local_line(self.folder, name, life)
        try:
            with held():
                process = start_client(
                    self.address, name, life, line, device, self.keys, log, self.unconfined, self.work
                )
                self._clients.append(_Client(name, process, log, device))
        except OSError as error:
            raise StorageError(f"cannot start a client: {error.strerror}", str(self.folder), "") from error


# What every launcher needs ---------------------------------------------------------------------------------------


def next_name(taken: Iterable[str]) -> str:
    """The first number that no client has."""
    names = set(taken)
    return next(name for number in range(1, len(names) + 2) if (name := str(number)) not in names)


def slot_of(name: str) -> int | None:
    """The slot in which a client that was started here notes what it runs; None: there are too many."""
    return int(name) if name.isdecimal() and OWN < int(name) < SLOTS else None


def free_device(devices: Sequence[str], taken: Iterable[str]) -> str:
    """The first one without a client; empty if clients need none. Raises TargetError if there is none left."""
    if not devices:
        return ""
    used = set(taken)
    for device in devices:
        if device not in used:
            return device
    raise TargetError(f"all {len(devices)} devices have a client", "", "Plug in more, or remove a client.")


def local_line(folder: Path | str, name: str, life: int) -> str:
    """Where a client listens for other clients of its machine."""
    return f"ipc://{folder}/client-{name}.{life}"


def start_client(
    server: str,
    name: str,
    life: int,
    listen: str,
    device: str,
    keys: Path | None,
    log: Path,
    unconfined: bool,
    work: Mapping[int, Path] | None = None,
) -> subprocess.Popen[bytes]:
    """A client as a child of this process, with which it dies; what it has to say goes into `log`. Raises OSError."""
    command = [sys.executable, "-m", "score_embed.cli.main", "client", "--server", server, "--name", name]
    command += ["--incarnation", str(life), "--parent", str(os.getpid()), "--listen", listen]
    command += ["--port", device] if device else []
    command += ["--keys", str(keys)] if keys is not None else []
    command += ["--unconfined"] if unconfined else []
    slot = slot_of(name)
    if slot is not None:
        command += [word for at, to in (work or {}).items() for word in ("--work", f"{slot}:{at}:{to.resolve()}")]
    with log.open("wb") as errors:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )


def die_with(parent: int) -> None:
    """For a client: SIGKILL when its parent dies, also if it just did."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def last_words(log: Path) -> str:
    """The end of what a client wrote to its standard error."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").strip()[-_LAST:]
    except OSError:
        return ""
