"""Proof (C): generated programs. The campaign's count of paths, and every printed value, against the compiler's.

Each program is ten random functions; the plain build computes the number of paths of each over all of its 65,536
inputs. Two bytes are enough for every comparison, shift, conversion and wrap-around that types up to 64 bits have.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpus
import field_generator
import float_generator
import plain
import pointer_generator
import pytest
from generator import program
from runner import LINUX, score_embed

FUNCTIONS = 10
# What makes a program of a kind, and with how many functions.
KINDS: dict[str, tuple[Callable[[int, int], str], int]] = {
    "fields": (field_generator.program, FUNCTIONS),
    "pointers": (pointer_generator.program, 3),  # a run for every object that a pointer may lead to
    "floats": (
        float_generator.program,
        1,
    ),  # to try all values of two bytes takes ten times as long with floating point
}
CHECKED = 1500  # inputs of the image whose path and output are compared with the plain program's


def campaign(board: str, source: Path, folder: Path) -> dict[str, Any]:
    out = folder / "out"
    done = score_embed(
        "run", "--json", "--verify", "--board", board, "--out", str(out), str(source), "--", "-lm", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(
    board: str, seed: int, folder: Path, make: Callable[[int, int], str] = program, functions: int = FUNCTIONS
) -> None:
    source = folder / "generated.c"
    source.write_text(make(seed, functions))
    inputs = [bytes([a, b, k]) for k in range(functions) for a in range(256) for b in range(256)]
    judge = plain.build_plain([source], folder, ["-DPLAIN"], blocks=False, board=board)
    judged = dict(zip(inputs, plain.run_plain(judge, inputs, 3), strict=True))
    expected = sum(
        len({judged[bytes([a, b, k])].blocks for a in range(256) for b in range(256)}) for k in range(functions)
    )
    where = f"seed {seed}\n{source.read_text()}"

    chosen = random.Random(seed).sample(inputs, CHECKED)
    runs = corpus.run_image(board, corpus.build(board, [source]), chosen)
    decisions: dict[int, tuple[int, int]] = {}
    for data, run in zip(chosen, runs, strict=True):
        assert run.output == judged[data].output, f"input {data.hex()} {where}"
        path = (data[2], judged[data].blocks)  # the choice of the function is a decision of the image only
        assert decisions.setdefault(run.path_hash, path) == path, where
    assert len(set(decisions.values())) == len(decisions), where

    found = campaign(board, source, folder)
    assert found["divergences"] == 0, where
    # One more: the input byte that chooses none of the functions.
    assert (found["stopped"], found["paths"]) == ("exhausted", expected + 1), f"{found['incomplete']} {where}"


@pytest.mark.parts(100)
@pytest.mark.parametrize("seed", range(100))
def test_native(seed: int, tmp_path: Path) -> None:
    check("native", seed, tmp_path)


@pytest.mark.parts(40)
@pytest.mark.parametrize("seed", range(100, 120))
def test_cortex_m3(seed: int, tmp_path: Path) -> None:
    """The judge is the same compiler's 32-bit code for this machine: the data model is the board's."""
    check("mps2-an385", seed, tmp_path)


@pytest.mark.parts(120)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("board", LINUX)
def test_linux(board: str, seed: int, tmp_path: Path) -> None:
    """Here the board's own compiler is the judge."""
    check(board, 100 * LINUX.index(board) + seed, tmp_path)


@pytest.mark.parts(180)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_native(kind: str, seed: int, tmp_path: Path) -> None:
    check("native", seed, tmp_path, *KINDS[kind])


@pytest.mark.parts(120)
@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("board", ["mps2-an385", *LINUX])
def test_kinds_on_boards(board: str, kind: str, seed: int, tmp_path: Path) -> None:
    """ABIs differ in where they put fields; there is floating point with hardware for it and without."""
    check(board, 100 * [*LINUX, "mps2-an385"].index(board) + seed, tmp_path, *KINDS[kind])


def test_all_runs_of_a_path_agree_on_the_object(tmp_path: Path) -> None:
    """A text of its own was also the end of one with a name: paths were lost."""
    check("arm-linux", 102, tmp_path, *KINDS["pointers"])
