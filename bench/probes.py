"""What the probes cost: code size and run time, against the plain program and against hashing branches only.

    .venv/bin/python bench/probes.py

For a tokenizer, a packet parser and jsmn, and a program that computes without symbolic data. Size: text and read-only
data of the program's own object files for a Cortex-M3 at -Os. Time: processor time of a native run of the first inputs
of a campaign, everything elided, so that it is the program's and the probes' alone; "hash only" is the same
instrumented C with all probes but the branch hash compiled to nothing. The program without symbolic data (it has some
in memory, as most programs under test) is also run without any probes, and in an emulator. All figures are ratios
within this run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from score_embed.board.profile import Board, find_board
from score_embed.campaign.folder import start_target
from score_embed.contract.outcome import Run
from score_embed.contract.program import Source
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.harness.entry import harness_of
from score_embed.frontend.program import instrument_program
from score_embed.image import toolchain as toolchains
from score_embed.image.image import Image, build_image
from score_embed.image.toolchain import Toolchain
from score_embed.results.store import Store

ROOT = Path(__file__).resolve().parents[1]
RUNS, TESTS = 8000, 400
CONCRETE_RUNS = {"native": 1000, "mps2-an385": 40}
HASH_ONLY = """
#include "probe.h"
#define sc_assign(...) ((void)0)
#define sc_assign1(...) ((void)0)
#define sc_assign2(...) ((void)0)
#define sc_pin(...) ((void)0)
#define sc_pin1(...) ((void)0)
#define sc_cond(f, at, dir, ...) sc_branch(f, at, dir)
#define sc_cond1(f, at, dir, ...) sc_branch(f, at, dir)
#define sc_cond2(f, at, dir, ...) sc_branch(f, at, dir)
static inline __attribute__((always_inline)) sc_u32 hash_compare(sc_u32 relation, sc_uptr a, sc_uptr b)
{
    sc_uptr left = relation & 8u ? b : a, right = relation & 8u ? a : b;
    sc_u32 below = relation & 4u ? (sc_iptr)left < (sc_iptr)right : left < right;
    switch (relation & 3u) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return below;
    default: return below || a == b;
    }
}
#define hash_constant(at) (sc_table[at + 3] >> 8 & 4 ? (sc_uptr)(sc_iptr)(short)sc_table[at + 5] : sc_table[at + 5])
#define hash_test(f, at, v) sc_branch(f, at, hash_compare(sc_table[at + 3] >> 8, v, hash_constant(at)))
#define sc_test(f, at, v) hash_test(f, at, v)
#define sc_test_at(f, at, v, p) hash_test(f, at, v)
#define sc_test2(f, at, a, b) sc_branch(f, at, hash_compare(sc_table[at + 3] >> 8, a, b))
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
    others: tuple[Path, ...] = ()
    native: tuple[Path, ...] = ()
    entry: str | None = None
    instrument: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


SUBJECTS = (
    Subject("tokenizer", ROOT / "bench/tokenizer.c"),
    Subject("packet parser", ROOT / "examples/tlv.c", entry="tlv_sum"),
    Subject("jsmn", ROOT / "examples/jsmn_harness.c", instrument=("*/jsmn.h",), flags=("-idirafter", "/usr/include")),
)


MAIN, WORK = ROOT / "bench/concrete_main.c", ROOT / "bench/concrete.c"
PLAIN = Subject("plain", MAIN, native=(WORK,))
PROBED = Subject("with probes", MAIN, others=(WORK,))


def flash(objects: list[Path]) -> tuple[int, int]:
    """Bytes of text, and of read-only data."""
    total = {".text": 0, ".rodata": 0}
    for path in objects:
        listing = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            words = line.split()
            for section in total:
                if len(words) == 3 and words[0].startswith(section):
                    total[section] += int(words[1])
    return total[".text"], total[".rodata"]


def sizes(subject: Subject, folder: Path) -> tuple[tuple[int, int], tuple[int, int]]:
    """Plain and instrumented bytes of text and read-only data on a Cortex-M3."""
    board = find_board("mps2-an385")
    tools = Toolchain(board)
    model = tools.data_model(subject.flags)
    text = [Source(subject.source, preprocess(board.cc, tools.preprocessor_flags(subject.flags), subject.source))]
    if subject.entry:
        text = harness_of(text, subject.entry, model).added(text)
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
        with patch.object(Toolchain, "_quiet", lambda tools: []):  # as for a board, not for its emulator
            tools.compile_instrumented(changed, probed[-1], (), verify=False)
    return flash(plain), flash(probed)


