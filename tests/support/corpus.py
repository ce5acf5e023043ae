"""The programs of tests/programs and what their first line says; running an image over inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from score_embed.board.profile import find_board
from score_embed.campaign.folder import start_target
from score_embed.config import DEFAULT_CHECKS
from score_embed.contract.outcome import Run, Target, Verdict
from score_embed.image.image import Image, build_image

FOLDER = Path(__file__).resolve().parents[1] / "programs"
_HEADER = re.compile(
    r"/\* bytes: (?P<bytes>\d); constructs: (?P<constructs>.+); "
    r"grouped-labels: (?P<grouped>yes|no); folded-conditional: (?P<folded>yes|no) \*/"
)


@dataclass(frozen=True)
class TestProgram:
    __test__ = False  # not a test class

    name: str
    sources: tuple[Path, ...]
    size: int  # bytes of symbolic input
    constructs: str
    grouped_labels: bool
    folded_conditional: bool


def programs() -> list[TestProgram]:
    found = []
    for path in sorted(FOLDER.glob("*.c")):
        match = _HEADER.match(path.read_text())
        if match is None:
            continue  # a second file of a program
        sources = (path, *sorted(FOLDER.glob(f"{path.stem}_[b-z].c")))
        yes = [match[key] == "yes" for key in ("grouped", "folded")]
        found.append(TestProgram(path.stem, sources, int(match["bytes"]), match["constructs"], *yes))
    return found


def build(
    board: str,
    sources: Sequence[Path],
    *,
    cflags: Sequence[str] = (),
    native: Sequence[Path] = (),
    checks: frozenset[str] = DEFAULT_CHECKS,
) -> Image:
    return build_image(find_board(board), sources, cflags=(*cflags, "-lm"), native=native, checks=checks, strict=True)


@contextmanager
def target_of(board: str, image: Image) -> Iterator[Target]:
    target = start_target(find_board(board), image.elf, image.build_id)
    try:
        yield target
    finally:
        target.close()


@dataclass(frozen=True, slots=True)
class ImageRun:
    """What is compared of a run."""

    verdict: Verdict
    code: int
    path_hash: int
    output: bytes


def run_image(board: str, image: Image, inputs: Iterable[bytes]) -> list[ImageRun]:
    """Each input once, in order, on one target. Equal runs are one object: there may be 16 million."""
    known: dict[ImageRun, ImageRun] = {}
    runs: list[ImageRun] = []
    with target_of(board, image) as target:
        for number, data in enumerate(inputs, 1):
            finished = target.run(Run(number, data))
            brief = ImageRun(finished.verdict, finished.code, finished.path_hash, finished.output)
            runs.append(known.setdefault(brief, brief))
    return runs
