"""From a sanitizer's report to a finding: is it a bug, and where in the user's own code?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from score_embed.contract.program import HARNESS_FILE, UNKNOWN_SIZE
from score_embed.contract.sites import shown
from score_embed.results.bugs import Place
from score_embed.results.sourcemap import SourceMap
from score_embed.results.witnessed import Finding
from score_embed.witness.kinds import kind_of
from score_embed.witness.reading import Frame, Reading, read

_DEEPEST = 16  # functions of a call stack that are kept: a recursion has no end of them
_SYSTEM = ("/usr/", "/lib", "../", "<built-in>")  # where the files of libraries lie when they were compiled


class Judge:
    """Knows the program: which files are the user's, which objects a harness made."""

    def __init__(self, sources: SourceMap, files: Iterable[str]) -> None:
        """`files`: of the user's, besides those that have probes."""
        self._root = sources.root
        names = {position.file for position in sources.sites.values() if position.file} | set(files)
        self._names = {self._real(name): name for name in names}

    def finding(self, text: str, program: tuple[int, int]) -> Finding | None:
        """What a report says; None if it says nothing, or of no bug. `program`: where the program lies."""
        reading = read(text)
        kind = kind_of(reading, program) if reading is not None else None
        if reading is None or kind is None or self._is_the_harness_s(reading):
            return None
        return Finding.at(self._place(reading.frames), kind, reading.witness)

    def _is_the_harness_s(self, reading: Reading) -> bool:
        """A harness cannot know how many elements a pointer without a length leads to."""
        return reading.owner is not None and UNKNOWN_SIZE in reading.owner[0]

    def _place(self, frames: Iterable[Frame]) -> Place:
        own = [(self._name(frame.file), frame) for frame in frames if self._is_users(frame.file)]
        if not own:
            return Place("", 0, "", ())
        stack = tuple(shown(frame.function) for _, frame in own)[:_DEEPEST]
        file, frame = own[0]
        return Place(file, frame.line, stack[0], stack)

    def _is_users(self, file: str) -> bool:
        if not file:
            return False
        return self._real(file) in self._names or not file.startswith(_SYSTEM)

    def _name(self, file: str) -> str:
        """As the compiler was given it, if that is known."""
        if file.endswith(HARNESS_FILE):
            return HARNESS_FILE
        return self._names.get(self._real(file), file)

    def _real(self, file: str) -> str:
        return os.path.realpath(Path(self._root) / file)

