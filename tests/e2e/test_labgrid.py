"""A labgrid place as --port: with labgrid's own coordinator, exporter and client, and a simulated board behind its
port.

labgrid brings a pyserial of its own, so it has an environment of its own, .venv-labgrid (tools/setup-tests.sh).
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml
from rig import bridge, rig, write_profile
from runner import explore_files

ROOT = Path(__file__).parents[2]
PORT = ROOT / "integrations" / "labgrid" / "port"
LABGRID = next(
    (place for place in (ROOT / ".venv-labgrid/bin", Path("/usr/bin")) if (place / "labgrid-client").is_file()),
    Path(shutil.which("labgrid-client") or "/nowhere/labgrid-client").parent,
)
DEADLINE = 60.0
PROGRAM = """
#include "score.h"
int main(void)
{
    unsigned char b[4];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (int i = 0; i < 4; i++)
        if (b[i] > 100 + i) n++;
    return n;
}
"""


def port(*words: str, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the script says."""
    known = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}", **environment}
    return subprocess.run(
        [sys.executable, str(PORT), *words],
        env=known,
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE,
        check=False,
    )


@contextmanager
def process(*words: str | Path, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (cwd / f"{Path(words[0]).name}.log").open("wb") as log:
        started = subprocess.Popen(
            [str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait(10)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Lab:
    """A coordinator, an exporter and their client, on this machine."""

    def __init__(self, folder: Path, exported: dict[str, object], stack: ExitStack) -> None:
        self.coordinator = f"127.0.0.1:{free_port()}"
        (folder / "exported.yaml").write_text(yaml.safe_dump({"desk": exported}))
        stack.enter_context(process(LABGRID / "labgrid-coordinator", "-l", self.coordinator, cwd=folder))
        self._until("places")
        exporter = (LABGRID / "labgrid-exporter", "-c", self.coordinator, "--name", "here", folder / "exported.yaml")
        stack.enter_context(process(*exporter, cwd=folder))
        self._until("resources", said="here/desk")
        self.client("-p", "board", "create")
        self.client("-p", "board", "add-match", "here/desk/*")

    def client(self, *words: str) -> str:
        done = self._call(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(LABGRID / "labgrid-client"), "-x", self.coordinator, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)

    def _until(self, *words: str, said: str = "") -> None:
        deadline = time.monotonic() + DEADLINE
        while True:
            done = self._call(*words)
            if done.returncode == 0 and said in done.stdout:
                return
            assert time.monotonic() < deadline, done.stderr
            time.sleep(0.2)


@pytest.mark.skipif(not (LABGRID / "labgrid-client").is_file(), reason="no labgrid: tools/setup-tests.sh installs it")
@pytest.mark.parametrize("protocol", ["rfc2217", "raw"])
def test_a_place_leads_to_its_board(protocol: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    write_profile(tmp_path, line={"pacing": {"bytes": 16, "seconds": 0.001}})
    scheme = "socket" if protocol == "raw" else protocol
    with rig(tmp_path), bridge(tmp_path / "port", scheme) as url, ExitStack() as stack:
        number = int(url.rpartition(":")[2])
        serial = {"host": "127.0.0.1", "port": number, "speed": 115200, "protocol": protocol}
        lab = Lab(tmp_path, {"NetworkSerialPort": serial}, stack)
        refused = port("board", path=LABGRID, LG_COORDINATOR=lab.coordinator)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "not acquired" in refused.stderr
        lab.client("-p", "board", "acquire")
        done = port("board", path=LABGRID, LG_COORDINATOR=lab.coordinator)
        assert (done.stdout, done.stderr) == (f"{url}\n", "")
        found = explore_files(tmp_path, [Path("p.c")], "--board", "desk.yaml", "--port", done.stdout.strip())
        assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 16)
        lab.client("-p", "board", "release")


def fake(folder: Path, text: str, code: int = 0) -> Path:
    """A labgrid-client that says this."""
    (folder / "said").write_text(text)
    script = folder / "labgrid-client"
    script.write_text(f'#!/bin/sh\n[ "$*" = "-p board env" ] || exit 9\ncat {folder}/said\nexit {code}\n')
    script.chmod(0o755)
    return folder


def answer(*resources: dict[str, dict[str, object]]) -> str:
    return yaml.safe_dump({"targets": {"board": {"resources": list(resources)}}})


NETWORK = {"host": "lab", "port": 4000, "protocol": "rfc2217"}


def test_which_port_is_meant(tmp_path: Path) -> None:
    power: dict[str, dict[str, object]] = {"NetworkPowerPort": {"host": "lab"}}
    one: dict[str, dict[str, object]] = {"NetworkSerialPort": {**NETWORK, "name": "console"}}
    raw: dict[str, dict[str, object]] = {"NetworkSerialPort": {**NETWORK, "name": "probe", "protocol": "raw"}}
    local: dict[str, dict[str, object]] = {"RawSerialPort": {"port": "/dev/ttyUSB7"}}
    assert port("board", path=fake(tmp_path, answer(power, one))).stdout == "rfc2217://lab:4000\n"
    assert port("board", path=fake(tmp_path, answer(power, local))).stdout == "/dev/ttyUSB7\n"
    two = fake(tmp_path, answer(one, raw))
    assert port("board", "--name", "probe", path=two).stdout == "socket://lab:4000\n"
    for words in ((), ("--name", "other")):
        done = port("board", *words, path=two)
        assert (done.returncode, done.stdout) == (2, "")
        assert "console, probe" in done.stderr


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"protocol": "telnet"}, "speaks telnet"),
        ({"extra": {"proxy_required": True, "proxy": "gate"}}, "only to be reached by gate"),
    ],
)
def test_a_port_that_cannot_be_reached_is_said(changed: dict[str, object], said: str, tmp_path: Path) -> None:
    done = port("board", path=fake(tmp_path, answer({"NetworkSerialPort": {**NETWORK, **changed}})))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_what_the_client_says_is_told(tmp_path: Path) -> None:
    done = port("board", path=fake(tmp_path, "no such place\n", 1))
    assert (done.returncode, done.stderr.endswith("labgrid-client: no such place\n")) == (2, True)
