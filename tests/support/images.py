"""Builds hand-written images with the command lines of docs/design/runtime.md, and gives targets for them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from score_embed.board.profile import NativeRun, QemuRun, find_board
from score_embed.device.native import NativeTarget
from score_embed.device.qemu import QemuTarget
from score_embed.device.wired import WiredTarget
from score_embed.image.toolchain import PORTS, SHARED

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "runtime"
PUBLIC = RUNTIME / "include"
SUPPORT = Path(__file__).parent
BUILD_ID = bytes(range(16))
BOARD = find_board("mps2-an385")
# pipes (the third and the fourth: of an emulator of instructions); semihosting FIFOs; a UART
LINKS = ("native", "native32", "arm-linux", "aarch64-linux", "mps2-an385", "mps2-an385-uart")
STRICT = ["-Wall", "-Wextra", "-Werror"]
RUNTIME_FLAGS = ["-std=gnu99", "-Os", "-fno-tree-loop-im", "-fno-stack-protector"]


def compile_c(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def _sources(port: str) -> list[str]:
    folders = [RUNTIME, RUNTIME / port, RUNTIME / SHARED[port]]
    return sorted(str(p) for folder in folders for pattern in ("*.c", "*.S") for p in folder.glob(pattern))


def build_linux(name: str, folder: Path, *sources: Path, flags: Sequence[str] = ()) -> Path:
    board = find_board(name)
    output = folder / f"{name}.elf"
    includes = [f"-I{folder}" for folder in (RUNTIME, RUNTIME / board.runtime, RUNTIME / "posix")]
    command = [board.cc, *board.cflags, *RUNTIME_FLAGS, *STRICT, *includes, *flags]
    command += [*PORTS[board.runtime], *_sources(board.runtime)]
    compile_c([*command, *map(str, sources), f"-Wl,-T,{RUNTIME / 'posix' / 'sections.ld'}", "-o", str(output)])
    return output


def build_arm(folder: Path, *sources: Path, flags: Sequence[str] = ()) -> Path:
    output = folder / "arm.elf"
    macros = [f"-D{name}={value}" for name, value in BOARD.hardware.macros().items()]
    script = folder / "arm.ld"
    source = str(RUNTIME / "arm" / "link.ld")
    compile_c([BOARD.cc, "-E", "-P", "-undef", "-x", "c", *macros, source, "-o", str(script)])
    command = [BOARD.cc, "-mcpu=cortex-m3", "-mthumb", *RUNTIME_FLAGS, *STRICT, "-ffreestanding", *macros]
    command += [
        f"-I{RUNTIME}",
        f"-I{RUNTIME / 'arm'}",
        f"-I{RUNTIME / 'bare'}",
        *flags,
        "-nostartfiles",
        *_sources("arm"),
        *map(str, sources),
    ]
    compile_c([*command, f"-T{script}", "-o", str(output)])
    return output


def hand_image(board: str, folder: Path, *flags: str) -> Path:
    if isinstance(find_board(board).run, NativeRun):
        return build_linux(board, folder, SUPPORT / "hand.c", SUPPORT / "hand_native.c", flags=flags)
    link = () if board.endswith("uart") else ("-DSC_SEMIHOSTING",)
    return build_arm(folder, SUPPORT / "hand.c", flags=(*link, *flags))


def target_of(board: str, elf: Path, build_id: bytes = BUILD_ID, watchdog: float = 10) -> WiredTarget:
    how = find_board(board).run
    if isinstance(how, NativeRun):
        return NativeTarget(elf, build_id, how.emulator, watchdog)
    assert isinstance(how, QemuRun)
    return QemuTarget(elf, build_id, how, watchdog)
