"""Runs the command line as a user would: a process of its own in a folder of its own."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import times
import warm
from msgspec import convert
from proof import FULL

from score_embed.campaign.ending import LOST, OPEN
from score_embed.results.summary import Summary

DEADLINE = 3600 if FULL else 300  # seconds, on a busy machine too
BOARDS = ("native", "mps2-an385")
LINUX = ("native32", "arm-linux", "aarch64-linux")  # processes that are no x86-64 code


@dataclass(frozen=True)
class Campaign:
    """What `score-embed run --json` printed, and its exit code."""

    summary: dict[str, Any]
    code: int
    stderr: str
    folder: Path

    @property
    def bug_kinds(self) -> list[str]:
        return sorted(bug["kind"] for bug in self.summary["bugs"])

    @property
    def incomplete(self) -> list[str]:
        return [item["what"] for item in self.summary["incomplete"]]


@functools.cache
def _server() -> warm.Server:
    return warm.Server()


def score_embed(*arguments: str, cwd: Path, deadline: float = DEADLINE) -> subprocess.CompletedProcess[str]:
    """`score-embed ARGUMENTS…` to its end; raises subprocess.TimeoutExpired after `deadline` seconds."""
    if _server().fits(os.environ):
        done, seconds = _server().run(arguments, cwd, deadline)
        times.add_processor_seconds(seconds)
        return done
    return subprocess.run(
        [sys.executable, "-m", "score_embed.cli.main", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=deadline,
        check=False,
    )


def message(errors: str) -> list[str]:
    """The lines of standard error but those that say, on a slow machine, how far a build is."""
    return [line for line in errors.strip().splitlines() if not re.fullmatch(r".* on \S+: .*, \d+ s", line)]


def read_summary(text: str) -> Summary:
    """What `--json` printed, with its type."""
    return convert({name: None if value == {} else value for name, value in json.loads(text).items()}, Summary)


def explore(
    folder: Path,
    files: dict[str, str],
    *options: str,
    first: dict[str, Any] | None = None,
    native: tuple[str, ...] = (),
    cflags: tuple[str, ...] = (),
) -> Campaign:
    """Write `files`, explore the `.c` files among them that are not `native`, and read the summary."""
    for name, text in files.items():
        (folder / name).write_text(text)
    sources = [name for name in files if name.endswith(".c") and name not in native]
    extra = [part for name in native for part in ("--native", name)]
    if first is not None:
        (folder / "first.json").write_text(json.dumps({"inputs": first}))
        extra += ["--first", "first.json"]
    return explore_files(folder, [Path(name) for name in sources], *extra, *options, cflags=cflags)


def explore_files(folder: Path, sources: Sequence[Path], *options: str, cflags: tuple[str, ...] = ()) -> Campaign:
    """Explore files where they are, with results in `folder`, and read the summary."""
    out = folder / "out"
    words = ["--out", str(out), *options, *map(str, sources), *(["--", *cflags] if cflags else [])]
    done = score_embed("run", "--json", *words, cwd=folder)
    assert done.returncode in (0, 1, LOST, OPEN), done.stderr
    assert done.stdout, done.stderr
    return Campaign(json.loads(done.stdout), done.returncode, done.stderr, out)
