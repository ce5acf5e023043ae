"""One program, many images: each begins with another function, and all are linked of the same objects.

Instrumenting and compiling a project takes long, linking it takes a moment. What cannot be built is left out and said:
functions whose harness is refused, by us or by the compiler.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from msgspec.structs import replace

from score_embed.board.profile import Board
from score_embed.cache import cache_folder, is_kept, publish
from score_embed.contract.entry import Told
from score_embed.contract.program import HARNESS_FILE, NOTHING, Complete, Source, StubsWanted
from score_embed.contract.sites import Site, SiteTable
from score_embed.errors import BuildError, ScoreError, UsageError
from score_embed.frontend.c import own_names
from score_embed.frontend.c.names import for_other_files
from score_embed.frontend.c.parse import kept_trees, names_written, parse
from score_embed.frontend.harness.entries import LINES, SELECTED, Function, Made, assembled, functions, make
from score_embed.frontend.harness.scope import Scopes
from score_embed.frontend.stubs import Stubbed, Stubs
from score_embed.frontend.types.ctype import Types
from score_embed.frontend.whole import without_mains
from score_embed.image.compiling import Files, compile_program, link_program
from score_embed.image.image import Facts, Image, Plain, build_id_of, identity_of, identity_source, load_image
from score_embed.image.instrumenting import FrontEnd, Request, at_hint
from score_embed.image.site_reader import parse_site_table
from score_embed.image.toolchain import Toolchain, execute

_ERROR = re.compile(rf"{re.escape(HARNESS_FILE)}:(\d+)(?::\d+)?: (?:fatal )?error: (.*)")


@dataclass(frozen=True)
class Inputs:
    """What a project is built of. `flags`: of each C file; `cflags`: of the link."""

    sources: Sequence[Path]
    native: Sequence[Path]
    objects: Sequence[Path]
    flags: Mapping[Path, Sequence[str]]
    cflags: Sequence[str]
    told: Told
    stubs: StubsWanted
    instrument: Sequence[str]
    checks: frozenset[str]
    tells_statements: bool = False


@dataclass(frozen=True)
class Contents:
    """Of files. `functions`: that could be explored; `defines`: names, for other files; several mains are not in each
    other's way; `words`: all that they name."""

    functions: tuple[Function, ...]
    defines: frozenset[str]
    words: frozenset[str]


class _Sites:
    """The site table of all images, parted: of an image of a hundred harnesses most sites are of the others, and all
    that a campaign writes down of its program would be."""

    def __init__(self, table: SiteTable) -> None:
        self._table = table
        self._parts: dict[int, dict[int, Site]] = {}  # by the number of the harness; 0: of none
        for ident, site in table.sites.items():
            number = site.line // LINES if site.file == HARNESS_FILE else 0
            self._parts.setdefault(number, {})[ident] = site

    def of(self, number: int) -> SiteTable:
        """That of the image that begins with this harness."""
        own = self._parts.get(0, {}) | self._parts.get(number, {})
        return replace(self._table, sites=dict(sorted(own.items())))


def _read_sites(words: bytes, meta: bytes, pointer_bits: int) -> _Sites:
    return _Sites(parse_site_table(words, meta, pointer_bits))


