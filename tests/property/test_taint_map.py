"""The taint map against a model that could not be simpler: a set of tainted addresses. The C is built with
sanitizers."""

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
STACK = 0x1000  # bytes, at the beginning of the RAM


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
        op = rng.choice("sscmmmgaadf" if rng.random() < 0.9 else "rq")
        match op:
            case "s":
                model.set(a, n)
            case "c":
                model.clear(a, n)
            case "f":
                a = rng.choice((0, 1, 31, 32, 1000, STACK - 1, STACK, a))
                if a <= STACK:  # else it is no address of the stack
                    model.clear(0, a)
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
    expected.append(dump(model))
    assert run(binary, lines) == expected


def dump(model: Model) -> str:
    return " ".join(str(i) for i in sorted(model.tainted))


def run(binary: Path, lines: list[str]) -> list[str]:
    found = run_c_side(binary, "taint", "\n".join(lines).encode()).decode().split("\n")
    return [line.strip() for line in found[:-1]]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 65, 100, 1024, 1025, 1100])
def test_a_copy_onto_itself_is_a_move(c_side: tuple[Path, int], n: int) -> None:
    """Also where one byte alone is in both, whose taint must be read before it is overwritten."""
    binary, ram = c_side
    lines: list[str] = []
    expected: list[str] = []
    for distance in (1, n - 1, n, n + 1):
        for at, to in ((2003, 2003 + distance), (2003 + distance, 2003)):
            for tainted in ((0,), (n - 1,), (0, n // 2)):
                model = Model(ram)
                lines.append("r 0 0 0")
                for i in tainted:
                    model.set(at + i, 1)
                    lines.append(f"s {at + i} 0 1")
                model.copy(to, at, n)
                lines += [f"m {to} {at} {n}", "d 0 0 0"]
                expected.append(dump(model))
    assert run(binary, lines) == expected


@pytest.mark.parametrize("n", [1023, 1024, 1025, 1056, 4096, 40_000])
def test_ranges_of_more_than_32_words(c_side: tuple[Path, int], n: int) -> None:
    binary, ram = c_side
    model = Model(ram)
    lines, expected = ["s 7 0 1", f"g 0 0 {n}", "c 7 0 1", f"s {6 + n} 0 1", f"g 7 0 {n - 1}", f"g 7 0 {n}"], []
    expected += [str(1 << 7), "0", str(1 << (n - 1) % 32)]
    model.set(6 + n, 1)
    for op, at, size in (("s", 33, n), ("c", 64, n - 60), ("s", 5, n), ("c", 31, n)):
        (model.set if op == "s" else model.clear)(at, size)
        lines += [f"{op} {at} 0 {size}", "d 0 0 0"]
        expected.append(dump(model))
    lines += ["r 0 0 0", "d 0 0 0"]
    assert run(binary, lines) == [*expected, ""]


def test_what_is_lost_is_what_the_map_does_not_cover_to_its_last_byte(c_side: tuple[Path, int]) -> None:
    binary, ram = c_side
    places = [(0, ram), (0, ram + 1), (ram - 4, 4), (ram - 4, 5), (ram - 1, 1), (ram - 1, 2), (ram, 1), (ram + 1, 1)]
    found = run(binary, [f"l {at} 0 {n}" for at, n in places])
    assert found == [str(int(at + n > ram)) for at, n in places]


@pytest.mark.parametrize("changed", [0, SHADOW_WORDS - 1, SHADOW_WORDS, SHADOW_WORDS + 1, SHADOW_WORDS + 3])
def test_beyond_the_shadow_all_words_lose_their_taint(c_side: tuple[Path, int], changed: int) -> None:
    binary, ram = c_side
    model, words = Model(ram), SHADOW_WORDS + 4
    lines = []
    for word in range(words):
        model.set(64 * word + 3, 2)
        lines.append(f"s {64 * word + 3} 0 2")
    model.take()
    model.memory[64 * changed + 4] = 9
    lines += ["o 0 0 0", f"w {64 * changed + 4} 0 9", "p 0 0 0", "d 0 0 0"]
    model.compare()
    assert run(binary, lines) == [dump(model)]
