"""What the compiler has against the user's files as they were written, once something could not be parsed or compiled: of all
files at once, and in gcc's words, which are better than a parser's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from score_embed.command import workers
from score_embed.errors import BuildError
from score_embed.frontend.c.complaints import together
from score_embed.image.toolchain import Toolchain


def explained(
    error: BuildError,
    toolchain: Toolchain,
    sources: Sequence[Path],
    native: Sequence[Path],
    flags: Mapping[Path, Sequence[str]],
) -> BuildError:
    """What gcc says of the files instead of `error`; and that, too, if gcc has nothing against the file that it is about.
    `flags`: of each file."""

    def of(path: Path, probes: bool) -> BuildError | None:
        try:
            toolchain.check_source(path, flags[path], probes=probes)
        except BuildError as complaint:
            return complaint
        return None

    files = [*sources, *native]
    with workers() as pool:
        found = list(pool.map(of, files, [*(True for _ in sources), *(False for _ in native)]))
    complaints = [each for each in found if each is not None]
    file = error.where.partition(":")[0]
    known = any(each.where.partition(":")[0] == file for one in complaints for each in (one, *one.also))
    return together(complaints if known else [error, *complaints])
