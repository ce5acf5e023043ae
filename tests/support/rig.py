"""A simulated lab rig in a process of its own, a board profile that reaches it, and bridges from TCP to its port."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import serial
import yaml
from serial.rfc2217 import PortManager

BAUD = 4_000_000  # the highest that is standard: time is not the point here


def write_profile(folder: Path, board: str = "native", line: dict[str, Any] | None = None, **keys: Any) -> None:
    """`desk.yaml`: a board whose port is `./port` and whose flash is `flash.elf`, with these changes."""
    desk: dict[str, Any] = {
        "port": "./port",
        "baud": BAUD,
        "flash": ["cp", "{elf}", "flash.elf"],
        "boot-seconds": 1,
        "test-seconds": 1,
        "reconnect-seconds": 5,
    }
    profile = {"extends": board, "run": "serial", "serial": desk | (line or {})}
    profile |= {name.replace("_", "-"): value for name, value in keys.items()}
    (folder / "desk.yaml").write_text(yaml.safe_dump(profile))


@contextmanager
def rig(folder: Path, *options: str, link: str = "port") -> Iterator[subprocess.Popen[str]]:
    """`score-embed simulate serial flash.elf --link LINK` in `folder`, as soon as its port is there. `rig.log`: what it
    says of itself."""
    words = ["simulate", "serial", "flash.elf", "--link", link, *options]
    with (folder / "rig.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "score_embed.cli.main", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == link
        yield process
    finally:
        process.terminate()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def opened(port: Path) -> Iterator[int]:
    """As another program has it. It must not become this process's terminal, whose end would be ours."""
    descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def bridge(port: Path, scheme: str) -> Iterator[str]:
    """The URL of a server in front of the port, for one connection."""
    with socket.create_server(("127.0.0.1", 0)) as server, _Modemless(str(port), timeout=0) as line:
        thread = threading.Thread(target=_serve, args=(server, line, scheme == "rfc2217"))
        thread.start()
        try:
            yield f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


class _Modemless(serial.Serial):
    """A pseudo-terminal has no modem lines; a server in front of one must not fail for that."""

    cts = dsr = ri = cd = False

    def _update_rts_state(self) -> None: ...

    def _update_dtr_state(self) -> None: ...


class _Sender:
    """What PortManager writes its negotiation to."""

    def __init__(self, client: socket.socket) -> None:
        self.write = client.sendall


def _serve(server: socket.socket, line: serial.Serial, telnet: bool) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        with client:
            manager = PortManager(line, _Sender(client)) if telnet else None  # type: ignore[arg-type]  # duck types
            _shuttle(client, line, manager)


def _shuttle(client: socket.socket, line: serial.Serial, manager: PortManager | None) -> None:
    while True:
        ready, _, _ = select.select([client.fileno(), line.fileno()], [], [], 1)
        if client.fileno() in ready:
            data = client.recv(1 << 16)
            if not data:
                return
            line.write(b"".join(manager.filter(data)) if manager else data)
        if line.fileno() in ready:
            data = os.read(line.fileno(), 1 << 16)
            client.sendall(b"".join(manager.escape(data)) if manager else data)
