"""The front-end's part of a build: the program is preprocessed and given a main where it has none, then probes are
placed.

What the front-end made is kept in the build cache, by a hash of all that it depends on. Preprocessing is never left
out: so a header that changed is noticed. What is found there was made by this very toolkit; then no module of the
front-end that parses, lowers or prints is imported, which takes longer than the rest of a small program's build.

A harness is no file that anybody can look at. So where its C is what the user wrote as a hint, a complaint about it
belongs to the hint's own line: the harness's lines are found again in the program's text, and the hint by what it says.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import Struct, convert, structs, to_builtins

from score_embed.cache import cache_folder, forget, recall, remember
from score_embed.command import workers
from score_embed.contract.entry import Entry, Told
from score_embed.contract.program import HARNESS_FILE, Complete, Note, Program, Source, StubsWanted, Whole
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c import own_names
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.types.data_model import DataModel
from score_embed.image import identity
from score_embed.image.library import Library, has_allocator
from score_embed.image.toolchain import Toolchain

if TYPE_CHECKING:
    from score_embed.frontend.c.parse import Trees
    from score_embed.frontend.harness.entry import Harness
    from score_embed.frontend.harness.hints import Hints
    from score_embed.frontend.stubs import Stubbed, Stubs

_ASSUME = "--assume"
_HARNESS_PLACE = re.compile(rf"{re.escape(HARNESS_FILE)}:(\d+)(?::\d+)?")
_QUOTED = re.compile(r"[‘'`\"](\w+)[’'\"]")
_HARNESS_MARK = re.compile(rf'^# (\d+) "{re.escape(HARNESS_FILE)}".*$', re.MULTILINE)
_Loaded = tuple[tuple[str, ...], str]  # models that were asked for, and a digest of the text they came to
T = TypeVar("T")


class _WithLoads(NamedTuple):
    program: Program
    loads: Sequence[_Loaded]


def at_hint(
    error: BuildError, sources: Sequence[Source], written: Iterable[tuple[str, str]]
) -> BuildError | UsageError:
    """The error at the hint that it is about, if it is about one. `written`: the C of the hints, and where each
    stands."""
    at = _HARNESS_PLACE.match(error.where)
    line = _harness_line(sources, int(at[1])) if at is not None else ""
    found = [(text, place) for text, place in written if text in line]
    if not found:
        return error
    named = _QUOTED.findall(error.what)
    text, place = max(found, key=lambda each: (any(name in each[0] for name in named), len(each[0])))
    return UsageError(
        f"{error.what}, in '{text}'", place, "It is a condition or a value in C: `len > 0 && p->next != 0`."
    )


def _harness_line(sources: Sequence[Source], number: int) -> str:
    for source in sources:
        for mark in _HARNESS_MARK.finditer(source.text):
            lines = source.text[mark.end() + 1 :].split("\n")
            at = number - int(mark[1])
            if 0 <= at < len(lines) and not any(row.startswith("# ") for row in lines[:at]):
                return lines[at]
    return ""


class Request(Struct, frozen=True):
    """What is to be instrumented, and how: see `build_image`. `flags`: of each C file; `native`, `objects`: what is
    linked to it without probes."""

    sources: Sequence[Path]
    native: Sequence[Path]
    objects: Sequence[Path]
    flags: Mapping[Path, Sequence[str]]
    entry: str | None
    told: Told
    whole: Whole
    stubs: StubsWanted
    instrument: Sequence[str]
    verify: bool
    checks: frozenset[str]
    strict: bool
    tells_statements: bool = False

    @property
    def closed(self) -> bool:
        """No other code of the program's is linked."""
        return not self.native and not self.objects


