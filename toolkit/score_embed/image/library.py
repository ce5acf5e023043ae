"""The models of the C library (`runtime/libc`) for one program: found by their files' names, preprocessed for its
board."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from score_embed.contract.program import HEAP, LIBRARY, ON_HEAP
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.preprocess import preprocess
from score_embed.image.toolchain import Toolchain

# With optimization glibc's headers define some functions themselves, which are models here (atoi, tolower), and with
# this macro of the distributions' others (sprintf): in one unit that is a second definition.
_ONLY_DECLARED = ("-D__NO_INLINE__", "-U_FORTIFY_SOURCE")


class Library:
    """The models that a program can call."""

    def __init__(self, toolchain: Toolchain, cflags: Sequence[str], *, heap: bool = True, stdin: bool = False) -> None:
        """`cflags`: the program's; those that change code count for the models, too. `heap`: with malloc's family;
        `stdin`: with what reads standard input."""
        self.heap = heap
        self.kinds = (heap, stdin)  # which of the runtime's models there are
        self._toolchain, self._cflags = toolchain, cflags
        folder = toolchain.runtime / "libc"
        paths = [*folder.glob("*.c"), *(folder.glob("stdin/*.c") if stdin else [])]
        self._files = {path.stem: path for path in paths if heap or path.stem not in ON_HEAP}

    def texts(self) -> dict[str, str]:
        """Model's name → its source, as it is written. Raises BuildError."""
        try:
            return {name: path.read_text(encoding="utf-8") for name, path in self._files.items()}
        except OSError as error:
            what = f"cannot read the models of the C library: {error.strerror}"
            raise BuildError(what, str(error.filename)) from None

    def load(self, names: Sequence[str]) -> str:
        """The preprocessed text of one unit with all these models. Raises BuildError."""
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            unit = Path(work) / "models.c"
            unit.write_text("".join(f'#include "{self._files[name]}"\n' for name in names), encoding="utf-8")
            flags = [*self._toolchain.library_flags(self._cflags), *_ONLY_DECLARED]
            text = preprocess(self._toolchain.board.cc, flags, unit)
            return text.replace(f'"{unit}"', f'"{LIBRARY}"')  # the same each time


def has_allocator(
    toolchain: Toolchain, native: Sequence[Path], objects: Sequence[Path], flags: Mapping[Path, Sequence[str]]
) -> bool:
    """Whether malloc or one of its kin is defined in what is linked as it is. Raises UsageError, BuildError."""
    try:
        suspects = [path for path in (*native, *objects) if any(name.encode() in path.read_bytes() for name in HEAP)]
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", str(error.filename)) from None
    if not suspects:
        return False
    from score_embed.image.objects import defined_names  # reads ELF files, which few programs need

    with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
        made = [path for path in suspects if path.suffix in (".o", ".a")]
        for number, path in enumerate(path for path in suspects if path not in made):
            output = Path(work) / f"{number}.o"
            toolchain.compile_plain(path, output, flags.get(path, ()))
            made.append(output)
        return bool(defined_names(made) & HEAP)
