"""A board profile: one YAML file with all that is known of a board, read into a frozen `Board`.

Names are looked up as a path first, then in `./boards`, then among the shipped profiles, so that a project
can bring its own board or replace a shipped one. boards/README.md explains every key.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from score_embed import yamlfile
from score_embed.board import share
from score_embed.errors import UsageError

_KEYS = (
    "name",
    "compiler",
    "cflags",
    "ldflags",
    "runtime",
    "linker-script",
    "argument-order",
    "run",
    "packages",
)


@dataclass(frozen=True)
class NativeRun:
    """The image is a program of this machine."""


@dataclass(frozen=True)
class QemuRun:
    """The image runs in QEMU's model of a board. `link`: how its frames leave the emulator."""

    command: str
    machine: str
    link: Literal["uart", "semihosting"] = "uart"


@dataclass(frozen=True)
class Board:
    """One board: its toolchain, its compiler's order of evaluation of arguments, and how to run an image."""

    name: str
    path: Path
    cc: str
    cflags: tuple[str, ...]
    ldflags: tuple[str, ...]
    runtime: str  # folder below runtime/ that holds the port
    linker_script: str | None  # file in that folder
    argument_order: Literal["left", "right"]
    run: NativeRun | QemuRun
    apt: Mapping[str, str]  # tool → Debian package that brings it

    def tools(self) -> tuple[str, ...]:
        return (self.cc, self.run.command) if isinstance(self.run, QemuRun) else (self.cc,)

    def require_tools(self) -> None:
        """Say which tool is missing and how to get it, before anything has been started."""
        for tool in self.tools():
            if shutil.which(tool) is None:
                package = self.apt.get(tool)
                hint = f"Install it: apt-get install {package}" if package else "Install it or correct the profile."
                what = f"the board {self.name!r} needs the program {tool!r}, which is not installed"
                raise UsageError(what, str(self.path), hint)


def known_boards() -> dict[str, Path]:
    """The boards that can be given by name: those of `./boards`, then those shipped."""
    known: dict[str, Path] = {}
    for path in (*sorted(Path("boards").glob("*.yaml")), *sorted(share.folder("boards").glob("*.yaml"))):
        known.setdefault(path.stem, path)
    return known


def find_board(name: str) -> Board:
    """The board of that name, or described by that file."""
    given = Path(name)
    if given.suffix in (".yaml", ".yml") or "/" in name:
        for path in (given, Path("boards") / name, share.folder("boards") / name):
            if path.is_file():
                return load_board(path)
        raise UsageError(f"there is no board file {name!r}", "", "Give a YAML file or a board's name.")
    known = known_boards()
    if name not in known:
        raise UsageError(f"unknown board {name!r}", "", yamlfile.suggestion(name, known))
    return load_board(known[name])


def load_board(path: Path) -> Board:
    doc = yamlfile.read(path)
    doc.check_keys(_KEYS, "key")
    order = doc.text("argument-order")
    if order not in ("left", "right"):
        raise UsageError(f"argument-order: {order!r}", doc.where("argument-order"), "Write `left` or `right`.")
    apt: dict[str, str] = {}
    if "packages" in doc.values:
        packages = doc.section("packages")
        apt = {tool: packages.text(tool) for tool in packages.values}
    return Board(
        name=doc.text("name", path.stem),
        path=path.absolute(),
        cc=doc.text("compiler"),
        cflags=doc.texts("cflags"),
        ldflags=doc.texts("ldflags"),
        runtime=_runtime(doc),
        linker_script=doc.text("linker-script", "") or None,
        argument_order="left" if order == "left" else "right",
        run=_run(doc),
        apt=MappingProxyType(apt),
    )


def _runtime(doc: yamlfile.Section) -> str:
    name = doc.text("runtime")
    ports = sorted(p.name for p in share.folder("runtime").iterdir() if p.is_dir())
    if name not in ports:
        raise UsageError(f"unknown runtime {name!r}", doc.where("runtime"), yamlfile.suggestion(name, ports))
    return name


def _run(doc: yamlfile.Section) -> NativeRun | QemuRun:
    run = doc.section("run")
    kind = run.text("kind")
    if kind == "native":
        run.check_keys(("kind",), "key of a native run")
        return NativeRun()
    if kind == "qemu":
        run.check_keys(("kind", "command", "machine", "link"), "key of a QEMU run")
        link = run.text("link", "uart")
        if link not in ("uart", "semihosting"):
            hint = yamlfile.suggestion(link, ["uart", "semihosting"])
            raise UsageError(f"unknown link {link!r}", run.where("link"), hint)
        return QemuRun(run.text("command"), run.text("machine"), "uart" if link == "uart" else "semihosting")
    hint = yamlfile.suggestion(kind, ["native", "qemu"])
    raise UsageError(f"unknown kind of run {kind!r}", run.where("kind"), hint)
