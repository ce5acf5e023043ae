"""What forks and what paths make constant loses no path: small programs against brute force.

Each is `exhausted` with exactly the paths of all 65,536 inputs: in every order, in verify mode, without elision, by three
clients, and after its process was killed.
"""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from runner import explore_files, score_embed
from table_programs import BruteForce, kept_inputs
from value_programs import PROGRAMS, program

from score_embed import config
from score_embed.campaign import campaign
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair

WAYS = (*config.STRATEGIES, "verify", "whole", "clients", "killed")
# A process that dies when it derives the flips of its second run.
DYING = """
import os, signal, sys
from score_embed.explore.concolic import Explorer
derive, runs = Explorer.derive, []

def dying(*arguments):
    runs.append(1)
    if len(runs) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return derive(*arguments)

Explorer.derive = dying
from score_embed.cli.main import main
sys.exit(main())
"""
CASES = list(itertools.product(PROGRAMS, WAYS))


def nothing(explorer: Explorer, pair: Pair) -> bytes:
    return b""


@pytest.mark.parts(len(CASES) // 4)
@pytest.mark.parametrize(("name", "way"), CASES)
def test_no_path_is_lost(name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "p.c"
    source.write_text(program(name))
    truth = BruteForce(source, 2, tmp_path, ("-DPLAIN",), blocks=False)
    if way == "whole":
        monkeypatch.setattr(Explorer, "expected", nothing)
    found = explored(source, way, tmp_path)
    assert (found["stopped"], found["divergences"], found["mispredicted"]) == ("exhausted", 0, 0)
    # The front-end has conditions of its own (`?:`), so it may know more paths than B marks.
    assert truth.taken([data[:2] for data in kept_inputs(tmp_path / "out")]) == truth.paths


def explored(source: Path, way: str, folder: Path) -> dict[str, Any]:
    """The summary of a campaign with this program."""
    if way == "clients":
        return explore_files(folder, [source], "--no-witness", "--clients", "3").summary
    if way == "killed":
        first = explore_files(folder, [source], "--no-witness", "--max-tests", "2")
        resume = ("--resume", str(first.folder))
        words = [sys.executable, "-c", DYING, "run", *resume]
        died = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
        )
        assert died.returncode in (-signal.SIGKILL, 0), died.stderr
        done = score_embed("run", "--json", *resume, cwd=folder)
        return dict(json.loads(done.stdout))
    options: dict[str, Any] = {"strategy": way} if way in config.STRATEGIES else {"verify": way == "verify"}
    settings = config.Settings(sources=(source,), time=120.0, out=folder / "out", no_witness=True, **options)
    with redirect_stderr(StringIO()):
        return dict(campaign.run(settings).summary)
