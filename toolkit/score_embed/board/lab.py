"""What this lab has: its boards' ports, probes and power switches, in a file that is not committed.

A profile says what a kind of board is; the lab file says which of them are on the desk, by names that survive a reboot.
It is `score-embed-lab.yaml` in the working folder, else `score-embed/lab.yaml` in the user's configuration folder. What
it says of a device comes before what the profile says, and after the command line. Devices are added to it without
touching what is there: it is the user's, with comments and all.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml
from msgspec import Struct

from score_embed import yamlfile, yamltext
from score_embed.board import desk
from score_embed.errors import StorageError, UsageError

FILE = "score-embed-lab.yaml"
_OWN_KEYS = ("board", "usb", "serial-number", "about")
_GROUPS = ("power", "safe-state")
_KEYS = (*_OWN_KEYS, *desk.SERIAL_KEYS, *_GROUPS)
_HEAD = """\
# The boards of this lab: not to be committed. `score-embed lab scan` adds what is new and changes nothing else.
# docs/hardware.md tells what else a device may say: baud, probe, flash, reset, power, safe-state.
devices:
"""
_WHICH = "  # of which profile? `score-embed boards` lists them"


class Device(Struct, frozen=True):
    """One board on the desk. `keys`: groups of a profile (`serial`, `power`, `safe-state`), as far as it differs."""

    name: str
    boards: tuple[str, ...]  # the profiles that fit it
    port: str
    usb: str  # vendor:product
    serial_number: str
    about: str
    keys: yamlfile.Section

    @property
    def place(self) -> str:
        return self.keys.place

    @property
    def present(self) -> bool:
        """It is plugged in, as far as can be known without asking it."""
        return "://" in self.port or Path(self.port).exists()


class Lab(Struct, frozen=True):
    """All devices of a lab file. `path` is None if there is no such file."""

    path: Path | None
    everything: tuple[Device, ...]

    def devices(self, board: str) -> tuple[Device, ...]:
        """Those that this profile fits, plugged in or not."""
        return tuple(device for device in self.everything if board in device.boards)

    def device(self, port: str) -> Device | None:
        """The device of that name, or at that port."""
        for device in self.everything:
            if port == device.name or same_port(port, device.port):
                return device
        return None

    def choose(self, board: str) -> Device:
        """The device of that board. Raises UsageError unless there is exactly one that is plugged in."""
        if self.path is None:
            hint = "Name it with --port, or let `score-embed lab scan` write down what is plugged in."
            raise UsageError(f"no serial port is given for the board {board!r}", "", hint)
        fitting = self.devices(board)
        if not fitting:
            hint = f"Give the device a line `board: {board}` there (`score-embed lab scan` adds new ones), or name a port with --port."
            raise UsageError(f"no device of the lab is a {board!r}", str(self.path), hint)
        present = [device for device in fitting if device.present]
        if not present:
            first = fitting[0]
            more = f" (nor is any of {len(fitting) - 1} more)" if len(fitting) > 1 else ""
            what = f"the device {first.name!r} is not plugged in{more}: there is no {first.port}"
            raise UsageError(what, first.place, "Plug it in, or see what is there with `score-embed lab`.")
        if len(present) > 1:
            names = ", ".join(device.name for device in present)
            what = f"{len(present)} devices that are plugged in are a {board!r}"
            raise UsageError(what, str(self.path), f"Name one with --port: {names}.")
        return present[0]


def lab_files() -> tuple[Path, ...]:
    """Where a lab file may be, in the order in which it is looked for."""
    configuration = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(FILE), Path(configuration) / "score-embed" / "lab.yaml"


def find_lab() -> Lab:
    """The first lab file that there is, or a lab without devices."""
    for path in lab_files():
        if path.is_file():
            return read_lab(path)
    return Lab(None, ())


def read_lab(path: Path) -> Lab:
    doc = yamlfile.read(path)
    doc.check_keys(("devices",), "key")
    devices = yamlfile.group(doc, "devices") if doc.values.get("devices") else yamlfile.Section(doc.place, {}, {})
    return Lab(path, tuple(_device(name, devices.section(name), devices.where(name)) for name in devices.values))


def same_port(one: str, other: str) -> bool:
    """Do both names lead to one port?"""
    return one == other or ("://" not in one + other and os.path.realpath(one) == os.path.realpath(other))


def _device(name: str, doc: yamlfile.Section, place: str) -> Device:
    doc.check_keys(_KEYS, f"key of the device {name!r}")
    if "/" in name:
        raise UsageError(f"{name!r} looks like a port, not like a device's name", place, "Choose a name without `/`.")
    doc.file_name("port", doc.text("port", ""))
    if not doc.text("port", ""):
        raise UsageError(f"the device {name!r} has no port", place, "Add a line `port: /dev/serial/by-id/…`.")
    groups = {key: doc.values[key] for key in _GROUPS if doc.values.get(key) is not None}
    places = {key: doc.where(key) for key in groups}
    line = {key: doc.values[key] for key in desk.SERIAL_KEYS if doc.values.get(key) is not None}
    groups["serial"] = yamlfile.Section(place, line, {key: doc.where(key) for key in line})
    return Device(
        name=name,
        boards=doc.texts("board"),
        port=doc.text("port"),
        usb=doc.text("usb", ""),
        serial_number=doc.text("serial-number", ""),
        about=doc.text("about", ""),
        keys=yamlfile.Section(place, groups, {**places, "serial": place}),
    )


class Connected(Struct, frozen=True):
    """A port that was found on this machine, by its most lasting name."""

    port: str
    usb: str = ""
    serial_number: str = ""
    about: str = ""


class Comparison(Struct, frozen=True):
    """What is plugged in against what the lab file says."""

    new: tuple[Connected, ...]
    gone: tuple[Device, ...]
    moved: tuple[tuple[Device, Connected], ...]  # the same USB device under another name


def compare(lab: Lab, connected: Iterable[Connected]) -> Comparison:
    gone = [device for device in lab.everything if not device.present]
    new, moved = [], []
    for port in connected:
        if any(same_port(port.port, device.port) for device in lab.everything):
            continue
        was = next((device for device in gone if _same_usb(device, port)), None)
        if was is None:
            new.append(port)
        else:
            gone.remove(was)
            moved.append((was, port))
    return Comparison(tuple(new), tuple(gone), tuple(moved))


def _same_usb(device: Device, port: Connected) -> bool:
    """Only a serial number tells one device from another of its kind."""
    return bool(port.serial_number) and (device.usb, device.serial_number) == (port.usb, port.serial_number)


def add_devices(path: Path, found: Sequence[Connected], board: str = "") -> list[str]:
    """Write `found` behind the devices of the file, each under a new name; returns these names."""
    old = read_lab(path) if path.exists() else Lab(None, ())
    text = yamlfile.text(path) if path.exists() else ""
    names: list[str] = []
    for connected in found:
        names.append(_name(connected, {device.name for device in old.everything}.union(names)))
    margin = _margin(text, path)
    if margin is None:
        text, margin = f"{text}\n{_HEAD}".lstrip("\n"), "  "
    if text and not text.endswith("\n"):
        text += "\n"
    for name, connected in zip(names, found, strict=True):
        text += "\n".join(margin + line for line in _lines(name, connected, board)) + "\n"
    _write(path, text)
    return names


def _margin(text: str, path: Path) -> str | None:
    """How far the names of devices are indented; None if there is no `devices` yet."""
    root = yamltext.compose(text, path)
    if root is None:
        return None
    assert isinstance(root, yaml.MappingNode)  # read_lab has seen to it
    if not root.value:
        return None
    devices = root.value[0][1]
    if isinstance(devices, yaml.ScalarNode):  # `devices:` without any
        return "  "
    if devices.flow_style:
        where = f"{path}:{devices.start_mark.line + 1}"
        raise UsageError("devices in braces cannot be added to", where, "Write each device on lines of its own.")
    return " " * int(devices.value[0][0].start_mark.column)


def _lines(name: str, connected: Connected, board: str) -> Iterable[str]:
    yield f"{name}:"
    yield f"  port: {json.dumps(connected.port)}"
    for key, value in (
        ("usb", connected.usb),
        ("serial-number", connected.serial_number),
        ("about", connected.about),
    ):
        if value:
            yield f"  {key}: {json.dumps(value)}"
    yield f"  board: {json.dumps(board)}" if board else f"  board:{_WHICH}"


def _name(connected: Connected, taken: set[str]) -> str:
    """Short, unlike the others: what it is, and the end of its serial number."""
    words = re.sub(r"[^a-z0-9]+", "-", connected.about.lower()).strip("-") or Path(connected.port).name.lower()
    tail = re.sub(r"[^a-z0-9]+", "", connected.serial_number.lower())[-4:]
    name = f"{words[:30].strip('-')}-{tail}".strip("-")
    number = 1
    while (unique := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return unique


def _write(path: Path, text: str) -> None:
    """All of it or nothing."""
    real = Path(os.path.realpath(path))
    fresh = real.with_name(f".{real.name}-{os.getpid()}")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(real)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        what = f"cannot write the lab file: {error.strerror}"
        raise StorageError(what, str(path), "Name another with --file.") from error
