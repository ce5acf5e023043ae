"""What a machine needs to run campaigns, checked piece by piece: each finding says what to do.

The last check of a board is a real one: a small image is built, started, and one test is run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from score_embed.board.desk import DeskRun
from score_embed.board.profile import Board, NativeRun, QemuRun
from score_embed.campaign import folder as campaign_folder
from score_embed.confine.layers import layers, require
from score_embed.confine.rights import Rights
from score_embed.contract.outcome import Run, Verdict
from score_embed.device.desk import DeskTarget
from score_embed.device.port import connected_ports, holder, known_ports
from score_embed.errors import ScoreError, UsageError
from score_embed.formula.build import binary, byte, const
from score_embed.formula.expr import Kind
from score_embed.image.image import build_image
from score_embed.solve.chain import Nobody, solver_of
from score_embed.solve.query import Query, Result, Solver
from score_embed.solve.smt import SmtLayer

PROGRAM = '#include "score.h"\nint main(void) { int x; SYM_INT(x); if (x == 7) return 1; return 0; }\n'
SEE_MORE = "Run `score-embed run --keep` on a small program to see more."
PERMISSION = "Join the group that owns it (`sudo usermod -aG dialout $USER`), then log in again."
DEADLINE = 60  # seconds for one question to a tool


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, what was found, and, if that is a problem, what to do."""

    subject: str
    found: str
    fix: str = ""  # empty: all is well


def machine() -> Iterator[Finding]:
    """What does not depend on a board."""
    yield _solver("Z3", SmtLayer)
    if solver_of("auto") == "bitwuzla":
        yield _solver("Bitwuzla", _bitwuzla)
    yield _confinement()
    yield _serial()


def board(profile: Board, flash: bool = False) -> Iterator[Finding]:
    """A board's tools, and a round trip with an image of its own. Stops at the first problem: the rest follows from it.

    On the desk nothing is changed unless `flash` says so: the board is only greeted.
    """
    checks: tuple[Callable[[Board], Finding | None], ...] = (_compiler, _emulator, _round_trip)
    if isinstance(profile.run, DeskRun):
        checks = (_compiler, _commands, _port, _round_trip if flash else _greeting)
    for check in checks:
        finding = check(profile)
        if finding is not None:
            yield finding
            if finding.fix:
                return


def _bitwuzla() -> Solver:
    from score_embed.solve.bitwuzla import BitwuzlaLayer

    return BitwuzlaLayer(Nobody())


def _solver(name: str, make: Callable[[], Solver]) -> Finding:
    again = f"Install it again: pip install --force-reinstall {name.lower().replace('z3', 'z3-solver')}"
    query = Query(binary(Kind.EQ, binary(Kind.MUL, byte(0), byte(1)), const(143, 8)), {}, [], bytes(2))
    try:
        answer = make().solve(query)
    except ImportError as error:
        return Finding(name, f"cannot be loaded: {error}", again)
    if answer.result is Result.SAT:
        return Finding(name, "solves")
    return Finding(name, f"answers {answer.result.value} to a simple question", again)


def _confinement() -> Finding:
    """Which layers keep programs under test from this machine."""
    try:
        require(Rights())
    except UsageError as error:
        return Finding("confinement", error.what, error.hint)
    found = layers()
    missing = "".join(f"; not to be had: {layer}" for layer in found.missing)
    return Finding("confinement", f"{', '.join(found.active)}{missing}")


def _serial() -> Finding:
    ports = [port.port for port in connected_ports()]
    closed = [port for port in ports if not os.access(port, os.R_OK | os.W_OK)]
    if closed:
        return Finding("serial ports", f"no permission to use {closed[0]}", PERMISSION)
    return Finding("serial ports", ", ".join(ports) or "none is connected")


def _compiler(profile: Board) -> Finding:
    try:
        profile.require_tools()
    except UsageError as error:
        return Finding("tools", error.what, error.hint)
    return Finding("compiler", campaign_folder.compiler_version(profile))


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


def _commands(profile: Board) -> Finding | None:
    """The programs that the profile and the lab file name."""
    how = _desk(profile)
    named = {"command": how.program, "flash": how.flash, "reset": how.reset_command, "safe-state": how.safe_state}
    named |= {"power: on": how.power_on, "power: off": how.power_off}
    tools = {words[0]: key for key, words in named.items() if words}
    for tool, key in tools.items():
        if "{" not in tool and shutil.which(tool) is None:
            package = profile.apt.get(tool)
            fix = f"Install it: apt-get install {package}" if package else f"Install it, or correct `{key}`."
            return Finding("commands", f"the program {tool!r} (`{key}`) is not there", fix)
    return Finding("commands", f"{', '.join(tools)} found") if tools else None


def _port(profile: Board) -> Finding | None:
    """It is there, we may use it, and nobody else does."""
    port = _desk(profile).port
    if _desk(profile).program or "://" in port:
        return None
    if not os.path.exists(port):
        return Finding("port", f"there is no {port}", f"Plug it in, or give another with --port. {known_ports()}")
    if not os.access(port, os.R_OK | os.W_OK):
        return Finding("port", f"no permission to use {port}", PERMISSION)
    who = holder(port)
    if who:
        return Finding("port", f"{port} is in use by {who}", "Wait for its end, or stop it.")
    return Finding("port", f"{port} is free")


def _greeting(profile: Board) -> Finding:
    """HELLO, and what the board says to it."""
    how = _desk(profile)
    try:
        with closing(DeskTarget(Path(), bytes(16), how, profile.cc)) as target:
            return Finding("board", f"it answers; {target.greet()}")
    except ScoreError as error:
        flash = "`score-embed run` flashes a board that does not answer; --flash does so now." if how.flash else ""
        return Finding("board", error.what, f"{error.hint} {flash}".strip() or SEE_MORE)


def _desk(profile: Board) -> DeskRun:
    assert isinstance(profile.run, DeskRun)
    return profile.run


def _round_trip(profile: Board) -> Finding:
    if profile.firmware.script is not None:
        return Finding("round trip", "not tried: it would need the firmware's sources; `score-embed run` has them")
    try:
        with tempfile.TemporaryDirectory() as work:
            return _answer(profile, Path(work))
    except ScoreError as error:
        return Finding("round trip", error.what, error.hint or SEE_MORE)


def _answer(profile: Board, folder: Path) -> Finding:
    source = folder / "doctor.c"
    source.write_text(PROGRAM, encoding="ascii")
    image = build_image(profile, [source])
    with closing(campaign_folder.start_target(profile, image.elf, image.build_id)) as target:
        free = target.info.free_ram
        done = target.run(Run(1, (7).to_bytes(4, "little")))
    if (done.verdict, done.code) != (Verdict.RETURN, 1):
        return Finding(
            "round trip", f"a test that should return 1 ended with {done.verdict.value} {done.code}", SEE_MORE
        )
    return Finding("round trip", f"an image was built, started and answered; {free} bytes of RAM are free")
