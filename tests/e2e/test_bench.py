"""The bench of the solver still runs: recording, reading back, every way to use Z3, all with the same answers. And what
runs by night goes on when a part of it fails."""

from __future__ import annotations

import os
import shutil
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


def test_a_night_goes_on_after_a_failure(tmp_path: Path) -> None:
    """With other commands in the place of those that take hours."""
    for name, code in (("run-tests", 1), (".venv/bin/python", 0)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "ran $1"\nexit {code}\n', encoding="ascii")
        path.chmod(0o755)
    (tmp_path / "bench").mkdir()
    script = shutil.copy(ROOT / "bench" / "nightly", tmp_path / "bench")
    done = subprocess.run([script, "logs"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")
    said = [line for line in done.stdout.splitlines() if not line[0].isdigit()]
    failed = "failed: tests (see logs/tests.log)"
    assert said == ["ran --all", "ran bench/nemesis.py", "ran bench/mutants.py", failed]
    (tmp_path / "run-tests").write_text("#!/bin/sh\n", encoding="ascii")
    assert subprocess.run([script], capture_output=True, cwd=tmp_path, timeout=60).returncode == 0
    assert (tmp_path / "nightly-out" / "tests.log").exists()
