"""csmith programs: the instrumented image prints the checksum of the uninstrumented one, on every board.

The plain run uses the same runtime and target with the program compiled as `--native`, so that the board's own
compiler and library are the judge there too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import corpus
import pytest
from runner import LINUX

from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.errors import BuildError

HEADERS = Path("/usr/include/csmith")
ENDLESS = {20, 25, 27}  # csmith does not promise an end, and these have none
SEEDS = [seed for seed in range(1, 361) if seed not in ENDLESS]
BOARDS = ("native", "mps2-an385", "native32")
FLAGS = (f"-I{HEADERS}", "-w")
CALLER = "int random_main(int, char **);\nint main(int argc, char **argv) { return random_main(argc, argv); }\n"
# Programs are kept small: csmith's own size has nothing to do with how many constructs meet in one function.
SIZE = ("--max-funcs", "5", "--max-block-size", "4", "--max-block-depth", "4")
CSMITH = (*SIZE, "--no-float")
FLOAT_SEEDS = SEEDS[:100]
# Where int has 16 bits and RAM 8 KiB: what csmith thinks of the machine is in a file in its working folder.
SHORT_INT = "integer size = 2\npointer size = 2\n"
TINY = ("--no-bitfields", "--max-funcs", "3", "--max-array-dim", "1", "--max-array-len-per-dim", "4", "--no-longlong")
TINY_BOARD = """extends: arduino-mega2560
memory: {stack: 1664}
buffers: {input: 16, chunk: 32, shadow: 1}
"""
TINY_ENDLESS = {1}
TINY_DEEP = {7}  # its frames, with slots for the origins of pointers, do not fit into 1,664 bytes
TINY_SEEDS = [seed for seed in range(1, 101) if seed not in TINY_ENDLESS | TINY_DEEP]
BUDGET = 50_000_000  # branches: csmith programs loop, but end

pytestmark = pytest.mark.skipif(
    shutil.which("csmith") is None or not HEADERS.exists(), reason="csmith and libcsmith-dev are not installed"
)


def once(board: str, folder: Path, *, plain: bool) -> Finished:
    source = folder / "random.c"
    if plain:
        caller = folder / "caller.c"
        caller.write_text(CALLER)
        renamed = folder / "renamed.c"
        renamed.write_text(f'#define main random_main\n#include "{source}"\n')
        image = corpus.build(board, [caller], native=[renamed], cflags=FLAGS)
    else:
        image = corpus.build(board, [source], cflags=FLAGS)
    with corpus.target_of(board, image) as target:
        return target.run(Run(1, b"", max_branches=BUDGET))


def branches(folder: Path) -> int:
    """How many branches the plain program takes, as the compiler's own coverage counts them."""

    def run(*command: str) -> bytes:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=True).stdout

    run("gcc", *FLAGS, "--coverage", "-o", "counted", "random.c")
    run("./counted")
    counted = json.loads(run("gcov", "--branch-probabilities", "--json-format", "--stdout", "counted-random.gcno"))
    lines = [line for file in counted["files"] for line in file["lines"]]
    return sum(branch["count"] for line in lines for branch in line["branches"])


def is_undefined(folder: Path) -> bool:
    """Whether the program converts a floating-point value to an integer type that cannot hold it (csmith does not
    mind)."""
    command = ["gcc", *FLAGS, "-fsanitize=float-cast-overflow", "-o", "judged", "random.c", "-lm"]
    subprocess.run(command, cwd=folder, timeout=120, check=True)
    done = subprocess.run(["./judged"], cwd=folder, capture_output=True, timeout=120, check=True)
    return b"outside the range of representable values" in done.stderr


@pytest.mark.parts(300)
@pytest.mark.nights(6)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("board", BOARDS)
def test_same_checksum(board: str, seed: int, tmp_path: Path) -> None:
    compare(board, seed, tmp_path)


@pytest.mark.parts(300)
@pytest.mark.nights(6)
@pytest.mark.parametrize("seed", SEEDS)
def test_same_checksum_on_linux(seed: int, tmp_path: Path) -> None:
    """What differs between these is small: they share the programs."""
    compare(LINUX[seed % len(LINUX)], seed, tmp_path)


@pytest.mark.parts(200)
@pytest.mark.nights(6)
@pytest.mark.parametrize("seed", FLOAT_SEEDS)
@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_same_checksum_with_floating_point(board: str, seed: int, tmp_path: Path) -> None:
    compare(board, seed, tmp_path, (*SIZE, "--float"))


def compare(board: str, seed: int, tmp_path: Path, options: Sequence[str] = CSMITH) -> None:
    command = ["csmith", "--seed", str(seed), *options]
    text = subprocess.run(command, capture_output=True, timeout=60, check=True).stdout
    (tmp_path / "random.c").write_bytes(text)
    expected = once(board, tmp_path, plain=True)
    if expected.verdict is Verdict.WATCHDOG:
        pytest.skip(f"the program of seed {seed} does not end")  # some forty of 360
    found = once(board, tmp_path, plain=False)
    if found.verdict in (Verdict.HANG, Verdict.WATCHDOG) and branches(tmp_path) > BUDGET:
        pytest.skip(f"the program of seed {seed} ends, but after too many branches")
    assert expected.verdict is Verdict.RETURN
    assert b"checksum = " in expected.output
    if found.output != expected.output and "--float" in options and is_undefined(tmp_path):
        pytest.skip(f"the program of seed {seed} has no defined result")
    assert (found.verdict, found.output) == (expected.verdict, expected.output)


@pytest.mark.parts(80)
@pytest.mark.parametrize("seed", TINY_SEEDS)
def test_same_checksum_where_int_has_16_bits(seed: int, tmp_path: Path) -> None:
    (tmp_path / "platform.info").write_text(SHORT_INT)
    board = tmp_path / "tiny.yaml"
    board.write_text(TINY_BOARD)
    command = ["csmith", "--seed", str(seed), *CSMITH, *TINY]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=True).stdout
    (tmp_path / "random.c").write_bytes(text)
    try:
        expected = once(str(board), tmp_path, plain=True)
        found = once(str(board), tmp_path, plain=False)
    except BuildError as error:
        if "RAM" not in f"{error}":
            raise
        pytest.skip("it does not fit into 8 KiB")
    if expected.verdict is Verdict.WATCHDOG:
        pytest.skip(f"the program of seed {seed} does not end")
    if found.verdict is Verdict.STACK_OVERFLOW:
        pytest.skip("its frames, which hold slots, do not fit into 1,664 bytes")
    assert expected.verdict is Verdict.RETURN
    assert b"checksum = " in expected.output
    assert (found.verdict, found.output) == (expected.verdict, expected.output)
