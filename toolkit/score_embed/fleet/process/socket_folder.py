"""Where the sockets and logs of a fleet on one machine lie: only its owner can enter, and it goes with the server.

A server that was killed could not remove its own; the next one does, which sees that nobody holds its lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from score_embed.errors import StorageError

PREFIX = "score-embed-fleet-"
_LOCK = "lock"


@contextmanager
def socket_folder() -> Iterator[Path]:
    """Raises StorageError if it cannot be made."""
    _sweep()
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = (folder / _LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        hint = "Free some space, or set TMPDIR."
        raise StorageError(
            f"cannot make a folder for sockets: {error.strerror}", tempfile.gettempdir(), hint
        ) from error
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another user's, or somebody is quicker, or its server is at work
            if folder.stat().st_uid == os.geteuid():
                with (folder / _LOCK).open("r+") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
