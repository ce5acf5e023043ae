"""How many generated programs of nested tables, pointers to tables, dispatch and symbolic stores end `exhausted`, and exactly so.

    .venv/bin/python bench/generated_tables.py [--seconds S] [--count N] [--first SEED] [--board BOARD] [--toolkit DIR]

The programs of tests/support/table_generator.py. S (10): the most processor seconds of a campaign. Exact: the recorded paths are
those of all 65,536 inputs. A line for each program that is not exhausted or not exact, then the sums.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from tables import ROOT, Toolkit

# tables.py made the folder of the generator known
from table_generator import program  # isort: skip
from table_programs import BruteForce, TableProgram  # isort: skip


def explore(toolkit: Toolkit, seed: int, seconds: float, counts: Counter[str]) -> str:
    """What became of one program."""
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
    if word == "exhausted" and not difference:
        return ""
    notes = "; ".join(note["what"] for note in ended.summary["incomplete"])
    return f"seed {seed}: {word}, {difference or 'exact'}, {ended.seconds:.1f} s: {notes}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Generated table-driven programs: how many are exhausted.")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--board", default="native")
    parser.add_argument("--toolkit", type=Path, default=ROOT, help="the checkout whose toolkit explores")
    words = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as cache:
        toolkit = Toolkit(words.toolkit.resolve(), Path(cache), words.board, "dfs")
        for seed in range(words.first, words.first + words.count):
            line = explore(toolkit, seed, words.seconds, counts)
            if line:
                print(line, flush=True)
    ends = ", ".join(f"{counts[word]} {word}" for word in ("exhausted", "drained", "budget"))
    print(
        f"{words.count} programs: {ends}; {counts['exact']} exact; exhausted, not exact: {counts['exhausted, not exact']}"
    )
    print(f"{counts['tests']} tests, {counts['paths']} paths of {counts['all paths']}")


if __name__ == "__main__":
    main()
