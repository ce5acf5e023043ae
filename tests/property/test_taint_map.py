"""The taint map against a model that could not be simpler: a set of tainted addresses. The C is built with sanitizers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from wire import build_c_side, run_c_side

NEAR, FAR = (
    0x10000,
    0x200000,
)  # bytes of RAM: beyond 1 MiB the map's summaries have summaries, and scalars a way of their own
SHADOW_WORDS = 16


@pytest.fixture(scope="module", params=(NEAR, FAR), ids=("near", "far"))
def c_side(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    return build_c_side(tmp_path_factory.mktemp("taint"), request.param), request.param


class Model:
    """Set of tainted offsets; memory as a dictionary; the shadow taken by opaque calls."""

    def __init__(self, ram: int) -> None:
        self.ram = ram
        self.tainted: set[int] = set()
        self.memory: dict[int, int] = {}
        self.shadow: dict[int, int] | None = None

    def set(self, at: int, n: int) -> None:
        self.tainted |= {i for i in range(at, at + n) if i < self.ram}

    def clear(self, at: int, n: int) -> None:
        self.tainted -= set(range(at, at + n))

    def copy(self, to: int, source: int, n: int) -> None:
        bits = [source + i in self.tainted for i in range(n)]
        self.clear(to, n)
        self.tainted |= {to + i for i, bit in enumerate(bits) if bit and to + i < self.ram}

    def take(self) -> None:
        self.shadow = {i: self.memory.get(i, 0) for i in self.tainted}

    def compare(self) -> None:
        """Exact for the first words; beyond the shadow's capacity all or nothing."""
        if not self.shadow:
            return
        words = sorted({i >> 5 for i in self.shadow})
        changed = {i for i, value in self.shadow.items() if self.memory.get(i, 0) != value}
        rest = set(words[SHADOW_WORDS:])
        if any(i >> 5 in rest for i in changed):
            changed |= {i for i in self.shadow if i >> 5 in rest}
        self.tainted -= changed
        self.shadow = None


def place(rng: random.Random, ram: int) -> int:
    """Some places are much used, so that operations meet; the map's end is one of them."""
    return rng.choice((0, 30, 1000, 1024 * 32 - 3, ram // 2 - 20, ram - 40, rng.randrange(ram - 40))) + rng.randrange(
        40
    )


@pytest.mark.parametrize("seed", range(8))
def test_against_the_model(c_side: tuple[Path, int], seed: int) -> None:
    binary, ram = c_side
    rng, model = random.Random(seed), Model(ram)
    lines: list[str] = []
    expected: list[str] = []
    for _ in range(600):
        a, b, n = place(rng, ram), place(rng, ram), rng.choice((1, 2, 4, 8, 31, 33, 64, 100))
        op = rng.choice("sscmmmgaad" if rng.random() < 0.9 else "rq")
        match op:
            case "s":
                model.set(a, n)
            case "c":
                model.clear(a, n)
            case "m":
                b = a + rng.randrange(-20, 20) if rng.random() < 0.5 and 20 <= a < ram - 140 else b
                model.copy(a, b, n)
            case "g":
                n = min(n, 8)
                expected.append(str(sum(1 << i for i in range(n) if a + i in model.tainted)))
            case "a":
                expected.append(str(int(any(i in model.tainted for i in range(a, a + n)))))
            case "d":
                expected.append(" ".join(str(i) for i in sorted(model.tainted)))
            case "r":
                model.tainted.clear()
            case "q":  # an opaque call: what it writes of tainted memory loses its taint
                lines.append("o 0 0 0")
                model.take()
                for _ in range(rng.randrange(4)):
                    at = rng.choice([*model.tainted, a]) if rng.random() < 0.7 else a
                    model.memory[at] = rng.randrange(256)
                    lines.append(f"w {at} 0 {model.memory[at]}")
                lines.append("p 0 0 0")
                model.compare()
                continue
        lines.append(f"{op} {a} {b} {n}")
    lines.append("d 0 0 0")
    expected.append(" ".join(str(i) for i in sorted(model.tainted)))
    found = run_c_side(binary, "taint", "\n".join(lines).encode()).decode().split("\n")
    assert [line.strip() for line in found[:-1]] == expected
