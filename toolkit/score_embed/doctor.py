"""What a machine needs to run campaigns, checked piece by piece: each finding says what to do.

The last check of a board is a real one: a small image is built, started, and one test is run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from score_embed import workplace
from score_embed.board.profile import Board, NativeRun, QemuRun
from score_embed.build.image import build_image
from score_embed.errors import ScoreError, UsageError
from score_embed.solve.build import binary, byte, const
from score_embed.solve.expr import Kind
from score_embed.solve.query import Query, Result
from score_embed.solve.smt import SmtLayer
from score_embed.target.base import Run, Verdict

PROGRAM = '#include "score.h"\nint main(void) { int x; SYM_INT(x); if (x == 7) return 1; return 0; }\n'
SEE_MORE = "Run `score-embed run --keep` on a small program to see more."
DEADLINE = 60  # seconds for one question to a tool


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, what was found, and, if that is a problem, what to do."""

    subject: str
    found: str
    fix: str = ""  # empty: all is well


def machine() -> Iterator[Finding]:
    """What does not depend on a board."""
    yield _solver()
    yield _serial()


def board(profile: Board) -> Iterator[Finding]:
    """A board's tools, and a round trip with an image of its own. Stops at the first problem: the rest follows from it."""
    for check in (_compiler, _emulator, _round_trip):
        finding = check(profile)
        if finding is not None:
            yield finding
            if finding.fix:
                return


def _solver() -> Finding:
    query = Query(binary(Kind.EQ, binary(Kind.MUL, byte(0), byte(1)), const(143, 8)), {}, [], bytes(2))
    answer = SmtLayer().solve(query)
    if answer.result is Result.SAT:
        return Finding("Z3", "solves")
    return Finding("Z3", f"answers {answer.result.value} to a simple question", "Install z3-solver again.")


def _serial() -> Finding:
    ports = sorted(str(port) for port in Path("/dev/serial/by-id").glob("*"))
    closed = [port for port in ports if not os.access(port, os.R_OK | os.W_OK)]
    if closed:
        fix = "Join the group that owns it (`sudo usermod -aG dialout $USER`), then log in again."
        return Finding("serial ports", f"no permission to use {closed[0]}", fix)
    return Finding("serial ports", ", ".join(ports) or "none is connected")


def _compiler(profile: Board) -> Finding:
    try:
        profile.require_tools()
    except UsageError as error:
        return Finding("tools", error.what, error.hint)
    return Finding("compiler", workplace.compiler_version(profile))


def _emulator(profile: Board) -> Finding | None:
    run = profile.run
    if isinstance(run, NativeRun) and run.emulator:
        return _process_emulator(run.emulator[0])
    if not isinstance(run, QemuRun):
        return None
    try:
        done = subprocess.run(
            [run.command, "-M", "help"], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("emulator", f"{run.command} does not run: {error}", "Install it again.")
    machines = {line.split()[0] for line in done.stdout.splitlines()[1:] if line.strip()}
    if run.machine not in machines:
        fix = f"Correct `qemu: machine` in {profile.path}, or install a newer QEMU."
        return Finding("emulator", f"{run.command} knows no machine {run.machine!r}", fix)
    return Finding("emulator", f"{run.command} has {run.machine}")


def _process_emulator(command: str) -> Finding:
    try:
        done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=DEADLINE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("emulator", f"{command} does not run: {error}", "Install it again.")
    return Finding("emulator", done.stdout.partition("\n")[0] or command)


def _round_trip(profile: Board) -> Finding:
    try:
        with tempfile.TemporaryDirectory() as work:
            return _answer(profile, Path(work))
    except ScoreError as error:
        return Finding("round trip", error.what, error.hint or SEE_MORE)


def _answer(profile: Board, folder: Path) -> Finding:
    source = folder / "doctor.c"
    source.write_text(PROGRAM, encoding="ascii")
    image = build_image(profile, [source])
    with closing(workplace.start_target(profile, image.elf, image.build_id)) as target:
        free = target.info.free_ram
        done = target.run(Run(1, (7).to_bytes(4, "little")))
    if (done.verdict, done.code) != (Verdict.RETURN, 1):
        return Finding(
            "round trip", f"a test that should return 1 ended with {done.verdict.value} {done.code}", SEE_MORE
        )
    return Finding("round trip", f"an image was built, started and answered; {free} bytes of RAM are free")
