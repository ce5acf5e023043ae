"""The serial ports of this machine, by names that stay the same after a reboot and at another socket."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from score_embed.board.lab import Connected

BY_ID = Path("/dev/serial/by-id")
_LINK = re.compile(r"(?:usb|pci)-(?P<what>.+?)-if[0-9a-f]{2}(?:-port[0-9]+)?")


def connected_ports(folder: Path = BY_ID) -> list[Connected]:
    """What is plugged in: all that `folder` has a name for, then USB ports that share a name with another (cheap ones
    have no serial number), by the socket they are plugged into."""
    facts = {os.path.realpath(info.device): info for info in list_ports.comports()}
    found = {os.path.realpath(link): _described(link, facts) for link in sorted(folder.glob("*"))}
    sockets = {os.path.realpath(link): link for link in sorted((folder.parent / "by-path").glob("*"))}
    for device, info in sorted(facts.items()):
        if device not in found and info.vid is not None:
            found[device] = _described(sockets.get(device, Path(device)), facts)
    return list(found.values())


def known_ports() -> str:
    """A sentence for a hint."""
    names = [port.port for port in connected_ports()] or sorted(port.device for port in list_ports.comports())
    return f"Ports found: {', '.join(names)}." if names else "No serial port was found on this machine."


def _described(link: Path, facts: Mapping[str, ListPortInfo]) -> Connected:
    info = facts.get(os.path.realpath(link))
    if info is None or info.vid is None:
        what, number = _from_name(link.name)
        return Connected(str(link), "", number, what)
    about = " ".join(_words(info))
    return Connected(str(link), f"{info.vid:04x}:{info.pid or 0:04x}", info.serial_number or "", about)


def _words(info: ListPortInfo) -> Iterator[str]:
    maker, product = info.manufacturer or "", info.product or ""
    if maker and not product.startswith(maker):
        yield maker
    yield product or info.name
    if info.interface and info.interface != product:
        yield info.interface


def _from_name(name: str) -> tuple[str, str]:
    """What udev wrote into a name: usb-MAKER_PRODUCT_NUMBER-if00."""
    found = _LINK.fullmatch(name)
    words = found["what"].split("_") if found else []
    return (" ".join(words[:-1]), words[-1]) if len(words) > 2 else (" ".join(words) or name, "")
