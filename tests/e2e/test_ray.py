"""Clients as actors of a Ray cluster: a real one of this machine, and with SCORE_RAY=full one of two nodes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from runner import score_embed

BYTES = 13
PATHS = 2**BYTES
MANY = """
#include "score.h"
int main(void)
{
    unsigned char b[13];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    SCORE_ASSERT(n != 13);
    return n;
}
"""
DEADLINE = 120.0


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "p.c").write_text(MANY, encoding="utf-8")
    return tmp_path


def parents() -> dict[int, int]:
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def clients_below(process: int) -> list[int]:
    """Clients of the fleet among its descendants."""
    tree, found = parents(), []
    for one in tree:
        above = one
        while above in tree and above != process:
            above = tree[above]
        try:
            words = Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if above == process and b"client" in words and b"--server" in words:
            found.append(one)
    return found


@contextmanager
def running(folder: Path, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--out", "o", *words]
    env = {**os.environ, "HOME": str(folder), **environment}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def joined(process: subprocess.Popen[str], before: set[int], wanted: int) -> list[int]:
    """So many clients as soon as there are more than those before."""
    deadline = time.monotonic() + DEADLINE
    while len(clients := [each for each in clients_below(process.pid) if each not in before]) < wanted:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    return clients


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1, errors  # a bug is there
    found: dict[str, Any] = json.loads(said)
    assert found["stopped"] == "exhausted"
    assert found["paths"] == PATHS
    assert [bug["count"] for bug in found["bugs"]] == [1]
    return found


def test_a_node_that_dies_is_replaced(source: Path) -> None:
    """Ray starts the actor anew, the actor its client; what the dead client held is run by the others."""
    with running(source, "--cluster", "ray", "--clients", "2", "p.c") as process:
        clients = joined(process, set(), 2)
        os.kill(clients[1], signal.SIGSTOP)  # it leaves the work to the other one's successor, however fast it is
        os.kill(parents()[clients[0]], signal.SIGKILL)
        joined(process, set(clients), 1)
        os.kill(clients[1], signal.SIGCONT)
        found = result(process)
    assert not Path(f"/proc/{clients[0]}/exe").exists()  # it died with its actor
    assert {client["name"] for client in found["fleet"]["clients"]} == {"1", "2"}
    assert not (source / ".ray").exists()  # the token was for this run only


def test_an_open_cluster_elsewhere_is_refused(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    done = score_embed("run", "--cluster", "ray://192.0.2.77:10001", "p.c", cwd=source, deadline=60)
    assert done.returncode == 2
    assert "Ray's authentication is turned off" in done.stderr
    done = score_embed("run", "--cluster", "slurm", "p.c", cwd=source, deadline=60)
    assert done.returncode == 2
    assert "Write ray or ray://HOST:PORT" in done.stderr


TWO_NODES = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
cluster.add_node(num_cpus=1, resources={"score_device": 2})
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.mark.skipif(os.environ.get("SCORE_RAY") != "full", reason="SCORE_RAY=full: two nodes, a minute")
def test_two_nodes(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The devices are on the second one; the line between them is TCP with keys."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", os.urandom(32).hex())
    command = [sys.executable, "-c", TWO_NODES]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nodes:
        assert nodes.stdin is not None
        assert nodes.stdout is not None
        address = nodes.stdout.readline().strip()
        with running(source, "--cluster", "ray", "--clients", "2", "p.c", RAY_ADDRESS=address) as process:
            found = result(process)
        nodes.stdin.close()
        nodes.wait(DEADLINE)
    assert len(found["fleet"]["clients"]) == 2
