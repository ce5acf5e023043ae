"""What runs on a node of a Ray cluster: a client for one device, as a process of its own that dies with the actor."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_LAST = 2000  # characters of a client's last words


class Device:
    """An actor. `serve` and `leave` run beside each other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._leaves = False

    def serve(self, address: str, name: str, folder: str, key: str, port: str) -> tuple[int, str]:
        """Run a client to its end; returns its exit code and last words. `folder`: for its socket, on the server's
        machine."""
        with tempfile.TemporaryDirectory(prefix="score-embed-") as own:
            log = Path(own) / "log"
            life = int(time.time() * 1000)
            command = [sys.executable, "-m", "score_embed.cli.main", "client", "--server", address, "--name", name]
            command += ["--incarnation", str(life), "--parent", str(os.getpid())]
            command += ["--listen", f"ipc://{folder}/client-{name}.{life}" if folder else f"tcp://{_host()}:*"]
            command += ["--port", port] if port else []
            if key:
                file = Path(own) / "client.key"
                with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                    out.write(key)
                command += ["--keys", str(file)]
            with log.open("wb") as errors:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
                )
            if self._leaves:
                self._process.terminate()
            code = self._process.wait()
            return code, log.read_text(encoding="utf-8", errors="replace").strip()[-_LAST:]

    def leave(self) -> None:
        """Let the client end its test and leave."""
        self._leaves = True
        if self._process is not None:
            self._process.terminate()


def _host() -> str:
    """By which other nodes reach this one."""
    import ray

    return str(ray.util.get_node_ip_address())
