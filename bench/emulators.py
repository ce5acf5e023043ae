"""Processor time of the emulator for a test: the program with its probes, the restore and the channel, without the
host.

    .venv/bin/python bench/emulators.py [BOARD…]

The 82-byte tokenizer (20 bytes where memory is short): *long*, an input of tokens to its last byte, and *short*, whose
first byte ends it. All events are known to the host. The least of twelve portions of tests, for on a shared machine
times come long. To compare two versions, run both in turn.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from probes import cpu

from score_embed.board.profile import Board, QemuRun, known_boards, load_board
from score_embed.campaign.folder import start_target
from score_embed.contract.outcome import Run
from score_embed.image.image import build_image

HERE = Path(__file__).resolve().parent
PORTIONS, TESTS = 12, 250
SMALL = 4096  # bytes of RAM: less gets a smaller input


def least(board: Board) -> tuple[float, float]:
    """Microseconds of a long and of a short test."""
    size = 20 if board.hardware.ram is not None and board.hardware.ram.size <= SMALL else 82
    image = build_image(board, [HERE / "tokenizer.c"], cflags=[f"-DSIZE={size}"])
    found = []
    with closing(start_target(board, image.elf, image.build_id)) as target:
        for data in ((b'ab 0x12+"foo" ' * 6)[:size], bytes(size)):
            known = target.run(Run(0, data)).events
            pid = target._process.pid  # type: ignore[attr-defined]
            took = []
            for _ in range(PORTIONS):
                before = cpu(pid)
                for number in range(TESTS):
                    target.run(Run(number, data, prefix=known))
                took.append((cpu(pid) - before) / TESTS * 1e6)
            found.append(min(took))
    return found[0], found[1]


def main() -> None:
    for name, path in sorted(known_boards().items()):
        board = load_board(path)
        if isinstance(board.run, QemuRun) and (not sys.argv[1:] or name in sys.argv[1:]):
            long, short = least(board)
            print(f"{name}: {long:.0f} us a long test, {short:.0f} us a short one", flush=True)


if __name__ == "__main__":
    main()
