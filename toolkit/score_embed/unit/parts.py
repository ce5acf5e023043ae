"""Which files of a project are built together: no two of one part define the same name.

`compile_commands.json` has the library, its tests, examples and mocks. Most files go together, also several programs,
whose mains are renamed. A file that defines what another one does, too, makes way if it is in the way of more files, or
stands behind. It becomes a part of its own, with those files that it needs and that are not in its way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from score_embed.image.group import Contents
from score_embed.userfile import shown


@dataclass(frozen=True)
class Part:
    """`explored`: the files of which functions are explored here; `clash`: why they are not with the others, in words.
    """

    files: tuple[Path, ...]
    explored: frozenset[Path]
    clash: str = ""


def parted(files: Mapping[Path, Contents]) -> Iterator[Part]:
    """The parts, the largest first; each file is explored in one of them."""
    left = dict(files)
    apart: dict[Path, str] = {}
    while clashes := _clashes(left):
        most = max(len(others) for others in clashes.values())
        path = [path for path, others in clashes.items() if len(others) == most][-1]
        other, name = next(iter(clashes[path].items()))
        apart[path] = f"{path} and {other} both define {shown(name)}"
        del left[path]
    if left:
        yield Part(tuple(left), frozenset(left))
    for path, clash in apart.items():
        needed = _needed(path, files, left)
        yield Part((path, *(other for other in left if other in needed)), frozenset([path]), clash)


def _clashes(files: Mapping[Path, Contents]) -> dict[Path, dict[Path, str]]:
    """Of each file that is in the way of others: these, and a name that both define."""
    owners: dict[str, list[Path]] = {}
    for path, file in files.items():
        for name in file.defines:
            owners.setdefault(name, []).append(path)
    found: dict[Path, dict[Path, str]] = {}
    for name in sorted(name for name, paths in owners.items() if len(paths) > 1):
        for path in owners[name]:
            for other in owners[name]:
                if other != path:
                    found.setdefault(path, {}).setdefault(other, name)
    return {path: found[path] for path in files if path in found}


def _needed(path: Path, files: Mapping[Path, Contents], left: Mapping[Path, Contents]) -> set[Path]:
    """What a file names, others define, and what these name; but no file that defines what a chosen one does."""
    chosen, waiting, defined = set[Path](), [path], set(files[path].defines)
    while waiting:
        words = files[waiting.pop()].words - defined
        for other, file in left.items():
            if other not in chosen and not file.defines.isdisjoint(words) and file.defines.isdisjoint(defined):
                chosen.add(other)
                waiting.append(other)
                defined |= file.defines
    return chosen
