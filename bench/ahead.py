"""Tests that are sent along with the one that is waited for: `python bench/ahead.py [--repeats N] [PROGRAM/ORDER…]`

The same tests, in the same order, with none sent along and with as many as a native target takes
(docs/design/wire.md), in turn; microseconds a test, the medians, and the one by the other. The tokenizer of four bytes
is exhausted, the others are cut off. Host and target share one processor; each campaign has a process of its own, since
a process that has had a large one is slower afterwards.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from unittest.mock import patch

from explored import explored

from score_embed import config
from score_embed.device.native import NativeTarget

HERE = Path(__file__).resolve().parent
SOURCES = {
    "82 bytes": ("tokenizer.c", ()),
    "20 bytes": ("tokenizer.c", ("-DSIZE=20",)),
    "4 bytes": ("tokenizer.c", ("-DSIZE=4",)),
    "packet": ("packet.c", ()),
}
ORDERS = ("dfs", "mixed")
MOST = {"4 bytes": None, "packet": 10_000}  # tests
USUAL = 60_000


def microseconds(program: str, order: str, ahead: int) -> tuple[float, int]:
    """Of a test, and how many there were."""
    source, flags = SOURCES[program]
    most = MOST.get(program, USUAL)
    settings = config.Settings(
        sources=(HERE / source,), cflags=flags, strategy=order, max_tests=most, no_witness=True, time=600.0
    )
    with patch.object(NativeTarget, "ahead", ahead):
        found = explored(settings)
    return 1e6 * found["seconds"] / found["runs"], found["runs"]


def main() -> None:
    every = [f"{program}/{order}" for program in SOURCES for order in ORDERS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", default=every, metavar="PROGRAM/ORDER", help="of: " + ", ".join(every))
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    counts = (0, NativeTarget.ahead)
    anew = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1)
    print(f"| program | order | tests | alone, us | {counts[1]} along, us | ratio |")
    print("|---|---|---:|---:|---:|---:|")
    for case in arguments.cases:
        program, order = case.split("/")
        found: dict[int, list[float]] = {ahead: [] for ahead in counts}
        for _ in range(arguments.repeats):
            for ahead in counts:
                spent, tests = anew.submit(microseconds, program, order, ahead).result()
                found[ahead].append(spent)
        alone, along = (median(found[ahead]) for ahead in counts)
        print(f"| {program} | {order} | {tests:,} | {alone:.1f} | {along:.1f} | {alone / along:.2f} |", flush=True)


if __name__ == "__main__":
    main()
