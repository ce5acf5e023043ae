"""Branches that harnesses reach, against random arguments in the same time: `python bench/arguments.py NAME FILE.c… [--
CFLAGS…]`

Each function that the files define (with `--every N` one of N) is explored for `--seconds`, and its harness is run as
long with inputs at random: half of them uniform, the others small numbers among zeros, so that counts and choices come
true. Same harness, same program, same judge: directions of branches in the user's files. The line says how many
functions ended `exhausted` or `exhausted within` bounds, the directions of each way, and in how many functions which
way reached more. `--list`: each function.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harnesses import functions_of

from score_embed.errors import ScoreError
from score_embed.frontend.c import own_names
from score_embed.frontend.c.preprocess import preprocess

_BYTES = 512  # of an input; what a test asks for beyond them is zero
_EACH_SECOND = 6000  # inputs at random: more than any target runs
_BELOW = (2, 3, 16)  # small numbers


@dataclass(frozen=True)
class Reached:
    stopped: str
    tests: int
    directions: int
    total: int  # directions of all files


def write_random(folder: Path, count: int) -> None:
    """Inputs at random, the same in each run of the bench."""
    rng = random.Random(1)
    for number in range(count):
        if number % 2:
            data = rng.randbytes(_BYTES)
        else:
            below, often = _BELOW[number // 2 % len(_BELOW)], rng.random()
            data = bytes(rng.randrange(below) if rng.random() < often else 0 for _ in range(_BYTES))
        (folder / f"{number:06}.bin").write_bytes(data)


def run(name: str, files: list[str], cflags: list[str], seconds: float, have: Path | None) -> Reached | None:
    """One campaign; none if it cannot be built."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["score-embed", "run", "--entry", name, "--time", f"{seconds}s", "--json", "--no-witness"]
        command += ["--out", f"{folder}/o", *(["--have", str(have)] if have else []), *files, "--", *cflags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 300, check=False)
    try:
        summary = json.loads(done.stdout)
    except ValueError:
        print(f"  {name}: {' '.join(done.stderr.split())[:200]}")
        return None
    coverage = summary["coverage"]
    return Reached(summary["stopped"], summary["runs"], coverage["branches_covered"], coverage["branches_total"])


def main() -> int:
    sub = argparse.ArgumentParser(description=__doc__)
    sub.add_argument("--list", action="store_true", help="a line for each function")
    sub.add_argument("--seconds", type=float, default=3.0, help="for each function and way")
    sub.add_argument("--every", type=int, default=1, metavar="N", help="one of N functions")
    sub.add_argument("name")
    sub.add_argument("files", nargs="+")
    words = sys.argv[1:]
    cflags = words[words.index("--") + 1 :] if "--" in words else []
    values = sub.parse_args(words[: words.index("--")] if "--" in words else words)
    pairs: list[tuple[Reached, Reached]] = []
    with tempfile.TemporaryDirectory() as folder:
        write_random(Path(folder), int(_EACH_SECOND * values.seconds))
        try:
            found = [(file, name) for file in values.files for name in functions_of(_text(file, cflags), Path(file))]
        except ScoreError as error:
            print(f"{values.name}: {error}")
            return 1
        for file, name in found[:: values.every]:
            others = [other for other in values.files if other != file]
            ours = run(name, [file, *others], cflags, values.seconds, None)
            theirs = run(name, [file, *others], cflags, values.seconds, Path(folder))
            if ours and theirs:
                pairs.append((ours, theirs))
                if values.list:
                    ends = f"{ours.stopped}, {ours.directions} directions in {ours.tests} tests"
                    print(f"  {name}: {ends}; at random {theirs.directions} in {theirs.tests}", flush=True)
    print(f"{values.name}: {_said(pairs)}", flush=True)
    return 0


def _text(file: str, cflags: list[str]) -> str:
    return own_names.set_apart(preprocess("gcc", cflags, Path(file)))


def _said(pairs: list[tuple[Reached, Reached]]) -> str:
    ended = sum(ours.stopped == "exhausted" for ours, _ in pairs)
    more = sum(ours.directions > theirs.directions for ours, theirs in pairs)
    fewer = sum(ours.directions < theirs.directions for ours, theirs in pairs)
    directions = [sum(pair[way].directions for pair in pairs) for way in (0, 1)]
    return (
        f"{len(pairs)} functions, {ended} exhausted; {directions[0]} directions, {directions[1]} at random; "
        f"more in {more}, as many in {len(pairs) - more - fewer}, fewer in {fewer}"
    )


if __name__ == "__main__":
    sys.exit(main())
