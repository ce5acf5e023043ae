"""Orders beside each other: what a campaign has reached after 2, 10 and 30 seconds of processor time.

    .venv/bin/python bench/orders.py [--seconds S,S…] [--orders NAME…] [--only PROGRAM…] [--update]

Programs: the parsers from packages (bench/parsers.py, tools/fetch-parsers.sh), jsmn, our tokenizer, and one whose
twelve numbers are arguments. Each campaign has a process of its own; processor time is that process's and its target's
from the first test on, so other load of the machine does not count. Cells: branch directions / bugs at each time; one
number where all are the same, with the time of the end if the campaign has ended before. `--update` writes the table
into docs/design/exploration.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace
from page import write_table
from parsers import FETCHED, PARSERS

from score_embed import config
from score_embed.campaign import campaign
from score_embed.campaign.status import Status

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
TICKS = os.sysconf("SC_CLK_TCK")
POLL = 0.05  # seconds between looks at the processor time
SECONDS = (2.0, 10.0, 30.0)
SLOWEST = 60  # wall seconds of a processor second, at most: others use the machine, too


def programs() -> dict[str, config.Settings]:
    """What is explored, by name; of parsers, those that are fetched."""
    found = {
        name: config.Settings(sources=tuple(parser.sources), cflags=tuple(parser.cflags))
        for name, parser in PARSERS.items()
        if parser.fetched
    }
    if (FETCHED / "jsmn").is_dir():
        harness = EXAMPLES / "jsmn_harness.c"
        found["jsmn"] = config.Settings(sources=(harness,), cflags=(f"-I{FETCHED / 'jsmn'}",))
    found["tokenizer"] = config.Settings(sources=(HERE / "tokenizer.c",))
    found["advice"] = config.Settings(sources=(HERE / "orders" / "advice.c",), argv=",".join(["4"] * 12))
    return found


def processor_seconds() -> float:
    """Of this process, its target, and the targets before that."""
    used = sum(os.times()[:4])
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            try:
                words = Path(f"/proc/{child}/stat").read_text(errors="replace").rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            used += sum(map(int, words[11:15])) / TICKS
    return used


class Watched:
    """Ends this process's campaign when it has used its processor time, and writes down what it had reached when."""

    def __init__(self, marks: list[float]) -> None:
        self._marks = marks
        self._campaign: campaign._Campaign | None = None
        self._start = 0.0
        self.seen: list[tuple[float, int, int, int]] = []  # processor seconds, directions, bugs, paths
        self.total = 0

    def begin(self, made: campaign._Campaign) -> None:
        self._campaign, self._start = made, processor_seconds()
        self.total = made._ledger.coverage.total
        threading.Thread(target=self._watch, daemon=True).start()

    def look(self) -> float:
        assert self._campaign is not None
        ledger = self._campaign._ledger
        used = processor_seconds() - self._start
        self.seen.append((used, len(ledger.coverage.covered), len(ledger.bugs), ledger.totals.paths))
        return used

    def _watch(self) -> None:
        while self.look() < self._marks[-1]:
            time.sleep(POLL)
        os.kill(os.getpid(), signal.SIGINT)

    def at(self, mark: float) -> tuple[int, int, int]:
        """What was reached then."""
        before = [seen for seen in self.seen if seen[0] <= mark]
        return (before or self.seen)[-1][1:]


def explore(settings: config.Settings, marks: list[float]) -> dict[str, Any]:
    """One campaign in this process."""
    watched = Watched(marks)
    loop = campaign._Campaign._loop

    def begun(made: campaign._Campaign, *args: Any) -> Any:
        watched.begin(made)
        return loop(made, *args)

    with tempfile.TemporaryDirectory() as work, redirect_stderr(StringIO()), patch.object(Status, "due", False):
        with patch.object(campaign._Campaign, "_loop", begun):
            found = campaign.run(replace(settings, out=Path(work) / "o")).summary
        watched.look()
    return {
        "marks": {str(mark): watched.at(mark) for mark in marks},
        "total": watched.total,
        "ended": found.stopped if found.stopped != "interrupted" else "",
        "seconds": watched.seen[-1][0],
        "tests": found.runs,
        "paths": found.paths,
    }


def in_a_process(program: str, order: str, seed: int, marks: list[float]) -> dict[str, Any]:
    words = [sys.executable, str(Path(__file__)), "--worker", program, "--orders", order]
    words += ["--seed", str(seed), "--seconds", ",".join(map(str, marks))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300 + marks[-1] * SLOWEST)
    if done.returncode:
        raise SystemExit(f"{program}, {order}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cell(found: dict[str, Any]) -> str:
    reached = [f"{covered}/{bugs}" for covered, bugs, _ in found["marks"].values()]
    text = reached[0] if len(set(reached)) == 1 else ", ".join(reached)
    return f"{text} ({found['ended']} {found['seconds']:.1f} s)" if found["ended"] else text


def main() -> None:
    words = arguments()
    marks = [float(word) for word in words.seconds.split(",")]
    known = programs()
    if words.worker:
        settings = replace(known[words.worker], strategy=words.orders[0], seed=words.seed, no_witness=True)
        print(json.dumps(explore(settings, marks)))
        return
    table = f"| program | directions | {' | '.join(words.orders)} |\n|---|---:|{'---|' * len(words.orders)}\n"
    print(table, end="", flush=True)
    everything: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(words.jobs) as pool:
        names = words.only or list(known)
        begun = {
            name: {order: pool.submit(in_a_process, name, order, words.seed, marks) for order in words.orders}
            for name in names
        }
        for name, orders in begun.items():
            founds = {order: future.result() for order, future in orders.items()}
            everything[name] = founds
            total = next(iter(founds.values()))["total"]
            row = f"| {name} | {total} | {' | '.join(cell(found) for found in founds.values())} |\n"
            print(row, end="", flush=True)
            table += row
    if words.json:
        words.json.write_text(json.dumps(everything, indent=1))
    if words.update:
        write_table("design/exploration.md", "bench/orders.py", table)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What each order has reached after some processor time.")
    parser.add_argument("--seconds", default=",".join(f"{s:g}" for s in SECONDS), help="of processor time (2,10,30)")
    parser.add_argument("--orders", nargs="+", default=list(config.STRATEGIES), choices=config.STRATEGIES)
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", choices=sorted(programs()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="campaigns at the same time (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--update", action="store_true", help="write the table into docs/design/exploration.md")
    parser.add_argument("--worker", metavar="PROGRAM", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
