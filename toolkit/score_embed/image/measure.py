"""The board's compiler as a measure: what it makes of the objects in which the front-end looks for bit-fields."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed.cache import is_kept, publish
from score_embed.frontend.declarations.layout import OBJECT
from score_embed.image import identity
from score_embed.image.toolchain import Toolchain

_SIGN = ("-fsigned-bitfields", "-fno-unsigned-bitfields", "-funsigned-bitfields", "-fno-signed-bitfields")


class Measured:
    """Contents of objects, by the text that defines them; kept in `cache` as images are."""

    def __init__(self, toolchain: Toolchain, flags: Mapping[Path, Sequence[str]], cache: Path) -> None:
        self._toolchain = toolchain
        self._flags = flags
        self._cache = cache

    def __call__(self, source: Path, text: str) -> Mapping[int, bytes]:
        """The objects called sc_layout_N, by N; none if the compiler has plain bit-fields without a sign.

        Raises BuildError if the text does not compile with the flags of `source`.
        """
        own = self._flags[source]
        signs = [flag for flag in (*self._toolchain.board.cflags, *own) if flag in _SIGN]
        if signs and signs[-1] in _SIGN[2:]:
            return {}  # then `int f : 3` and `signed f : 3` differ, which the front-end does not know
        board = self._toolchain.board
        common = [identity.toolkit("image"), *identity.compiler(board.cc), self._toolchain.runtime_digest]
        digest = hashlib.sha256(repr([*common, board.cflags, list(own), text]).encode("utf-8", "surrogateescape"))
        kept = self._cache / f"{digest.hexdigest()[:32]}.layout"
        if is_kept(kept):
            try:
                return _objects(kept)
            except (OSError, ELFError):  # damaged, or just thrown away
                with suppress(OSError):
                    kept.unlink()
        with tempfile.TemporaryDirectory(prefix="score-embed-") as work:
            made, c = Path(work) / "layout.o", Path(work) / "layout.c"
            c.write_text(text, encoding="utf-8", errors="surrogateescape")
            self._toolchain.compile_instrumented(c, made, [*own, "-fno-lto"], verify=False)
            found = _objects(made)
            publish(made, kept)
            return found


def _objects(path: Path) -> dict[int, bytes]:
    with path.open("rb") as file:
        data = ELFFile(file)
        table = data.get_section_by_name(".symtab")
        found: dict[int, bytes] = {}
        for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
            name = OBJECT.search(symbol.name)
            if name and isinstance(symbol["st_shndx"], int):
                contents = data.get_section(symbol["st_shndx"]).data()
                start = symbol["st_value"]
                found[int(name[1])] = contents[start : start + symbol["st_size"]]
    return found
