"""Ways through one exploration that must come to the same paths: with checks, by several clients, by a process that is
killed and another that goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from runner import DEADLINE, explore_files, score_embed

WAYS = ("verify", "clients", "killed")
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


def explored(source: Path, way: str, folder: Path, *options: str, cflags: tuple[str, ...] = ()) -> dict[str, Any]:
    """The summary of a campaign with this program, recorded in `folder`/out."""
    options = ("--no-witness", *options)
    if way == "clients":
        return explore_files(folder, [source], "--clients", "3", *options, cflags=cflags).summary
    if way == "verify":
        return explore_files(folder, [source], "--verify", *options, cflags=cflags).summary
    assert way == "killed"
    first = explore_files(folder, [source], "--max-tests", "2", *options, cflags=cflags)
    resume = ("--resume", str(first.folder))
    words = [sys.executable, "-c", DYING, "run", *resume]
    died = subprocess.run(
        words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE, check=False
    )
    assert died.returncode in (-signal.SIGKILL, 0), died.stderr
    done = score_embed("run", "--json", *resume, cwd=folder)
    assert done.stdout, done.stderr
    return dict(json.loads(done.stdout))
