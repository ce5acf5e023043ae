"""What a large campaign costs whoever goes on with it or reads it: time and memory, by the number of its tests.

    .venv/bin/python bench/large.py FOLDER 100000 1500000 10000000

A real campaign of a thousand tests (the tokenizer of 20 bytes, depth first) is made larger in FOLDER: rows of made-up
tests with inputs, paths and pairs of their own go into its record as a campaign writes them, which takes a minute for a
million. What waits is the real campaign's, so it can go on. Each command is a process of its own; its processor seconds
and its largest resident size are those of the process and what it started.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from score_embed.contract.words import Came
from score_embed.results.parts import PROGRESS
from score_embed.results.store import Store

HERE = Path(__file__).resolve().parent
BASE = 1000  # tests of the real campaign
BATCH = 20_000  # made-up tests between two commits
COMMAND = [sys.executable, "-m", "score_embed.cli.main"]


def begin(folder: Path) -> None:
    words = ["--out", str(folder), "--strategy", "dfs", "--max-tests", str(BASE), str(HERE / "tokenizer.c")]
    done = subprocess.run([*COMMAND, "run", "--json", *words, "--", "-DSIZE=20"], capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode())


def enlarge(folder: Path, tests: int) -> None:
    """The campaign in `folder` has so many tests then."""
    with Store.open(folder) as record:
        progress = record.get(PROGRESS)
        assert progress is not None
        model, choose = record.test(BASE), random.Random(tests)
        assert model is not None
        for number in range(progress.totals.runs + 1, tests + 1):
            data, path = choose.randbytes(len(model.input)), choose.getrandbits(64)
            row = structs.replace(model, number=number, input=data, path_hash=path, outcome=Came.NEW)
            record.add_test(row, new_path=True)
            progress.totals.runs += 1
            progress.totals.paths += 1
            if number % BATCH == 0:
                record.commit(progress)
        record.commit(structs.replace(progress, stopped="max-tests"))


def measured(words: Sequence[str]) -> str:
    """Seconds on the wall, processor seconds, and MB, of a command."""
    began = time.monotonic()
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(errors.decode())
    wall = time.monotonic() - began
    return f"{wall:.1f} s, {used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 1024:.0f} MB"


def main() -> None:
    place = Path(sys.argv[1])
    folder, made = place / "campaign", place / "made"
    shutil.rmtree(folder, ignore_errors=True)
    begin(folder)
    commands = {
        "`run --resume --max-tests 1`": ["run", "--json", "--max-tests", "1", "--resume", str(folder)],
        "`report`": ["report", str(folder)],
        "`report --json`": ["report", "--json", str(folder)],
        "`report --lcov --junit --sarif`": ["report", *_into(made, "lcov", "junit", "sarif"), str(folder)],
        "`report --html`": ["report", *_into(made, "html"), str(folder)],
        "`export --csv`": ["export", "--csv", str(made / "tests.csv"), str(folder)],
        "`export --unity`": ["export", "--unity", str(made / "tests.c"), str(folder)],
        "`export --corpus F.tar`": ["export", "--corpus", str(made / "corpus.tar"), str(folder)],
    }
    print("| tests | record | " + " | ".join(commands) + " |")
    print("|---" * (len(commands) + 2) + "|")
    for tests in map(int, sys.argv[2:]):
        enlarge(folder, tests)
        made.mkdir(parents=True, exist_ok=True)
        (made / "corpus.tar").symlink_to("/dev/null")  # a kilobyte a test
        size = (folder / "campaign.db").stat().st_size / 1e6
        cells = [f"{tests:,}", f"{size:,.0f} MB", *map(measured, commands.values())]
        shutil.rmtree(made)
        print("| " + " | ".join(cells) + " |", flush=True)


def _into(folder: Path, *formats: str) -> list[str]:
    return [word for name in formats for word in (f"--{name}", str(folder / name))]


if __name__ == "__main__":
    main()
