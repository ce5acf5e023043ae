"""Adds devices to a lab file without touching what is there: it is the user's, with comments and all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from score_embed import yamlfile
from score_embed.board.lab import Connected, Lab, read_lab
from score_embed.errors import StorageError, UsageError

_HEAD = """\
# The boards of this lab: not to be committed. `score-embed lab scan` adds what is new and changes nothing else.
# docs/hardware.md tells what else a device may say: baud, probe, flash, reset, power, safe-state.
devices:
"""
_WHICH = "  # of which profile? `score-embed boards` lists them"


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
    root = yamlfile.compose(text, path)
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
