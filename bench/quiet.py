"""What probes cost where nothing is symbolic: a run with them as a multiple of the plain program's.

    .venv/bin/python bench/quiet.py [--update] [BOARD…]

CRC-32, an insertion sort, SHA-256 and a product of large numbers, each on data that is symbolic and on data that is
not, so that no probe can be left out. With `--check none`, and with the default checks. Processor time of the target
(an emulator's are its own), less that of the same program that does the work no time; the least of several portions,
for on a shared machine times come long. `--update` writes the table into docs/performance.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from page import write_table
from probes import cpu

from score_embed.board.profile import Board, find_board
from score_embed.campaign.folder import start_target
from score_embed.config import DEFAULT_CHECKS
from score_embed.contract.outcome import Run
from score_embed.image.image import Image, build_image

FOLDER = Path(__file__).resolve().parent / "quiet"
MAIN = FOLDER / "main.c"
NAMES = ("crc32", "insertion_sort", "sha256", "product")
PORTIONS = 6
RUNS = {"native": 60, "mps2-an385": 6}
TIMES = {"native": 16, "mps2-an385": 8}
HEAD = """| program | board | plain | `--check none` | default checks |
|---|---|---:|---:|---:|
"""


def built(board: Board, name: str, times: int, checks: frozenset[str] | None) -> Image:
    """With probes under these checks; None: without any but main's."""
    work, flags = FOLDER / f"{name}.c", [f"-DTIMES={times}"]
    if checks is None:
        return build_image(board, [MAIN], native=[work], cflags=flags, checks=frozenset())
    return build_image(board, [MAIN, work], cflags=flags, checks=checks)


def seconds(board: Board, images: Sequence[Image], runs: int) -> list[float]:
    """Of one run of each image, in turn."""
    least = [float("inf")] * len(images)
    for _ in range(PORTIONS):
        for place, image in enumerate(images):
            with closing(start_target(board, image.elf, image.build_id)) as target:
                known = target.run(Run(0, bytes(16))).events
                pid: int = target._process.pid  # type: ignore[attr-defined]
                before = cpu(pid)
                for number in range(runs):
                    target.run(Run(number, bytes(16), prefix=known))
                least[place] = min(least[place], (cpu(pid) - before) / runs)
    return least


def row(name: str, board_name: str) -> str:
    board, times = find_board(board_name), TIMES[board_name]
    kinds = (None, frozenset[str](), DEFAULT_CHECKS)
    images = [built(board, name, count, kind) for kind in kinds for count in (times, 0)]
    took = seconds(board, images, RUNS[board_name])
    plain, none, checked = (took[2 * i] - took[2 * i + 1] for i in range(3))
    return f"| {name} | {board_name} | {plain * 1e6:.0f} µs | {none / plain:.1f} × | {checked / plain:.1f} × |\n"


def main() -> None:
    update, boards = "--update" in sys.argv, [word for word in sys.argv[1:] if not word.startswith("-")] or list(RUNS)
    rows = []
    for board in boards:
        for name in NAMES:
            rows.append(row(name, board))
            print(rows[-1], end="", flush=True)
    if update:
        write_table("performance.md", "bench/quiet.py", HEAD + "".join(rows))


if __name__ == "__main__":
    main()
