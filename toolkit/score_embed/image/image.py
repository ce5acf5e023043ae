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
from functools import cached_property
from pathlib import Path

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from score_embed.board.profile import Board
from score_embed.cache import cache_folder, hold, is_kept, publish, trim
from score_embed.config import DEFAULT_CHECKS
from score_embed.contract.entry import NOTHING_TOLD, Entry, Told
from score_embed.contract.program import NO_STUBS, NOTHING, Program, Source, StubsWanted, Whole
from score_embed.contract.sites import SiteTable
from score_embed.errors import BuildError, StorageError, Unbounded, UsageError
from score_embed.frontend.c import own_names
from score_embed.image import identity
from score_embed.image.constants import Constants
from score_embed.image.elf import AVR, Elf, NotElf
from score_embed.image.instrumenting import FrontEnd, Request
from score_embed.image.site_reader import SiteTableError, parse_site_table
from score_embed.image.toolchain import INSTRUMENTED, PORTS, Toolchain


class Image(Struct, frozen=True, dict=True, weakref=True):
    """A linked ELF and what the host must know of it.

    `notes`: (what, file, line) left uninstrumented; `losses`: the same of what no test can follow; `within`: the bounds
    of its harness, in words; `outside`: functions that it uses by name and does not define.
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
    outside: tuple[str, ...] = ()
    stubs: str = ""  # the C of what stands in for functions
    bounds: bool = False  # accesses are held to the bounds of the object that their pointer leads to

    @cached_property
    def constants(self) -> Constants:
        """What no program can change."""
        return Constants(self.elf, has_bounds=self.bounds)


class Facts(Struct, frozen=True):
    """What the image says of itself, beside its sites."""

    program: str
    notes: tuple[tuple[str, str, int], ...] = ()
    losses: tuple[tuple[str, str, int], ...] = ()
    within: tuple[str, ...] = ()
    verify: bool = False
    entry: Entry | None = None
    outside: tuple[str, ...] = ()
    stubs: str = ""
    bounds: bool = False
    build_id: str = ""  # hexadecimal


class Plain(Struct, frozen=True):
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
    told: Told = NOTHING_TOLD,
    whole: Whole = NOTHING,
    stubs: StubsWanted = NO_STUBS,
    cflags: Sequence[str] = (),
    file_flags: Mapping[Path, Sequence[str]] | None = None,
    verify: bool = False,
    checks: frozenset[str] = DEFAULT_CHECKS,
    keep: Path | None = None,
    strict: bool = False,
    tells_statements: bool = False,
    beside: Callable[[Plain], None] | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Image:
    """Build the instrumented image.

    `told`: what is said of the function `entry`; `whole`: what a whole program is given; `stubs`: what stands in for
    functions; `objects`: assembly, objects and archives, linked as they are; `file_flags`: a file's own flags, before
    `cflags`; `keep`: a folder that gets the instrumented C; `strict`, `tells_statements`: see instrument_program;
    `beside`: is told of the program as it is without probes; `progress`: is told each step as it begins, by any thread.
    Raises UsageError (missing file or tool), BuildError (C that does not parse, compile or link).
    """
    if not sources:
        raise UsageError("there is nothing to build", hint="Name the C files of the program.")
    toolchain = Toolchain(board)
    objects = [*board.firmware.objects, *objects]
    flags = {path: [*(file_flags or {}).get(path, ()), *cflags] for path in (*sources, *native)}
    how = Request(
        *(sources, native, objects, flags, entry, told, whole, stubs, instrument, verify, checks, strict),
        tells_statements=tells_statements,
    )
    front = FrontEnd(toolchain, how, progress)
    try:
        complete = front.complete()
        if beside is not None:
            written = [Source(source.path, own_names.as_written(source.text)) for source in complete.sources]
            beside(Plain(written, native, objects, flags, cflags))
        program = front.instrumented(complete)
    except Unbounded:
        raise
    except BuildError as error:
        at_hint = front.blamed(error)
        if at_hint is not error:
            raise at_hint from None
        from score_embed.image.messages import explained  # it asks the compiler again

        raise explained(error, toolchain, sources, native, flags) from None
    if keep is not None:
        _keep(keep, sources, program)
    said = Facts(
        entry or sources[0].stem,
        tuple((n.what, n.file, n.line) for n in program.notes),
        tuple((n.what, n.file, n.line) for n in complete.losses),
        complete.within,
        verify,
        complete.entry,
        program.outside,
        complete.stubs,
        "bounds" in checks,
    )
    build_id = build_id_of(identity_of(toolchain, program, [*native, *objects], [cflags, *flags.values()]), said)
    elf = cache_folder() / f"{build_id.hex()}.elf"
    if not is_kept(elf):
        from score_embed.image.compiling import Files, compiled  # and all that knows object files

        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            generated = identity_source(program, build_id, replace(said, build_id=build_id.hex()))
            files = Files(sources, native, objects, flags, cflags, generated, progress)
            try:
                built = compiled(toolchain, Path(work), program, files, verify=verify)
            except BuildError as error:
                raise front.blamed(_of_inputs(error, program)) from None
            publish(built, elf)
            trim(cache_folder())
    return load_image(elf)


def load_image(elf: Path, read: Callable[[bytes, bytes, int], SiteTable] = parse_site_table) -> Image:
    """Read an image's site table, build id and notes; the file is held while the Image is there.

    `read`: of its sections; who knows them from another image need not read them again. Raises BuildError if it is not
    one of ours.
    """
    try:
        held = hold(elf)
    except OSError as error:
        raise StorageError(f"cannot read the image: {error.strerror}", str(elf)) from None
    try:
        image = _read_image(elf, read)
    except BaseException:
        os.close(held)
        raise
    weakref.finalize(image, os.close, held)
    return image


def _read_image(path: Path, read: Callable[[bytes, bytes, int], SiteTable]) -> Image:
    try:
        elf = Elf(path)
        words, meta = (_section(elf, name) for name in (".sc_sites", ".sc_meta"))
        facts, meta = _parted(meta)
        table = read(words, meta, 16 if elf.machine == AVR else elf.bits)
        own = convert(facts, Facts)
    except OSError as error:
        raise StorageError(f"cannot read the image: {error.strerror}", str(path)) from None
    except (NotElf, ValueError) as error:
        raise BuildError(f"this is no image of score-embed: {error}", str(path)) from None
    build_id = bytes.fromhex(own.build_id)
    said = own.program, own.notes, own.verify, own.entry, own.losses, own.within, own.outside, own.stubs, own.bounds
    return Image(path, table, build_id, *said)


def _parted(meta: bytes) -> tuple[dict[str, object], bytes]:
    """What `.sc_meta` says of the image, and of its units: several images may have these in common."""
    texts = meta.split(b"\0")
    for number, text in enumerate(texts):
        if b'"build_id"' in text and "build_id" in (found := json.loads(text)):
            return found, b"\0".join([*texts[:number], *texts[number + 1 :]])
    raise SiteTableError("it does not say its build id")


def _section(elf: Elf, name: str) -> bytes:
    section = elf.section(name)
    if section is None:
        raise SiteTableError(f"it has no section {name}")
    return elf.contents(section)


# --- building ------------------------------------------------------------------------------------------------


def _of_inputs(error: BuildError, program: Program) -> BuildError:
    """Inputs declared in a function that is left uninstrumented surface only as undefined names at the link."""
    if "__score_" not in error.what or not program.notes:
        return error
    note = program.notes[0]
    hint = "Declare the symbolic inputs in another function, or take that construct out of this one."
    return BuildError(f"{note.what}, but it declares symbolic inputs", f"{note.file}:{note.line}", hint)


def identity_of(
    toolchain: Toolchain, program: Program, files: Sequence[Path], flags: Sequence[Sequence[str]]
) -> bytes:
    """Of all that is compiled and linked, but for what one image says of itself. Raises UsageError, StorageError."""
    board = toolchain.board
    parts: list[object] = [
        identity.toolkit(*identity.BUILDING),
        identity.compiler(board.cc),
        toolchain.runtime_digest,
        board.cflags,
        board.ldflags,
        board.runtime,
        board.linker_script,
        board.firmware,
        toolchain.macros(),
        [list(own) for own in flags],
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
    digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape"))
    script = toolchain.board.firmware.script
    for path in [*files, *([script] if script else [])]:
        digest.update(path.name.encode() + b"\0" + _read(path) + b"\0")
    return digest.digest()


def build_id_of(made_of: bytes, facts: Facts) -> bytes:
    """The build id of an image: of what it is made (`identity_of`), and what it says of itself."""
    said = json.dumps(to_builtins(facts), separators=(",", ":"))
    return hashlib.sha256(made_of + said.encode()).digest()[:16]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", str(path)) from None


def identity_source(program: Program, build_id: bytes, facts: Facts) -> str:
    """The generated C file that makes an image recognisable; `facts` go with the site table's texts."""
    text = json.dumps(json.dumps(to_builtins(facts), separators=(",", ":"))).replace("?", "\\?")
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
