"""The board's own compiler: one data-model probe, one compile per file, one link.

Every failure is one BuildError with all that the compiler said; a missing tool is a UsageError naming the
package that brings it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from score_embed import places
from score_embed.board.profile import Board, QemuRun
from score_embed.command import run_command
from score_embed.errors import BuildError
from score_embed.frontend.c.complaints import complaint
from score_embed.frontend.types.data_model import DataModel
from score_embed.image import identity

ASSEMBLY = (".s", ".S")
SUFFIXES = (".o", ".a", *ASSEMBLY)  # of files that are linked as they are
ROOMY = 1 << 20  # bytes of flash
# bytes of a generated file: a compiler takes 3 ms for a probe that is inline, six times what its call takes
QUICK = 512 << 10
# Where each pointer may point to takes gcc time with the square of a function's size: three minutes for lua's
# interpreter, 88 % of all. Five other large files of it are as large without, to the byte; their instructions differ in
# places.
_SWIFTLY = ("-fno-tree-pta",)
DEADLINE = 300  # seconds for one run of the compiler

# So that the host's bit-vector semantics and the compiler's agree, and so that a name of the user's that is also a
# builtin's stays a call.
SEMANTICS = (
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-fast-math",
    "-ffp-contract=off",
    "-fstack-reuse=none",
    "-fno-isolate-erroneous-paths-dereference",  # it would turn a division by zero into an illegal instruction
)
# There all variables of the user's have the scope of their function: only what probes are handed shares places.
# Of debug information only lines are looked at; what there is of variables takes as long as all the rest.
INSTRUMENTED = (*SEMANTICS, "-fstack-reuse=all", "-g1")
# gcc 12 at -O2 duplicates volatile stores of a loop (loop-invariant store motion): bytes would go out twice.
# Nor may a loop become a call of memset: the program may have one of its own, with probes in it.
# Two numbers of a hash that are put down as one vector take longer than two stores: the next step reads them at once.
_RUNTIME = (
    *("-std=gnu99", "-ffreestanding", "-w"),
    *("-fno-tree-loop-im", "-fno-tree-loop-distribute-patterns", "-fno-tree-slp-vectorize"),
)
_WRAPPED = (
    *("_exit", "_Exit", "abort", "sbrk", "__sbrk", "mmap", "mmap64", "__mmap", "__mmap64"),
    *("__write", "__fstat64", "__fstat64_time64"),  # how the C library's streams write
)
_LINUX = ("-static", "-no-pie", "-Wl,-Ttext-segment=0x400000", *(f"-Wl,--wrap={name}" for name in _WRAPPED))
PORTS: dict[str, tuple[str, ...]] = {
    "x86": _LINUX,
    "arm-linux": _LINUX,
    "arm": ("-nostartfiles", "-Wl,-z,noexecstack"),
    "riscv": ("-nostartfiles", "-Wl,-z,noexecstack"),
    "avr": ("-nostartfiles",),
}
# What several ports have in common.
SHARED = {"x86": "posix", "arm-linux": "posix", "arm": "bare", "riscv": "bare", "avr": "bare"}
# What the runtime calls or wraps of the C library's: a program's own of such a name gets another one.
CALLED = {
    "posix": frozenset(
        {
            *("close", "dup2", "execv", "fcntl", "fstat", "ftruncate", "ftruncate64", "getrlimit", "lseek", "lseek64"),
            *("madvise", "memcpy", "memfd_create", "memset", "mincore", "mprotect", "munmap", "open"),
            *("personality", "prctl", "pread", "pread64", "raise", "read", "setitimer", "setrlimit"),
            *("sigaction", "sigaltstack", "sigemptyset", "signal", "sigprocmask", "strchr", "strlen", "strstr"),
            *("syscall", "write", *_WRAPPED),
        }
    ),
    "bare": frozenset(),
}
# With an arena of the runtime's own these are its functions in code without probes, the C library's included.
HEAP_NAMES = tuple(
    f"-Wl,--wrap={name}"
    for name in (
        *("malloc", "free", "calloc", "realloc", "aligned_alloc", "memalign", "posix_memalign", "malloc_usable_size"),
        *("_malloc_r", "_free_r", "_calloc_r", "_realloc_r", "_memalign_r"),
    )
)
# gcc sees the whole runtime at once: what every probe calls can become part of it, and probes that a program does not
# use are left out.
_WHOLE = ("-flto=1", "-flto-partition=one")
# What gcc 12 does for time in spite of -Os: it copies code, and keeps in registers what is near.
_SMALL = (
    *("-fno-ipa-cp", "-fno-thread-jumps", "-fno-move-loop-invariants", "-fno-caller-saves", "-fno-schedule-insns2"),
    *("-fno-if-conversion", "-fno-tree-tail-merge", "-fno-tree-dominator-opts"),
)
_BEFORE_C99 = frozenset(
    {"-ansi", *(f"-std={name}" for name in ("c89", "c90", "gnu89", "gnu90", "iso9899:1990", "iso9899:199409"))}
)


class LinkFailed(Exception):
    """The linker's messages."""

    def __init__(self, messages: str) -> None:
        super().__init__(messages)
        self.messages = messages