class FrontEnd:
    """One program's way through the front-end. Raises BuildError, UsageError and StorageError."""

    def __init__(self, toolchain: Toolchain, request: Request, progress: Callable[[str], None]) -> None:
        self._toolchain, self._request, self._progress = toolchain, request, progress
        self._raw: dict[Path, str] = {}
        self._expanded: dict[Path, dict[str, str]] = {}  # file → C of hints → what its macros make of it
        self._made: Sequence[Source] = ()  # with the harness
        self._trees: Trees = {}  # of sources that nobody reads again
        with workers() as pool:
            flags = dict.fromkeys(tuple(request.flags[path]) for path in request.sources)
            models = pool.map(toolchain.data_model, flags)
            self._reading = pool.map(self._read, request.sources)
            self.model = self._common(dict(zip(flags, models, strict=True)))

    def complete(self) -> Complete:
        """The preprocessed program, with its main."""
        whole, entry = self._request.whole, self._request.entry
        hints = self.hints(entry) if entry else None
        texts = self.texts
        stubs = self._request.stubs
        if not whole and not entry and not stubs:
            return Complete(texts)
        beside = self._beside_digest() if stubs else ""
        name = self._name("main", texts, entry, whole, hints, stubs, beside)
        kept = recall(name)
        if kept is not None:
            return _found(kept, Complete)
        from score_embed.frontend.c.parse import kept_trees

        with kept_trees():  # a harness's author may read all files, and so do stubs
            made = self._completed(texts, whole, hints)
        remember(name, _kept(made))
        return made

    @cached_property
    def texts(self) -> tuple[Source, ...]:
        """The preprocessed files."""
        return tuple(self._reading)

    def harness(self) -> Harness:
        """The main of `--entry`, for who wants to keep it."""
        return self._harness(self.texts, self.hints(self._request.entry or ""))

    def instrumented(self, program: Complete) -> Program:
        """Its C with probes."""
        self._made = program.sources
        request = self._request
        how = (self._toolchain.board.argument_order, request.verify, sorted(request.checks), request.closed)
        library = self._library()
        told = (request.strict, request.tells_statements)
        name = self._name("probes", program.sources, how, list(request.instrument), library.kinds, told)
        kept = recall(name)
        if kept is not None:
            found, loads = _found(kept, _WithLoads)
            if all(_digest(library.load(names)) == text for names, text in loads):
                return found
            forget(name)  # a header that only the models include is another one now
        made, loads = self._instrumented(program, library)
        remember(name, _kept(_WithLoads(made, loads)))
        return made

    # --- with the front-end -------------------------------------------------------------------------------------

    def _completed(self, texts: Sequence[Source], whole: Whole, hints: Hints | None) -> Complete:
        from score_embed.frontend.whole import wrap_main

        sources, within = list(texts), whole.bounds()
        losses: list[Note] = []
        called: Entry | None = None
        if whole:
            sources, losses = wrap_main(sources, whole, self.model.size_type)
        if hints is not None:
            harness = self._harness(sources, hints)
            sources, losses, within = harness.added(sources), harness.losses, tuple(harness.within)
            called = harness.entry
        made = Complete(tuple(sources), tuple(losses), within, called)
        if not self._request.stubs:
            return made
        stubbed = self._stubbed(made)
        if called is not None and stubbed.within != made.within:
            called = called.with_harness(harness.text)
        return structs.replace(stubbed, entry=called)

    def _stubbed(self, made: Complete) -> Complete:
        """With stubs for what nobody defines, and for what is to be replaced."""
        stubs, stubbed = self.stubs(made.sources)
        within = (*made.within, *stubbed.within(stubs.reached()))
        losses = (*made.losses, *stubs.too_early(stubbed))
        return structs.replace(made, sources=stubbed.sources, losses=losses, within=within, stubs=stubbed.text())

    def stubs(self, sources: Sequence[Source]) -> tuple[Stubs, Stubbed]:
        """Stubs for what nobody defines of this program, and for what is to be replaced."""
        from score_embed.frontend.stubs import Stubs
        from score_embed.image.missing import missing_names

        request = self._request
        stubs = Stubs(sources, self.model)
        missing: set[str] = set()
        if request.stubs.undefined:
            self._progress("looking for what nobody defines")
            beside = request.native, request.objects, request.flags
            missing = missing_names(self._toolchain, stubs.candidates(), *beside)
        stubbed = stubs.add(missing, [own_names.emitted(name) for name in request.stubs.replaced])
        self._trees = stubs.trees()
        return stubs, stubbed

    def _harness(self, sources: Sequence[Source], hints: Hints) -> Harness:
        from score_embed.frontend.harness.entry import harness_of

        made = harness_of(sources, own_names.emitted(self._request.entry or ""), self.model, hints)
        self._made = made.added(sources)
        return made

    def _instrumented(self, program: Complete, library: Library) -> tuple[Program, list[_Loaded]]:
        from score_embed.frontend.models import Models
        from score_embed.frontend.program import instrument_program
        from score_embed.image.measure import Measured

        request, toolchain = self._request, self._toolchain
        loads: list[_Loaded] = []

        def load(names: Sequence[str]) -> str:
            text = library.load(names)
            loads.append((tuple(names), _digest(text)))
            return text

        made = instrument_program(
            program.sources,
            self.model,
            instrument=request.instrument,
            argument_order=toolchain.board.argument_order,
            verify=request.verify,
            checks=request.checks,
            closed=request.closed,
            strict=request.strict,
            tells_statements=request.tells_statements,
            measure=Measured(toolchain, request.flags, cache_folder()),
            models=Models(library.texts(), load, library.heap),
            trees=self._trees,
            progress=self._progress,
        )
        return made, loads

    def _beside_digest(self) -> str:
        """Of the files that are linked without probes: what they define needs no stub."""
        digest = hashlib.sha256()
        for path in (*self._request.native, *self._request.objects):
            try:
                digest.update(path.read_bytes())
            except OSError as error:
                raise UsageError(f"cannot read the file: {error.strerror}", str(path), "Check its name.") from None
        return digest.hexdigest()

    # --- what it depends on -------------------------------------------------------------------------------------

    def _name(self, kind: str, sources: Sequence[Source], *parts: object) -> str:
        """That of the cached file."""
        toolchain, request = self._toolchain, self._request
        board = toolchain.board
        common = [
            kind,
            identity.toolkit(*identity.INSTRUMENTING),
            identity.compiler(board.cc),
            toolchain.runtime_digest,
            board.cflags,
            self.model,
            [(list(request.flags[path]), toolchain.predefined(request.flags[path])) for path in request.sources],
            parts,
        ]
        digest = hashlib.sha256(repr(common).encode("utf-8", "surrogateescape"))
        for source in sources:
            digest.update(f"\0{source.path}\0{len(source.text)}\0{source.text}".encode("utf-8", "surrogateescape"))
        return f"{digest.hexdigest()[:32]}.{kind}"

    def _read(self, path: Path) -> Source:
        self._progress(f"preprocessing {path}")
        flags = self._toolchain.preprocessor_flags(self._request.flags[path])
        return Source(path, own_names.set_apart(preprocess(self._toolchain.board.cc, flags, path)))

    def hints(self, function: str, file: str = "", source: str = "") -> Hints:
        """What is said of a function: in a file, above its definition (in `file`, or in one of the sources), and on the
        command line. `source`: that defines it, or includes `file`; else one that names it."""
        from score_embed.frontend.harness.beside import read as read_comments
        from score_embed.frontend.harness.hints import Hints
        from score_embed.frontend.harness.hints import read as read_hints

        told = self._request.told
        hints = read_hints(told.hints, function) if told.hints else Hints()
        for path in [Path(file)] if file else self._request.sources:
            beside = read_comments(self._written(path), str(path), function)
            if beside != Hints():
                hints = hints.over(beside)
                break
        whole = replace(
            hints,
            assume=(*hints.assume, *told.assume),
            globals=(*hints.globals, *told.globals),
            all_null=told.all_null,
            places=(*hints.places, *((text, _ASSUME) for text in told.assume)),
        )
        return whole.without(self._macros([text for text, _ in whole.written()], function, source))

    def _macros(self, texts: Sequence[str], function: str, source: str) -> Mapping[str, str]:
        """What the macros of a function's source make of C that is said of it."""
        from score_embed.frontend.c.macros import expanded

        name = re.compile(rf"\b{re.escape(function)}\b")
        made: dict[str, str] = {}
        for path in [Path(source)] if source else self._request.sources:
            known = self._expanded.setdefault(path, {})
            fresh = [text for text in texts if text not in known and text not in made]
            if fresh and (source or name.search(self._written(path))):
                flags = self._toolchain.preprocessor_flags(self._request.flags[path])
                known.update({text: text for text in fresh})
                known.update(expanded(self._toolchain.board.cc, flags, path, fresh))
            made.update({text: known[text] for text in texts if known.get(text, text) != text})
        return made

    def blamed(self, error: BuildError) -> BuildError | UsageError:
        """An error in the C of a hint stands where the hint does."""
        entry = self._request.entry
        return at_hint(error, self._made, self.hints(entry).written()) if entry else error

    def _written(self, path: Path) -> str:
        """A file as its author wrote it; "" if it cannot be read."""
        if path not in self._raw:
            try:
                self._raw[path] = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                self._raw[path] = ""
        return self._raw[path]

    def _library(self) -> Library:
        """The models that the program can call."""
        request, toolchain = self._request, self._toolchain
        heap = not has_allocator(toolchain, request.native, request.objects, request.flags)
        stdin = bool(request.whole.stdin)
        return Library(toolchain, request.flags[request.sources[0]], heap=heap, stdin=stdin)

    def _common(self, models: Mapping[tuple[str, ...], DataModel]) -> DataModel:
        """The types of the program, which all its files must agree on. `models`: by their flags."""
        sources, flags = self._request.sources, self._request.flags
        first = models[tuple(flags[sources[0]])]
        for path in sources:
            if models[tuple(flags[path])] != first:
                hint = "Give all files of the program the same -f flags, by `-- CFLAGS` if need be."
                raise UsageError(f"its flags give C other types than those of {sources[0]}", str(path), hint)
        return first


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


# --- as it is kept -----------------------------------------------------------------------------------------------


def _kept(made: object) -> bytes:
    """As JSON of the standard library, which takes what of a text is no UTF-8."""
    return json.dumps(to_builtins(made, enc_hook=str)).encode()  # str: of a Path


def _found(kept: bytes, kind: type[T]) -> T:
    return convert(json.loads(kept), kind, dec_hook=lambda inner, plain: inner(plain))
