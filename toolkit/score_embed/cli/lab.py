"""`score-embed lab`: the boards of this lab and who works with them; `lab scan` writes down what is plugged in."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table

from score_embed.board.lab import FILE, Device, Lab, add_devices, compare, find_lab, lab_files, read_lab
from score_embed.board.profile import find_profile
from score_embed.cli import words
from score_embed.cli.console import for_lines, plain
from score_embed.device.port import BY_ID, connected_ports, holder
from score_embed.errors import printable


def add_arguments(sub: argparse.ArgumentParser) -> None:
    what = sub.add_subparsers(dest="what", metavar="[show | scan]")
    show = what.add_parser("show", help="devices of the lab file, and who works with them", allow_abbrev=False)
    scan = what.add_parser(
        "scan",
        help="add what is plugged in to the lab file",
        description="Add devices that are plugged in to the lab file. What stands there already is never changed.",
        allow_abbrev=False,
    )
    scan.add_argument("--board", metavar="NAME|FILE", default="", help="the profile that fits all new devices")
    for parser in (show, scan):
        where = "score-embed/lab.yaml in the configuration folder"
        parser.add_argument("--file", type=words.path, metavar="FILE", help=f"the lab file ({FILE}, then {where})")
        parser.add_argument("--folder", type=words.path, metavar="DIR", default=BY_ID, help=f"names of ports ({BY_ID})")
    sub.set_defaults(execute=execute, file=None, folder=BY_ID)


def execute(arguments: argparse.Namespace) -> int:
    if arguments.what == "scan":
        _scan(arguments.file or _file(), arguments.folder, arguments.board)
    else:
        _show(read_lab(arguments.file) if arguments.file else find_lab(), arguments.folder)
    return 0


def _file() -> Path:
    """The lab file that is in use, or the one to begin."""
    files = lab_files()
    return next((path for path in files if path.is_file()), files[0])


def _scan(path: Path, folder: Path, board: str) -> None:
    board = board and find_profile(board).stem
    found = compare(read_lab(path) if path.is_file() else Lab(None, ()), connected_ports(folder))
    names = add_devices(path, found.new, board) if found.new else []
    for name, port in zip(names, found.new, strict=True):
        print(printable(f"new: {name}: {port.port}" + (f" ({port.about})" if port.about else "")))
    for device, port in found.moved:
        print(f"moved: {device.name}: it is at {port.port} now; correct its `port` ({device.place})")
    for device in found.gone:
        print(f"gone: {device.name}: there is no {device.port} ({device.place})")
    if names:
        print(f"{path} is written." + ("" if board else " Say of each new device which profile fits it (`board:`)."))
    elif not (found.moved or found.gone):
        print("nothing new is plugged in")


def _show(lab: Lab, folder: Path) -> None:
    if lab.path is None:
        print(f"There is no lab file ({' or '.join(map(str, lab_files()))}). `score-embed lab scan` begins one.")
    else:
        table = Table("device", "board", "state", "port", "about", title=str(lab.path), title_justify="left")
        for device in lab.everything:
            boards = ", ".join(device.boards) or "?"
            table.add_row(*map(plain, (device.name, boards, _state(device), device.port, device.about)))
        for_lines().print(table)
    for port in compare(lab, connected_ports(folder)).new:
        print(printable(f"not in the lab file: {port.port}" + (f" ({port.about})" if port.about else "")))


def _state(device: Device) -> str:
    if not device.present:
        return "not plugged in"
    who = holder(device.port)
    return f"in use by {who}" if who else "free"
