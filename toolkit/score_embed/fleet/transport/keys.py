"""The fleet's keys: one pair (CURVE) for the server, one for all its clients. Who has a client's file may join.

A file is JSON and only its owner may read it. Clients share a pair, so that each can also prove itself to the others
when pairs go directly from one to another.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import msgspec
import zmq
from msgspec import Meta, Struct

from score_embed import userfile
from score_embed.errors import StorageError, UsageError

SERVER_FILE = "server.key"
CLIENT_FILE = "client.key"
_MOST = 4096  # bytes of a file
Key = Annotated[str, Meta(min_length=40, max_length=40)]


class Keys(Struct, frozen=True, forbid_unknown_fields=True):
    """One end's own pair, and the other's public key."""

    role: str  # "server" or "client"
    public: Key
    secret: Key
    other: Key


def make(folder: Path) -> tuple[Path, Path]:
    """Write new keys for a server and its clients. Nothing is overwritten."""
    server, client = folder / SERVER_FILE, folder / CLIENT_FILE
    for path in (server, client):
        if path.exists():
            raise UsageError("there already are keys", str(path), "Choose another folder, or remove them.")
    (server_public, server_secret), (client_public, client_secret) = (
        tuple(key.decode() for key in zmq.curve_keypair()) for _ in range(2)
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(server, Keys("server", server_public, server_secret, client_public))
        _write(client, Keys("client", client_public, client_secret, server_public))
    except OSError as error:
        raise StorageError(f"cannot write the keys: {error.strerror}", str(folder), "Choose another folder.") from error
    return server, client


def read(path: Path, role: str) -> Keys:
    """The keys of a file. Raises UsageError if these are none, or not those of that role."""
    hint = f"`score-embed keys DIR` makes {SERVER_FILE} for the server and {CLIENT_FILE} for its clients."
    try:
        keys = msgspec.json.decode(userfile.read(path, "the keys", _MOST, hint), type=Keys)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError("these are no keys", str(path), hint) from error
    if keys.role != role:
        raise UsageError(f"these are the keys of a {keys.role}, not of a {role}", str(path), hint)
    return keys


def _write(path: Path, keys: Keys) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(keys), indent=2) + b"\n")
