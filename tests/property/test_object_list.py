"""The runtime's list of objects against a model that could not be simpler. The C is built with sanitizers."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOM = 8  # objects on the stack at most
# addresses of the stack: above all that the process has, as what lies below its frame has ended
TOP = 0xFFFF_8000_0000_0000
UNKNOWN = 1 << 63
STATICS = {0x1000: 16, 0x1010: 8, 0x1100: 4 | UNKNOWN, 0x2000: 4096}
FLAGS = [
    "-std=gnu99",
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-Wall",
    "-Wextra",
    "-Werror",
]


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("objects") / "objects"
    sources = [ROOT / "runtime" / "object.c", ROOT / "tests" / "support" / "object_port.c"]
    folders = [f"-I{ROOT / 'runtime'}", f"-I{ROOT / 'tests' / 'support' / 'wire_port'}"]
    words = ["gcc", *FLAGS, "-no-pie", f"-DSC_LOCALS={ROOM}u", *folders, *map(str, sources), "-o", str(made)]
    subprocess.run(words, check=True, timeout=120)
    return made


class Model:
    def __init__(self) -> None:
        self.live: list[tuple[int, int, int]] = []  # address, size, depth
        self.full = False  # some that live are not known

    def end(self, depth: int) -> None:
        self.live = [item for item in self.live if item[2] < depth]

    def local(self, at: int, size: int, depth: int) -> None:
        self.end(depth + 1)
        kept = [item for item in self.live if item[0] + item[1] <= at or at + size <= item[0]]
        if len(kept) == len(self.live):
            self.full = len(kept) == ROOM
        if len(kept) < ROOM:
            kept.append((at, size, depth))
        self.live = kept

    def variable(self, at: int, depth: int) -> str:
        self.end(depth + 1)
        every = [(a, n, n | UNKNOWN * self.full) for a, n, _ in self.live] + [
            (a, n & ~UNKNOWN, n) for a, n in STATICS.items()
        ]
        for start, size, shown in every:
            if start <= at < start + size:
                before = [n for a, n, _ in every if a + n == start]
                shown = size if before and start not in STATICS else shown
                return f"{start} {shown} {before[0] if before else 0}"
        return "-"


@pytest.mark.parametrize("seed", range(6))
def test_against_the_model(binary: Path, seed: int) -> None:
    rng, model = random.Random(seed), Model()
    lines, expected, depth = [], [], 1
    for _ in range(800):
        match rng.choice("lllevv"):
            case "l":
                at, size = TOP - 64 * depth + rng.randrange(64), rng.choice((1, 4, 8, 16))
                lines.append(f"l {at} {size} {depth}")
                model.local(at, size, depth)
            case "e":
                depth = max(1, depth + rng.choice((-2, -1, 0, 1, 1)))
                lines.append(f"e {depth}")
                model.end(depth)
            case "v":
                known = [a + rng.randrange(n + 1) for a, n, _ in model.live]
                statics = [a + rng.randrange((n & ~UNKNOWN) + 1) for a, n in STATICS.items()]
                at = rng.choice([*known, *statics, TOP + 5, 0xFFF, 0])
                lines.append(f"v {at} {depth}")
                expected.append(model.variable(at, depth))
    done = subprocess.run([binary], input="\n".join(lines), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == expected
