"""The bench of the solver still runs: recording, reading back, every way to use Z3, all with the same answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_solver(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "bench" / "solver.py"), "--quick", "--keep", str(tmp_path), "sort"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "toolkit")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=900)
    assert done.returncode == 0, done.stderr  # it stops where answers contradict each other
    for row in ("| literals, slice, `Solver()` |", "| without enumerate |", "| sat/unsat/unknown |"):
        assert row in done.stdout
    recorded = (tmp_path / "sort.jsonl").read_text(encoding="ascii")
    asked = recorded.count('["ask"')
    assert f"questions: sort {asked}\n" in done.stdout
    assert asked > 5