class Toolchain:
    """One board's compiler with its flags."""

    def __init__(self, board: Board) -> None:
        board.require_tools()
        self.board = board
        self.runtime = places.shipped("runtime")
        self._predefined: dict[tuple[str, ...], str] = {}  # macros, by the flags

    def macros(self) -> list[str]:
        """What the runtime and its linker script are told of the board."""
        run = self.board.run
        semihosting = isinstance(run, QemuRun) and run.link == "semihosting"
        macros = {**self.board.hardware.macros(), **self.board.firmware.macros()}
        found = [f"-D{name}={value}" for name, value in macros.items()]
        emulated = ["-DSC_QEMU"] if isinstance(run, QemuRun) else []
        return [*found, *emulated, *(["-DSC_SEMIHOSTING"] if semihosting else [])]

    @cached_property
    def runtime_digest(self) -> str:
        """Of the files of the runtime, which decide what is built as the program's do. Raises StorageError."""
        return identity.runtime(self.runtime)

    def predefined(self, cflags: Sequence[str]) -> str:
        """The macros that the compiler itself defines: they tell types, code and its version. Raises BuildError."""
        flags = (*self.board.cflags, *_code_generation(cflags))
        if flags not in self._predefined:
            command = [self.board.cc, *flags, "-dM", "-E", "-x", "c", "/dev/null"]
            self._predefined[flags] = run_tool(command, "data model")
        return self._predefined[flags]

    def data_model(self, cflags: Sequence[str]) -> DataModel:
        flags = [*self.board.cflags, *_code_generation(cflags)]
        text = self.predefined(cflags)
        if "#define __clang__ " in text:
            hint = "Name a gcc as the profile's `compiler`: the formulas rest on flags that clang does not have."
            raise BuildError("this is clang, score-embed needs gcc", self.board.cc, hint)
        try:
            return DataModel.from_macros(text, flags)
        except KeyError as missing:
            raise BuildError(
                f"the compiler does not define {missing}", self.board.cc, "score-embed needs gcc."
            ) from None

    def preprocessor_flags(self, cflags: Sequence[str]) -> list[str]:
        """For a file that is explored: the wrappers of the C library's headers come before those, and nothing else of
        ours before what the program has."""
        wrappers = ["-isystem", f"{self.runtime}/libc/include"]
        return [*self.board.cflags, *wrappers, *cflags, *self._public()]

    def _public(self) -> list[str]:
        """Where `score.h` is, and nothing else; last, for a program may have a file of that name."""
        return ["-isystem", f"{self.runtime}/include"]

    def _private(self) -> list[str]:
        """First, for generated files include the runtime's headers, and no flag of a profile may bring others."""
        return ["-iquote", str(self.runtime)]

    def library_flags(self, cflags: Sequence[str]) -> list[str]:
        """For the models of the C library."""
        return [*self.board.cflags, *_code_generation(cflags)]

    def compile_instrumented(self, source: Path, output: Path, cflags: Sequence[str], *, verify: bool) -> None:
        flags = [
            *self._private(),
            *self.board.cflags,
            *_code_generation(cflags),
            *INSTRUMENTED,
            "-w",
            *(["-DSC_VERIFY"] if verify else self._quiet(source)),
            *(_SWIFTLY if _is_large(source) else ()),
        ]
        run_tool([self.board.cc, *flags, "-c", str(source), "-o", str(output)], str(source))

    def _quiet(self, source: Path) -> list[str]:
        """Probes that have nothing to say are inline (runtime/quiet.h): where bytes of code cost nothing, and there is
        room for four times as many; but in a file that would take the compiler long."""
        if _is_large(source):
            return []
        flash, is_fed = self.board.hardware.flash, bool(self.board.firmware.feed)  # fed at branches
        has_room = flash is None or flash.size >= ROOMY
        return ["-DSC_QUIET", *self.macros()] if self._flash_is_cheap() and has_room and not is_fed else []

    def check_source(self, source: Path, cflags: Sequence[str], *, probes: bool) -> None:
        """Raises BuildError if a file of the user's, as it is written, is no C that compiles."""
        flags = [*self.preprocessor_flags(cflags), "-DSCORE_EMBED=1"] if probes else self._plain_flags(cflags)
        run_tool([self.board.cc, *flags, "-w", "-fsyntax-only", str(source)], str(source))

    def compile_plain(self, source: Path, output: Path, cflags: Sequence[str]) -> None:
        """A file of the user's that gets no probes: C (`--native`) or assembly."""
        run_tool([self.board.cc, *self._plain_flags(cflags), "-c", str(source), "-o", str(output)], str(source))

    def _plain_flags(self, cflags: Sequence[str]) -> list[str]:
        return [*self.board.cflags, *SEMANTICS, "-DSCORE_EMBED=1", *cflags, *self._public()]

    def _port(self) -> tuple[Path, Path]:
        """The folder of the port, and what it shares with others."""
        return self.runtime / self.board.runtime, self.runtime / SHARED[self.board.runtime]

    def runtime_sources(self, *, heap: bool) -> list[Path]:
        """`heap`: with the arena."""
        folders = (self.runtime, *self._port(), *([self.runtime / "heap"] if heap else []))
        return sorted(path for folder in folders for pattern in ("*.c", "*.S") for path in folder.glob(pattern))

    @property
    def is_process(self) -> bool:
        """The image is a Linux process, perhaps in an emulator."""
        return SHARED[self.board.runtime] == "posix"

    @property
    def combines(self) -> bool:
        """The runtime becomes one object before the link: so that is compiled once, but has all probes in it."""
        return bool(self.whole()) and self._flash_is_cheap()

    def whole(self) -> tuple[str, ...]:
        """Flags with which the runtime is compiled and linked as one, if this compiler has them."""
        if not Path(self.board.cc).name.endswith("gcc"):
            return ()
        return _WHOLE if self._flash_is_cheap() else (*_WHOLE, *_SMALL)

    def runtime_flags(self) -> tuple[str, ...]:
        """How the runtime is compiled, on its own or as one."""
        return (*_RUNTIME, "-O3" if self._flash_is_cheap() else "-Os")

    def _flash_is_cheap(self) -> bool:
        """In a process and in an emulator time counts, on a board bytes. AVR's emulator goes astray in such code, and
        ld 2.40 cannot relax it for RISC-V."""
        emulated = isinstance(self.board.run, QemuRun) and self.board.runtime == "arm"
        return emulated or self.is_process

    def compile_identity(self, source: Path, output: Path) -> None:
        """The generated file, whose objects are looked for by name: never a part of the whole."""
        flags = [*self._private(), *self.board.cflags, *self.runtime_flags()]
        run_tool([self.board.cc, *flags, "-c", str(source), "-o", str(output)], str(source))

    def runtime_command(self, source: Path, *, verify: bool) -> list[str]:
        """How one of the runtime's files is compiled."""
        folders = [flag for folder in self._port() for flag in ("-iquote", str(folder))]
        flags = [*self._private(), *folders, *self.board.cflags, *self.runtime_flags(), *self.whole()]
        flags += ["-DSC_VERIFY"] if verify else []
        flags += ["-DSC_QUIET_STATE"] if self._flash_is_cheap() else []
        return [self.board.cc, *flags, *self.macros(), "-c", str(source)]

    def compile_runtime(self, source: Path, output: Path, *, verify: bool) -> None:
        run_tool([*self.runtime_command(source, verify=verify), "-o", str(output)], str(source))

    def combine(self, objects: Sequence[Path], output: Path) -> None:
        """The runtime's objects as one."""
        flags = [
            *self.board.cflags,
            *self.runtime_flags(),
            *self.whole(),
            "-nostdlib",
            "-r",
            "-flinker-output=nolto-rel",
        ]
        run_tool([self.board.cc, *flags, *map(str, objects), "-o", str(output)], "the runtime")

    def link(
        self,
        objects: Sequence[Path],
        kept: Sequence[Path],
        output: Path,
        cflags: Sequence[str],
        extra: Sequence[str] = (),
    ) -> None:
        """`kept`: objects and archives that were given; `extra`: further flags. Raises LinkFailed with the linker's
        messages."""
        script = self._linker_script(output.with_suffix(".ld"))
        command = [
            self.board.cc,
            *self.board.cflags,
            *PORTS[self.board.runtime],
            *(() if self.combines else self.whole()),
            *([f"-T{script}"] if script else []),
            *extra,
            *map(str, objects),
            *(["-Wl,--start-group", *map(str, kept), "-Wl,--end-group"] if kept else []),
            *(flag for flag in cflags if flag.startswith(("-l", "-L", "-Wl,"))),
            *self.board.ldflags,
            "-o",
            str(output),
        ]
        done = execute(command, "link")
        if done.returncode:
            raise LinkFailed(done.stderr)

    def weaken(self, symbols: Sequence[str], source: Path, output: Path) -> None:
        """A copy of an object or archive whose definitions of these symbols make way for others."""
        self._copy([f"--weaken-symbol={name}" for name in symbols], source, output)

    def rename(self, symbols: Mapping[str, str], source: Path, output: Path) -> None:
        """A copy of an object or archive in which these symbols have other names."""
        self._copy([f"--redefine-sym={old}={new}" for old, new in symbols.items()], source, output)

    def defined(self, files: Sequence[Path]) -> set[str]:
        """The symbols that objects and archives define for others."""
        return self.symbols(files)[0]

    def symbols(self, files: Sequence[Path]) -> tuple[set[str], set[str]]:
        """Those that objects and archives define for others, and those that one of them takes from elsewhere."""
        lines = [line.split() for line in run_tool([self._tool("nm"), "-g", *map(str, files)], "nm").splitlines()]
        taken = {words[1] for words in lines if len(words) == 2 and words[0] in "Uwv"}
        return {words[2] for words in lines if len(words) == 3}, taken

    def _copy(self, changes: Sequence[str], source: Path, output: Path) -> None:
        run_tool([self._tool("objcopy"), *changes, str(source), str(output)], str(source))

    def _tool(self, name: str) -> str:
        """The program of that name that comes with the compiler."""
        return run_tool([self.board.cc, f"-print-prog-name={name}"], name).strip()

    def script(self) -> Path | None:
        """The port's linker script, as it is written."""
        return self._script(self.board.linker_script) if self.board.linker_script is not None else None

    def link_flags(self) -> list[str]:
        """How programs of this port are linked, without the runtime."""
        return [flag for flag in PORTS[self.board.runtime] if flag.startswith(("-static", "-no"))]

    def _linker_script(self, output: Path) -> Path | None:
        """The port's script, preprocessed with the board's memory map."""
        if self.board.linker_script is None:
            return None
        return self.expand(self.board.linker_script, output)

    def _script(self, name: str) -> Path:
        places = [folder / name for folder in self._port()]
        return next((path for path in places if path.is_file()), places[0])

    def expand(self, name: str, output: Path, macros: Sequence[str] = ()) -> Path:
        """A linker script of the port's, preprocessed."""
        script = self._script(name)
        flags = ["-E", "-P", "-undef", "-x", "c", *self.macros(), *macros]
        run_tool([self.board.cc, *flags, str(script), "-o", str(output)], str(script))
        return output