def built(subject: Subject, board: Board, extra: tuple[str, ...] = ()) -> Image:
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(dir=os.environ["SCORE_BENCH"])  # the flags are in no build id
    with patch.object(toolchains, "INSTRUMENTED", (*toolchains.INSTRUMENTED, *extra)):
        return build_image(
            board,
            [subject.source, *subject.others],
            native=subject.native,
            entry=subject.entry,
            instrument=subject.instrument,
            cflags=subject.flags,
        )


def seconds(image: Image, board: Board, inputs: list[bytes], runs: int = RUNS) -> float:
    """Processor seconds of the target (an emulator's are its own) for each run."""
    target = start_target(board, image.elf, image.build_id)
    try:
        prefixes = [target.run(Run(0, data)).events for data in inputs]
        pid = target._process.pid  # type: ignore[attr-defined]
        before = cpu(pid)
        for number in range(runs):
            k = number % len(inputs)
            target.run(Run(number, inputs[k], prefix=prefixes[k]))
        return (cpu(pid) - before) / runs
    finally:
        target.close()


def cpu(pid: int) -> float:
    """Processor seconds of all its threads so far (schedstat counts nanoseconds)."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def inputs_of(subject: Subject, folder: Path) -> list[bytes]:
    """Every twentieth input of a short campaign."""
    out = folder / f"campaign-{subject.source.stem}"
    words = [
        sys.executable,
        "-m",
        "score_embed.cli.main",
        "run",
        "--json",
        "--no-witness",
        "--out",
        str(out),
        "--seed",
        "1",
    ]
    words += ["--max-tests", str(TESTS), *(["--entry", subject.entry] if subject.entry else [])]
    words += [part for glob in subject.instrument for part in ("--instrument", glob)]
    done = subprocess.run(
        [*words, str(subject.source), *(["--", *subject.flags] if subject.flags else [])],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr
    with Store.open(out) as record:
        return [row.input for row in record.tests()][::20]


def concrete(name: str, header: Path) -> str:
    """The program that has nothing symbolic to compute with, as multiples of itself without probes."""
    board, runs = find_board(name), CONCRETE_RUNS[name]
    plain = seconds(built(PLAIN, board), board, [bytes(8)], runs)
    full = seconds(built(PROBED, board), board, [bytes(8)], runs)
    hashed = seconds(built(PROBED, board, ("-include", str(header))), board, [bytes(8)], runs)
    return (
        f"without symbolic data, {name}: a run {full / plain:.1f} x plain, {hashed / plain:.1f} x hash only "
        f"({full * 1e3:.2f} : {hashed * 1e3:.2f} : {plain * 1e3:.2f} ms)"
    )


def main() -> None:
    board = find_board("native")
    with tempfile.TemporaryDirectory() as work:
        os.environ["SCORE_BENCH"] = work
        header = Path(work) / "hash_only.h"
        header.write_text(HASH_ONLY)
        nothing = Path(work) / "nothing.c"
        nothing.write_text('#include "score.h"\nint main(void) { char c; SYM_CHAR(c); return c; }\n')
        idle = seconds(built(Subject("nothing", nothing), board), board, [bytes(82)])
        for subject in SUBJECTS:
            plain, probed = sizes(subject, Path(work))
            inputs = inputs_of(subject, Path(work))
            full = seconds(built(subject, board), board, inputs) - idle
            hashed = seconds(built(subject, board, ("-include", str(header))), board, inputs) - idle
            print(
                f"{subject.name}: text {probed[0] / plain[0]:.1f} x plain ({probed[0]} : {plain[0]} bytes), "
                f"flash {sum(probed) / sum(plain):.1f} x ({sum(probed)} : {sum(plain)}), "
                f"a run {(idle + full) / (idle + hashed):.2f} x hash only ({full * 1e6:.1f} : {hashed * 1e6:.1f} us "
                f"beside a fixed cost of {idle * 1e6:.1f} us)"
            )
            sys.stdout.flush()
        for name in CONCRETE_RUNS:
            print(concrete(name, header))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
