"""What it costs that a target is confined: one exploration with and one without, side by side in one process.

    .venv/bin/python bench/confinement.py [SECONDS]

The tokenizer natively, depth first: both explorations run the same tests. They take turns, a block of some tests each
(a few hundredths of a second), and which comes first changes from block to block, so that whatever disturbs this
machine disturbs both alike. Measured is processor time, of the target and of the host apart, by the kernel's clock of
each process. A round is one pair of explorations on fresh targets, since where a process lies in memory makes a
difference, too. For the ratios of all rounds it prints the trimmed mean of their logarithms with a confidence interval
of 95 %, then the same for what a start costs. Ten minutes, if nothing else is said; exit code 0 if at most 1 % more is
shown, else 1.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign.folder import IMAGE
from score_embed.campaign.opening import recorded_settings
from score_embed.campaign.worker import Worker
from score_embed.confine.core import own_core
from score_embed.device.native import NativeTarget
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import STRATEGIES
from score_embed.image.image import Image, load_image
from score_embed.results.store import Store

HERE = Path(__file__).resolve().parent
COMMAND = [
    sys.executable,
    "-m",
    "score_embed.cli.main",
    "run",
    "--json",
    "--no-witness",
    "--strategy",
    "dfs",
    "--seed",
    "1",
]
BLOCK, BLOCKS, WARM = 50, 60, 4  # tests; blocks of a round; those of them that do not count
STARTS = 3  # of a round, each way
GOAL = 1.01
LEAST = 10  # rounds


class Exploration:
    """One that can be continued for a while, and what it has taken so far: seconds of its target and of this
    process."""

    def __init__(self, image: Image, settings: config.Settings, first: bytes, confined: bool) -> None:
        self.target = NativeTarget(image.elf, image.build_id, confined=confined)
        self._worker = Worker(self.target, settings, image)
        self._search = Search(self._worker.explorer, Queue(STRATEGIES["dfs"](1, self._worker.covered)), [first])
        self._number = 0
        self.of_target = self.of_host = 0.0

    def go_on(self, tests: int, counts: bool) -> None:
        process = self.target._process
        assert process is not None
        clock = ~process.pid << 3 | 2  # the kernel's clock of that process: its processor time, to the nanosecond
        target, host = time.clock_gettime(clock), time.process_time()
        for _ in range(tests):
            pair = self._search.next()
            assert pair is not None
            self._number += 1
            test = self._worker.finish(pair, self._worker.begin(pair, self._number))
            self._search.add(test.outcome)
            self._search.answered.clear()
        if counts:
            self.of_target += time.clock_gettime(clock) - target
            self.of_host += time.process_time() - host


def round_of(image: Image, settings: config.Settings, first: bytes, number: int) -> tuple[float, float, float]:
    """Of target, host and both together: seconds with confinement by those without."""
    ways = (True, False) if number % 2 else (False, True)
    made = {confined: Exploration(image, settings, first, confined) for confined in ways}
    with closing(made[True].target), closing(made[False].target):
        for block in range(BLOCKS):
            for confined in ways if block % 2 else reversed(ways):
                made[confined].go_on(BLOCK, block >= WARM)
    one, other = made[True], made[False]
    together = (one.of_target + one.of_host) / (other.of_target + other.of_host)
    return one.of_target / other.of_target, one.of_host / other.of_host, together


def start(image: Image, confined: bool) -> float:
    """Milliseconds of this process and of the target until it is ready, and its end."""

    def used() -> float:
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    before = used()
    with closing(NativeTarget(image.elf, image.build_id, confined=confined)) as target:
        assert target.info
    return 1000 * (used() - before)


def starts_of(image: Image, number: int) -> float:
    """How many milliseconds more a confined start takes."""
    more = 0.0
    for each in range(STARTS):
        ways = (True, False) if (number + each) % 2 else (False, True)
        took = {confined: start(image, confined) for confined in ways}
        more += took[True] - took[False]
    return more / STARTS


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean without the fifth at either end, and half of its confidence interval of 95 % (Yuen's): a round that somebody
    disturbed counts as any other that is above or below the rest."""
    cut = len(values) // 5
    ordered = sorted(values)
    kept = ordered[cut : len(values) - cut]
    drawn_in = [kept[0]] * cut + kept + [kept[-1]] * cut
    free, normal = len(kept) - 1, 1.96
    student = (
        normal + (normal**3 + normal) / (4 * free) + (5 * normal**5 + 16 * normal**3 + 3 * normal) / (96 * free**2)
    )
    error = statistics.stdev(drawn_in) / (len(kept) / len(values) * math.sqrt(len(values)))
    return statistics.fmean(kept), student * error


def say(what: str, ratios: Sequence[float]) -> float:
    """In words; returns the upper end of the interval."""
    mean, half = interval([math.log(ratio) for ratio in ratios])
    low, middle, high = (100 * (math.exp(mean + end) - 1) for end in (-half, 0.0, half))
    print(f"{what:<9} {middle:+.2f} % ± {(high - low) / 2:.2f} % of the processor time without", flush=True)
    return 1 + high / 100


def built(folder: Path) -> tuple[Image, config.Settings, bytes]:
    """Its image, settings and first input."""
    words = ["--out", str(folder / "o"), "--max-tests", "1", str(HERE / "tokenizer.c")]
    subprocess.run([*COMMAND, *words], stdout=subprocess.DEVNULL, timeout=300, check=True)
    with Store.read(folder / "o") as record:
        settings, first = recorded_settings(record), record.test(1)
    assert first is not None
    find_board(settings.board, settings.run, None).require_tools()
    return load_image(folder / "o" / IMAGE), settings, first.input


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    rounds: list[tuple[float, float, float]] = []
    starts: list[float] = []
    with tempfile.TemporaryDirectory() as name, own_core():
        image, settings, first = built(Path(name))
        until = time.monotonic() + seconds
        while time.monotonic() < until or len(rounds) < LEAST:
            starts.append(starts_of(image, len(rounds)))
            rounds.append(round_of(image, settings, first, len(rounds)))
    tests = BLOCK * (BLOCKS - WARM)
    print(f"{len(rounds)} rounds of {tests:,} tests each way, load {os.getloadavg()[0]:.1f}: confined takes")
    for place, what in enumerate(("target", "host")):
        say(what, [each[place] for each in rounds])
    most = say("together", [each[2] for each in rounds])
    mean, half = interval(starts)
    print(f"a start   {mean:+.1f} ms ± {half:.1f} ms")
    print(f"at most {100 * GOAL - 100:.0f} % more: {'shown' if most <= GOAL else 'not shown'}")
    return most > GOAL


if __name__ == "__main__":
    sys.exit(main())
