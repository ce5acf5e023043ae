"""Every shipped board in one table: paths a second, bytes a test, and what a test costs against the bare round trip.

    .venv/bin/python bench/boards.py [--update] [seconds] [BOARD…]

The tokenizer of 20 bytes (8 where memory is short) through the command line's defaults, depth first. *Round trip*: a
HELLO and its READY, over the same channel: 8 bytes out, 50 in. *Test*: the same input over and over, whose events the
host knows: what is left is the channel, the restore and the instrumented program. Medians. `--update` writes the table
into docs/performance.md. A board whose emulator is missing is left out and named.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from explored import explored
from msgspec.structs import replace
from page import write_table

from score_embed import config
from score_embed.board.desk import DeskRun
from score_embed.board.profile import Board, known_boards, load_board
from score_embed.campaign import folder as campaign_folder
from score_embed.device.wired import WiredTarget
from score_embed.errors import ScoreError
from score_embed.image.image import build_image
from score_embed.link.session import Session
from score_embed.link.transport import Line

HERE = Path(__file__).resolve().parent
SMALL = 4096  # bytes of RAM: less gets a smaller input
TESTS = 200  # for bytes a test
TRIPS = 300
HEAD = """| board | input | paths a second | bytes a test: to the host, to the board | with everything sent | round trip, ms | test, ms |
|---|---|---|---|---|---|---|
"""


def input_size(board: Board) -> int:
    ram = board.hardware.ram
    return 8 if ram is not None and ram.size <= SMALL else 20


def bytes_a_test(settings: config.Settings, everything: bool) -> str:
    found = explored(replace(settings, max_tests=TESTS), everything=everything)
    link, runs = found["link"], found["runs"]
    assert isinstance(link, dict)
    assert isinstance(runs, int)
    return f"{link['bytes_in'] / runs:.0f}, {link['bytes_out'] / runs:.0f}"


def exchange(line: Line, own: Session, out: bytes, done: Callable[[], bool]) -> float:
    """Seconds until `done`."""
    begun = time.perf_counter()
    deadline = time.monotonic() + 20
    line.send(out, deadline)
    while not done():
        if time.monotonic() > deadline:
            raise SystemExit("the board does not answer")
        again = own.receive(line.receive(deadline))
        if again:
            line.send(again, deadline)
    return time.perf_counter() - begun


def channel_and_test(board: Board, size: int) -> tuple[float, float]:
    """Median milliseconds of a bare round trip, and of a test."""
    image = build_image(board, [HERE / "tokenizer.c"], cflags=[f"-DSIZE={size}"])
    with closing(campaign_folder.start_target(board, image.elf, image.build_id)) as target:
        assert isinstance(target, WiredTarget)
        line = target.raw()
        own = Session(image.build_id)
        trips = [exchange(line, own, own.hello(), lambda: own.ready is not None) for _ in range(TRIPS)]
        events = b""
        tests = []
        for _ in range(TRIPS):
            out = own.start(b'a = 0x1f + "s" # c\n\n\n'[:size], prefix=events)
            tests.append(exchange(line, own, out, lambda: own.result is not None))
            assert own.result is not None
            events = own.result.events
        line.close()
    return 1e3 * statistics.median(trips), 1e3 * statistics.median(tests)


def rows(names: list[str], seconds: float) -> Iterator[str]:
    for name, path in sorted(known_boards().items()):
        board = load_board(path)
        if (names and name not in names) or isinstance(board.run, DeskRun):
            continue
        try:
            board.require_tools()
        except ScoreError as error:
            print(f"{name} is left out: {error.what}", file=sys.stderr)
            continue
        size = input_size(board)
        settings = config.Settings(
            board=name, sources=(HERE / "tokenizer.c",), cflags=(f"-DSIZE={size}",), seed=1, max_tests=None
        )
        found = explored(replace(settings, time=seconds))
        speed = f"{float(str(found['paths'])) / float(str(found['seconds'])):,.0f}"
        sent = (bytes_a_test(settings, everything) for everything in (False, True))
        trip, test = channel_and_test(board, size)
        cells = (f"`{name}`", str(size), speed, *sent, f"{trip:.2f}", f"{test:.2f}")
        yield f"| {' | '.join(cells)} |\n"


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--update"]
    seconds = float(words.pop(0)) if words and words[0].isdigit() else 5.0
    table = HEAD
    print(table, end="", flush=True)
    for row in rows(words, seconds):
        print(row, end="", flush=True)
        table += row
    if "--update" in sys.argv:
        write_table("performance.md", "bench/boards.py", table)


if __name__ == "__main__":
    main()
