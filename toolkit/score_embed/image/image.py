"""From sources to an image: instrument, compile, link; and read an image back.

The build id is a hash over everything that goes into the image, so that equal inputs are built once (a
content-addressed cache) and a board that holds another image is recognised.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from msgspec import Struct, ValidationError, convert, to_builtins

from score_embed.board.profile import Board
from score_embed.config import DEFAULT_CHECKS
from score_embed.contract.entry import Entry
from score_embed.contract.sites import SiteTable, SiteTableError, parse_site_table
from score_embed.errors import BuildError, StorageError, UsageError
from score_embed.frontend.c import own_names
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.harness import add_harness
from score_embed.frontend.lower.unit import Note
from score_embed.frontend.program import Program, Source, instrument_program
from score_embed.frontend.types.data_model import DataModel
from score_embed.frontend.whole import NOTHING, Whole, bounds, wrap_main
from score_embed.image.cache import cache_folder, hold, is_kept, publish, trim
from score_embed.image.compiling import Files, compiled
from score_embed.image.complaints import explained
from score_embed.image.constants import Constants
from score_embed.image.library import has_allocator, library_models
from score_embed.image.measure import Measured
from score_embed.image.toolchain import INSTRUMENTED, PORTS, Toolchain

_POINTER_BITS = {"EM_AVR": 16}  # of machines whose pointers are not as wide as their ELF files say


@dataclass(frozen=True)
class Image:
    """A linked ELF and what the host must know of it.

    `notes`: (what, file, line) left uninstrumented; `losses`: the same of what no test can follow; `within`: the bounds
    of its harness, in words.
    """

    elf: Path
    sites: SiteTable
    build_id: bytes
    program: str
    notes: tuple[tuple[str, str, int], ...] = ()
    verify: bool = False  # its events carry the stored values
    entry: Entry | None = None  # the function of `--entry` and its arguments
    losses: tuple[tuple[str, str, int], ...] = ()
    within: tuple[str, ...] = ()

    @cached_property
    def constants(self) -> Constants:
        """What no program can change."""
        return Constants(self.elf)


class _Facts(Struct, frozen=True):
    """What the image says of itself, beside its sites."""

    program: str
    notes: tuple[tuple[str, str, int], ...] = ()
    losses: tuple[tuple[str, str, int], ...] = ()
    within: tuple[str, ...] = ()
    verify: bool = False
    entry: Entry | None = None


@dataclass(frozen=True)
class Plain:
    """The program before it gets probes. `texts`: preprocessed, with the main it is given; `native`, `objects`: as in
    `build_image`; `flags`: of each C file; `cflags`: of the link."""

    texts: Sequence[Source]
    native: Sequence[Path]
    objects: Sequence[Path]
    flags: Mapping[Path, Sequence[str]]
    cflags: Sequence[str]


def build_image(
    board: Board,
    sources: Sequence[Path],
    *,
    native: Sequence[Path] = (),
    objects: Sequence[Path] = (),
    instrument: Sequence[str] = (),
    entry: str | None = None,
    whole: Whole = NOTHING,
    cflags: Sequence[str] = (),
    file_flags: Mapping[Path, Sequence[str]] | None = None,
    verify: bool = False,
    checks: frozenset[str] = DEFAULT_CHECKS,
    keep: Path | None = None,
    strict: bool = False,
    beside: Callable[[Plain], None] | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Image:
    """Build the instrumented image.

    `whole`: what a whole program is given; `objects`: assembly, objects and archives, linked as they are;
    `file_flags`: a file's own flags, before `cflags`; `keep`: a folder that gets the instrumented C; `strict`: see
    instrument_program; `beside`: is told of the program as it is without probes; `progress`: is told each step as it
    begins, by any thread.
    Raises UsageError (missing file or tool), BuildError (C that does not parse, compile or link).
    """
    if not sources:
        raise UsageError("there is nothing to build", hint="Name the C files of the program.")
    toolchain = Toolchain(board)
    objects = [*board.firmware.objects, *objects]
    flags = {path: [*(file_flags or {}).get(path, ()), *cflags] for path in (*sources, *native)}
    model = _data_model(toolchain, sources, flags)

    def read(path: Path) -> Source:
        progress(f"preprocessing {path}")
        return Source(path, own_names.set_apart(preprocess(board.cc, toolchain.preprocessor_flags(flags[path]), path)))

    called: Entry | None = None
    losses: list[Note] = []
    within = bounds(whole)
    try:
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            texts = list(pool.map(read, sources))
        if whole:
            texts, losses = wrap_main(texts, whole, model.size_type)
        if entry:
            harness = add_harness(texts, own_names.emitted(entry), model)
            texts, losses, within = harness.sources, harness.losses, harness.within
            called = harness.entry
        if beside is not None:
            written = [Source(text.path, own_names.as_written(text.text)) for text in texts]
            beside(Plain(written, native, objects, flags, cflags))
        program = instrument_program(
            texts,
            model,
            instrument=instrument,
            argument_order=board.argument_order,
            verify=verify,
            checks=checks,
            closed=not native and not objects,
            strict=strict,
            measure=Measured(toolchain, flags, cache_folder()),
            models=library_models(
                toolchain,
                flags[sources[0]],
                heap=not has_allocator(toolchain, native, objects, flags),
                stdin=bool(whole.stdin),
            ),
            progress=progress,
        )
    except BuildError as error:
        raise explained(error, toolchain, sources, native, flags) from None
    if keep is not None:
        _keep(keep, sources, program)
    said = _Facts(
        entry or sources[0].stem,
        tuple((n.what, n.file, n.line) for n in program.notes),
        tuple((n.what, n.file, n.line) for n in losses),
        tuple(within),
        verify,
        called,
    )
    facts = json.dumps(to_builtins(said), separators=(",", ":"))
    build_id = _identity(toolchain, program, [*native, *objects], [cflags, *flags.values()], facts)
    elf = cache_folder() / f"{build_id.hex()}.elf"
    if not is_kept(elf):
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            identity = _identity_source(program, build_id, facts)
            files = Files(sources, native, objects, flags, cflags, identity, progress)
            try:
                built = compiled(toolchain, Path(work), program, files, verify=verify)
            except BuildError as error:
                raise _of_inputs(error, program) from None
            publish(built, elf)
            trim(cache_folder())
    return load_image(elf)


def load_image(elf: Path) -> Image:
    """Read an image's site table, build id and notes; the file is held while the Image is there.

    Raises BuildError if it is not one of ours.
    """
    try:
        held = hold(elf)
    except OSError as error:
        raise StorageError(f"cannot read the image: {error.strerror}", str(elf)) from None
    try:
        image = _read_image(elf)
    except BaseException:
        os.close(held)
        raise
    weakref.finalize(image, os.close, held)
    return image


def _read_image(elf: Path) -> Image:
    try:
        with elf.open("rb") as file:
            data = ELFFile(file)
            words, meta = (_section(data, name) for name in (".sc_sites", ".sc_meta"))
            table = parse_site_table(words, meta, _POINTER_BITS.get(data["e_machine"], data.elfclass))
            build_id = _symbol(data, "sc_build_id", 16)
        units = [unit for unit in map(json.loads, filter(None, meta.split(b"\0"))) if "program" in unit]
        own = convert(units[0], _Facts) if units else _Facts(elf.stem)
    except OSError as error:
        raise StorageError(f"cannot read the image: {error.strerror}", str(elf)) from None
    except (ELFError, SiteTableError, ValidationError) as error:
        raise BuildError(f"this is no image of score-embed: {error}", str(elf)) from None
    return Image(elf, table, build_id, own.program, own.notes, own.verify, own.entry, own.losses, own.within)


def _section(data: ELFFile, name: str) -> bytes:
    section = data.get_section_by_name(name)
    if section is None:
        raise SiteTableError(f"it has no section {name}")
    return bytes(section.data())


def _symbol(data: ELFFile, name: str, size: int) -> bytes:
    table = data.get_section_by_name(".symtab")
    found = table.get_symbol_by_name(name) if isinstance(table, SymbolTableSection) else None
    if not found:
        raise SiteTableError(f"it has no symbol {name}")
    address = found[0]["st_value"]
    for section in data.iter_sections():
        start = section["sh_addr"]
        if section["sh_flags"] & 2 and start <= address < start + section["sh_size"]:
            offset = address - start
            return bytes(section.data()[offset : offset + size])
    raise SiteTableError(f"the symbol {name} lies in no section")


# --- building ------------------------------------------------------------------------------------------------


def _data_model(toolchain: Toolchain, sources: Sequence[Path], flags: Mapping[Path, Sequence[str]]) -> DataModel:
    """The types of the program, which all its files must agree on."""
    models = {own: toolchain.data_model(own) for own in {tuple(flags[path]) for path in sources}}
    first = models[tuple(flags[sources[0]])]
    for path in sources:
        if models[tuple(flags[path])] != first:
            hint = "Give all files of the program the same -f flags, by `-- CFLAGS` if need be."
            raise UsageError(f"its flags give C other types than those of {sources[0]}", str(path), hint)
    return first


def _of_inputs(error: BuildError, program: Program) -> BuildError:
    """Inputs declared in a function that is left uninstrumented surface only as undefined names at the link."""
    if "__score_" not in error.what or not program.notes:
        return error
    note = program.notes[0]
    hint = "Declare the symbolic inputs in another function, or take that construct out of this one."
    return BuildError(f"{note.what}, but it declares symbolic inputs", f"{note.file}:{note.line}", hint)


def _identity(
    toolchain: Toolchain, program: Program, files: Sequence[Path], flags: Sequence[Sequence[str]], facts: str
) -> bytes:
    board = toolchain.board
    digest = hashlib.sha256()
    runtime = sorted(p for p in toolchain.runtime.rglob("*") if p.is_file())
    parts: list[object] = [
        board.cc,
        board.cflags,
        board.ldflags,
        board.runtime,
        board.linker_script,
        board.firmware,
        toolchain.macros(),
        [list(own) for own in flags],
        facts,
    ]
    parts += [
        INSTRUMENTED,
        toolchain.runtime_flags(),
        toolchain.whole(),
        PORTS[board.runtime],
        program.texts,
        program.library,
        program.notes,
    ]
    digest.update(repr(parts).encode("utf-8", "surrogateescape"))
    script = toolchain.board.firmware.script
    for path in [*runtime, *files, *([script] if script else [])]:
        digest.update(path.name.encode() + b"\0" + _read(path) + b"\0")
    return digest.digest()[:16]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", str(path)) from None


def _identity_source(program: Program, build_id: bytes, facts: str) -> str:
    """The generated C file that makes an image recognisable; `facts` go with the site table's texts."""
    text = json.dumps(facts).replace("?", "\\?")
    return (
        '#include "probe.h"\n'
        f"SC_IMAGE({program.coverage}, {', '.join(map(str, build_id))});\n"
        f'static const char sc_meta[] __attribute__((section(".sc_meta"), used)) = {text};\n'
        '__UINTPTR_TYPE__ const sc_no_site[1] __attribute__((section(".sc_sites"), used)) = { 0 };\n'
    )


def _keep(folder: Path, sources: Sequence[Path], program: Program) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if program.library:
            (folder / "models.instrumented.c").write_text(program.library, encoding="utf-8")
        for path, text in zip(sources, program.texts, strict=True):
            (folder / f"{path.stem}.instrumented.c").write_text(text, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise StorageError(f"cannot keep the instrumented C: {error.strerror}", str(folder)) from None
