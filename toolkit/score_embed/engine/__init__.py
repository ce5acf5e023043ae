"""The engine: the hot path in C++, as the extension `_core`. Its sources are in `toolkit/engine`, beside this package;
what it is made of, and who owns what, says docs/design/engine.md.

A checkout's extension has to be of the checkout's sources, or two implementations would be mixed: that is checked once,
when the first module of formulas is imported. An installed wheel has no sources and was built from one piece.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from score_embed.errors import UsageError

_BUILD = "Run `tools/build-engine` in the checkout (a second time it compiles only what changed)."


def _sources() -> str:
    """Names and contents of the engine's sources as a hash, as CMakeLists.txt computes it; empty without sources."""
    folder = Path(__file__).resolve().parents[2] / "engine" / "src"
    files = sorted(folder.glob("*.[ch]pp"), key=lambda path: path.name)
    lines = "".join(f"{path.name} {sha256(path.read_bytes()).hexdigest()}\n" for path in files)
    return sha256(lines.encode()).hexdigest() if files else ""


def _check() -> None:
    """Raises UsageError if there is no extension for this Python, or one of other sources."""
    where = str(Path(__file__).parent)
    try:
        from score_embed.engine import _core
    except ImportError as error:
        raise UsageError("the engine is not built for this Python", where, f"{error}\n{_BUILD}") from None
    sources = _sources()
    if sources and sources != _core.SOURCES:
        raise UsageError("the engine was built from other sources than these", where, _BUILD)


_check()
