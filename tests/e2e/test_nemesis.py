"""A little of what bench/nemesis.py does for hours: campaigns under attack find what their programs' models say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from proof import FULL

ROOT = Path(__file__).parents[2]
# Seed, how it is explored; all of them in the long run, and more.
KINDS = [(11, "alone"), (12, "clients"), (13, "alone"), (14, "clients")]


def nemesis(folder: Path, *words: str) -> str:
    command = [sys.executable, str(ROOT / "bench" / "nemesis.py"), *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "toolkit"), "TMPDIR": str(folder)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=folder, timeout=3000, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "deviations: 0" in done.stdout
    return done.stdout


@pytest.mark.parametrize(("seed", "mode"), KINDS, ids=[f"{mode}-{seed}" for seed, mode in KINDS])
def test_nothing_is_lost_under_attack(seed: int, mode: str, tmp_path: Path) -> None:
    said = nemesis(tmp_path, "--only", str(seed), "--modes", mode, "--boards", "native", "--attacked", "6")
    assert "1 campaigns" in said


@pytest.mark.skipif(not FULL, reason="takes ten minutes: with --all")
def test_nothing_is_lost_under_long_attacks(tmp_path: Path) -> None:
    nemesis(tmp_path, "--seconds", "600", "--seed", "100")
