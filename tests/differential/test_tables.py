"""Table-driven programs: reads nested in addresses, dispatch by function pointers, stores at symbolic indices, structs copied.

The programs of bench/tables at their small size, on boards, in every order, with and without elision, and in other ways
(support/ways.py); and generated ones. The judge is the plain program over all 65,536 inputs: where a campaign says
`exhausted`, its recorded paths are exactly those.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest
import table_generator
from runner import explore_files
from table_programs import BruteForce, programs
from ways import WAYS, explored

from score_embed import config
from score_embed.campaign import campaign
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair

AVR = "arduino-mega2560"
BOARDS = ("native", "mps2-an385", AVR)
PROGRAMS = programs()
SECONDS = 240.0  # on a busy machine: five processor seconds are enough where it ends
GENERATED = 200
ON_BOARDS = 24  # of these


CASES = [
    pytest.param(name, board, strategy, elided, id="-".join((name, board, strategy, "elided" if elided else "whole")))
    for name, board, strategy, elided in itertools.product(PROGRAMS, BOARDS, config.STRATEGIES, (True, False))
]


@functools.cache
def judge(name: str) -> BruteForce:
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        return BruteForce(program.source, program.small, Path(folder), program.flags(program.small))


def nothing(explorer: Explorer, pair: Pair) -> bytes:
    return b""


@pytest.mark.parts(60)
@pytest.mark.parametrize(("name", "board", "strategy", "elided"), CASES)
def test_programs(
    name: str, board: str, strategy: str, elided: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not elided:
        monkeypatch.setattr(Explorer, "expected", nothing)
    program = PROGRAMS[name]
    settings = config.Settings(
        sources=(program.source,),
        cflags=program.flags(program.small),
        board=board,
        strategy=strategy,
        time=SECONDS,
        out=tmp_path / "out",
        no_witness=True,
    )
    with redirect_stderr(StringIO()):
        found = campaign.run(settings).summary
    assert found["divergences"] == 0
    assert (found["stopped"], judge(name).difference(tmp_path / "out")) == ("exhausted", "")


@pytest.mark.parts(len(PROGRAMS) * len(WAYS) // 2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("board", BOARDS[:2])
def test_programs_in_other_ways(name: str, board: str, way: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    options = ("--board", board, "--time", f"{SECONDS:.0f}s")
    found = explored(program.source, way, tmp_path, *options, cflags=program.flags(program.small))
    assert found["divergences"] == 0
    assert (found["stopped"], judge(name).difference(tmp_path / "out")) == ("exhausted", "")


@pytest.mark.parts(GENERATED // 4)
@pytest.mark.parametrize("seed", range(GENERATED))
def test_generated(seed: int, tmp_path: Path) -> None:
    check("native", seed, tmp_path)


@pytest.mark.parts(ON_BOARDS // 2)
@pytest.mark.parametrize("seed", range(ON_BOARDS))
@pytest.mark.parametrize("board", ["mps2-an385", AVR])
def test_generated_on_boards(board: str, seed: int, tmp_path: Path) -> None:
    check(board, seed, tmp_path)


def check(board: str, seed: int, folder: Path) -> None:
    """`exhausted` implies the exact set; that it is said is not asked for."""
    source = folder / "generated.c"
    source.write_text(table_generator.program(seed))
    truth = BruteForce(source, 2, folder, ("-DPLAIN",), blocks=False)
    found = explore_files(folder, [source], "--board", board, "--no-witness", "--time", f"{SECONDS:.0f}s")
    assert found.summary["divergences"] == 0
    if found.summary["stopped"] == "exhausted":
        difference = truth.difference(found.folder)
        assert not difference, f"seed {seed}: {difference}\n{source.read_text()}"
