"""A board profile: YAML with all that is known of a board, read into a frozen `Board`.

Names are looked up as a path first, then in `./boards`, then among the shipped profiles, so that a project
can bring its own board or replace a shipped one. A profile may extend another: what a family has in common is
written once. What the board *is* (toolchain, memory, UART) stands apart from how it is *run*, so that the same file
serves the emulator and the desk. boards/README.md explains every key.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from score_embed import config, places, yamlfile
from score_embed.board.desk import DeskRun, read_desk
from score_embed.board.firmware import KEYS as FIRMWARE_KEYS
from score_embed.board.firmware import Firmware, read_firmware
from score_embed.board.hardware import Hardware, read_hardware
from score_embed.errors import UsageError

if TYPE_CHECKING:
    from score_embed.board import lab

_KEYS = (
    "extends",
    "name",
    "about",
    "compiler",
    "cpu",
    "cflags",
    "ldflags",
    "runtime",
    "argument-order",
    "memory",
    "clock",
    "uart",
    "timer",
    "reset",
    "setup",
    "buffers",
    "run",
    "qemu",
    "serial",
    "command",
    "emulator",
    "power",
    "safe-state",
    "packages",
    *FIRMWARE_KEYS,
)
_MOST_LAYERS = 8


class NativeRun(Struct, frozen=True):
    """The image is a process of this machine. `emulator`: the command that runs programs of another processor."""

    emulator: tuple[str, ...] = ()


class QemuRun(Struct, frozen=True):
    """The image runs in QEMU's model of a board. `link`: how its frames leave the emulator; `loader`: the option that
    takes the image; `options`: more of QEMU's."""

    command: str
    machine: str
    link: Literal["uart", "semihosting"] = "uart"
    loader: str = "-kernel"
    options: tuple[str, ...] = ()


class Board(Struct, frozen=True):
    """One board: its toolchain, its hardware, its compiler's order of evaluation of arguments, how to run an image."""

    name: str
    about: str
    path: Path
    cc: str
    cflags: tuple[str, ...]  # those that select CPU and ABI first
    ldflags: tuple[str, ...]
    runtime: str  # folder below runtime/ that holds the port
    linker_script: str | None  # file in that folder, unless the firmware has one
    argument_order: Literal["left", "right"]
    hardware: Hardware
    firmware: Firmware
    run: NativeRun | QemuRun | DeskRun
    apt: Mapping[str, str]  # tool → Debian package that brings it

    @property
    def runs_in(self) -> str:
        """In words, for people."""
        if isinstance(self.run, QemuRun):
            return self.run.command
        if isinstance(self.run, DeskRun):
            return self.run.program[0] if self.run.program else f"serial line {self.run.port}".strip()
        return self.run.emulator[0] if self.run.emulator else "this machine"

    def tools(self) -> tuple[str, ...]:
        if isinstance(self.run, NativeRun):
            return (self.cc, *self.run.emulator[:1])
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
    for path in (*sorted(Path("boards").glob("*.yaml")), *sorted(places.shipped("boards").glob("*.yaml"))):
        known.setdefault(path.stem, path)
    return known


def find_profile(name: str) -> Path:
    """The file of the board of that name, or that file itself."""
    given = Path(name)
    if given.suffix in (".yaml", ".yml") or "/" in name:
        for path in (given, Path("boards") / name, places.shipped("boards") / name):
            if path.is_file():
                return path
        raise UsageError(f"there is no board file {name!r}", "", "Give a YAML file or a board's name.")
    known = known_boards()
    if name not in known:
        raise UsageError(f"unknown board {name!r}", "", yamlfile.suggestion(name, known))
    return known[name]


def find_board(name: str, run: str | None = None, port: str | None = None) -> Board:
    """The board of that name, or described by that file, run as the profile says or in another way. On a serial line
    it is a device: that of the port (which may be a device's name), or the one of this lab that the profile fits."""
    path = find_profile(name)
    device = _device(path, run, port)
    return load_board(path, run, device.port if device and port else port, device)


