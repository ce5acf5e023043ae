"""Where the files that are not Python live: runtime/, boards/ and simulators/.

An installed wheel carries them in `score_embed/_share`; a checkout has them at its root.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """The folder `name` ("runtime", "boards") of this installation."""
    shared = _PACKAGE / "_share"
    return (shared if shared.is_dir() else _PACKAGE.parent.parent) / name
