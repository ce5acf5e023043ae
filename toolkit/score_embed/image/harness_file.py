"""A harness as a file of the user's: what `--entry` makes, with the includes that a C file of its own needs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from score_embed.board.profile import Board
from score_embed.contract.entry import Told
from score_embed.contract.program import NO_STUBS, NOTHING
from score_embed.image.instrumenting import FrontEnd, Request
from score_embed.image.toolchain import Toolchain

if TYPE_CHECKING:
    from score_embed.frontend.harness.entry import Harness

_ASSUMED = re.compile(r"^( *)if \(!\((.*)\)\) __score_assume_fail\(\);$", re.MULTILINE)
_DIRECT = re.compile(r"; (__score_\w+\(&?\w+, sizeof)")


def harness_file(
    board: Board,
    sources: Sequence[Path],
    entry: str,
    told: Told,
    to: Path,
    flags: Mapping[Path, Sequence[str]],
    cflags: Sequence[str],
) -> tuple[str, Sequence[str]]:
    """The C of a harness that will lie at `to`, and what it cannot bring about. Raises UsageError and BuildError."""
    all_flags = {path: [*flags.get(path, ()), *cflags] for path in sources}
    how = Request(sources, (), (), all_flags, entry, told, NOTHING, NO_STUBS, (), False, frozenset(), False)
    made = FrontEnd(Toolchain(board), how, lambda step: None).harness()
    losses = [note.what.partition(": ")[2] for note in made.losses]
    return _document(made, sources, entry, to, cflags), losses


def _document(made: Harness, sources: Sequence[Path], entry: str, to: Path, cflags: Sequence[str]) -> str:
    others = [os.fspath(path) for path in sources if path != made.file.path]
    words = " ".join([*(f" {name}" for name in others), *((" --", *cflags) if cflags else ())])
    body = _ASSUMED.sub(r"\1SCORE_ASSUME(\2);", made.text)
    body = _DIRECT.sub(r";\n    \1", body)
    lines = [
        f"Harness of {entry}, written by `score-embed new`. It is yours: change it, keep it, commit it.",
        "",
        f"    score-embed run {to.name}{words.replace('  ', ' ')}",
        "",
        "Each __score_… call makes an input, which is called what its last argument says. Change here:",
        "  sizes        the arrays below `Objects`, and the SCORE_ASSUME that bounds their counts;",
        "  null or not  a pointer with `x_given` is null where that is 0, computed so that there is no branch: assign the",
        "               object where it is never null;",
        "  more         SCORE_ASSUME(condition) before the call: other inputs are not of interest.",
        "",
        *([f"Bounds now: {'; '.join(made.within)}."] if made.within else []),
        *(f"Not made: {note.what.partition(': ')[2]}." for note in made.losses),
    ]
    head = "\n".join(f" * {line}".rstrip().replace("*/", "* /") for line in lines)
    beside = os.path.relpath(os.path.realpath(made.file.path), os.path.realpath(to.parent))
    return (
        f"/*{head[2:]}\n */\n"
        '#include "score.h"\n\n'
        "/* The file that defines the function, so that its static functions and types are within reach. */\n"
        "#define main program_main\n"
        f'#include "{beside}"\n'
        "#undef main\n\n"
        f"{body}"
    )
