"""`score-embed simulate serial IMAGE`: a simulated board on a simulated serial line, for trying things without one."""

from __future__ import annotations

import argparse
from pathlib import Path

from score_embed.board.profile import find_profile, load_board
from score_embed.cli import words
from score_embed.errors import UsageError
from score_embed.image.toolchain import SHARED
from score_embed.simulate.scenario import KEYS, read_scenario
from score_embed.simulate.serial import Rig, image_of

_HELP = """Run an image behind a pseudo-terminal, whose name is printed, as a board on a serial line would, and let
go wrong what can. IMAGE is the board's flash: it may be replaced while the rig runs (`flash: [cp, "{elf}", IMAGE]` in a
profile), and a file that does not exist is a blank board. SIGUSR1 switches the power off and on."""


def add_arguments(top: argparse.ArgumentParser) -> None:
    what = top.add_subparsers(dest="what", metavar="serial", required=True)
    sub = what.add_parser("serial", help="a board on a serial line", description=_HELP, allow_abbrev=False)
    sub.add_argument("image", type=words.path, metavar="IMAGE", help="an image, or a campaign's folder")
    sub.add_argument("--board", metavar="NAME|FILE", default="native", help="the board the image is for (native)")
    sub.add_argument("--link", type=words.path, metavar="PATH", help="a symbolic link to the pseudo-terminal")
    sub.add_argument("--scenario", metavar="NAME|FILE", help="a file of the options below, or a shipped one's name")
    for key in KEYS:
        sub.add_argument(f"--{key.name}", metavar="X", help=key.help)
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    scenario = read_scenario(values.scenario, vars(values))
    path = find_profile(values.board)
    board = load_board(path, "native" if SHARED[load_board(path).runtime] == "posix" else "qemu")
    board.require_tools()
    link: Path | None = values.link
    if link is not None and link.exists() and not link.is_symlink():
        raise UsageError("this is no symbolic link", str(link), "Choose another name for --link.")
    Rig(board, image_of(values.image), link, scenario).run()
    return 0
