"""What the short wire is worth on a real line: tests a second at 115,200 baud, with everything sent and as it is.

    .venv/bin/python bench/serial_line.py [--update] [tests] [BOARD]

The 82-byte tokenizer in a simulated rig behind a pseudo-terminal, the line limited to that rate, with the latency of a
USB adapter (1 ms) and without. *All sent*: the same encoder and the same campaign with e = 0 and whole inputs. *At
most*: if nothing but the line took time. `--update` writes the table into docs/performance.md.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from explored import explored
from page import write_table

from score_embed import config

HERE = Path(__file__).resolve().parent
BAUD = 115_200
HEAD = """| order | program's output | latency | all sent: bytes a test | tests a second | of at most | as it is: bytes a test | tests a second | of at most | ratio | at most |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    strategy: str
    latency: float = 0.0  # seconds
    output: bool = True  # the program prints a line


CASES = (Case("dfs"), Case("dfs", output=False), Case("dfs", latency=0.001), Case("exe"), Case("exe", output=False))


@dataclass(frozen=True)
class Speed:
    tests: float  # a second
    size: float  # bytes a test, both directions

    @property
    def limit(self) -> float:
        """Tests a second if nothing but the line took time."""
        return BAUD / 10 / self.size


@contextmanager
def rig(folder: Path, board: str, latency: float) -> Iterator[Path]:
    """A profile of a board at the end of the simulated line."""
    port, flash, profile = folder / "port", folder / "flash.elf", folder / "desk.yaml"
    line = f"{{port: {port}, baud: {BAUD}, flash: [cp, '{{elf}}', {flash}], boot-seconds: 1}}"
    profile.write_text(f"extends: {board}\nrun: serial\nserial: {line}\n")
    options = ["--board", board, "--link", str(port), "--baud", str(BAUD), "--latency", str(latency)]
    words = [sys.executable, "-m", "score_embed.cli.main", "simulate", "serial", str(flash), *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # the port is there
        yield profile
    finally:
        process.terminate()
        process.communicate()


def measured(settings: config.Settings, everything: bool) -> Speed:
    found = explored(settings, everything=everything)
    link, runs = found["link"], found["runs"]
    return Speed(runs / found["seconds"], (link["bytes_in"] + link["bytes_out"]) / runs)


def rows(board: str, tests: int) -> Iterator[str]:
    for case in CASES:
        with tempfile.TemporaryDirectory() as work, rig(Path(work), board, case.latency) as profile:
            settings = config.Settings(
                board=str(profile),
                sources=(HERE / "tokenizer.c",),
                cflags=() if case.output else ("-DSILENT",),
                strategy=case.strategy,
                max_tests=tests,
                seed=1,
            )
            plain, short = (measured(settings, everything) for everything in (True, False))
        output = "a line" if case.output else "none"
        cells = [f"{s.size:,.0f} | {s.tests:.1f} | {s.limit:.1f}" for s in (plain, short)]
        ratios = f"{short.tests / plain.tests:.1f} × | {plain.size / short.size:.1f} ×"
        yield f"| {case.strategy} | {output} | {1000 * case.latency:.0f} ms | {' | '.join(cells)} | {ratios} |\n"


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--update"]
    tests = int(words.pop(0)) if words and words[0].isdigit() else 400
    table = HEAD
    print(table, end="", flush=True)
    for row in rows(words[0] if words else "native", tests):
        print(row, end="", flush=True)
        table += row
    if "--update" in sys.argv:
        write_table("performance.md", "bench/serial_line.py", table)


if __name__ == "__main__":
    main()
