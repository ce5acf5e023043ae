"""The plain program as the judge: which basic blocks it runs and what it prints, for many inputs at once.

It is compiled with -O0 -fsanitize-coverage=trace-pc from the same source text as the instrumented image, linked
with plain_driver.c and never sees the front-end, the probes or the runtime.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from score_embed.board.profile import NativeRun, find_board

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime"
ENDINGS = ("return", "exit", "assumption", "assertion", "abort")
# The flags that instrumented builds use as well, so that both programs mean the same.
MEANING = ("-fwrapv", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-ffp-contract=off")
_RECORD = struct.Struct("<QIII")


@dataclass(frozen=True)
class Judge:
    """The compiler of the plain program, and what runs it here."""

    cc: str
    flags: tuple[str, ...]
    emulator: tuple[str, ...]


def judge_of(board: str) -> Judge:
    """A board's own compiler where the program can run on Linux; else one that makes 32-bit code for this machine."""
    profile = find_board(board)
    if isinstance(profile.run, NativeRun):
        static = () if board == "native" else ("-static",)
        return Judge(profile.cc, (*profile.cflags, *static), profile.run.emulator)
    assert "arm-none-eabi" in profile.cc, "a board of another data model needs another judge"
    return Judge("i686-linux-gnu-gcc", ("-static", "-msse2", "-mfpmath=sse", "-funsigned-char"), ())


@dataclass(frozen=True, slots=True)
class PlainRun:
    blocks: int  # hash of the sequence of basic blocks
    ending: str
    code: int
    output: bytes


def run(*command: str | Path, data: bytes = b"", timeout: float = 300) -> bytes:
    done = subprocess.run([str(c) for c in command], input=data, capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr.decode(errors='replace')[:3000]}"
    return done.stdout


def build_plain(
    sources: Sequence[Path], folder: Path, flags: Sequence[str] = (), *, blocks: bool = True, board: str = "native"
) -> list[str]:
    """Compile `sources` for plain_driver.c, in the board's data model; returns the command that runs the program."""
    judge = judge_of(board)
    coverage = ["-fsanitize-coverage=trace-pc"] if blocks else []
    objects: list[Path] = []
    for source in sources:
        compiled = folder / f"plain-{source.stem}.o"
        run(
            *(judge.cc, *judge.flags, "-g", "-O0", "-w", "-fno-pie", *coverage, "-DSCORE_EMBED=1"),
            *(
                *MEANING,
                f"-I{RUNTIME / 'include'}",
                "-Dmain=plain_main",
                *flags,
                "-c",
                str(source),
                "-o",
                str(compiled),
            ),
        )
        run(
            *(judge.cc.removesuffix("gcc") + "objcopy", "--rename-section", ".data=put_data,alloc,load,data,contents"),
            *("--rename-section", ".bss=put_bss,alloc", compiled),
        )
        objects.append(compiled)
    program = folder / "plain"
    wraps = [f"-Wl,--wrap={name}" for name in ("exit", "abort", "__assert_fail")]
    driver = Path(__file__).with_name("plain_driver.c")
    run(judge.cc, *judge.flags, "-O1", "-w", "-no-pie", "-fno-pie", driver, *objects, *wraps, "-o", program, "-lm")
    return [*judge.emulator, str(program)]


def run_plain(program: Sequence[str], inputs: Iterable[bytes], size: int) -> list[PlainRun]:
    data = b"".join(inputs)
    out = run(*program, str(size), data=data)
    runs: list[PlainRun] = []
    known: dict[PlainRun, PlainRun] = {}
    at = 0
    while at < len(out):
        blocks, ending, code, length = _RECORD.unpack_from(out, at)
        at += _RECORD.size
        found = PlainRun(blocks, ENDINGS[ending], code, out[at : at + length])
        runs.append(known.setdefault(found, found))
        at += length
    assert len(runs) * size == len(data), "the plain program died"
    return runs


def all_inputs(size: int) -> list[bytes]:
    return [value.to_bytes(size, "little") for value in range(256**size)]
