"""Does memory stay bounded? The host's resident size after many tests against that after a tenth of them.

    .venv/bin/python bench/memory.py [tests]

The 82-byte tokenizer natively, through the command line, 1,000,000 tests unless told otherwise; the aim is a ratio of
at most 1.2.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def resident(tests: int, folder: Path) -> tuple[int, float]:
    """Largest resident size in bytes, and paths a second."""
    command = [
        sys.executable,
        "-m",
        "score_embed.cli.main",
        "run",
        "--json",
        "--no-witness",
        "--seed",
        "1",
        "--max-tests",
        str(tests),
    ]
    done = subprocess.run(
        [*command, "--out", str(folder / str(tests)), str(HERE / "tokenizer.c")],
        capture_output=True,
        text=True,
        check=False,
        timeout=7200,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    summary = json.loads(done.stdout)
    return int(summary["memory"]["host_rss"]), summary["paths"] / summary["seconds"]


def main() -> None:
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as work:
        before, _ = resident(tests // 10, Path(work))
        after, speed = resident(tests, Path(work))
    print(
        f"{before / 1e6:.0f} MB after {tests // 10:,} tests, {after / 1e6:.0f} MB after {tests:,}: "
        f"{after / before:.2f} times; {speed:.0f} paths/s"
    )


if __name__ == "__main__":
    main()
