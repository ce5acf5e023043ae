"""What else decides what is built, beside the program and its board: the compiler, the runtime's files, and this
toolkit's own build steps. Every key of the build cache has in it what concerns it, so that a change of any of these
misses the cache.

The digests are of contents: they are the same wherever, and whenever, the toolkit was installed. To read some hundred
files takes longer than a small program's tests, so a digest is kept with what the kernel says of the files: as long as
their sizes and times are the same, they are not read again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import score_embed
from score_embed.cache import recall, remember
from score_embed.errors import StorageError

# Rooms of the toolkit: what an image is made with once its C is there, and what makes that C.
BUILDING = ("board", "contract", "frontend/c", "frontend/types", "image")
INSTRUMENTING = (
    *("board", "contract", "image", "frontend", "frontend/c", "frontend/types", "frontend/ir", "frontend/declarations"),
    *("frontend/lower", "frontend/probes", "frontend/emit", "frontend/harness"),
)
_EVERYBODY = ("__init__.py", "config.py", "errors.py")
_LIBRARIES = ("pycparser", "elftools")
_SETTLED = 2_000_000_000  # nanoseconds: a file that was changed just now may change again in the same tick of its clock
_File = tuple[str, str]  # the folder, and its name in there, which goes into the digest


@functools.cache
def toolkit(*rooms: str) -> str:
    """A digest of the Python that runs: its version, the libraries', and the sources of these rooms. Raises
    StorageError."""
    root = os.path.dirname(score_embed.__file__)
    files = [(root, name) for name in _EVERYBODY]
    for room in rooms:
        names = sorted(name for name in os.listdir(os.path.join(root, room)) if name.endswith(".py"))
        files += ((root, f"{room}/{name}") for name in names)
    for library in _LIBRARIES:  # not imported for that: the version stands there
        found = importlib.util.find_spec(library)
        if found is not None and found.origin is not None:
            files.append(os.path.split(found.origin))
    return _digest(files, sys.version)


@functools.cache
def whole_toolkit() -> str:
    """A digest of all of the Python that runs. Raises StorageError."""
    root = os.path.dirname(score_embed.__file__)
    rooms = (os.path.relpath(place, root) for place, _, names in os.walk(root) if any(n.endswith(".py") for n in names))
    return toolkit(*sorted(rooms))


def runtime(folder: Path) -> str:
    """A digest of the runtime's files, the models of library functions included. Raises StorageError."""
    root = str(folder)
    found = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return _digest([(root, name) for name in sorted(path[len(root) + 1 :] for path in found)])


def compiler(name: str) -> list[object]:
    """What makes what two compilers put out different. Raises StorageError if there is none."""
    path = Path(shutil.which(name) or name).resolve()
    try:
        state = path.stat()
    except OSError as error:
        raise StorageError(f"cannot read the compiler: {error.strerror}", str(path)) from None
    return [name, str(path), state.st_size, state.st_mtime_ns]


def _digest(files: Sequence[_File], version: str = "") -> str:
    """Of the names and contents, and of the version of what reads them."""
    states = [_state(os.path.join(*file)) for file in files]
    seen = hashlib.sha256(repr((version, files, states)).encode("utf-8", "surrogateescape"))
    name = f"{seen.hexdigest()[:32]}.digest"
    kept = recall(name)
    if kept is not None:
        return kept.decode()
    digest = hashlib.sha256(version.encode())
    for root, file in files:
        content = _read(os.path.join(root, file))
        digest.update(f"{file}\0{len(content)}\0".encode() + content)
    if max(max(state[1:]) for state in states) < time.time_ns() - _SETTLED:
        remember(name, digest.hexdigest().encode())
    return digest.hexdigest()


def _state(path: str) -> tuple[int, int, int]:
    try:
        state = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from None
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns  # the last: nobody can set it back


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> StorageError:
    return StorageError(f"cannot read the file: {error.strerror}", path, "Install score-embed anew.")
