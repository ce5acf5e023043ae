"""Table-driven programs: distinct paths a CPU second, tests a path, SMT questions a path; at a small size, whether no
path is lost.

    .venv/bin/python bench/tables.py [--seconds S] [--json] [--only PROGRAM…] [--against DIR [--rounds N]] [--update]

Bench size: a campaign through the command line, natively, depth first, is told to stop when it has used S seconds of
processor time (10), its target included, its start and build left out. Small size: a campaign until it ends, or for
`--small-seconds` (60), and its recorded paths beside those that the plain program takes over all inputs. `--against
DIR`: the toolkit of another checkout beside this one's, turn by turn in the same minutes, since other load of the
machine comes and goes; ratios are ours to theirs. `--update` writes the table into docs/design/forks.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from page import write_table

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "support"))

from table_programs import BruteForce, TableProgram, programs  # noqa: E402

POLL = 0.05  # seconds between looks at the processor time
GRACE = 60  # seconds that a campaign has to save after it was told to stop
TICKS = os.sysconf("SC_CLK_TCK")
MINIMUM = 0.05  # processor seconds: below, a rate says nothing
HEAD = (
    "| program | bytes | paths | paths a CPU second | tests a path | SMT a path | answered by (time) | ended "
    "| small: CPU seconds | said | paths | brute force | its paths |\n"
    "|---|---:|---:|---:|---:|---:|---|---|---:|---|---:|---:|---|\n"
)


@dataclass(frozen=True)
class Bench:
    """What a campaign did with its processor time."""

    bytes: int
    cpu_seconds: float
    tests: int
    paths: int
    paths_per_second: float
    tests_per_path: float
    smt_per_path: float
    answered: dict[str, float]  # layer: share of the flips that were answered
    time: dict[str, float]  # layer: share of the solver's seconds
    stopped: str


@dataclass(frozen=True)
class Small:
    """A campaign until its end, beside brute force."""

    bytes: int
    cpu_seconds: float
    stopped: str
    paths: int
    brute_force: int
    difference: str  # empty: exactly these paths
    incomplete: list[str]  # what was not followed


@dataclass(frozen=True)
class Found:
    program: str
    bench: Bench
    small: Small

    def row(self) -> str:
        bench, small = self.bench, self.small
        shares = {layer: share for layer, share in bench.answered.items() if share >= 0.005}
        layers = ", ".join(f"{layer} {share:.0%} ({bench.time[layer]:.0%})" for layer, share in shares.items())
        cells = (
            *(self.program, bench.bytes, f"{bench.paths:,}", f"{bench.paths_per_second:,.1f}"),
            *(f"{bench.tests_per_path:.2f}", f"{bench.smt_per_path:.1f}", layers or "–", bench.stopped),
            *(f"{small.cpu_seconds:.1f}", small.stopped, small.paths, small.brute_force),
            "exact" if not small.difference else small.difference,
        )
        return f"| {' | '.join(map(str, cells))} |\n"


@dataclass(frozen=True)
class Ended:
    summary: dict[str, Any]
    seconds: float  # of processor time, until it ended or was told to
    told: bool


class Toolkit:
    """The score-embed of a checkout, as a user starts it, with files of its own."""

    def __init__(self, checkout: Path, cache: Path, board: str, strategy: str) -> None:
        self._environment = {**os.environ, "PYTHONPATH": str(checkout / "toolkit"), "XDG_CACHE_HOME": str(cache)}
        self._options = ("--board", board, "--strategy", strategy, "--seed", "1", "--no-witness")

    def campaign(self, program: TableProgram, size: int, out: Path, budget: float, *options: str) -> Ended:
        """Explore until the end or until `budget` processor seconds are used. Raises SystemExit if it fails."""
        command = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", *self._options, *options]
        command += ["--out", str(out), str(program.source), "--", *program.flags(size)]
        with (
            tempfile.TemporaryFile("w+") as told,
            tempfile.TemporaryFile("w+") as printed,
            subprocess.Popen(command, env=self._environment, stdout=printed, stderr=told, text=True) as process,
        ):
            used, stopped = _watched(process, budget)
            printed.seek(0)
            told.seek(0)
            if process.returncode not in (0, 1, 130):
                raise SystemExit(f"{program.name}: exit code {process.returncode}\n{told.read()}")
            return Ended(json.loads(printed.read()), used, stopped)

    def bench(self, program: TableProgram, budget: float, folder: Path) -> Bench:
        size = program.bench
        start = self._start(program, size, folder)
        ended = self.campaign(program, size, folder / "bench", start + budget)
        found, paths = ended.summary, ended.summary["paths"] or 1
        by, seconds = found["solver"]["by"], found["solver"]["seconds_by"]
        used = max(ended.seconds - start, MINIMUM)
        return Bench(
            size,
            used,
            found["runs"],
            found["paths"],
            found["paths"] / used,
            found["runs"] / paths,
            (by["smt"] + by["bitwuzla"]) / paths,
            _shares(by),
            _shares(seconds),
            "budget" if ended.told else found["stopped"],
        )

    def _start(self, program: TableProgram, size: int, folder: Path) -> float:
        """Processor seconds of a campaign of one test, whose image is made already."""
        for number in range(2):
            out = folder / f"start-{size}-{number}"
            ended = self.campaign(program, size, out, math.inf, "--max-tests", "1")
        return ended.seconds

    def small(self, program: TableProgram, budget: float, folder: Path) -> Small:
        size = program.small
        start = self._start(program, size, folder)
        ended = self.campaign(program, size, folder / "small", start + budget)
        truth = BruteForce(program.source, size, folder, program.flags(size))
        notes = [note["what"] for note in ended.summary["incomplete"]]
        stopped = "budget" if ended.told else ended.summary["stopped"]
        used, paths = max(ended.seconds - start, 0.0), ended.summary["paths"]
        return Small(size, used, stopped, paths, len(truth.paths), truth.difference(folder / "small"), notes)


def _shares(parts: dict[str, float]) -> dict[str, float]:
    total = sum(parts.values()) or 1
    return {name: part / total for name, part in parts.items()}


def _watched(process: subprocess.Popen[str], budget: float) -> tuple[float, bool]:
    """Wait for the end; the processor seconds until then, or until the process was told to stop."""
    used, told, deadline = 0.0, False, 0.0
    while process.poll() is None:
        now = processor_seconds(process.pid)
        if not told:
            used = max(used, now)
            if used > budget:
                process.send_signal(signal.SIGINT)
                told, deadline = True, time.monotonic() + GRACE
        elif time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise SystemExit(f"process {process.pid} did not stop within {GRACE} seconds")
        time.sleep(POLL)
    return used, told


def processor_seconds(pid: int) -> float:
    """Of a process, of those that descend from it, and of those that these waited for."""
    parent, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        ident = int(path.parent.name)
        parent[ident], used[ident] = int(words[1]), sum(map(int, words[11:15])) / TICKS
    return sum(seconds for ident, seconds in used.items() if _descends(ident, pid, parent))


def _descends(ident: int, root: int, parent: dict[int, int]) -> bool:
    while ident != root and ident in parent:
        ident = parent[ident]
    return ident == root


def measure(toolkit: Toolkit, program: TableProgram, seconds: float, small: float) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        bench = toolkit.bench(program, seconds, Path(folder))
        return Found(program.name, bench, toolkit.small(program, small, Path(folder)))


def compare(ours: Sequence[Found], theirs: Sequence[Found]) -> str:
    """A row of medians."""

    speed = [statistics.median(found.bench.paths_per_second for found in founds) for founds in (ours, theirs)]
    tests = [statistics.median(found.bench.tests_per_path for found in founds) for founds in (ours, theirs)]
    smalls = [founds[-1].small for founds in (ours, theirs)]
    cells = (
        *(ours[0].program, f"{speed[0]:,.1f}", f"{speed[1]:,.1f}", f"{speed[0] / max(speed[1], 1e-9):.2f}"),
        *(f"{tests[0]:.2f}", f"{tests[1]:.2f}"),
        *(f"{small.cpu_seconds:.1f} s, {small.stopped}, {small.difference or 'exact'}" for small in smalls),
    )
    return f"| {' | '.join(cells)} |\n"


AGAINST = (
    "| program | paths a CPU second: ours | theirs | ratio | tests a path: ours | theirs | small: ours | theirs |\n"
    "|---|---:|---:|---:|---:|---:|---|---|\n"
)


def main() -> None:
    words = arguments()
    chosen = [program for name, program in programs().items() if not words.only or name in words.only]
    founds: dict[str, dict[str, list[dict[str, Any]]]] = {}
    table = AGAINST if words.against else HEAD
    shown = sys.stderr if words.json else sys.stdout
    print(table, end="", flush=True, file=shown)
    with tempfile.TemporaryDirectory() as caches:
        kits = [Toolkit(ROOT, Path(caches) / "ours", words.board, words.strategy)]
        if words.against:
            kits.append(Toolkit(words.against.resolve(), Path(caches) / "theirs", words.board, words.strategy))
        for program in chosen:
            found: list[list[Found]] = [[] for _ in kits]
            for turn in range(words.rounds):
                for number in sorted(range(len(kits)), reverse=bool(turn % 2)):
                    found[number].append(measure(kits[number], program, words.seconds, words.small_seconds))
            row = compare(*found) if words.against else found[0][-1].row()
            print(row, end="", flush=True, file=shown)
            table += row
            founds[program.name] = {
                name: [asdict(one) for one in each] for name, each in zip(("ours", "theirs"), found, strict=False)
            }
    if words.json:
        print(json.dumps(founds, indent=2))
    if words.update:
        write_table("design/forks.md", "bench/tables.py", table)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Table-driven programs: speed, redundancy, exactness.")
    parser.add_argument("--seconds", type=float, default=10, help="processor seconds of a campaign at bench size (10)")
    parser.add_argument("--small-seconds", type=float, default=60, help="processor seconds at small size, at most (60)")
    parser.add_argument("--only", nargs="+", choices=sorted(programs()), help="these programs")
    parser.add_argument("--board", default="native")
    parser.add_argument("--strategy", default="dfs")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another checkout, measured turn by turn")
    parser.add_argument("--rounds", type=int, default=1, help="measure so often; rates are medians (1)")
    parser.add_argument("--json", action="store_true", help="print all figures; the table goes to stderr")
    parser.add_argument("--update", action="store_true", help="write the table into docs/design/forks.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
