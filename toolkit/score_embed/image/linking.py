"""The link. What the program and the runtime, or the C library, have of the same name is told apart or makes way first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from score_embed.contract.sites import OWN
from score_embed.frontend.c.complaints import complaint
from score_embed.image.messages import RUNTIME, Messages
from score_embed.image.own_symbols import given_back, only_listed, users_of
from score_embed.image.toolchain import CALLED, SHARED, LinkFailed, Toolchain


@dataclass(frozen=True)
class Parts:
    """What an image is linked of. `kept`: objects and archives that were given; `names`: what the user calls the
    objects that were made, RUNTIME for the runtime's."""

    made: tuple[Path, ...]
    kept: tuple[Path, ...]
    names: Mapping[str, str]


def link_parts(
    toolchain: Toolchain, parts: Parts, output: Path, cflags: Sequence[str], extra: Sequence[str] = ()
) -> Parts:
    """Link the image; returns what it was linked of. `extra`: further flags. Raises BuildError."""
    # Else the runtime would run the program's function, between tests and within its own probes.
    files = (*parts.made, *parts.kept)
    own = [path for path in files if parts.names.get(str(path)) != RUNTIME]
    called = CALLED[SHARED[toolchain.board.runtime]]
    parts = _apart(toolchain, parts, called & toolchain.defined(own) if called else called, output.parent / "called")
    back = given_back(toolchain, own, [path for path in files if path not in own])
    parts = _changed(parts, output.parent / "back", partial(toolchain.rename, back)) if back else parts
    messages = Messages(parts.names, toolchain)
    try:
        toolchain.link(parts.made, parts.kept, output, cflags, extra)
    except LinkFailed as failed:
        clashes = messages.clashes(failed.messages)
        if not clashes or not all(clash.answered or clash.parted for clash in clashes):
            raise messages.error(failed.messages) or complaint(failed.messages, "link") from None
        silenced = {clash.symbol for clash in clashes if clash.answered}
        parts = _weakened(toolchain, parts, sorted(silenced), output.parent / "weak")
        parted = {clash.symbol for clash in clashes if clash.parted} - silenced
        parts = _apart(toolchain, parts, parted, output.parent / "own")
        _link_again(toolchain, parts, output, cflags, extra, silenced)
    return parts


def _link_again(
    toolchain: Toolchain, parts: Parts, output: Path, cflags: Sequence[str], extra: Sequence[str], silenced: Set[str]
) -> None:
    """Link what made way for the runtime's. `silenced`: functions of the program's that did, and that nobody runs: what only
    they refer to (a linker script's `_end`) need not be there."""
    messages = Messages(parts.names, toolchain)
    try:
        try:
            toolchain.link(parts.made, parts.kept, output, cflags, extra)
        except LinkFailed as failed:
            unneeded = messages.unneeded(failed.messages, silenced, partial(users_of, parts.made))
            absent = sorted(name for name, in_data in unneeded.items() if not in_data or only_listed(parts.made, name))
            if not absent:
                raise
            toolchain.link(
                parts.made, parts.kept, output, cflags, [*extra, *(f"-Wl,--defsym={name}=0" for name in absent)]
            )
    except LinkFailed as failed:
        raise messages.error(failed.messages) or complaint(failed.messages, "link") from None


def _apart(toolchain: Toolchain, parts: Parts, symbols: Set[str], work: Path) -> Parts:
    """What the program has of its own of these names and the C library has, too, becomes two."""
    renamed = {name: OWN + name for name in sorted(symbols)}
    return _changed(parts, work, partial(toolchain.rename, renamed)) if renamed else parts


def _weakened(toolchain: Toolchain, parts: Parts, symbols: Sequence[str], work: Path) -> Parts:
    """The program's definitions of these symbols make way."""
    return _changed(parts, work, partial(toolchain.weaken, symbols)) if symbols else parts


def _changed(parts: Parts, work: Path, change: Callable[[Path, Path], None]) -> Parts:
    """With changed copies of the program's files, in the folder `work`."""
    work.mkdir()
    names = dict(parts.names)

    def copy(path: Path, prefix: str, index: int) -> Path:
        if names.get(str(path)) == RUNTIME:
            return path
        output = work / f"{prefix}{index}{path.suffix}"
        change(path, output)
        names[str(output)] = names.get(str(path), str(path))
        return output

    made = tuple(copy(path, "made", i) for i, path in enumerate(parts.made))
    kept = tuple(copy(path, "kept", i) for i, path in enumerate(parts.kept))
    return replace(parts, made=made, kept=kept, names=names)
