"""Clients as actors of a Ray cluster, one for each device.

Ray finds the devices, starts a client beside each, and starts it anew if its node dies. What clients and server say to
each other goes over our own line (`fleet/transport`).

A device is a unit of the resource `score_device`: how many a node has is said when Ray is started there.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from score_embed import config
from score_embed.campaign.ending import Result
from score_embed.errors import ScoreError, TargetError, UsageError
from score_embed.fleet.process import hosting
from score_embed.fleet.process.launcher import Ended, free_device, next_name
from score_embed.fleet.process.ray_worker import RayWorker
from score_embed.fleet.process.session import FleetSession, Plan
from score_embed.fleet.process.socket_folder import socket_folder
from score_embed.fleet.protocol import Timing
from score_embed.fleet.transport import keys as keyring
from score_embed.fleet.transport.address import is_loopback
from score_embed.fleet.transport.line import Listener
from score_embed.results.store import Store

RESOURCE = "score_device"
_MODE, _TOKEN = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"
_PLENTY = 1024  # devices of this machine, where clients are as many as one wants, or as there are ports of boards
_LOST = ScoreError.exit_code  # exit code of a client of which Ray knows no more


def run(settings: config.Settings, record: Store | None) -> Result:
    """As `hosting.run`, with the clients where the devices of a cluster are."""
    with ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))  # Ray talks; standard output is for results
        is_near = stack.enter_context(_connected(str(settings.cluster)))
        ports = hosting.devices_for(settings) if is_near else ()
        opened = hosting.open_(settings, record, stack, ports)
        opened.record.pairs.free()  # clients of earlier sessions are not waited for
        hosted = hosting.host(opened, stack)
        folder = stack.enter_context(socket_folder())
        line, key_of = _listen(folder, None if is_near else _address_of_this_host(str(settings.cluster)))
        stack.callback(line.close)
        launcher = RayLauncher(line.address, folder if is_near else None, key_of, ports, settings.unconfined)
        clients = settings.clients or (1 if is_near else _devices() or 1)
        plan = Plan(
            f"{opened.image.program} on {opened.board.name}", clients, settings.time, until_bug=settings.until_bug
        )
        session = FleetSession(line, [hosted], launcher, plan, Timing())
        return hosting.conclude(session, [opened.record], line.address)[0]


KeyOf = Callable[[str], str]  # the key of a client of this name


def _listen(folder: Path, host: str | None) -> tuple[Listener, KeyOf]:
    """The server's line, and the keys for clients: none are needed on this machine, fresh ones beyond."""
    if host is None:
        return Listener(f"ipc://{folder}/server"), _no_key
    server = keyring.make(folder)[0]

    def key_of(name: str) -> str:
        path = keyring.file_of(folder, name)
        if not path.exists():
            keyring.add(folder, name)
        return path.read_text(encoding="utf-8")

    return Listener(f"tcp://{host}:*", keyring.KeyRing(server)), key_of


def _no_key(_: str) -> str:
    return ""


@contextlib.contextmanager
def _connected(cluster: str) -> Iterator[bool]:
    """Connect to a cluster, or start one on this machine; tells whether it is this machine's own.

    `ray`: the cluster that RAY_ADDRESS names, or one on this machine. Raises UsageError or TargetError.
    """
    if find_spec("ray") is None:
        hint = "Install it with: pip install 'score-embed[ray]'"
        raise UsageError("--cluster needs Ray, which is not installed", "command line", hint)
    address = cluster if cluster != "ray" else os.environ.get("RAY_ADDRESS", "")
    _authenticate(address)
    import ray  # the environment is read when it is imported

    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if not address:
        options |= {"address": "local", "include_dashboard": False, "resources": {RESOURCE: _PLENTY}}
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        what = f"cannot reach the Ray cluster: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        hint = "Does it run, is it the same version of Ray and Python, and is RAY_AUTH_TOKEN its token?"
        raise TargetError(what, address or "this machine", hint) from error
    try:
        yield not address
    finally:
        ray.shutdown()


