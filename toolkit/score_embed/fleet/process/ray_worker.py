"""What runs on a node of a Ray cluster: a client for one device, as a process of its own that dies with the actor."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from score_embed.fleet.process.launcher import last_words, local_line, start_client


class RayWorker:
    """An actor. `serve` and `leave` run beside each other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._leaves = False

    def serve(self, address: str, name: str, folder: str, key: str, port: str, unconfined: bool) -> tuple[int, str]:
        """Run a client to its end; returns its exit code and last words. `folder`: for its socket, on the server's
        machine."""
        with tempfile.TemporaryDirectory(prefix="score-embed-") as own:
            log, keys = Path(own) / "log", None
            life = int(time.time() * 1000)
            if key:
                keys = Path(own) / "client.key"
                with os.fdopen(os.open(keys, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                    out.write(key)
            listen = local_line(folder, name, life) if folder else f"tcp://{_host()}:*"
            self._process = start_client(address, name, life, listen, port, keys, log, unconfined)
            if self._leaves:
                self._process.terminate()
            return self._process.wait(), last_words(log)

    def leave(self) -> None:
        """Let the client end its test and leave."""
        self._leaves = True
        if self._process is not None:
            self._process.terminate()


def _host() -> str:
    """By which other nodes reach this one."""
    import ray

    return str(ray.util.get_node_ip_address())
