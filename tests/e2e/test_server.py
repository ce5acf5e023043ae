"""`score-embed server`, `client`, `fleet` and `keys` as users meet them: clients that come and go, refusals, orders."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from rig import rig, write_profile
from runner import score_embed
from test_confinement import LOCKS
from test_many_clients import MANY, PATHS, SLOWLY, check_whole, recorded, run, until, workers

# As MANY, with sixteen times as many paths, and each test takes a while.
SLOW = MANY.replace("b[12]", "b[16]").replace("SLOW 0", "SLOW 3000")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.c").write_text(MANY)
    (tmp_path / "slow.c").write_text(SLOW)
    return tmp_path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """A command that runs; what it writes is read at its end."""

    def __init__(self, folder: Path, *words: str, **environment: str) -> None:
        command = [sys.executable, "-m", "score_embed.cli.main", *words]
        self._popen = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    @property
    def runs(self) -> bool:
        return self._popen.poll() is None

    def signal(self, number: int) -> None:
        self._popen.send_signal(number)

    def end(self, code: int, seconds: float = 90) -> tuple[str, str]:
        out, errors = self._popen.communicate(timeout=seconds)
        assert self._popen.returncode == code, out + errors
        assert "Traceback" not in errors
        return out, errors

    def kill(self) -> None:
        self._popen.kill()
        self._popen.communicate()


@contextmanager
def processes() -> Iterator[Callable[..., Process]]:
    """Starts processes that do not outlive the test."""
    with ExitStack() as stack:

        def start(*arguments: Any, **environment: Any) -> Process:
            process = Process(*arguments, **environment)
            stack.callback(process.kill)
            return process

        yield start


def fleet(folder: Path, *words: str, code: int = 0) -> str:
    done = score_embed("fleet", *words, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


def clients(folder: Path, campaign: str = "o") -> dict[str, str]:
    """Name → status of a server's clients."""
    rows = re.findall(r"[│|] (\S+) +[│|] \S+ +[│|] ([A-Z_]+) +[│|]", fleet(folder, "status", "--server", campaign))
    return dict(rows)


def test_clients_of_other_machines(work: Path) -> None:
    """With keys, each client with a cache of its own: the image comes from the server. The server is killed on the
    way."""
    assert run(work, "--out", "whole", "p.c")["paths"] == PATHS
    score_embed("keys", "k", "one", "two", cwd=work)
    address = f"tcp://127.0.0.1:{free_port()}"
    keys = ("--listen", address, "--keys", "k/server.key")
    with processes() as start:
        server = start(work, "server", "--json", "--out", "o", *keys, "p.c", *SLOWLY)
        join = ("client", "--server", address)
        listen = ("--listen", "tcp://127.0.0.1:*")
        one = start(work, *join, "--keys", "k/one.key", "--name", "one", *listen, XDG_CACHE_HOME=str(work / "c1"))
        until(lambda: recorded(work / "o") > 20)
        two = start(work, *join, "--keys", "k/two.key", "--name", "two", XDG_CACHE_HOME=str(work / "c2"))
        until(lambda: "two" in workers(work / "o"))  # with pairs from "one", by way of the server: nobody reaches it
        server.kill()
        assert recorded(work / "o") < PATHS
        server = start(work, "server", "--json", *keys, "o")
        out, errors = server.end(1)
        assert f"listening at {address}" in errors
        for client in (one, two):
            client.end(0)
    found = json.loads(out)
    assert (found["runs"], found["fleet"]["redundant"]) == (PATHS, 0)  # nobody was given up
    assert {client["name"] for client in found["fleet"]["clients"]} == {"one", "two"}
    assert found["fleet"]["messages"]["Relayed"] > 0
    check_whole(work / "o", work / "whole")
    assert [len(list((work / cache).rglob("*.elf"))) for cache in ("c1", "c2")] == [1, 1]


def test_targets_of_strangers_are_confined(work: Path) -> None:
    """Whatever those of the server may do."""
    (work / "locks.c").write_text(LOCKS)
    score_embed("keys", "k", "one", cwd=work)
    address = f"tcp://127.0.0.1:{free_port()}"
    with processes() as start:
        words = ("--listen", address, "--keys", "k/server.key", "--unconfined", "--no-witness", "locks.c")
        server = start(work, "server", "--json", "--out", "o", *words)
        start(work, "client", "--server", address, "--keys", "k/one.key")
        out, _ = server.end(0)
    found = json.loads(out)
    assert (found["stopped"], found["within"]) == ("exhausted", ["what a confined target may do (mlockall())"])


