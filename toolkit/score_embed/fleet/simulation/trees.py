"""Trees of pairs for the simulator: what a campaign would find, without a program to test.

A pair's data says how many tests are below it, itself included, so
a tree of a million tests takes no memory and is the same in whatever order and by whomever it is explored.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Protocol

from score_embed.fleet.messages import Pair, Result

DATA = struct.Struct(">QI")  # tests below (of a recorded tree: the test's place in the record), seed
_ONE = 1 << 32

# A shape: tests to distribute over children and a random number; yields the children's shares, shallowest flip first.
Shape = Callable[[int, int], Iterator[int]]


def balanced(tests: int, chance: int) -> Iterator[int]:
    """All paths equally deep: the shallowest flip has half of what is left below it, the next half of the rest …"""
    while tests:
        share = (tests + 1) // 2
        yield share
        tests -= share


def skewed(tests: int, chance: int) -> Iterator[int]:
    """One of some children has nine tenths of all, the others share the rest."""
    big = tests - tests // 10
    parts = min(tests - big, 1 + chance % 6)
    shares = [(tests - big + part) // parts for part in range(parts)]
    shares.insert(chance // 6 % (parts + 1), big)
    yield from (share for share in shares if share)


def chain(tests: int, chance: int) -> Iterator[int]:
    """A loop: one path more each turn, and the next turn."""
    if tests > 1:
        yield 1
    if tests:
        yield max(1, tests - 1)


def uneven(tests: int, chance: int) -> Iterator[int]:
    """Nothing is known: shares of a stick broken at random places."""
    while tests:
        chance = (chance * 6364136223846793005 + 1442695040888963407) % 2**64
        share = 1 + (tests - 1) * (chance >> 32) // _ONE
        yield share
        tests -= share


SHAPES: dict[str, Shape] = {"balanced": balanced, "skewed": skewed, "chain": chain, "uneven": uneven}


class Explorable(Protocol):
    """What a simulated campaign explores."""

    tests: int
    seed: int
    first: Pair

    def run(self, pair: Pair) -> Result:
        """What the test of this pair brings."""

    def seconds(self, pair: Pair, mean: float) -> float:
        """How long its test takes, if they take `mean` on average."""


class Tree:
    """A tree of `tests` pairs. `padding`: bytes of input that each pair carries."""

    def __init__(self, shape: str, tests: int, seed: int, padding: int = 0) -> None:
        self._shape, self._padding = SHAPES[shape], bytes(padding)
        self.tests, self.seed = tests, seed
        self.first = Pair(digest(b"first", seed), 0, DATA.pack(tests, seed) + self._padding)

    def run(self, pair: Pair) -> Result:
        """What the test of this pair brings."""
        tests, seed = DATA.unpack_from(pair.data)
        chance = int.from_bytes(digest(pair.id, seed)[:8], "big")
        children = tuple(
            Pair(digest(pair.id, place), pair.depth + place + 1, DATA.pack(share, seed) + self._padding)
            for place, share in enumerate(self._shape(tests - 1, chance))
        )
        return Result(pair.id, b"", children)

    def seconds(self, pair: Pair, mean: float) -> float:
        """Between half and three halves of the mean."""
        return mean * (0.5 + pair.id[0] / 255)


def pairs(tree: Explorable) -> Iterator[Pair]:
    """All of them, in the order of a single client."""
    stack = [tree.first]
    while stack:
        pair = stack.pop()
        yield pair
        stack += tree.run(pair).children


def seed_of(pair: Pair) -> int:
    """The seed of the tree that a pair is of."""
    seed: int = DATA.unpack_from(pair.data)[1]
    return seed


def digest(before: bytes, number: int) -> bytes:
    return blake2b(before + number.to_bytes(8, "big"), digest_size=16).digest()
