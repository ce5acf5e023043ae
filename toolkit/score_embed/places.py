"""Where files lie that are nobody's project: what an installation brings beside Python, and what is kept to save time.

An installed wheel carries runtime/, boards/ and simulators/ in `score_embed/_share`; a checkout has them at its root.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """The folder `name` ("runtime", "boards") of this installation."""
    shared = _PACKAGE / "_share"
    return (shared if shared.is_dir() else _PACKAGE.parent.parent) / name


def cached(name: str) -> Path:
    """The folder `name` ("images") of what this user's commands have made, made if it is not there. Raises OSError."""
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "score-embed" / name
    path.mkdir(parents=True, exist_ok=True)
    return path
