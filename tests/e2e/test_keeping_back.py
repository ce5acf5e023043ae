"""A client with a key that runs its tests and keeps back what they lead to, beside two honest ones: it is sent away,
and the campaign has all paths in the end. Each test is checked here, so that it takes seconds; see docs/security.md for
the share."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from test_hostile import PATHS, PROGRAM
from test_many_clients import paths_of, run, until
from test_server import free_port

from score_embed.fleet.transport import keys

MAIN = "import sys\nfrom score_embed.cli.main import main\nsys.exit(main())\n"
CHECKS_ALL = "from score_embed.fleet.process import campaign_record\ncampaign_record.SAMPLE = 1.0\n"
# Of each test's children every other one; of each answer nothing.
KEEPS_BACK = """
import msgspec
from score_embed.fleet.process.executor import Executor, Ran
run = Executor.run

def keeping_back(self, pair, may_round):
    (result,) = run(self, pair, may_round).results
    children = result.children[::2] if result.tests else ()
    return Ran((msgspec.structs.replace(result, children=children),))

Executor.run = keeping_back
"""


def start(folder: Path, patch: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", patch + MAIN, *words]
    own = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own)


def test_who_keeps_back_what_follows_is_sent_away_and_all_is_found(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    assert run(tmp_path, "--out", "whole", "p.c")["paths"] == PATHS
    keys.make(tmp_path / "k", ["one", "two", "evil"])
    address = f"tcp://127.0.0.1:{free_port()}"
    started = []
    try:
        words = (
            "--json",
            "--no-witness",
            "--listen",
            address,
            "--keys",
            "k/server.key",
            "--out",
            "o",
            "p.c",
            "--",
            "-DSLOW=20000",
        )
        server = start(tmp_path, CHECKS_ALL, "server", *words)
        started.append(server)
        until(lambda: (tmp_path / "o").exists())
        for name in ("one", "two", "evil"):
            join = ("client", "--server", address, "--keys", f"k/{name}.key")
            started.append(start(tmp_path, KEEPS_BACK if name == "evil" else "", *join))
        out, errors = server.communicate(timeout=200)
    finally:
        for process in started:
            process.kill()
            process.communicate()
    sent_away = [line for line in errors.splitlines() if "is sent away" in line]
    assert len(sent_away) == 1, errors
    assert re.fullmatch(r"client evil\.\S+ is sent away: two others have seen a test of it lead to more", sent_away[0])
    found = json.loads(out)
    assert found["stopped"] == "drained"
    assert paths_of(tmp_path / "o") == paths_of(tmp_path / "whole")
    assert found["fleet"]["protocol"]["run again"] > 0
