"""What it costs that a target is confined: the same campaigns with and without, in turns.

    .venv/bin/python bench/confinement.py [ROUNDS]

The tokenizer natively, depth first, without the second witness. A round is a campaign of 6,000 tests each way, and a
campaign of one test each way for what a start costs; which way comes first changes from round to round. Processor seconds
are those of host and target together, so that others on the machine disturb them little. Prints for each the median of
the rounds' ratios, and the middle half of them.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = 6_000
COMMAND = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--no-witness", "--strategy", "dfs", "--seed", "1"]
CONFINED, OPEN = (), ("--unconfined",)


def seconds(tests: int, words: Sequence[str]) -> float:
    """Of the processor, for one campaign."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--out", f"{folder}/o", "--max-tests", str(tests), *words, str(HERE / "tokenizer.c")]
        process = subprocess.Popen([*COMMAND, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the campaign ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def round_of(tests: int, number: int) -> tuple[float, float]:
    """Confined, and not."""
    ways = [CONFINED, OPEN] if number % 2 else [OPEN, CONFINED]
    took = {way: seconds(tests, way) for way in ways}
    return took[CONFINED], took[OPEN]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    seconds(1, CONFINED)  # the image is kept from now on
    many = [round_of(TESTS, number) for number in range(rounds)]
    one = [round_of(1, number) for number in range(rounds)]
    low, middle, high = statistics.quantiles([confined / without for confined, without in many], n=4)
    print(f"{TESTS:,} tests: confined takes {middle:.3f} of the processor time without ({low:.3f} to {high:.3f})")
    low, middle, high = statistics.quantiles([(confined - without) * 1000 for confined, without in one], n=4)
    print(f"a start: {middle:.0f} ms more ({low:.0f} to {high:.0f})")


if __name__ == "__main__":
    main()
