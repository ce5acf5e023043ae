"""A campaign's folder: made, found, linked as `latest`; and the target that belongs to an image."""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
import tempfile
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from score_embed.board.desk import DeskRun
from score_embed.board.profile import Board, QemuRun
from score_embed.confine.core import own_core
from score_embed.contract.outcome import Target
from score_embed.errors import UsageError
from score_embed.image.image import Image
from score_embed.results.storage import FILE, require_files, storage_error

DEFAULT = Path("score-out")
IMAGE = "image.elf"
STUBS = "stubs.c"
_LONGEST = 100  # bytes of a program's name in that of a folder


def make_folder(wanted: Path | None, program: str) -> Path:
    """Make the folder of a new campaign and check that it can be written, before anything is built."""
    if wanted is None:
        name = program.encode()[:_LONGEST].decode(errors="ignore")
        folder = _fresh(DEFAULT, f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
    else:
        folder = wanted
        if (folder / FILE).exists():
            hint = f"Choose another folder, or continue it with --resume {folder}"
            raise UsageError("there already is a campaign in this folder", str(folder), hint)
        _make(folder)
    try:
        require_files(folder)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(4096))
    except OSError as error:
        raise storage_error(error, folder) from error
    return folder


def _fresh(parent: Path, name: str) -> Path:
    """Two campaigns may begin in the same second."""
    for number in range(1, 1000):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            _make(folder)
            return folder
    raise UsageError(f"there are a thousand folders called {name}", str(parent), "Remove old campaigns.")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            what = "this is a file, not a folder"
            raise UsageError(what, str(folder), "Choose another folder with --out DIR.") from error
        raise storage_error(error, folder) from error


def discard(folder: Path) -> None:
    """Nothing was built: leave no empty folder behind. One that holds anything stays."""
    with contextlib.suppress(OSError):
        folder.rmdir()


def furnish(folder: Path, image: Image) -> None:
    """Subfolders, a copy of the image, the link `latest`.

    Resume and replay use this very image: sources and compilers may change meanwhile.
    """
    try:
        for part in ("tests", "bugs"):
            (folder / part).mkdir(exist_ok=True)
        add_program(folder, image.elf, IMAGE)
        if folder.parent == DEFAULT:
            fresh = folder.parent / f".latest-{folder.name}"
            fresh.symlink_to(folder.name)
            fresh.replace(folder.parent / "latest")
    except OSError as error:
        raise storage_error(error, folder) from error


def add_stubs(folder: Path, image: Image) -> None:
    """The C of what stands in for functions: to be read, and to be taken over into a file of the user's."""
    if not image.stubs:
        return
    head = "/* What stood in for functions that nobody defines. A definition of yours is taken instead. */\n"
    head += '#include "score.h"\n'
    try:
        (folder / STUBS).write_text(head + image.stubs, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise storage_error(error, folder) from error


def add_program(folder: Path, built: Path, name: str, shared: bool = False) -> None:
    """Copy what was built into the campaign's folder; `shared`: without taking room, where the file system can."""
    try:
        if shared:
            with contextlib.suppress(OSError):
                (folder / name).hardlink_to(built)
                return
        shutil.copyfile(built, folder / name)
        (folder / name).chmod(0o755)
    except OSError as error:
        raise storage_error(error, folder) from error


def compiler_version(board: Board) -> str:
    """The first line of what the compiler says of itself."""
    try:
        done = subprocess.run([board.cc, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.partition("\n")[0]


def beside_target(board: Board) -> AbstractContextManager[None]:
    """While tests run: a target that is a process of this machine shares a processor with its host."""
    return nullcontext() if isinstance(board.run, DeskRun) else own_core()


def start_target(board: Board, elf: Path, build_id: bytes, confined: bool = True) -> Target:
    """Only the module of the target that is started is imported. `confined`: it may do to this machine only what it
    must."""
    if isinstance(board.run, QemuRun):
        from score_embed.device.qemu import QemuTarget

        target = QemuTarget(elf, build_id, board.run, confined=confined)
        target.guarded = not (board.firmware and board.firmware.watchdog == "none")
        return target
    if isinstance(board.run, DeskRun):
        from score_embed.device.desk import DeskTarget

        return DeskTarget(elf, build_id, board.run, board.cc, confined)
    from score_embed.device.native import NativeTarget

    return NativeTarget(elf, build_id, board.run.emulator, confined=confined)