def test_orders(work: Path) -> None:
    with processes() as start:
        server = start(work, "run", "--json", "--clients", "2", "--out", "o", "slow.c")
        until(lambda: recorded(work / "o") > 20)
        assert set(clients(work)) == {"1", "2"}
        assert "2 clients started" in fleet(work, "add", "2", "--server", "o")
        until(lambda: set(clients(work)) == {"1", "2", "3", "4"})
        assert "1 clients leave" in fleet(work, "remove", "--client", "2", "--server", "o")
        until(lambda: set(clients(work)) == {"1", "3", "4"})
        assert "2 clients leave" in fleet(work, "remove", "2", "--where", "not time < 0", "--server", "o")
        until(lambda: len(clients(work)) == 1)
        assert "there is no client 'x'" in fleet(work, "remove", "--client", "x", "--server", "o", code=2)
        assert "this is no condition" in fleet(work, "remove", "--where", "size > 1", "--server", "o", code=2)
        assert "no campaign called 'x'" in fleet(work, "assign", "1", "x", "--server", "o", code=2)
        assert "1000000 clients more are too many" in fleet(work, "add", "1000000", "--server", "o", code=2)
        assert "who is to leave?" in fleet(work, "remove", "--server", "o", code=2)
        assert "the server stops" in fleet(work, "stop", "--server", "o")
        out, _ = server.end(130)
    found = json.loads(out)
    assert found["stopped"] == "interrupted"
    assert found["fleet"]["redundant"] == 0
    assert "no server works on the campaign" in fleet(work, "status", "--server", "o", code=2)


def test_two_campaigns_and_clients_that_move(work: Path) -> None:
    """Clients go on with another campaign when theirs is finished, or when they are told to."""
    (work / "some.c").write_text(SLOW.replace("b[16]", "b[9]").replace("3000", "15000"))
    assert run(work, "--out", "small", "--max-tests", "1", "some.c")["runs"] == 1
    assert run(work, "--out", "big", "--max-tests", "1", "--seed", "7", "slow.c")["runs"] == 1
    with processes() as start:
        port = f"tcp://127.0.0.1:{free_port()}"
        server = start(work, "server", "--json", "--listen", port, "--clients", "2", "small", "big")
        until(lambda: min(recorded(work / "big"), recorded(work / "small")) > 1)
        assert "1 clients move to big" in fleet(work, "assign", "1", "big", "--server", "big")
        assert "1 clients move to small" in fleet(work, "assign", "1", "some", "--server", "big")
        until(lambda: recorded(work / "small") == 512)
        after = recorded(work / "big")
        until(lambda: recorded(work / "big") > after + 200)
        # anybody reaches this address
        assert "not for clients to order" in fleet(work, "stop", "--server", port, code=2)
        fleet(work, "stop", "--server", "big")
        server.end(130)
    found = json.loads((work / "small" / "summary.json").read_text())
    assert (found["stopped"], found["paths"], found["fleet"]["redundant"]) == ("exhausted", 512, 0)
    assert json.loads((work / "big" / "summary.json").read_text())["stopped"] == "interrupted"


def test_who_is_refused(work: Path) -> None:
    def refused(code: int, why: str, *words: str, version: str = "") -> None:
        program = "from score_embed.cli import main; import sys"
        if version:
            program += f"; import score_embed.fleet.process.client as c; c.__version__ = {version!r}"
        command = [sys.executable, "-c", f"{program}; sys.exit(main.main())", *words]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done.stderr
        assert why in done.stderr
        assert "Traceback" not in done.stderr

    for folder in ("k", "other"):
        score_embed("keys", folder, cwd=work)
    run(work, "--out", "elsewhere", "--max-tests", "1", "p.c")
    address = f"tcp://127.0.0.1:{free_port()}"
    refused(2, "there are no keys", "server", "--listen", "tcp://0.0.0.0:5470", "slow.c")
    refused(2, "there are no keys", "client", "--server", "tcp://10.1.2.3:5470")
    refused(2, "not a server's", "server", "--keys", "k/client.key", "slow.c")
    refused(2, "both sources and folders", "server", "slow.c", "elsewhere")
    refused(4, "no server answered", "client", "--server", address, "--wait", "1s")
    with processes() as start:
        server = start(
            work, "server", "--clients", "1", "--out", "o", "--listen", address, "--keys", "k/server.key", "slow.c"
        )
        until(lambda: recorded(work / "o") > 5)
        join = ("client", "--server", address, "--wait", "5s")
        refused(4, "does not accept this key", *join, "--keys", "other/client.key")
        refused(4, "the server wants a key", *join)
        good = (*join, "--keys", "k/client.key")
        refused(2, "which no campaign of the server tests", *good, "--image", "elsewhere/image.elf")
        refused(2, "the client is score-embed 0.0.1, the server", *good, version="0.0.1")
        refused(
            2, "cannot listen here", "server", "--listen", address, "--keys", "k/server.key", "--out", "x", "slow.c"
        )
        with processes() as start_too:
            start_too(work, *good, "--name", "client")
            until(lambda: "client" in clients(work))
            refused(
                2, "another client of the server is called 'client'", *good, "--name", "client", "--incarnation", "1"
            )
        order = ("fleet", "stop", "--server", address)
        refused(2, "not the key for orders", *order, "--keys", "k/client.key")
        refused(2, "'orders', not a client's", *join, "--keys", "k/orders.key")
        assert "1" in clients(work)
        fleet(work, "stop", "--server", address, "--keys", "k/orders.key")
        server.end(130)


