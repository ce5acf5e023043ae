"""The compilers as judges of types and values: static assertions that must compile."""

from __future__ import annotations

import subprocess
from pathlib import Path

from score_embed.frontend.types import DataModel, Types

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
