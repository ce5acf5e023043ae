"""The images of a project's functions: of all its files together, as far as these go together.

Together the functions of one file call the true ones of another. Files of several programs do not link: two of a name.
Such a file is built apart, with those that it needs (`parts.py`). Where files do not go together in another way, each
is built alone; then what it lacks gets stubs, as with `--entry`. A file that cannot be read at all is left out, and
said. Which functions a file has, says `frontend/harness/entries.py` (`functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from score_embed.board.profile import Board
from score_embed.errors import BuildError, ScoreError, UsageError
from score_embed.frontend.harness.entries import Function, once
from score_embed.frontend.harness.hints import named
from score_embed.image.group import Contents, Group, Inputs, said
from score_embed.unit.parts import parted
from score_embed.userfile import shown
from score_embed.witness import program


@dataclass
class Project:
    """What is explored, and how its images are made."""

    board: Board
    inputs: Inputs
    progress: Callable[[str], None]
    wants_witness: bool  # a second one, where the board's programs can have it
    notes: list[str] = field(default_factory=list)  # what concerns all functions
    _files: dict[Path, Contents] = field(default_factory=dict)
    _alone: set[Group] = field(default_factory=set)  # whose programs no second witness can be built of

    def functions(self) -> list[Function]:
        """Those of all files that can be read."""
        found: list[Function] = []
        readable: list[Path] = []
        hints = self.inputs.told.hints
        hinted = named(hints) if hints is not None else {}  # of which no source was found that names it
        for path in self.inputs.sources:
            try:
                group = self._group([path])
                self._files[path] = group.contents()
                found += self._files[path].functions
                hinted = {name: where for name, where in hinted.items() if not group.names(name)}
                readable.append(path)
            except (BuildError, UsageError) as error:
                self.notes.append(f"left out: {said(error)}")
        self.inputs = replace(self.inputs, sources=tuple(readable))
        self.notes += [
            f"{where}: no source names {shown(name)}: nothing heeds what is said of it"
            for name, where in hinted.items()
        ]
        return once(found)

    def built(self, wanted: Iterable[Function]) -> Iterator[tuple[Group | None, list[Function], dict[Function, str]]]:
        """Groups of functions whose images can be linked, and why others cannot: function → reason. The caller closes a
        group."""
        functions = list(wanted)
        if not functions or not self.inputs.sources:
            return
        for part in parted(self._files):
            own = [function for function in functions if Path(function.source) in part.explored]
            if part.clash and own:
                self.notes.append(f"{part.clash}: the former is explored apart, with the files that it needs")
            yield from self._together(part.files, own)

    def _together(
        self, sources: Sequence[Path], functions: list[Function]
    ) -> Iterator[tuple[Group | None, list[Function], dict[Function, str]]]:
        if not functions:
            return
        try:
            yield self._built(sources, functions)
            return
        except ScoreError as error:
            if len(sources) == 1:
                yield None, [], dict.fromkeys(functions, said(error))
                return
            self.notes.append(f"each file is explored alone, with stubs for the others: {said(error)}")
        for path in sources:
            yield from self._together([path], [function for function in functions if function.source == str(path)])

    def _built(
        self, sources: Iterable[Path], wanted: list[Function]
    ) -> tuple[Group, list[Function], dict[Function, str]]:
        group = self._group(sources)
        try:
            group.build(wanted)
            left = [function for function in wanted if function not in group.refused]
            if left:
                self._try(group, left)
        except BaseException:
            group.close()
            raise
        return group, left, group.refused

    def witness(self, group: Group, function: Function) -> Path | None:
        """The program of the second witness that begins with this function, if there is one."""
        if not self.wants_witness or not program.is_for(self.board) or group in self._alone:
            return None
        try:
            return program.build(self.board, self.inputs.checks, group.plain(function))
        except BuildError as error:
            self._alone.add(group)
            self.notes.append(f"no second witness: {said(error)}")
            return None

    def _try(self, group: Group, functions: list[Function]) -> None:
        """Whether it links at all: two definitions of a name are found only then. Objects of all programs are made
        here."""
        group.image(functions[0])
        self.witness(group, functions[0])

    def _group(self, sources: Iterable[Path]) -> Group:
        return Group(self.board, replace(self.inputs, sources=tuple(sources)), self.progress)
