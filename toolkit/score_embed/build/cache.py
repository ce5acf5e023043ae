"""What was built is kept, by a hash of everything that went into it: equal inputs are built once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from score_embed.errors import StorageError


def cache_folder() -> Path:
    """Where images are kept. Raises StorageError if it cannot be made."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "score-embed" / "images"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"cannot create the build cache: {error.strerror}", str(root), "Set XDG_CACHE_HOME."
        ) from None
    return root


def publish(built: Path, kept: Path) -> None:
    """Into the cache in one step: another process may build the same. Raises StorageError."""
    try:
        part = kept.with_suffix(f".{os.getpid()}")
        shutil.copy2(built, part)
        part.replace(kept)
    except OSError as error:
        raise StorageError(
            f"cannot write the build cache: {error.strerror}", str(kept), "Set XDG_CACHE_HOME."
        ) from None
