"""What else decides what is built, beside the program and its board: the compiler, the runtime's files, and this
toolkit's own build steps. Every key of the build cache has in it what concerns it, so that a change of any of these
misses the cache.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import score_embed
from score_embed.errors import StorageError

# Rooms of the toolkit: what an image is made with once its C is there, and what makes that C.
BUILDING = ("board", "contract", "frontend/c", "frontend/types", "image")
INSTRUMENTING = (
    *("board", "contract", "image", "frontend", "frontend/c", "frontend/types", "frontend/ir", "frontend/declarations"),
    *("frontend/lower", "frontend/probes", "frontend/emit", "frontend/harness"),
)
_EVERYBODY = ("__init__.py", "config.py", "errors.py")
_LIBRARIES = ("pycparser", "elftools")


@functools.cache
def toolkit(*rooms: str) -> str:
    """A digest of the Python that runs: its version, the libraries', and the sources of these rooms. Raises
    StorageError."""
    root = os.path.dirname(score_embed.__file__)
    digest = hashlib.sha256(sys.version.encode())
    _add(digest, root, _EVERYBODY)
    for room in rooms:
        names = sorted(name for name in os.listdir(os.path.join(root, room)) if name.endswith(".py"))
        _add(digest, root, (f"{room}/{name}" for name in names))
    for library in _LIBRARIES:  # not imported for that: the version stands there
        found = importlib.util.find_spec(library)
        if found is not None and found.origin is not None:
            _add(digest, os.path.dirname(found.origin), [os.path.basename(found.origin)])
    return digest.hexdigest()


@functools.cache
def whole_toolkit() -> str:
    """A digest of all of the Python that runs. Raises StorageError."""
    root = os.path.dirname(score_embed.__file__)
    rooms = (os.path.relpath(place, root) for place, _, names in os.walk(root) if any(n.endswith(".py") for n in names))
    return toolkit(*sorted(rooms))


def runtime(folder: Path) -> str:
    """A digest of the runtime's files, the models of library functions included. Raises StorageError."""
    digest = hashlib.sha256()
    found = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    _add(digest, str(folder), sorted(path[len(str(folder)) + 1 :] for path in found))
    return digest.hexdigest()


def compiler(name: str) -> list[object]:
    """What makes what two compilers put out different. Raises StorageError if there is none."""
    path = Path(shutil.which(name) or name).resolve()
    try:
        state = path.stat()
    except OSError as error:
        raise StorageError(f"cannot read the compiler: {error.strerror}", str(path)) from None
    return [name, str(path), state.st_size, state.st_mtime_ns]


def _add(digest: hashlib._Hash, root: str, names: Iterable[str]) -> None:
    for name in names:
        path = os.path.join(root, name)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise StorageError(f"cannot read the file: {error.strerror}", path, "Install score-embed anew.") from None
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