class Group:
    """A project's front-end work, then its images. Raises BuildError, UsageError and StorageError."""

    def __init__(self, board: Board, inputs: Inputs, progress: Callable[[str], None]) -> None:
        self._toolchain, self._inputs, self._progress = Toolchain(board), inputs, progress
        objects = [*board.firmware.objects, *inputs.objects]
        how = Request(
            *(inputs.sources, inputs.native, objects, inputs.flags, None, inputs.told, NOTHING, inputs.stubs),
            *(inputs.instrument, False, inputs.checks, False),
            tells_statements=inputs.tells_statements,
        )
        self._objects = objects
        self._front = FrontEnd(self._toolchain, how, progress)
        self.refused: dict[Function, str] = {}  # and why
        self._work = tempfile.TemporaryDirectory(prefix="score-embed-")
        self._sites = lru_cache(maxsize=1)(_read_sites)  # of all its images they are the same

    def contents(self) -> Contents:
        """What its sources hold."""
        texts = self._front.texts
        with kept_trees():
            found = tuple(functions(texts))
            defined = {name for text in texts for name in for_other_files(parse(text.text, str(text.path)))} - {"main"}
        words = set[str]().union(*(names_written(text.text) for text in texts))
        return Contents(found, *(frozenset(map(own_names.as_written, names)) for names in (defined, words)))

    def names(self, name: str) -> bool:
        """Whether any of its sources has that word."""
        word = re.compile(rf"\b{re.escape(own_names.emitted(name))}\b")
        return any(word.search(source.text) for source in self._front.texts)

    def build(self, wanted: Sequence[Function]) -> None:
        """All that the images of these functions have in common."""
        sources = without_mains(self._front.texts)
        made = self._harnesses(sources, wanted)
        while refused := self._by_the_compiler(texts := assembled(sources, made.values(), self._front.model)):
            for function, one in list(made.items()):
                if one.number in refused:
                    hints = self._front.hints(function.name, function.file, function.source)
                    self.refused[function] = said(at_hint(refused[one.number], texts, hints.written()))
                    del made[function]
        self._made = made
        program = assembled(sources, made.values(), self._front.model)
        self._stubs, self._stubbed = self._stubbed_of(program)
        self._program = self._front.instrumented(Complete(self._stubbed.sources))
        folder = Path(self._work.name) / "objects"
        folder.mkdir()
        self._compiled = compile_program(self._toolchain, folder, self._program, self._files(""), verify=False)

    def image(self, function: Function) -> Image:
        """Of one of the functions that are not refused."""
        made = self._made[function]
        reached = self._stubs.reached(made.root)
        facts = self._facts(function, made, reached)
        build_id = build_id_of(self._made_of, facts)
        elf = cache_folder() / f"{build_id.hex()}.elf"
        if not is_kept(elf):
            self._link(made, replace(facts, build_id=build_id.hex()), build_id, elf)
        return load_image(elf, lambda *sections: self._sites(*sections).of(made.number))

    def plain(self, function: Function) -> Plain:
        """The program that begins with this function before it gets probes."""
        inputs = self._inputs
        cflags = [*inputs.cflags, _beginning(self._made[function])]
        return Plain(self._written, inputs.native, self._objects, inputs.flags, cflags)

    def close(self) -> None:
        """Nothing more is to be linked."""
        self._work.cleanup()

    # --- what all images have in common: read or computed once ----------------------------------------------------

    @cached_property
    def _made_of(self) -> bytes:
        inputs = self._inputs
        plain = [*inputs.native, *self._objects]
        return identity_of(self._toolchain, self._program, plain, [inputs.cflags, *inputs.flags.values()])

    @cached_property
    def _written(self) -> list[Source]:
        return [Source(source.path, own_names.as_written(source.text)) for source in self._stubbed.sources]

    # --- steps ---------------------------------------------------------------------------------------------------

    def _harnesses(self, sources: Sequence[Source], wanted: Sequence[Function]) -> dict[Function, Made]:
        made: dict[Function, Made] = {}
        scopes = Scopes(Types(self._front.model), sources)
        with kept_trees():
            for number, function in enumerate(wanted, 1):
                self._progress(f"writing the harness of {function.name} ({number} of {len(wanted)})")
                try:
                    hints = self._front.hints(function.name, function.file, function.source)
                    made[function] = make(sources, function, number, self._front.model, hints, scopes)
                except (BuildError, UsageError) as error:
                    self.refused[function] = said(error)
        return made

    def _by_the_compiler(self, sources: Sequence[Source]) -> dict[int, BuildError]:
        """The harnesses that are no C, by their numbers, and what the compiler says of them."""
        self._progress("checking the harnesses")
        found: dict[int, BuildError] = {}
        toolchain = self._toolchain
        for number, source in enumerate(sources):
            if f'"{HARNESS_FILE}"' not in source.text:
                continue
            path = Path(self._work.name) / f"check{number}.i"
            path.write_text(source.text, encoding="utf-8", errors="surrogateescape")
            flags = toolchain.library_flags(self._inputs.flags[source.path])
            command = [toolchain.board.cc, *flags, "-w", "-fpreprocessed", "-fsyntax-only", "-fmax-errors=0", str(path)]
            for match in _ERROR.finditer(execute(command, str(source.path)).stderr):
                what = f"its harness does not compile: {match[2]}"
                found.setdefault(int(match[1]) // LINES, BuildError(what, f"{HARNESS_FILE}:{match[1]}"))
            path.unlink()
        return found

    def _stubbed_of(self, program: Sequence[Source]) -> tuple[Stubs, Stubbed]:
        return self._front.stubs(program)

    def _facts(self, function: Function, made: Made, reached: set[str]) -> Facts:
        within = (*made.within, *self._stubbed.within(reached))
        program = self._program
        notes = tuple((n.what, n.file, n.line) for n in program.notes)
        losses = tuple((n.what, n.file, n.line) for n in (*made.losses, *self._stubs.too_early(self._stubbed)))
        outside = tuple(name for name in program.outside if name in reached)
        stubs = self._stubbed.text()  # all: a test is linked with all files
        entry = made.entry.with_harness(made.kept) if self._stubbed.within(reached) else made.entry
        bounds = "bounds" in self._inputs.checks
        return Facts(function.name, notes, losses, within, False, entry, outside, stubs, bounds)

    def _link(self, made: Made, facts: Facts, build_id: bytes, elf: Path) -> None:
        generated = identity_source(self._program, build_id, facts)
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            files = self._files(generated)
            publish(
                link_program(self._toolchain, Path(work), self._program, files, self._compiled, [_beginning(made)]), elf
            )

    def _files(self, identity: str) -> Files:
        inputs = self._inputs
        return Files(
            inputs.sources, inputs.native, self._objects, inputs.flags, inputs.cflags, identity, self._progress
        )


def _beginning(made: Made) -> str:
    """The linker's flag by which a program begins there."""
    return f"-Wl,--defsym={SELECTED}={made.number}"


def said(error: ScoreError) -> str:
    """An error in one line; a harness is no file that anybody can look at."""
    place = "" if error.where.startswith(HARNESS_FILE) else error.where
    return f"{place}: {error.what}" if place else error.what
