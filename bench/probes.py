"""What the probes cost: code size and run time, against the plain program and against hashing branches only.

    .venv/bin/python bench/probes.py

For a tokenizer, a packet parser and jsmn. Size: text and read-only data of the program's own object files for a
Cortex-M3 at -Os. Time: processor time of a native run of the first inputs of a campaign, everything elided, so
that it is the program's and the probes' alone; "hash only" is the same instrumented C with all probes but the
branch hash compiled to nothing. All figures are ratios within this run.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from score_embed.board.profile import Board, find_board
from score_embed.build import toolchain as toolchains
from score_embed.build.image import Image, build_image
from score_embed.build.toolchain import Toolchain
from score_embed.frontend.harness import add_harness
from score_embed.frontend.preprocess import preprocess
from score_embed.frontend.program import Source, instrument_program
from score_embed.target.base import Run
from score_embed.workplace import start_target

ROOT = Path(__file__).resolve().parents[1]
RUNS, INPUTS = 4000, 20
HASH_ONLY = """
#include "probe.h"
#define sc_assign(...) ((void)0)
#define sc_pin(...) ((void)0)
#define sc_cond(d, m, dir, ...) sc_branch(d, dir)
#define sc_call(...) ((void)0)
#define sc_result(...) ((void)0)
#define sc_clear(...) ((void)0)
#define sc_copy(...) ((void)0)
#define sc_any 0
"""


@dataclass(frozen=True)
class Subject:
    name: str
    source: Path
    entry: str | None = None
    instrument: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


SUBJECTS = (
    Subject("tokenizer", ROOT / "bench/tokenizer.c"),
    Subject("packet parser", ROOT / "examples/tlv.c", entry="tlv_sum"),
    Subject("jsmn", ROOT / "examples/jsmn_harness.c", instrument=("*/jsmn.h",), flags=("-I/usr/include",)),
)


def flash(objects: list[Path]) -> int:
    """Bytes of text and read-only data."""
    total = 0
    for path in objects:
        listing = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            words = line.split()
            if len(words) == 3 and words[0].startswith((".text", ".rodata")):
                total += int(words[1])
    return total


def sizes(subject: Subject, folder: Path) -> tuple[int, int]:
    """Plain and instrumented bytes of flash on a Cortex-M3."""
    board = find_board("mps2-an385")
    tools = Toolchain(board)
    model = tools.data_model(subject.flags)
    text = [Source(subject.source, preprocess(board.cc, tools.preprocessor_flags(subject.flags), subject.source))]
    if subject.entry:
        text = add_harness(text, subject.entry, model)
    program = instrument_program(
        text, model, instrument=subject.instrument, argument_order=board.argument_order, verify=False
    )
    plain, probed = [], []
    for i, (source, instrumented) in enumerate(zip(text, program.texts, strict=True)):
        original, changed = folder / f"plain{i}.i", folder / f"probed{i}.c"
        original.write_text(source.text)
        changed.write_text(instrumented)
        plain.append(folder / f"plain{i}.o")
        probed.append(folder / f"probed{i}.o")
        tools.compile_plain(original, plain[-1], ())
        tools.compile_instrumented(changed, probed[-1], (), verify=False)
    return flash(plain), flash(probed)


def built(subject: Subject, board: Board, extra: tuple[str, ...] = ()) -> Image:
    kept = toolchains.SEMANTICS
    toolchains.SEMANTICS = (*kept, *extra)
    try:
        return build_image(
            board, [subject.source], entry=subject.entry, instrument=subject.instrument, cflags=subject.flags
        )
    finally:
        toolchains.SEMANTICS = kept


def seconds(image: Image, board: Board, inputs: list[bytes]) -> float:
    """Processor seconds of the target for each run."""
    target = start_target(board, image.elf, image.build_id)
    try:
        prefixes = [target.run(Run(0, data)).events for data in inputs]
        pid = target._process.pid  # type: ignore[attr-defined]
        before = cpu(pid)
        for number in range(RUNS):
            k = number % len(inputs)
            target.run(Run(number, inputs[k], prefix=prefixes[k]))
        return (cpu(pid) - before) / RUNS
    finally:
        target.close()


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    board = find_board("native")
    with tempfile.TemporaryDirectory() as work:
        header = Path(work) / "hash_only.h"
        header.write_text(HASH_ONLY)
        nothing = Path(work) / "nothing.c"
        nothing.write_text('#include "score.h"\nint main(void) { char c; SYM_CHAR(c); return c; }\n')
        idle = seconds(built(Subject("nothing", nothing), board), board, [bytes(82)])
        for subject in SUBJECTS:
            plain, probed = sizes(subject, Path(work))
            choose = random.Random(1)
            size = 82 if subject.entry is None else 64
            inputs = [bytes(choose.choice(b'{}[]:,"ab 019\\n\x00\x01\x02') for _ in range(size)) for _ in range(INPUTS)]
            full = seconds(built(subject, board), board, inputs) - idle
            hashed = seconds(built(subject, board, ("-include", str(header))), board, inputs) - idle
            print(
                f"{subject.name}: flash {probed / plain:.1f} x plain ({probed} : {plain} bytes), "
                f"run {full / max(hashed, 1e-9):.1f} x hash only ({full * 1e6:.1f} : {hashed * 1e6:.1f} us; "
                f"a run's fixed cost {idle * 1e6:.1f} us)"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