def test_a_client_leaves_by_itself_and_gives_back_what_it_holds(work: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    with processes() as start:
        start(work, "server", "--out", "o", "--listen", address, "slow.c")
        until(lambda: (work / "o" / "server").exists())
        one = start(work, "client", "--server", address, "--name", "one")
        until(lambda: recorded(work / "o") > 20)
        one.signal(signal.SIGINT)
        one.end(0)
        assert clients(work) == {}
        before = recorded(work / "o")
        start(work, "client", "--server", address, "--name", "two")
        until(lambda: recorded(work / "o") > before + 20)
        time.sleep(0.2)
        assert list(clients(work)) == ["two"]


def test_a_board_that_only_a_client_has(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has no such board: it tries nothing. The client's has an empty flash."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "config"))
    (work / "p.c").write_text(MANY.replace("b[12]", "b[5]").replace("!= 12", "!= 5"))
    write_profile(work, line={"port": ""})
    desk = work / "desk"
    desk.mkdir()
    address = f"tcp://127.0.0.1:{free_port()}"
    (work / "first.bin").write_bytes(b"abcde")
    with rig(desk), processes() as start:
        server = start(
            work,
            "server",
            "--json",
            "--listen",
            address,
            "--board",
            "desk.yaml",
            "--first",
            "first.bin",
            "--out",
            "o",
            "p.c",
        )
        start(desk, "client", "--server", address, "--port", "port").end(0)
        out, _ = server.end(1)
    found = json.loads(out)
    assert (found["stopped"], found["paths"], found["bugs"][0]["test"]) == ("exhausted", 32, 1)


TWO_BUGS = """
#include "score.h"
int main(void)
{
    unsigned char b[2];
    SYM_BYTES(b, sizeof b);
    SCORE_ASSERT(b[0] != 7); /* ONE */
    SCORE_ASSERT(b[1] != 9); /* TWO */
    return b[0] > b[1];
}
"""


def test_bugs_that_are_known(work: Path) -> None:
    """To the baseline: a server's exit code does not count them, nor do they end a campaign; another bug does."""
    (work / "one.c").write_text(TWO_BUGS.replace("SCORE_ASSERT(b[1] != 9); /* TWO */", ""))
    (work / "two.c").write_text(TWO_BUGS)
    listen = ("--listen", f"tcp://127.0.0.1:{free_port()}", "--clients", "1")
    known = ("--baseline", "known.txt")

    def served(code: int, *words: str) -> str:
        done = score_embed("server", *listen, *words, cwd=work, deadline=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    assert "note: " not in served(1, "--out", "first", "one.c")
    assert score_embed("report", "first", "--write-baseline", "known.txt", cwd=work).returncode == 0
    assert "note: " in served(0, "--out", "again", "--until-bug", *known, "one.c")
    assert "note: " in served(0, *known, "again")
    served(1, "again")
    served(1, "--out", "other", "--until-bug", *known, "two.c")
    (work / "score-embed.yaml").write_text("baseline: known.txt\n")
    served(0, "--out", "project", "one.c")
    (work / "wrong.txt").write_text("no fingerprint\n")
    assert served(2, "--out", "wrong", "--baseline", "wrong.txt", "one.c") == ""
    assert not (work / "wrong").exists()
