"""Which names a program's link would not find: asked of the linker itself, with the board's libraries.

A file that names them all is linked with what else the program is linked of; what the linker says is undefined of these
names is missing. A name to which the linker's script gives a value is not.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from score_embed.command import workers
from score_embed.errors import StorageError
from score_embed.image.messages import ANSWERED
from score_embed.image.toolchain import ASSEMBLY, Toolchain, execute, run_tool

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ASSIGNED = re.compile(r"([A-Za-z_.$][\w.$]*)\s*[-+*/|&]?=(?!=)")
_UNDEFINED = re.compile(r"undefined reference to `([^']+)'")


def missing_names(
    toolchain: Toolchain,
    names: Mapping[str, str],
    native: Sequence[Path],
    objects: Sequence[Path],
    flags: Mapping[Path, Sequence[str]],
) -> set[str]:
    """Those of `names` that nothing defines; each leads to its symbol. Raises BuildError, StorageError."""
    if not names:
        return set()
    answered = {*ANSWERED, *_of_scripts(toolchain, names.values())}
    with tempfile.TemporaryDirectory(prefix="score-embed-") as folder:
        work = Path(folder)
        plain = [*native, *(path for path in objects if path.suffix in ASSEMBLY)]
        made = [work / f"{number}.o" for number in range(len(plain))]
        with workers() as pool:
            own = [flags.get(path, ()) for path in plain]
            list(pool.map(toolchain.compile_plain, plain, made, own))
        kept = [path for path in objects if path.suffix not in ASSEMBLY]
        libraries = dict.fromkeys(f for each in flags.values() for f in each if f.startswith(("-l", "-L")))
        undefined = _undefined(toolchain, work, sorted(set(names.values())), [*made, *kept], list(libraries))
    return {name for name, symbol in names.items() if symbol in undefined - answered}


def _undefined(
    toolchain: Toolchain, work: Path, symbols: Sequence[str], files: Sequence[Path], libraries: Sequence[str]
) -> set[str]:
    declared = "".join(f'extern char wanted{i}[] __asm__("{symbol}");\n' for i, symbol in enumerate(symbols))
    used = ", ".join(f"wanted{i}" for i in range(len(symbols)))
    source = work / "names.c"
    source.write_text(f"{declared}const void *const __score_names[] = {{ {used} }};\n", encoding="utf-8")
    board = toolchain.board
    run_tool([board.cc, *board.cflags, "-w", "-c", str(source), "-o", str(work / "names.o")], "names")
    objects = [str(work / "names.o"), *map(str, files)]
    grouped = ["-Wl,--start-group", *objects, "-Wl,--end-group", *libraries]
    command = [board.cc, *board.cflags, *toolchain.link_flags(), *grouped, *board.ldflags, "-o", str(work / "out")]
    return set(_UNDEFINED.findall(execute(command, "link").stderr))


def _of_scripts(toolchain: Toolchain, symbols: Iterable[str]) -> set[str]:
    """The symbols that the board's linker script, or the program's own, gives a value to."""
    script = toolchain.board.firmware.script or toolchain.script()
    if script is None:
        return set()
    try:
        text = _COMMENT.sub(" ", script.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise StorageError(f"cannot read the linker script: {error.strerror}", str(script)) from None
    return set(_ASSIGNED.findall(text)) & set(symbols)
