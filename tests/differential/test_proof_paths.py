"""Proofs (A) and (B): the image's paths over all inputs, the campaign's, and the plain program's, agree.

(A) The instrumented image runs over every input; the number of distinct path hashes is what the campaign found.
(B) Each path hash belongs to one sequence of basic blocks of the plain program, and both print the same; where
the compiler keeps one block per decision, there are equally many of both.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import corpus
import plain
import plain_avr
import pytest
from proof import FULL
from runner import LINUX, score_embed

from score_embed.contract.outcome import Verdict

PROGRAMS = {program.name: program for program in corpus.programs()}
AVR = "arduino-mega2560"  # int has 16 bits; 250 tests a second
NOT_ON_AVR = {
    "bit_fields": "bit-fields of more bits than int",
    "generic": "no _Atomic",
    "initialisers": "wchar.h",
    "tables": "wchar.h",
    "scopes": "parameters without a name",
    "float_library": "no fpclassify",
    "pointer_conditionals": "an enumerator of more bits than int",
}
SAMPLE = 3000  # inputs of a program that are run where all would take too long


def exhaustive(board: str) -> list[str]:
    """Programs that are run over all inputs on a board in this test run."""
    largest = {"native": 3, "mps2-an385": 2, AVR: 1} if FULL else {"native": 2, "mps2-an385": 1}
    found = [name for name, program in PROGRAMS.items() if program.size <= largest.get(board, largest["mps2-an385"])]
    if board == AVR:
        return [name for name in found if name not in NOT_ON_AVR]
    return found


CASES = [(board, name) for board in ("native", "mps2-an385", AVR, *LINUX) for name in exhaustive(board)]
SAMPLED = [
    (board, name)
    for board in ("native", "mps2-an385")
    for name, program in PROGRAMS.items()
    if (board, name) not in CASES and (board, program.size) != ("mps2-an385", 3)
]


def instrumented(board: str, name: str, *cflags: str) -> tuple[list[bytes], list[corpus.ImageRun]]:
    program = PROGRAMS[name]
    if (board, name) in CASES:
        inputs = plain.all_inputs(program.size)
    else:
        inputs = [random.Random(i).randbytes(program.size) for i in range(SAMPLE)]
    return inputs, corpus.run_image(board, corpus.build(board, program.sources, cflags=cflags), inputs)


def campaign(board: str, name: str, folder: Path) -> dict[str, Any]:
    sources = [str(source) for source in PROGRAMS[name].sources]
    command = ["run", "--json", "--board", board, "--out", str(folder / "out"), *sources, "--", "-lm"]
    done = score_embed(*command, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["stopped"] == "exhausted", (found["incomplete"], found["unflipped"])
    assert found["divergences"] == 0
    return found


def paths(runs: list[corpus.ImageRun]) -> set[int]:
    return {run.path_hash for run in runs if run.verdict is not Verdict.ASSUMPTION}


def test_the_corpus_is_large_enough() -> None:
    assert len(PROGRAMS) >= 25
    assert len([program for program in PROGRAMS.values() if program.size <= 2]) >= 25


@pytest.mark.parts(24)
@pytest.mark.parametrize(("board", "name"), CASES)
def test_all_inputs(board: str, name: str, tmp_path: Path) -> None:
    inputs, runs = instrumented(board, name)
    assert campaign(board, name, tmp_path)["paths"] == len(paths(runs))
    if board == "native":
        paths_are_block_sequences(name, inputs, runs, tmp_path)
    else:
        a_board_does_what_plain_code_does(board, name, inputs, runs, tmp_path)
    if board == "aarch64-linux":
        x86_has_the_same_paths(name, runs)


@pytest.mark.parts(16)
@pytest.mark.parametrize(("board", "name"), SAMPLED)
def test_a_sample(board: str, name: str, tmp_path: Path) -> None:
    """No proof of (A): no sample can have more paths than the campaign."""
    inputs, runs = instrumented(board, name)
    assert campaign(board, name, tmp_path)["paths"] >= len(paths(runs))
    if board == "native":
        paths_are_block_sequences(name, inputs, runs, tmp_path)


def paths_are_block_sequences(name: str, inputs: list[bytes], runs: list[corpus.ImageRun], folder: Path) -> None:
    program = PROGRAMS[name]
    judged = plain.run_plain(plain.build_plain(program.sources, folder), inputs, program.size)
    blocks: dict[int, int] = {}
    for data, run, judge in zip(inputs, runs, judged, strict=True):
        assert (run.verdict.value, run.output) == (judge.ending, judge.output), data.hex()
        if run.verdict in (Verdict.RETURN, Verdict.EXIT):
            assert run.code & 0xFF == judge.code, data.hex()
        if run.verdict is not Verdict.ASSUMPTION:
            assert blocks.setdefault(run.path_hash, judge.blocks) == judge.blocks, data.hex()
    if not (program.grouped_labels or program.folded_conditional):
        assert len(set(blocks.values())) == len(blocks)


def a_board_does_what_plain_code_does(
    board: str, name: str, inputs: list[bytes], runs: list[corpus.ImageRun], folder: Path
) -> None:
    """The judge is plain code of the board's data model; where int has 16 bits, on the same emulated board."""
    program = PROGRAMS[name]
    if board == AVR:
        judged = plain_avr.run_plain(plain_avr.build_plain(program.sources, folder, program.size), inputs)
    else:
        judge = plain.build_plain(program.sources, folder, blocks=False, board=board)
        judged = plain.run_plain(judge, inputs, program.size)
    for data, run, expected in zip(inputs, runs, judged, strict=True):
        assert (run.verdict.value, run.output) == (expected.ending, expected.output), data.hex()


def x86_has_the_same_paths(name: str, arm: list[corpus.ImageRun]) -> None:
    """Told to have the same sign of `char`, they differ in nothing but the order of arguments, and so in sites'
    numbers."""
    _, x86 = instrumented("native", name, "-funsigned-char")
    pairs = {(a.path_hash, b.path_hash) for a, b in zip(arm, x86, strict=True) if a.verdict is not Verdict.ASSUMPTION}
    assert len(pairs) == len(paths(arm)) == len(paths(x86))
    assert [(run.verdict, run.output) for run in arm] == [(run.verdict, run.output) for run in x86]
