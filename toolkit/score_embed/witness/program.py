"""The plain program under gcc's sanitizers, built once: the texts that get probes for the other witness, without them.

The preprocessed texts are what the user's compiler made of the sources, with the `main` of `--entry`, `--argv` or
`--stdin-bytes`; so both witnesses have the same program. `-O1` without the removal of dead code: what is never read is
overrun all the same, and where functions are declared `inline` a program may need to be optimised to be linked. And
without the joining of expressions (`-ftree-ter`): an access of an inlined function would count as its caller's line.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from score_embed import places
from score_embed.board.profile import Board, NativeRun
from score_embed.cache import cache_folder, is_kept, publish, trim
from score_embed.command import Task, Workers, end_all, workers
from score_embed.errors import BuildError, StorageError
from score_embed.frontend.c.preprocess import preprocess
from score_embed.image import identity
from score_embed.image.image import Plain
from score_embed.image.toolchain import ASSEMBLY, SEMANTICS, Toolchain, run_tool
from score_embed.witness import reports

SERVER = Path("witness") / "server.c"  # in the runtime's folder
_LINES = ("-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-tree-ter")  # reports name them
_CODE = ("-O1", *_LINES, "-fno-tree-dce", "-fno-tree-dse", "-w")
_SERVER = ("-O1", "-g1", "-w", "-std=gnu11", "-fno-pie", "-fsanitize=address")
_STATIC = ("-static-libasan", "-static-libubsan", "-no-pie")  # of the sanitizers one copy, which a fork shares


def is_for(board: Board) -> bool:
    """Other boards' programs have another ABI, or are run by an emulator."""
    return isinstance(board.run, NativeRun) and not board.run.emulator


class Builder:
    """Builds beside the image's own build: most of that is not the compiler's time."""

    def __init__(self, board: Board, checks: frozenset[str]) -> None:
        self._board, self._checks = board, checks
        self._pool = Workers(1)
        self._built: Task[Path] | None = None

    def begin(self, plain: Plain) -> None:
        self._built = self._pool.begin(lambda: build(self._board, self._checks, plain))

    def result(self) -> Path:
        """The program, in the cache. Raises BuildError, StorageError."""
        assert self._built is not None
        try:
            return self._built.result()
        finally:
            self.close()

    def abandon(self) -> None:
        """Nobody wants the program any more."""
        self._pool.drop()
        end_all()

    def close(self) -> None:
        self._pool.drop()
        self._pool.close()


def build(board: Board, checks: frozenset[str], plain: Plain) -> Path:
    """The program, in the cache. Raises BuildError, StorageError."""
    compiler = _Compiler(board, checks)
    texts = [(source.text, plain.flags[source.path], str(source.path)) for source in plain.texts]
    for path in plain.native:  # by their text, too: so a changed header is noticed
        own = plain.flags[path]
        text = preprocess(board.cc, Toolchain(board).preprocessor_flags(own), path)
        texts.append((text, own, str(path)))
    kept = cache_folder() / f"{compiler.identity(texts, plain)}.witness"
    if not is_kept(kept):
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            publish(compiler.build(Path(work), texts, plain), kept)
        trim(cache_folder())
    return kept


class _Compiler:
    """The board's compiler with the sanitizers' flags."""

    def __init__(self, board: Board, checks: frozenset[str]) -> None:
        self._board = board
        self._sanitizers = reports.flags(checks)
        self._semantics = [flag for flag in SEMANTICS if flag != "-fwrapv" or "overflow" not in checks]
        self._server = places.shipped("runtime") / SERVER

    def identity(self, texts: Sequence[tuple[str, Sequence[str], str]], plain: Plain) -> str:
        """Of all that goes in, and of the compiler."""
        parts = [*self._compiler(), plain.cflags, self._sanitizers, self._semantics, _CODE, _STATIC, _SERVER]
        digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape"))
        for text, flags, _ in texts:
            digest.update(repr(_code_flags(flags)).encode() + text.encode("utf-8", "surrogateescape") + b"\0")
        for path in (self._server, *plain.objects):
            digest.update(hashlib.sha256(self._read(path)).digest())
        return digest.hexdigest()[:32]

    def build(self, work: Path, texts: Sequence[tuple[str, Sequence[str], str]], plain: Plain) -> Path:
        def compiled(text: str, flags: Sequence[str], name: str) -> Path:
            own = [*_code_flags(flags), *self._semantics, *_CODE, *self._sanitizers, "-fno-pie", "-fpreprocessed"]
            return self._object(work, text.encode("utf-8", "surrogateescape"), own, name)

        with workers() as pool:
            made = list(pool.map(lambda each: compiled(*each), texts))
        for number, path in enumerate(path for path in plain.objects if path.suffix in ASSEMBLY):
            made.append(work / f"assembly{number}.o")
            self._run(["-w", *plain.cflags, "-c", str(path), "-o", str(made[-1])], str(path))
        served = self._object(work, self._read(self._server), _SERVER, str(self._server))
        return self._linked(work, [*made, served], plain)

    def _object(self, work: Path, text: bytes, flags: Sequence[str], name: str) -> Path:
        """Of a C file, compiled once: programs that differ in one file, or in where they begin, share the others."""
        digest = hashlib.sha256(repr([self._compiler(), flags]).encode() + text)
        kept = cache_folder() / f"{digest.hexdigest()[:32]}.o"
        if not is_kept(kept):
            source = work / kept.with_suffix(".i" if "-fpreprocessed" in flags else ".c").name
            source.write_bytes(text)
            made = source.with_suffix(".o")
            self._run([*flags, "-c", str(source), "-o", str(made)], name)
            publish(made, kept)
        return kept

    def _compiler(self) -> list[object]:
        """What makes objects of two builds different, beside what is compiled."""
        steps = identity.toolkit("board", "image", "witness")
        return [steps, identity.compiler(self._board.cc), self._board.cflags, self._board.ldflags]

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise StorageError(f"cannot read the file: {error.strerror}", str(path)) from None

    def _linked(self, work: Path, made: Sequence[Path], plain: Plain) -> Path:
        output = work / "witness"
        kept = [str(path) for path in plain.objects if path.suffix not in ASSEMBLY]
        libraries = [flag for flag in plain.cflags if flag.startswith(("-l", "-L", "-Wl,"))]
        command = [*self._sanitizers, *_STATIC, *map(str, made)]
        command += ["-Wl,--start-group", *kept, "-Wl,--end-group", *libraries, *self._board.ldflags, "-o", str(output)]
        self._run(command, "link")
        loader = _loader(output)
        if loader and not Path(loader).exists():  # a compiler for another system's processes that run here, too
            found = Path(self._run([f"-print-file-name={Path(loader).name}"], "link").strip()).resolve()
            self._run([*command, f"-Wl,--dynamic-linker={found}", f"-Wl,-rpath,{found.parent}"], "link")
        return output

    def _run(self, flags: Sequence[str], where: str) -> str:
        return run_tool([self._board.cc, *self._board.cflags, *flags], where)


def _code_flags(flags: Sequence[str]) -> list[str]:
    """Of a file's flags those that change what its preprocessed text means."""
    return [flag for flag in flags if flag.startswith(("-f", "-m", "-O", "-std=")) or flag == "-ansi"]


def _loader(program: Path) -> str:
    """The dynamic linker that the program names, or "" if it names none."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with program.open("rb") as file:
            names = (segment.data() for segment in ELFFile(file).iter_segments("PT_INTERP"))
            return os.fsdecode(next(names, b"").rstrip(b"\0"))
    except (OSError, ELFError) as error:
        raise BuildError(f"the compiler made no program: {error}", str(program)) from None
