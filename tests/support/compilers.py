"""The compilers as judges of types and values (static assertions that must compile) and of what is printed (same
code)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.types.ctype import Types
from score_embed.frontend.types.data_model import DataModel

_SOURCE_NAME = re.compile(r'^\s*\.file|"<stdin>"')
_NUMBERED = re.compile(r"\b([A-Za-z_]\w*)\.(\d+)\b")

COMPILERS = [
    ["gcc"],
    ["i686-linux-gnu-gcc"],
    ["arm-linux-gnueabihf-gcc"],
    ["aarch64-linux-gnu-gcc"],
    ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb"],
    ["avr-gcc", "-mmcu=atmega2560"],
]


def types_of(command: list[str]) -> Types:
    done = subprocess.run([*command, "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True)
    return Types(DataModel.from_macros(done.stdout, command))


def assert_compiles(command: list[str], lines: list[str], folder: Path) -> None:
    source = folder / "oracle.c"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [*command, "-fsyntax-only", str(source)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[:2000]


def assembly(compiler: str, text: str, flags: tuple[str, ...] = ()) -> str:
    """What the compiler makes of preprocessed text, without positions and file names."""
    command = [compiler, *flags, "-g0", "-fpreprocessed", "-w", "-O1", "-S", "-x", "c", "-", "-o", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()[:2000] + text[-2000:]
    lines = "\n".join(line for line in done.stdout.decode().splitlines() if not _SOURCE_NAME.search(line))
    numbers: dict[str, int] = {}  # of static locals: old compilers count declarations, also those that are left out
    return _NUMBERED.sub(lambda found: f"{found[1]}.{numbers.setdefault(found[0], len(numbers))}", lines)


def assert_same_code(compiler: str, source: Path, flags: tuple[str, ...] = ()) -> None:
    text = preprocess(compiler, flags, source)
    printed = to_c(parse(text, str(source)))
    plain = re.sub(r"^# \d+ .*$", "", text, flags=re.MULTILINE)
    assert assembly(compiler, plain, flags) == assembly(compiler, printed, flags)
    # Printing is a fixed point: what was printed is read as the same program.
    assert to_c(parse(printed, "printed.c")) == printed
