"""Addresses of the fleet: `ipc://FILE` on this machine, `tcp://HOST:PORT` beyond. Beyond loopback only with keys."""

from __future__ import annotations

import ipaddress
import re

from score_embed.errors import UsageError

MOST_PATH = 107  # bytes of a Unix socket's name
_TCP = re.compile(r"tcp://(\[[0-9a-fA-F:]+\]|[^:/\[\]]+):(\d{1,5}|\*)")
_HINT = "Write tcp://HOST:PORT, or ipc://FILE for processes of this machine."


def check(address: str, with_keys: bool) -> str:
    """The address itself. Raises UsageError if it is none, or leads beyond this machine without keys."""
    if address.startswith("ipc://"):
        path = address.removeprefix("ipc://")
        if not path.startswith("/"):
            raise UsageError("the path of an ipc:// address begins with /", address, _HINT)
        if len(path.encode()) > MOST_PATH:
            raise UsageError(f"a socket's path has at most {MOST_PATH} bytes", address, "Choose a shorter one.")
        return address
    found = _TCP.fullmatch(address)
    if found is None:
        raise UsageError("this is no address", address, _HINT)
    if found[2] != "*" and not 0 < int(found[2]) < 65536:
        raise UsageError(f"{found[2]} is no port", address, "It is a number from 1 to 65535.")
    if not with_keys and not is_loopback(found[1]):
        what = "this address can be reached from other machines, and there are no keys"
        raise UsageError(what, address, "Make keys with `score-embed keys DIR` and give both ends theirs with --keys.")
    return address


def is_loopback(host: str) -> bool:
    """Nobody but this machine reaches it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
