"""What was built is kept, by a hash of everything that went into it: equal inputs are built once.

The folder does not grow without end: what was not used for longest goes first. An image that some process has loaded
is locked by it, as an emulator is started from it again and again; an object is used only while a build takes.

Keys are made by whoever builds (`image.py` the image's, `instrumenting.py`, `compiling.py` the runtime's), with
`identity.py`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from score_embed import places
from score_embed.errors import StorageError

LIMIT = 2 << 30  # bytes that may lie there
_SEAL = 32  # bytes before what was computed, that show that it is whole
SPARED = 3600  # seconds in which what was used is not thrown away: a build may be about to link it


def cache_folder() -> Path:
    """Where images are kept. Raises StorageError if it cannot be made."""
    try:
        return places.cached("images")
    except OSError as error:
        what = f"cannot create the build cache: {error.strerror}"
        raise StorageError(what, str(error.filename), "Set XDG_CACHE_HOME.") from None


def is_kept(path: Path) -> bool:
    """Whether it is there; if so it counts as used now."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:
        return path.is_file()  # someone else's, or a file system that cannot be written: it only looks older
    return True


def publish(built: Path, kept: Path) -> None:
    """Into the cache in one step: another process may build the same. Raises StorageError.

    What is there already stays: a linker may be reading it, and with LTO no two compilations of a file are alike.
    `built` is moved, if it is on the cache's file system, and is nobody's any more.
    """
    _publish(lambda part: _moved(built, part), kept)


def remember(name: str, content: bytes) -> None:
    """Keep what was computed under a name that says all that it depends on. Raises StorageError."""
    folder = cache_folder()
    _publish(lambda part: part.write_bytes(_seal(name, content) + content), folder / name)
    trim(folder)


def recall(name: str) -> bytes | None:
    """What was kept under this name; None if it is not there, or not as it was written: then it is thrown away."""
    kept = cache_folder() / name
    if not is_kept(kept):
        return None
    try:
        found = kept.read_bytes()
    except OSError:
        return None
    content = found[_SEAL:]
    if found[:_SEAL] == _seal(name, content):
        return content
    forget(name)
    return None


def forget(name: str) -> None:
    """Throw this away. What cannot be thrown away stays, and is not believed the next time either."""
    with suppress(OSError):
        (cache_folder() / name).unlink()


def _seal(name: str, content: bytes) -> bytes:
    """What shows that the content belongs to the name, and is whole."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _publish(write: Callable[[Path], object], kept: Path) -> None:
    try:
        number, name = tempfile.mkstemp(dir=kept.parent, prefix=f"{kept.stem}.")
        os.close(number)
        part = Path(name)
        try:
            write(part)
            _name_it(part, kept)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"cannot write the build cache: {error.strerror}", str(kept), "Set XDG_CACHE_HOME."
        ) from None


def _moved(built: Path, part: Path) -> None:
    try:
        built.replace(part)
    except OSError:  # another file system
        shutil.copy(built, part)


def _name_it(part: Path, kept: Path) -> None:
    try:
        kept.hardlink_to(part)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        part.replace(kept)


def hold(path: Path) -> int:
    """Keep a file from being thrown away until the returned descriptor is closed. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with suppress(OSError):  # a file system without locks: then what was used lately is spared, no more
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return descriptor


def trim(folder: Path, limit: int = LIMIT, spared: float = SPARED) -> None:
    """Throw away files of `folder`, the longest unused first, until the rest has at most `limit` bytes.

    Left are those held and those used in the last `spared` seconds. What cannot be thrown away stays: it harms nobody.
    """
    found = []
    with suppress(OSError):  # someone else throws away, too, perhaps the whole folder
        for path in folder.rglob("*"):
            if path.is_file():
                state = path.stat()
                found.append((state.st_mtime, state.st_size, path))
    found.sort()
    total = sum(size for _, size, _ in found)
    old = time.time() - spared
    for used, size, path in found:
        if total <= limit or used >= old:
            return
        with suppress(OSError):
            if _throw_away(path):
                total -= size


def _throw_away(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
