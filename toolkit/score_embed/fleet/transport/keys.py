"""The fleet's keys: one pair (CURVE) for the server, one for all its clients. Who has a client's file may join.

A file is JSON and only its owner may read it. Clients share a pair, so that each can also prove itself to the others
when pairs go from hand to hand.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import zmq

from score_embed.errors import StorageError, UsageError

SERVER_FILE = "server.key"
CLIENT_FILE = "client.key"
_SIZE = 40  # characters of a key


@dataclass(frozen=True)
class Keys:
    """One end's own pair, and the other's public key."""

    role: str  # "server" or "client"
    public: str
    secret: str
    other: str


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
        plain = json.loads(path.read_text(encoding="utf-8"))
        keys = Keys(**plain)
        good = all(len(key) == _SIZE for key in (keys.public, keys.secret, keys.other))
    except OSError as error:
        raise UsageError(f"cannot read the keys: {error.strerror}", str(path), hint) from error
    except (ValueError, TypeError) as error:
        raise UsageError("these are no keys", str(path), hint) from error
    if not good:
        raise UsageError("these are no keys", str(path), hint)
    if keys.role != role:
        raise UsageError(f"these are the keys of a {keys.role}, not of a {role}", str(path), hint)
    return keys


def _write(path: Path, keys: Keys) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(keys), indent=2) + "\n")
