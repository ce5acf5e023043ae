"""The static analysis against an image with all probes: it may leave out only what never fires.

Both images run the same inputs. Left-out probes change site numbers, and so the events; what must be equal is how
many symbolic conditions a run meets, how many branches it takes, how it ends and what it prints.
"""

from __future__ import annotations

import random
from collections.abc import Set
from pathlib import Path

import corpus
import pytest
from generator import program

from score_embed.contract.outcome import Run, Verdict
from score_embed.frontend.ir.body import Body
from score_embed.frontend.probes import maybe

INPUTS = 400
NO_CHECKS = frozenset[str]()  # how often the same is checked depends on what is compared here
Facts = tuple[Verdict, int, int, int, bytes]


class Everything(maybe.Maybe):
    """No probe is left out."""

    def __init__(self) -> None:
        super().__init__(set(), set(), lambda name: False, lambda place: False)

    def slot(self, index: int) -> bool:
        return True

    def among(self, slots: frozenset[int]) -> maybe.Maybe:
        return self

    def including(self, slots: Set[int]) -> maybe.Maybe:
        return self


def facts(source: tuple[Path, ...], size: int) -> list[Facts]:
    choose = random.Random(1)
    inputs = [choose.randbytes(size) for _ in range(INPUTS)]
    with corpus.target_of("native", corpus.build("native", source, checks=NO_CHECKS)) as target:
        runs = [target.run(Run(number, data)) for number, data in enumerate(inputs, 1)]
    return [(run.verdict, run.code, run.conditions, run.branches, run.output) for run in runs]


def compare(source: tuple[Path, ...], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = facts(source, size)

    def everything(_: maybe.Analysis, __: Body) -> maybe.Maybe:
        return Everything()

    monkeypatch.setattr(maybe.Analysis, "of", everything)
    assert left_out == facts(source, size)


@pytest.mark.parametrize("found", corpus.programs(), ids=lambda found: found.name)
def test_programs(found: corpus.TestProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(found.sources, found.size, monkeypatch)


@pytest.mark.parts(50)
@pytest.mark.parametrize("seed", range(100))
def test_generated_programs(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "generated.c"
    source.write_text(program(seed, 10))
    compare((source,), 3, monkeypatch)