def _authenticate(address: str) -> None:
    """Nobody without the token may let the cluster run things: it is on unless somebody turned it off, and beyond this
    machine it must not be."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    if os.environ.setdefault(_MODE, "token") == "disabled" and address and not is_loopback(host):
        what = "this cluster can be reached from other machines, and Ray's authentication is turned off"
        raise UsageError(what, address, f"Set {_MODE}=token, here and where the cluster is started.")
    if not address and os.environ[_MODE] == "token":
        os.environ.setdefault(_TOKEN, secrets.token_hex(32))


def _address_of_this_host(cluster: str) -> str:
    """By which other machines of the cluster reach this one."""
    host = urlsplit(cluster).hostname
    if host is None:  # this machine is one of its nodes
        import ray

        return str(ray.util.get_node_ip_address())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))  # sends nothing
        return str(probe.getsockname()[0])


def _devices() -> int:
    """How many the cluster has now."""
    import ray

    return int(ray.cluster_resources().get(RESOURCE, 0))


@dataclass
class _Client:
    name: str
    port: str
    actor: Any
    end: Any  # what `serve` returns, some time


class RayLauncher:
    """`folder`: for sockets, if the clients are on this machine; None: they may be anywhere. `key_of`: for them;
    `ports`: of the boards, if each client needs one of this machine's. `unconfined`: their targets."""

    def __init__(
        self,
        address: str,
        folder: Path | None,
        key_of: KeyOf = _no_key,
        ports: Sequence[str] = (),
        unconfined: bool = False,
    ) -> None:
        self._address, self._folder, self._key_of, self._ports = address, folder, key_of, ports
        self._unconfined = unconfined
        self._clients: list[_Client] = []

    def __len__(self) -> int:
        return len(self._clients)

    def start(self, count: int) -> None:
        """Start so many more, each as soon as a device is free. Raises TargetError if the cluster has none at all."""
        if not _devices():
            hint = f"Say how many a node has when Ray is started there: ray start --resources '{{\"{RESOURCE}\": 1}}' …"
            raise TargetError(f"no node of the cluster has a {RESOURCE}", "", hint)
        for _ in range(count):
            name = next_name(client.name for client in self._clients)
            self._start(name, free_device(self._ports, (client.port for client in self._clients)))

    def _start(self, name: str, port: str) -> None:
        import ray

        options = {"num_cpus": 0, "resources": {RESOURCE: 1}, "max_concurrency": 2}
        again = {"max_restarts": -1, "max_task_retries": -1}  # if its node is lost
        actor = ray.remote(RayWorker).options(**options, **again).remote()
        key = self._key_of(name)
        end = actor.serve.remote(self._address, name, str(self._folder or ""), key, port, self._unconfined)
        self._clients.append(_Client(name, port, actor, end))

    def reap(self) -> list[Ended]:
        """Those that have ended since this was last asked."""
        import ray

        ends = [client.end for client in self._clients]
        known = set(ray.wait(ends, num_returns=len(ends), timeout=0)[0]) if ends else set()
        ended = []
        for client in list(self._clients):
            if client.end in known:
                self._clients.remove(client)
                ended.append(_ended(client))
        return ended

    def dismiss(self) -> None:
        """Let all of them end their tests and leave."""
        for client in self._clients:
            client.actor.leave.remote()

    def end(self, seconds: float) -> None:
        """Wait for their end; who takes longer is killed. Safe to call twice."""
        import ray

        if self._clients:
            ray.wait([client.end for client in self._clients], num_returns=len(self._clients), timeout=seconds)
        for client in self._clients:
            ray.kill(client.actor)
        self._clients.clear()


def _ended(client: _Client) -> Ended:
    import ray

    try:
        code, words = ray.get(client.end)
    except ray.exceptions.RayError as error:
        code, words = _LOST, str(error).strip().splitlines()[0]
    with contextlib.suppress(ray.exceptions.RayError):
        ray.kill(client.actor)
    return Ended(client.name, code, words)
