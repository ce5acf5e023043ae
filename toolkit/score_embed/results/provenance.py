"""Of what a campaign was made, and by whom: digests in its record, which whoever goes on with it compares."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from score_embed.results.storage import storage_error


@dataclass(frozen=True)
class Provenance:
    """SHA-256 in hexadecimal of its image, the second witness's program (empty if there is none), the board's profile,
    the toolkit, its settings; and the signature of who made it (`campaign/trust.py`)."""

    image: str
    witness: str
    profile: str
    toolkit: str
    settings: str
    signature: str = ""


def digest_of(path: Path) -> str:
    """Of a file; empty if there is none. Raises StorageError."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise storage_error(error, path) from error
