"""csmith programs some of whose globals are symbolic: what the formulas say of each stored value is what was stored.

Explored in verify mode; and each test that was found prints natively what the plain program prints for it.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import corpus
import pytest
from runner import explore_files
from test_csmith import CSMITH, ENDLESS, FLAGS, HEADERS
from test_csmith import pytestmark as pytestmark

from score_embed.results.store import Store

SEEDS = [seed for seed in range(1, 331) if seed not in ENDLESS]
BOARDS = ("native", "native32", "mps2-an385")
_SCALAR = re.compile(r"^static u?int\d+_t (g_\d+) = ", re.M)
LIMITS = ("--max-tests", "8", "--time", "20s", "--max-branches", "300000")


def with_symbolic_globals(text: str, seed: int) -> str:
    names = _SCALAR.findall(text)
    if not names:
        pytest.skip("no scalar among its globals")
    chosen = random.Random(seed).sample(names, min(3, len(names)))
    inputs = " ".join(f"SYM_BYTES(&{name}, sizeof {name});" for name in chosen)
    assert text.count("    func_1();") == 1
    return '#include "score.h"\n' + text.replace("    func_1();", f"    {inputs}\n    func_1();")


@pytest.mark.parts(500)
@pytest.mark.nights(6)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("board", BOARDS)
def test_values_are_what_the_formulas_say(board: str, seed: int, tmp_path: Path) -> None:
    command = ["csmith", "--seed", str(seed), *CSMITH]
    text = subprocess.run(command, capture_output=True, timeout=60, check=True, text=True).stdout
    source = tmp_path / "random.c"
    source.write_text(with_symbolic_globals(text, seed))
    found = explore_files(tmp_path, [source], "--board", board, "--verify", "--keep", *LIMITS, cflags=FLAGS)
    assert found.summary["divergences"] == 0, found.incomplete
    if board == "native":
        same_without_probes(source, found.folder)


def same_without_probes(source: Path, campaign: Path) -> None:
    program = source.with_name("plain")
    subprocess.run(
        [
            "gcc",
            "-O1",
            *FLAGS,
            f"-I{HEADERS}",
            f"-I{corpus.FOLDER.parents[1] / 'runtime' / 'include'}",
            source,
            "-o",
            program,
        ],
        check=True,
    )
    data = source.with_name("input.bin")
    with Store.open(campaign) as record:
        tests = [test for test in record.first_paths(8) if test.verdict == "return"]
    for test in tests:
        data.write_bytes(test.input)
        done = subprocess.run(
            [program], env={"SCORE_INPUT": str(data)}, capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout.strip() == test.output.strip()
