"""SIGKILL at each step of the protocol, in real processes: in the end the same paths, verdicts and coverage as one
client.

Whoever is to die does so just before it sends the n-th message of a kind, or just before or after the n-th commit. All
steps with --all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from proof import FULL
from test_many_clients import check_whole, run

# Imported by every Python that starts: the first process in the role that gets there dies, once.
KILLER = """
import os, signal, sys

def arm(role, step, number, mark):
    count = 0

    def due():
        nonlocal count
        count += 1
        return count == int(number) and not os.path.exists(mark)

    def die():
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)

    if step in ("before", "after"):
        from score_embed.fleet.process.campaign_record import CampaignRecord
        commit = CampaignRecord.commit

        def watched_commit(*arguments):
            dies = due()
            if dies and step == "before":
                die()
            commit(*arguments)
            if dies:
                die()

        CampaignRecord.commit = watched_commit
    else:
        from score_embed.fleet import service
        encode = service.encode

        def watched(frame):
            if type(frame).__name__ == step and due():
                die()
            return encode(frame)

        service.encode = watched

if "score_embed.cli.main" in sys.orig_argv:
    role, *rest = os.environ["SCORE_KILL"].split(",")
    if role == ("client" if "client" in sys.orig_argv else "server"):
        arm(role, *rest)
"""
# Its tests take a while, so that clients run few of them at once and much is said.
PROGRAM = """
#include "score.h"
extern int usleep(unsigned);
int main(void)
{
    unsigned char b[11];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    usleep(500);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    SCORE_ASSERT(n != 11);
    return n;
}
"""
STEPS = [("client", "Results", 2), ("client", "Ack", 1), ("server", "Stored", 2), ("server", "after", 3)]
ALL_STEPS = [
    *(
        ("client", kind, n)
        for kind in ("Hello", "JobWanted", "Empty", "Results", "Ack", "Pairs", "Bye")
        for n in (1, 2)
    ),
    *(("client", kind, 1) for kind in ("Nack", "Alive", "ImagePartWanted")),
    *(("server", kind, n) for kind in ("Welcome", "Job", "Pairs", "Stored", "Noted", "Req", "Settled") for n in (1, 2)),
    *(("server", kind, n) for kind in ("Stop", "Gone") for n in (1, 2)),
    *(("server", when, n) for when in ("before", "after") for n in (1, 2, 3, 5, 8)),
]

TRIALS = 5  # the first NACK of a client is now and then its answer to the last REQ


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one")
    (folder / "p.c").write_text(PROGRAM)
    assert run(folder, "--out", "o", "p.c")["paths"] == 2048
    return folder / "o"


@pytest.mark.parametrize(("role", "step", "number"), ALL_STEPS if FULL else STEPS)
def test_killed_at_a_step(role: str, step: str, number: int, tmp_path: Path, whole: Path) -> None:
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        folder.mkdir()
        if killed_at(role, step, number, folder, whole):
            return
    pytest.fail(f"who died at {step} {number} was given up in none of {TRIALS} runs")


def killed_at(role: str, step: str, number: int, tmp_path: Path, whole: Path) -> bool:
    """Whether the client that was killed was given up, if it is to be: not so if all was done when it died."""
    (tmp_path / "p.c").write_text(PROGRAM)
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(KILLER)
    mark = tmp_path / "died"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{site}:{os.environ.get('PYTHONPATH', '')}",
        "SCORE_KILL": f"{role},{step},{number},{mark}",
    }
    command = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--clients", "2", "--out", "o", "p.c"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert "Traceback" not in done.stderr
    if not mark.exists():  # not every step comes as often in every run
        assert done.returncode == 1, done.stderr
        if (role, step, number) in STEPS:
            pytest.fail(f"nobody came to {step} {number}: {done.stderr}")
        was_given_up = True
    elif role == "server":
        was_given_up = True
        assert done.returncode == -9
        # also with all paths: that another client saw the bug, too, may not be durable yet
        run(tmp_path, "--resume", "o")
    else:
        assert done.returncode == 1, done.stderr
        given_up = json.loads(done.stdout)["fleet"]["protocol"].get("given up", 0)
        was_given_up = bool(given_up) or step in ("Hello", "JobWanted", "Bye")
    check_whole(tmp_path / "o", whole)
    return was_given_up
