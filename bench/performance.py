"""The figures of docs/performance.md: paths a second, bytes on the line, work saved by the trail.

    .venv/bin/python bench/performance.py [seconds]

Through the command line with default outputs. CPU seconds are those of the host process and, where the target is its
child (natively, QEMU), of the target too, less those of a campaign of one test.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from explored import explored, one_by_one
from msgspec.structs import replace

from score_embed import config
from score_embed.campaign import campaign
from score_embed.trace.trail import Trail

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BOARDS = ("native", "mps2-an385-uart", "mps2-an385")
TOO_SHORT = 0.3  # seconds: less than two builds of one image differ by


@dataclass(frozen=True)
class Subject:
    """A program and the options it needs."""

    name: str
    source: Path
    options: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()


SUBJECTS = (
    Subject("tokenizer, 82 bytes", HERE / "tokenizer.c"),
    Subject("tokenizer, 20 bytes", HERE / "tokenizer.c", cflags=("-DSIZE=20",)),
    Subject("packet parser with checksum, 32 bytes", HERE / "packet.c"),
    Subject("arithmetic", HERE / "arithmetic.c"),
    Subject("bubble sort of 6 ints", HERE / "sort.c"),
    Subject("binary search over 16 ints", HERE / "search.c"),
    Subject(
        "jsmn, 24 bytes",
        ROOT / "examples" / "jsmn_harness.c",
        ("--instrument", "*/jsmn.h"),
        ("-idirafter", "/usr/include"),
    ),
)


def command(subject: Subject, board: str, limit: str, out: str) -> list[str]:
    options = ["run", "--json", "--no-witness", "--board", board, limit, "--seed", "1", "--out", out]
    start = [sys.executable, "-m", "score_embed.cli.main", *options, *subject.options, str(subject.source)]
    return [*start, "--", *subject.cflags]


def processor_time() -> float:
    """Seconds of all child processes so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(subject: Subject, board: str, limit: str) -> tuple[dict[str, Any], float]:
    """summary.json of one campaign, and its CPU seconds."""
    before = processor_time()
    with tempfile.TemporaryDirectory() as work:
        start = command(subject, board, limit, f"{work}/out")
        done = subprocess.run(start, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{subject.name} on {board}: exit code {done.returncode}\n{done.stderr}")
    used = processor_time() - before
    return dict(json.loads(done.stdout)), used


def speed(seconds: int) -> None:
    print("| program | board | stopped | paths | paths a second | paths a CPU second | answered by |")
    print("|---|---|---|---|---|---|---|")
    for subject in SUBJECTS:
        for board in BOARDS:
            _, build = timed(subject, board, "--max-tests=1")
            found, used = timed(subject, board, f"--time={seconds}s")
            paths, took = found["paths"], max(found["seconds"], 0.001)
            flips = sum(found["solver"]["by"].values()) or 1
            shares = {layer: round(100 * n / flips) for layer, n in found["solver"]["by"].items()}
            layers = ", ".join(f"{layer} {share} %" for layer, share in shares.items() if share)
            own = used - build
            each = f"{paths / own:,.0f}" if own > TOO_SHORT else "–"
            values = (found["stopped"], paths, f"{paths / took:,.0f}", each, layers)
            print(" | ".join(map(str, ("", subject.name, board, *values, ""))).strip(), flush=True)


def line(tests: int, board: str = "mps2-an385-uart") -> None:
    """Bytes on the line with everything sent, and as it is."""
    print(f"\nBytes a test, {board}:\n")
    print("| order | all sent: to the host | to the board | as it is: to the host | to the board | ratio |")
    print("|---|---|---|---|---|---|")
    settings = config.Settings(board=board, sources=(HERE / "tokenizer.c",), max_tests=tests, seed=1)
    for strategy in config.STRATEGIES:
        sizes = []
        for plain in (True, False):
            found = explored(replace(settings, strategy=strategy), everything=plain)
            link, runs = found["link"], found["runs"]
            sizes += [link["bytes_in"] / runs, link["bytes_out"] / runs]
        ratio = f"{sum(sizes[:2]) / sum(sizes[2:]):.0f} x"
        print(" | ".join(["", strategy, *(f"{size:,.0f}" for size in sizes), ratio, ""]).strip(), flush=True)


def trail(tests: int) -> None:
    """How much of a path is decoded anew."""
    print("\n| order | conditions a path | of these decoded anew |")
    print("|---|---|---|")
    settings = config.Settings(board="native", sources=(HERE / "tokenizer.c",), max_tests=tests, seed=1)
    for strategy in config.STRATEGIES:
        counts: Counter[str] = Counter()
        rewind = Trail.rewind

        def counted(self: Trail, *of: Any) -> int:
            kept = rewind(self, *of)  # noqa: B023
            counts["kept"] += kept  # noqa: B023
            counts["runs"] += 1  # noqa: B023
            return kept

        with (
            tempfile.TemporaryDirectory() as work,
            redirect_stderr(StringIO()),
            one_by_one(),
            patch.object(Trail, "rewind", counted),
        ):
            found = campaign.run(replace(settings, strategy=strategy, out=Path(work) / "o")).summary
        mean = found.conditions.mean
        print(f"| {strategy} | {mean:.0f} | {mean - counts['kept'] / counts['runs']:.1f} |", flush=True)


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    speed(seconds)
    line(300)
    trail(2000)


if __name__ == "__main__":
    main()
