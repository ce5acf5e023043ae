"""From instrumented C and what is linked with it to an image: everything compiled at once, what the program calls as
the runtime does set apart, and one link.

The runtime's objects are compiled once for a board and its flags: most of an image's build is theirs.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from score_embed.cache import cache_folder, is_kept, publish
from score_embed.command import workers
from score_embed.contract.program import LIBRARY, Program
from score_embed.errors import BuildError
from score_embed.image import extents, identity
from score_embed.image.contained import MARK, is_self_contained
from score_embed.image.layout import check_sections, link_firmware
from score_embed.image.linking import Parts, link_parts, set_apart
from score_embed.image.messages import RUNTIME, explained
from score_embed.image.objects import check_objects, shared_variables
from score_embed.image.toolchain import ASSEMBLY, HEAP_NAMES, Toolchain

_NATIVE = "native"  # begins the names of objects without probes that are made here


@dataclass(frozen=True)
class Files:
    """What is compiled and linked. `objects`: also assembly; `flags`: of each of the user's C files; `cflags`: of the
    link; `identity`: the generated C file that makes the image recognisable; `progress`: is told each step."""

    sources: Sequence[Path]
    native: Sequence[Path]
    objects: Sequence[Path]
    flags: Mapping[Path, Sequence[str]]
    cflags: Sequence[str]
    identity: str
    progress: Callable[[str], None]

    @property
    def archives(self) -> tuple[Path, ...]:
        """Objects and archives, linked as they are."""
        return tuple(path for path in self.objects if path.suffix not in ASSEMBLY)


def compiled(toolchain: Toolchain, work: Path, program: Program, files: Files, *, verify: bool) -> Path:
    """The linked image, in `work`. Raises BuildError, UsageError, StorageError."""
    objects = compile_program(toolchain, work, program, files, verify=verify, identified=True)
    return link_program(toolchain, work, program, files, objects)


def link_program(
    toolchain: Toolchain, work: Path, program: Program, files: Files, objects: Objects, extra: Sequence[str] = ()
) -> Path:
    """The image, in `work`, of what was compiled; `files.identity` and the flags `extra` are its own. Raises
    BuildError, UsageError, StorageError."""
    ident, identified = work / "identity.c", work / "identity.o"
    if not identified.exists():  # of many images, each has its own
        ident.write_text(files.identity)
        toolchain.compile_identity(ident, identified)
    made = [*objects.made, identified, *objects.runtime]
    names = dict(objects.names) | {str(ident): RUNTIME, str(identified): RUNTIME}
    files.progress("linking")
    kept = files.archives
    check_objects(kept, made[0], toolchain.board.cc)
    built = work / "image.elf"
    plain = [path for path in made if path.stem.startswith(_NATIVE)]
    apart = set_apart(toolchain, [*plain, *kept], work)
    names |= {str(copy): names.get(str(path), str(path)) for path, copy in apart.items()}
    probed = made[: len(files.sources) + bool(program.library)]
    listed = shared_variables(probed, list(apart.values()))
    if listed:
        (work / "shared.c").write_text(listed, encoding="utf-8")
        made.append(work / "shared.o")
        toolchain.compile_identity(work / "shared.c", made[-1])
    parts = Parts(tuple(apart.get(path, path) for path in made), tuple(apart[path] for path in kept), names)
    link_flags = [*files.cflags, *extra, *(HEAP_NAMES if program.heap else ())]
    if toolchain.is_process and is_self_contained(toolchain, program, probed, alone=len(plain) + len(kept) == 0):
        link_flags.append(MARK)
    if toolchain.board.firmware.script is not None:
        link_firmware(toolchain, parts, built, link_flags)
    else:
        link_parts(toolchain, parts, built, link_flags)
        check_sections(built, toolchain.board.hardware)
    extents.order(built, [path for path in (*made, *kept) if names.get(str(path)) != RUNTIME])
    return built


@dataclass(frozen=True)
class Objects:
    """What an image is linked of, beside its identity: the objects of the program and of the runtime, and the names of
    the files they are of."""

    made: tuple[Path, ...]
    runtime: tuple[Path, ...]
    names: Mapping[str, str]


def compile_program(
    toolchain: Toolchain, work: Path, program: Program, files: Files, *, verify: bool, identified: bool = False
) -> Objects:
    """Everything compiled, into `work`; `identified`: also the file that makes the image recognisable, which only a
    link in that folder takes. Raises BuildError, StorageError."""
    flags = files.flags
    plain = [*files.native, *(path for path in files.objects if path.suffix in ASSEMBLY)]
    jobs: list[tuple[Path, str, Path, Sequence[str]]] = []
    names: dict[str, str] = {}
    for index, (path, text) in enumerate(zip(files.sources, program.texts, strict=True)):
        source = work / f"unit{index}.c"
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        jobs.append((source, "instrumented", work / f"unit{index}.o", flags[path]))
        names |= {str(source): str(path), str(jobs[-1][2]): str(path)}
    if program.library:
        source = work / "models.c"
        source.write_text(program.library, encoding="utf-8")
        jobs.append((source, "instrumented", work / "models.o", flags[files.sources[0]]))
        names |= {str(source): LIBRARY, str(jobs[-1][2]): LIBRARY}
    for index, path in enumerate(plain):
        jobs.append((path, "plain", work / f"{_NATIVE}{index}.o", flags.get(path, ())))
        names[str(jobs[-1][2])] = str(path)
    if identified:
        ident = work / "identity.c"
        ident.write_text(files.identity)
        jobs.append((ident, "identity", work / "identity.o", ()))
        names |= {str(ident): RUNTIME, str(jobs[-1][2]): RUNTIME}

    def compile_one(job: tuple[Path, str, Path, Sequence[str]]) -> Path:
        source, how, output, own = job
        files.progress(f"compiling {names.get(str(source), source)}")
        try:
            if how == "instrumented":
                toolchain.compile_instrumented(source, output, own, verify=verify)
            elif how == "plain":
                toolchain.compile_plain(source, output, own)
            else:
                toolchain.compile_identity(source, output)
        except BuildError as error:
            error.where = names.get(error.where, error.where)  # a working file, where gcc named no line
            raise
        return output

    try:
        with workers() as pool:
            made = tuple(pool.map(compile_one, jobs))[: len(jobs) - identified]
    except BuildError as error:  # said where the user wrote it
        raise explained(error, toolchain, files.sources, files.native, files.flags) from None
    files.progress("compiling the runtime")
    shared = tuple(runtime_objects(toolchain, verify=verify, heap=program.heap))
    return Objects(made, shared, names | dict.fromkeys(map(str, shared), RUNTIME))


def runtime_objects(toolchain: Toolchain, *, verify: bool, heap: bool = False) -> list[Path]:
    """The objects of all its files, of the arena's too if the program has a heap. Raises BuildError, StorageError."""
    common = _identity(toolchain)

    def one(source: Path) -> Path:
        command = toolchain.runtime_command(source, verify=verify)
        return _kept(common, repr(command), lambda built: toolchain.compile_runtime(source, built, verify=verify))

    def all_of_them() -> list[Path]:
        with workers() as pool:
            return list(pool.map(one, toolchain.runtime_sources(heap=heap)))

    if not toolchain.combines:
        return all_of_them()
    commands = [toolchain.runtime_command(source, verify=verify) for source in toolchain.runtime_sources(heap=heap)]
    return [_kept(common, f"all of {commands}", lambda built: toolchain.combine(all_of_them(), built))]


def _kept(common: bytes, which: str, make: Callable[[Path], None]) -> Path:
    """The object of that description, from the cache or made anew."""
    kept = cache_folder() / f"{hashlib.sha256(common + which.encode()).hexdigest()[:32]}.o"
    if not is_kept(kept):
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            built = Path(work) / kept.name
            make(built)
            publish(built, kept)
    return kept


def _identity(toolchain: Toolchain) -> bytes:
    """Of all that may be read, and of the compiler: its objects may not fit those of another version."""
    steps = identity.toolkit("board", "image")
    parts = [steps, identity.compiler(toolchain.board.cc), str(toolchain.runtime), toolchain.runtime_digest]
    return hashlib.sha256(repr(parts).encode()).digest()