def _is_large(source: Path) -> bool:
    return source.stat().st_size > QUICK


def run_tool(command: Sequence[str], where: str) -> str:
    """What a compiler or one of its tools puts out. Raises BuildError if it cannot be run, complains, or does not
    finish."""
    done = execute(command, where)
    if done.returncode:
        raise complaint(done.stderr, where)
    return done.stdout


def execute(command: Sequence[str], where: str) -> subprocess.CompletedProcess[str]:
    """The same, whatever its exit code is."""
    try:
        done = run_command(command, DEADLINE)
    except subprocess.TimeoutExpired:
        hint = "Split its largest function, or give the file by `--native FILE`: without probes. Or the machine is too busy."
        raise BuildError(f"the compiler did not finish within {DEADLINE} s", where, hint) from None
    except OSError as error:
        raise BuildError(f"cannot run {command[0]}: {error.strerror}", where) from None
    output, complaints = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(command, done.returncode, output, complaints)


def _code_generation(cflags: Sequence[str]) -> list[str]:
    """The user's flags that change what types and code are; the rest has been spent on preprocessing."""
    flags = [flag for flag in cflags if flag.startswith(("-f", "-m", "-O"))]
    dialect = next((flag for flag in reversed(cflags) if flag.startswith("-std=") or flag == "-ansi"), "")
    # Emitted code is not of the user's dialect, but `inline` means what it means there.
    return [*flags, "-fgnu89-inline"] if dialect in _BEFORE_C99 else flags
