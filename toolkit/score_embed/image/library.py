"""The models of the C library (`runtime/libc`) for one program: found by their files' names, preprocessed for its board."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.models import HEAP, ON_HEAP, Models
from score_embed.image.objects import defined_names
from score_embed.image.toolchain import Toolchain


def library_models(toolchain: Toolchain, cflags: Sequence[str], *, heap: bool = True, stdin: bool = False) -> Models:
    """`cflags`: the program's; those that change code count for the models, too. `heap`: with malloc's family; `stdin`: with
    what reads standard input. Raises BuildError."""
    folder = toolchain.runtime / "libc"
    paths = [*folder.glob("*.c"), *(folder.glob("stdin/*.c") if stdin else [])]
    files = {path.stem: path for path in paths if heap or path.stem not in ON_HEAP}

    def load(names: Sequence[str]) -> str:
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            unit = Path(work) / "models.c"
            unit.write_text("".join(f'#include "{files[name]}"\n' for name in names), encoding="utf-8")
            return preprocess(toolchain.board.cc, toolchain.library_flags(cflags), unit)

    try:
        return Models({name: path.read_text(encoding="utf-8") for name, path in files.items()}, load, heap)
    except OSError as error:
        raise BuildError(f"cannot read the models of the C library: {error.strerror}", str(error.filename)) from None


def has_allocator(
    toolchain: Toolchain, native: Sequence[Path], objects: Sequence[Path], flags: Mapping[Path, Sequence[str]]
) -> bool:
    """Whether malloc or one of its kin is defined in what is linked as it is. Raises UsageError, BuildError."""
    try:
        suspects = [path for path in (*native, *objects) if any(name.encode() in path.read_bytes() for name in HEAP)]
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", str(error.filename)) from None
    with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
        made = [path for path in suspects if path.suffix in (".o", ".a")]
        for number, path in enumerate(path for path in suspects if path not in made):
            output = Path(work) / f"{number}.o"
            toolchain.compile_plain(path, output, flags.get(path, ()))
            made.append(output)
        return bool(defined_names(made) & HEAP)
