"""What bounds cost: text, read-only data, RAM and run time of programs with and without the check `bounds`.

    .venv/bin/python bench/bounds.py [program…]

Each program is built twice, with `--check null,division` and with the default, which has `bounds`, too. Flash and RAM:
of the whole image for a small Cortex-M3 and natively, less what both have. Time: processor time of the target for the
inputs of a short campaign, everything elided, so that the host is out of it. All figures are ratios within this run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from parsers import PARSERS
from probes import ROOT, seconds

from score_embed.board.profile import Board, find_board
from score_embed.config import DEFAULT_CHECKS
from score_embed.image.image import Image, build_image
from score_embed.results.store import Store

WITHOUT = DEFAULT_CHECKS - {"bounds"}
RUNS = {"native": 4000, "mps2-an385": 400}
TESTS = 400


@dataclass(frozen=True)
class Subject:
    sources: tuple[Path, ...]
    entry: str | None = None
    instrument: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def _parser(name: str) -> Subject:
    return Subject(tuple(PARSERS[name].sources), flags=PARSERS[name].cflags)


def subjects() -> dict[str, Subject]:
    own = {
        "tokenizer": Subject((ROOT / "bench/tokenizer.c",)),
        "packet": Subject((ROOT / "bench/packet.c",)),
        "sort": Subject((ROOT / "bench/sort.c",)),
        "jsmn": Subject((ROOT / "examples/jsmn_harness.c",), None, ("*/jsmn.h",), ("-idirafter", "/usr/include")),
        "concrete": Subject((ROOT / "bench/concrete_main.c", ROOT / "bench/concrete.c")),
    }
    return own | {
        name: _parser(name) for name in ("json", "http", "inflate") if name in PARSERS and PARSERS[name].fetched
    }


def built(subject: Subject, board: Board, checks: frozenset[str]) -> Image:
    return build_image(
        board,
        list(subject.sources),
        entry=subject.entry,
        instrument=subject.instrument,
        cflags=subject.flags,
        checks=checks,
    )


def sizes(image: Image) -> tuple[int, int]:
    """Bytes of flash (text, constants, initial data) and of RAM."""
    lines = subprocess.run(["arm-none-eabi-size", image.elf], capture_output=True, text=True, check=True).stdout
    text, data, bss = map(int, lines.splitlines()[1].split()[:3])
    return text + data, data + bss


def inputs_of(subject: Subject, folder: Path) -> list[bytes]:
    """Every twentieth input of a short campaign."""
    words = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--out", str(folder), "--seed", "1"]
    words += ["--max-tests", str(TESTS), "--time", "30s", *(["--entry", subject.entry] if subject.entry else [])]
    words += [part for glob in subject.instrument for part in ("--instrument", glob)]
    words += [*map(str, subject.sources), *(["--", *subject.flags] if subject.flags else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    with Store.open(folder) as record:
        return [row.input for row in record.tests()][::20]


def main() -> None:
    chosen = sys.argv[1:] or list(subjects())
    print("| program | flash, bytes more | RAM, bytes more | a run natively | a run on mps2-an385 |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_CACHE_HOME"] = work
        for name in chosen:
            subject = subjects()[name]
            inputs = inputs_of(subject, Path(work) / f"campaign-{name}")
            row = [name]
            board = find_board("mps2-an385")
            small = {checks: sizes(built(subject, board, checks)) for checks in (WITHOUT, DEFAULT_CHECKS)}
            for i in range(2):
                more = small[DEFAULT_CHECKS][i] - small[WITHOUT][i]
                row.append(f"{more:,} = {100 * more / max(small[WITHOUT][i], 1):.0f} %")
            for where, runs in RUNS.items():
                board = find_board(where)
                images = {checks: built(subject, board, checks) for checks in (WITHOUT, DEFAULT_CHECKS)}
                best = {
                    checks: min(seconds(images[checks], board, inputs, runs) for _ in range(3)) for checks in images
                }
                row.append(
                    f"{best[DEFAULT_CHECKS] / best[WITHOUT]:.2f} × ({best[DEFAULT_CHECKS] * 1e6:.0f} : {best[WITHOUT] * 1e6:.0f} µs)"
                )
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
