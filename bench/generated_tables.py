"""How many generated programs of nested tables, pointers to tables, dispatch and symbolic stores end `exhausted`, and
exactly so.

    .venv/bin/python bench/generated_tables.py [--seconds S] [--count N] [--first SEED] [--board BOARD] [--toolkit DIR]

The programs of tests/support/table_generator.py. S (10): the most processor seconds of a campaign. Exact: the recorded
paths are those of all 65,536 inputs. A line for each program that is not exhausted, not exact, or has more than two
tests a path, then the sums.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import Counter
from pathlib import Path

from tables import ROOT, Toolkit

# tables.py made the folder of the generator known
from table_generator import program  # isort: skip
from table_programs import BruteForce, TableProgram  # isort: skip


MOST = 2.0  # tests a path: what is above is told


def explore(toolkit: Toolkit, seed: int, seconds: float, counts: Counter[str], redundancy: list[float]) -> str:
    """What became of one program. Its tests a path are added to `redundancy` where it is exhausted."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        source = folder / "generated.c"
        source.write_text(program(seed), encoding="utf-8")
        truth = BruteForce(source, 2, folder, ("-DPLAIN",), blocks=False)
        ended = toolkit.campaign(TableProgram("generated", source, 2, 2, ""), 2, folder / "out", seconds)
        difference = truth.difference(folder / "out")
    word = "budget" if ended.told else str(ended.summary["stopped"])
    counts[word] += 1
    counts["exact"] += not difference
    counts["exhausted, not exact"] += word == "exhausted" and bool(difference)
    counts["tests"] += ended.summary["runs"]
    counts["paths"] += ended.summary["paths"]
    counts["all paths"] += len(truth.paths)
    ratio = ended.summary["runs"] / max(ended.summary["paths"], 1)
    if word == "exhausted":
        redundancy.append(ratio)
        if not difference and ratio <= MOST:
            return ""
    notes = [note["what"] for note in ended.summary["incomplete"]]
    notes += [f"line {fork['line']}: {fork['tests']} tests by forks" for fork in ended.summary["forks"]]
    return f"seed {seed}: {word}, {difference or 'exact'}, {ratio:.1f} tests a path, {ended.seconds:.1f} s: {'; '.join(notes)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Generated table-driven programs: how many are exhausted.")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--board", default="native")
    parser.add_argument("--toolkit", type=Path, default=ROOT, help="the checkout whose toolkit explores")
    words = parser.parse_args()
    counts: Counter[str] = Counter()
    redundancy: list[float] = []
    with tempfile.TemporaryDirectory() as cache:
        toolkit = Toolkit(words.toolkit.resolve(), Path(cache), words.board, "dfs")
        for seed in range(words.first, words.first + words.count):
            line = explore(toolkit, seed, words.seconds, counts, redundancy)
            if line:
                print(line, flush=True)
    ends = ", ".join(f"{counts[word]} {word}" for word in ("exhausted", "drained", "budget"))
    print(
        f"{words.count} programs: {ends}; {counts['exact']} exact; exhausted, not exact: {counts['exhausted, not exact']}"
    )
    print(f"{counts['tests']} tests, {counts['paths']} paths of {counts['all paths']}")
    if redundancy:
        print(
            f"tests a path, of those exhausted: median {statistics.median(redundancy):.2f}, at worst {max(redundancy):.1f}"
        )


if __name__ == "__main__":
    main()
