"""The table-driven programs of bench/tables, and what is true of them: the paths that all inputs of the small size
take.

The plain program is the judge (support/plain.py): a path is a sequence of its basic blocks. It never sees the
front-end, the probes or the runtime. The first line of a program says how many symbolic bytes it has in the bench and
how many where all of their values are tried; `SIZE` is the number.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import plain

FOLDER = plain.ROOT / "bench" / "tables"
_HEADER = re.compile(r"/\* bench: (?P<bench>\d+); small: (?P<small>[12]); (?P<what>.+) \*/")


@dataclass(frozen=True)
class TableProgram:
    name: str
    source: Path
    bench: int  # symbolic bytes
    small: int
    what: str

    def flags(self, size: int) -> tuple[str, ...]:
        return (f"-DSIZE={size}",)


def programs() -> dict[str, TableProgram]:
    found = {}
    for path in sorted(FOLDER.glob("*.c")):
        header = _HEADER.match(path.read_text(encoding="utf-8"))
        assert header, f"{path}: its first line must give its sizes"
        found[path.stem] = TableProgram(path.stem, path, int(header["bench"]), int(header["small"]), header["what"])
    return found


class BruteForce:
    """A plain program, run over all inputs of `size` bytes."""

    def __init__(
        self, source: Path, size: int, folder: Path, flags: Sequence[str] = (), *, blocks: bool = True
    ) -> None:
        self._size = size
        self._program = plain.build_plain([source], folder, flags, blocks=blocks)
        self._path_of = dict(zip(plain.all_inputs(size), self._paths(plain.all_inputs(size)), strict=True))
        self.paths = frozenset(self._path_of.values())

    def _paths(self, inputs: Iterable[bytes]) -> list[int]:
        runs = plain.run_plain(self._program, inputs, self._size)
        assert all(run.ending == "return" for run in runs)
        return [run.blocks for run in runs]

    def taken(self, inputs: Iterable[bytes]) -> frozenset[int]:
        """The paths of these inputs; missing bytes are 0."""
        return frozenset(self._path_of[data.ljust(self._size, b"\0")] for data in inputs)

    def difference(self, campaign: Path) -> str:
        """How the recorded paths of a campaign differ from these, in words; empty if they are the same."""
        kept = kept_inputs(campaign)
        taken = self.taken(kept)
        if len(taken) < len(self.paths):
            return f"{len(self.paths - taken)} of {len(self.paths)} paths are missing"
        if len(kept) != len(taken):
            return f"{len(kept)} recorded paths are {len(taken)} of the plain program"
        return ""


def kept_inputs(campaign: Path) -> list[bytes]:
    """The input of the first test of each recorded path."""
    with sqlite3.connect(f"file:{campaign / 'campaign.db'}?mode=ro", uri=True) as record:
        return [row[0] for row in record.execute("SELECT input FROM tests WHERE is_new")]
