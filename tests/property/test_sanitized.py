"""The engine as a library of C++ under sanitizers: random formulas, streams and frames, and damaged ones."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import proof
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "toolkit" / "engine"
BUILT = SOURCES / "editable" / "sanitized"  # stays: the next run compiles only what has changed
ROUNDS = 40_000 if proof.FULL else 300  # of some sixty formulas each
STREAMS = 125_000 if proof.FULL else 300  # rounds of eight runs: a million
LINES = 70_000 if proof.FULL else 1_000  # of some fifteen damaged frames each: a million
SLICES = 10_000 if proof.FULL else 100  # rounds of 48 questions


def fuzzed(program: str, rounds: int) -> list[int]:
    """Numbers that a program of toolkit/engine/fuzz prints."""
    configure = ["cmake", "-S", str(SOURCES), "-B", str(BUILT), "-DSCORE_SANITIZED=ON", "-DCMAKE_BUILD_TYPE=Debug"]
    with (BUILT.parent / "sanitized.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other tests build there at the same time
        for command in (configure, ["cmake", "--build", str(BUILT), "--target", program]):
            built = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            assert built.returncode == 0, built.stdout + built.stderr
    ran = subprocess.run(
        [str(BUILT / program), "1", str(rounds)], capture_output=True, text=True, timeout=7200, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [int(word.split()[0]) for word in ran.stdout.split(",")]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="the engine is built by cmake")
def test_random_streams_under_sanitizers() -> None:
    """Decoded on a trail and on a fresh one, which must say the same."""
    runs, damaged, conditions, left = fuzzed("score_fuzz_trail", STREAMS)
    assert runs == 8 * STREAMS
    assert STREAMS < damaged < 7 * STREAMS
    assert conditions > 2 * STREAMS
    assert left == 0


@pytest.mark.skipif(shutil.which("cmake") is None, reason="the engine is built by cmake")
def test_random_formulas_and_damaged_arguments_under_sanitizers() -> None:
    made, refused, left = fuzzed("score_fuzz", ROUNDS)
    assert made > 20 * ROUNDS
    assert refused > ROUNDS
    assert left == 0


@pytest.mark.skipif(shutil.which("cmake") is None, reason="the engine is built by cmake")
def test_damaged_frames_under_sanitizers() -> None:
    """To a session, and to two decoders, of which one gets all at once: they must find the same."""
    damaged, results, given_up = fuzzed("score_fuzz_wire", LINES)
    assert damaged > 14 * LINES
    assert results > LINES // 4
    assert given_up > LINES // 10


@pytest.mark.skipif(shutil.which("cmake") is None, reason="the engine is built by cmake")
def test_slices_under_sanitizers() -> None:
    """Of bytes with few values: every answer is compared with all combinations of them."""
    decided, given_up, known, excluded, left = fuzzed("score_fuzz_slices", SLICES)
    assert decided > 7 * SLICES
    assert given_up > SLICES // 50
    assert known > 8 * SLICES
    assert excluded > SLICES
    assert left == 0