def load_board(path: Path, run: str | None = None, port: str | None = None, device: lab.Device | None = None) -> Board:
    """Read a profile. `run` and `port` come before what it says, then `device`; a port means a serial line."""
    doc = read_profile(path)
    doc.check_keys(_KEYS, "key")
    if device is not None:
        doc = yamlfile.Section(doc.place, device.keys.values, device.keys.places).over(doc)
    doc = _told(doc, run, port)
    order = doc.word("argument-order", ("left", "right"))
    runtime = _runtime(doc)
    script, firmware = read_firmware(doc, runtime)
    packages = doc.section("packages") if "packages" in doc.values else None
    return Board(
        name=doc.text("name", path.stem),
        about=doc.text("about", ""),
        path=path.absolute(),
        cc=doc.text("compiler"),
        cflags=(*doc.texts("cpu"), *doc.texts("cflags")),
        ldflags=doc.texts("ldflags"),
        runtime=runtime,
        linker_script=script,
        argument_order="left" if order == "left" else "right",
        hardware=read_hardware(doc),
        firmware=firmware,
        run=_run(doc),
        apt=MappingProxyType({tool: packages.text(tool) for tool in packages.values} if packages else {}),
    )


def _device(path: Path, run: str | None, port: str | None) -> lab.Device | None:
    """Raises UsageError if a device is needed and it is not clear which."""
    doc = _told(read_profile(path), run, port)
    if doc.values.get("run") not in ("serial", "command"):
        return None
    from score_embed.board import lab  # here: only boards on the desk need it

    given = yamlfile.group(doc, "serial").text("port", "")
    if given:
        return lab.find_lab().device(given)
    if doc.values.get("run") == "command":
        return None
    return lab.find_lab().choose(path.stem)


def read_profile(path: Path) -> yamlfile.Section:
    """The keys of a profile over those of the profiles it extends, each with its place."""
    doc = yamlfile.read(path)
    for _ in range(_MOST_LAYERS):
        if "extends" not in doc.values:
            return doc
        name, where = doc.text("extends"), doc.where("extends")
        doc.file_name("extends", name)
        below = yamlfile.read(_base(name, Path(where.rpartition(":")[0]).parent, where))
        values = {key: value for key, value in doc.values.items() if key != "extends"}
        doc = yamlfile.Section(doc.place, values, doc.places).over(below)
    raise UsageError("profiles extend each other in a circle", doc.where("extends"), "Remove one `extends`.")


def _base(name: str, beside: Path, where: str) -> Path:
    for folder in (beside, Path("boards"), places.shipped("boards")):
        for path in (folder / name, folder / f"{name}.yaml"):
            if path.is_file():
                return path
    shipped = places.shipped("boards")
    known = [str(path.relative_to(shipped).with_suffix("")) for path in shipped.rglob("*.yaml")]
    raise UsageError(f"there is no profile {name!r} to extend", where, yamlfile.suggestion(name, known))


def _runtime(doc: yamlfile.Section) -> str:
    ports = sorted(p.name for p in places.shipped("runtime").iterdir() if (p / "port_arch.h").is_file())
    return doc.word("runtime", ports)


def _told(doc: yamlfile.Section, run: str | None, port: str | None) -> yamlfile.Section:
    """The profile with what the command line says over it."""
    place, said = "command line", dict[str, object]()
    if port is not None:
        said["serial"] = yamlfile.Section(place, {"port": port}, {"port": place})
        run = run or (None if doc.values.get("run") == "command" else "serial")
    if run is not None:
        said["run"] = run
    return yamlfile.Section(doc.place, said, dict.fromkeys(said, place)).over(doc)


def _run(doc: yamlfile.Section) -> NativeRun | QemuRun | DeskRun:
    run = doc.word("run", config.RUNS)
    desk = read_desk(doc, run)  # its keys are checked in any case
    if run in ("serial", "command"):
        return desk
    if run == "native":
        return NativeRun(doc.texts("emulator"))
    qemu = doc.section("qemu")
    qemu.check_keys(("command", "machine", "link", "loader", "options"), "key of `qemu`")
    link = qemu.word("link", ("uart", "semihosting"), "uart")
    fed = "feed" in doc.values  # who waits in a semihosting call cannot feed a watch-dog
    return QemuRun(
        qemu.text("command"),
        qemu.text("machine"),
        "uart" if link == "uart" or fed else "semihosting",
        qemu.text("loader", "-kernel"),
        qemu.texts("options"),
    )
