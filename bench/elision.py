"""What prefix elision saves in each order of the queue.

    .venv/bin/python bench/elision.py [tests] [board]

Bytes a test that the target sent, tests run again because a prefix was not as expected, and tests a second: with
nothing elided, with what the last run's condition hash alone tells, and with what the pairs' lineage tells.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from explored import one_by_one
from msgspec.structs import replace

from score_embed import config
from score_embed.campaign import campaign
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    "tokenizer": config.Settings(sources=(HERE / "tokenizer.c",)),
    "tlv": config.Settings(sources=(HERE.parent / "examples" / "tlv.c",), entry="tlv_sum"),
}


def nothing(explorer: Explorer, pair: Pair) -> int:
    return 0


def last_condition(explorer: Explorer, pair: Pair) -> int:
    """Only if the pair leaves the last path at its last condition."""
    conditions, last = explorer._trail.conditions, pair.predicted - 1
    fits = 0 <= last < len(conditions) and conditions[last].hash(flipped=True) == pair.condition_hash
    return last if fits else 0


HOW: dict[str, Callable[[Explorer, Pair], int]] = {
    "off": nothing,
    "last condition": last_condition,
    "lineage": Explorer._shared_conditions,
}


def measure(settings: config.Settings, how: Callable[[Explorer, Pair], int], folder: Path) -> tuple[float, int, float]:
    """Bytes from the target a test, reruns, tests a second."""
    with one_by_one(), patch.object(Explorer, "_shared_conditions", how), redirect_stderr(StringIO()):
        found = campaign.run(replace(settings, out=folder)).summary
    link, runs = found.link, found.runs
    return link.bytes_in / runs, link.reruns, runs / found.seconds


def main() -> None:
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    board = sys.argv[2] if len(sys.argv) > 2 else "native"
    print(f"{'program':10} {'strategy':9} {'elision':15} {'bytes/test':>10} {'reruns':>6} {'tests/s':>8}")
    for program, settings in PROGRAMS.items():
        for strategy in config.STRATEGIES:
            for name, how in HOW.items():
                wanted = replace(settings, board=board, strategy=strategy, max_tests=tests, seed=1)
                with tempfile.TemporaryDirectory() as work:
                    size, reruns, speed = measure(wanted, how, Path(work) / "o")
                print(f"{program:10} {strategy:9} {name:15} {size:10.0f} {reruns:6} {speed:8.0f}", flush=True)


if __name__ == "__main__":
    main()
