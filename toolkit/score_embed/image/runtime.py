"""The runtime's objects, compiled once for a board and its flags: most of an image's build is theirs."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from score_embed.command import workers
from score_embed.image import identity
from score_embed.image.cache import cache_folder, is_kept, publish
from score_embed.image.toolchain import Toolchain


def runtime_objects(toolchain: Toolchain, *, verify: bool, heap: bool = False) -> list[Path]:
    """The objects of all its files, of the arena's too if the program has a heap. Raises BuildError, StorageError."""
    common = _identity(toolchain)

    def one(source: Path) -> Path:
        command = toolchain.runtime_command(source, verify=verify)
        return _kept(common, repr(command), lambda built: toolchain.compile_runtime(source, built, verify=verify))

    def all_of_them() -> list[Path]:
        with workers() as pool:
            return list(pool.map(one, toolchain.runtime_sources(heap=heap)))

    if not toolchain.combines:
        return all_of_them()
    commands = [toolchain.runtime_command(source, verify=verify) for source in toolchain.runtime_sources(heap=heap)]
    return [_kept(common, f"all of {commands}", lambda built: toolchain.combine(all_of_them(), built))]


def _kept(common: bytes, which: str, make: Callable[[Path], None]) -> Path:
    """The object of that description, from the cache or made anew."""
    kept = cache_folder() / f"{hashlib.sha256(common + which.encode()).hexdigest()[:32]}.o"
    if not is_kept(kept):
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            built = Path(work) / kept.name
            make(built)
            publish(built, kept)
    return kept


def _identity(toolchain: Toolchain) -> bytes:
    """Of all that may be read, and of the compiler: its objects may not fit those of another version."""
    steps = identity.toolkit("board", "image")
    parts = [steps, identity.compiler(toolchain.board.cc), str(toolchain.runtime), toolchain.runtime_digest]
    return hashlib.sha256(repr(parts).encode()).digest()
