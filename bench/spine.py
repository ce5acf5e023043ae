"""Distinct paths a second of the 82-byte tokenizer, through the command line with default outputs.

    .venv/bin/python bench/spine.py [seconds]

For each board: paths and runs a second, the share of flips by solver layer, bytes a test on the link, and
where the host's time goes (cProfile over the same command, so that its seconds are larger than the plain run's).
"""

from __future__ import annotations

import json
import pstats
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAIN = "from score_embed.cli.main import main; main()"
PARTS = ("frontend", "build", "target", "link", "trace", "explore", "solve", "results", "z3", "sqlite3", "select")


def campaign(board: str, seconds: int, folder: Path, profile: Path | None = None) -> dict[str, object]:
    """summary.json of one bounded campaign."""
    command = [sys.executable, *(["-m", "cProfile", "-o", str(profile)] if profile else [])]
    script = folder / "run.py"
    script.write_text(MAIN + "\n")
    options = [
        "run",
        "--no-witness",
        "--board",
        board,
        "--time",
        f"{seconds}s",
        "--seed",
        "1",
        "--json",
        "--out",
        str(folder / board),
    ]
    done = subprocess.run(
        [*command, str(script), *options, str(HERE / "tokenizer.c")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=seconds * 3 + 120,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{board}: exit code {done.returncode}\n{done.stderr}")
    return dict(json.loads(done.stdout))


def shares(profile: Path) -> Counter[str]:
    """Seconds of own time by part of the host."""
    seconds: Counter[str] = Counter()
    for (file, _line, name), row in pstats.Stats(str(profile)).stats.items():  # type: ignore[attr-defined]
        part = next((p for p in PARTS if f"/{p}/" in file or p in name), "other")
        seconds[part] += row[2]
    return seconds


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    for board in ("native", "mps2-an385"):
        with tempfile.TemporaryDirectory() as work:
            summary = campaign(board, seconds, Path(work))
            took = float(summary["seconds"])  # type: ignore[arg-type]
            paths, runs = int(summary["paths"]), int(summary["runs"])  # type: ignore[call-overload]
            solver = dict(summary["solver"])  # type: ignore[call-overload]
            flips = solver["sat"] + solver["unsat"] + solver["unknown"] or 1
            print(f"{board}: {paths / took:.0f} paths/s, {runs / took:.0f} runs/s, {solver['seconds']:.1f} s solving")
            print("  flips: " + ", ".join(f"{name} {100 * n / flips:.1f} %" for name, n in solver["by"].items()))
            link = dict(summary["link"])  # type: ignore[call-overload]
            print(f"  link: {link['bytes_in'] / runs:.0f} bytes in, {link['bytes_out'] / runs:.0f} out a test")
        with tempfile.TemporaryDirectory() as work:
            profile = Path(work) / "profile"
            campaign(board, max(10, seconds // 3), Path(work), profile)
            own = shares(profile)
            total = sum(own.values())
            print("  host: " + ", ".join(f"{part} {100 * s / total:.0f} %" for part, s in own.most_common()))


if __name__ == "__main__":
    main()
