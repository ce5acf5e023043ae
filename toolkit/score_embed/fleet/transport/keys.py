"""The fleet's keys (CURVE): one pair for the server, one for each client, one for who may give orders.

Each is a file that only its owner may read; one that others can read is refused. The server's file also lists who may
come: names and public keys. It is read again when it has changed, so that clients can be added and taken off the list
while the server runs. A client's file has the server's public key, by which the client knows its server.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
import zmq
from msgspec import Meta, Struct

from score_embed import userfile
from score_embed.errors import StorageError, UsageError
from score_embed.fleet.origin import Origin, Standing

SERVER_FILE = "server.key"
ORDERS = "orders"  # the name of the key for orders
CLIENT = "client"  # … and of a client's, if nobody named one
MOST_KEYS = 4096
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_MOST_BYTES = 1 << 20  # of a file

Key = Annotated[str, Meta(min_length=40, max_length=40)]
Name = Annotated[str, Meta(min_length=1, max_length=32)]


class ServerKeys(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role", tag="server"):
    """The server's own pair, and the public keys of those who may come."""

    public: Key
    secret: Key
    orders: Key
    clients: dict[Name, Key]

    def origin(self, public: str, host: str) -> Origin | None:
        """Whose key this is; None: nobody's who may come."""
        if public == self.orders:
            return Origin(Standing.ORDERS, ORDERS, public, host)
        name = next((name for name, key in self.clients.items() if key == public), None)
        return None if name is None else Origin(Standing.KEY, name, public, host)


class OwnKeys(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role", tag="client"):
    """A client's pair, or that of who gives orders; and the server's public key."""

    name: Name
    public: Key
    secret: Key
    server: Key


class KeyRing:
    """The server's keys as its file has them now."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError if these are none, or others can read them."""
        self._path = path
        self._seen = _version(path)
        self.keys = read_server(path)

    def origin(self, public: str, host: str) -> Origin | None:
        """Whose key this is; None: nobody's who may come."""
        seen = _version(self._path)
        if seen != self._seen:
            with suppress(UsageError):  # while it is being written, or by mistake: as it was
                self.keys = read_server(self._path)
                self._seen = seen
        return self.keys.origin(public, host)


def make(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write keys for a server, for orders, and for clients of these names; or add clients to a server's keys that are
    there. Nothing is overwritten. Returns the files. Raises UsageError, or StorageError."""
    server = folder / SERVER_FILE
    is_new = not server.exists()
    wanted = list(dict.fromkeys(names)) or ([CLIENT] if is_new else [])
    if not wanted:
        raise UsageError(
            "there already are keys", str(server), "Name the clients that are to get one: `keys DIR NAME`."
        )
    for name in wanted:
        _check_name(name)
    for name in (*wanted, *([ORDERS] if is_new else [])):
        if file_of(folder, name).exists():
            raise UsageError("there already is a key of this name", str(file_of(folder, name)), "Choose another name.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return ([server, _write_first(folder)] if is_new else []) + [add(folder, name) for name in wanted]
    except OSError as error:
        raise StorageError(f"cannot write the keys: {error.strerror}", str(folder), "Choose another folder.") from error


def add(folder: Path, name: str) -> Path:
    """A key of its own for one more client; returns its file. Raises OSError."""
    known = read_server(folder / SERVER_FILE)
    if len(known.clients) >= MOST_KEYS:
        raise UsageError(f"there are {MOST_KEYS} keys already", str(folder), "Take some off the list: `keys --revoke`.")
    public, secret = _pair()
    path = file_of(folder, name)
    _write(path, OwnKeys(name, public, secret, known.public))
    _replace(folder / SERVER_FILE, msgspec.structs.replace(known, clients={**known.clients, name: public}))
    return path


def revoke(folder: Path, name: str) -> None:
    """Take a client off the server's list: its key opens no door from now on. Raises UsageError if it is not on it."""
    server = folder / SERVER_FILE
    known = read_server(server)
    if name not in known.clients:
        raise UsageError(f"no client is called {name!r}", str(server), f"There are: {', '.join(known.clients)}.")
    try:
        _replace(server, msgspec.structs.replace(known, clients={k: v for k, v in known.clients.items() if k != name}))
    except OSError as error:
        raise StorageError(f"cannot write the keys: {error.strerror}", str(server), "Free some space.") from error


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.key"


def read_server(path: Path) -> ServerKeys:
    """Raises UsageError if these are no keys of a server, or others can read them."""
    keys = _read(path)
    if isinstance(keys, OwnKeys):
        raise UsageError(f"this is the key {keys.name!r}, not a server's", str(path), f"Give the {SERVER_FILE}.")
    return keys


def read(path: Path, orders: bool = False) -> OwnKeys:
    """The key of a client, or the one for orders. Raises UsageError if it is not that, or others can read it."""
    keys = _read(path)
    wanted = f"the key for orders ({ORDERS}.key)" if orders else "a client's key"
    hint = f"`score-embed keys DIR NAME` makes {SERVER_FILE}, {ORDERS}.key, and NAME.key for a client."
    if isinstance(keys, ServerKeys):
        raise UsageError(f"these are a server's keys, not {wanted}", str(path), hint)
    if (keys.name == ORDERS) is not orders:
        raise UsageError(f"this is the key {keys.name!r}, not {wanted}", str(path), hint)
    return keys


def _read(path: Path) -> ServerKeys | OwnKeys:
    hint = f"`score-embed keys DIR NAME` makes {SERVER_FILE} for the server and NAME.key for a client."
    try:
        data = userfile.read(path, "the keys", _MOST_BYTES, hint)
        _check_mode(path.stat(), path)
        return msgspec.json.decode(data, type=ServerKeys | OwnKeys)
    except OSError as error:
        raise UsageError(f"cannot read the keys: {error.strerror}", str(path), hint) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError("these are no keys", str(path), hint) from error


def _check_mode(found: os.stat_result, path: Path) -> None:
    """A key that others can read is no secret, and one that is another's was put there by somebody."""
    if not stat.S_ISREG(found.st_mode):
        raise UsageError("these are no keys", str(path), "Give a file that `score-embed keys` made.")
    if found.st_uid not in (os.geteuid(), 0):
        raise UsageError("this key belongs to another user", str(path), "Copy it into a file of your own.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UsageError("others can read this key", str(path), f"chmod 600 {path}; if somebody did, make new keys.")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name.isdigit() or name in (ORDERS, SERVER_FILE.removesuffix(".key")):
        hint = "Letters, digits, - and _, at most 32 of them; not only digits, which the server's own clients have."
        raise UsageError(f"a client cannot be called {name!r}", "command line", hint)


def _write_first(folder: Path) -> Path:
    """The server's file and that for orders; returns the second."""
    public, secret = _pair()
    orders_public, orders_secret = _pair()
    path = file_of(folder, ORDERS)
    _write(path, OwnKeys(ORDERS, orders_public, orders_secret, public))
    _write(folder / SERVER_FILE, ServerKeys(public, secret, orders_public, {}))
    return path


def _pair() -> tuple[str, str]:
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


def _write(path: Path, keys: ServerKeys | OwnKeys) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(keys), indent=2) + b"\n")


def _replace(path: Path, keys: ServerKeys) -> None:
    """At once: who reads it sees the one or the other."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    _write(beside, keys)
    beside.replace(path)


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
