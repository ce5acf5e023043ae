"""Bytes that nobody chose: byte i is the same however many are asked for, from wherever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from score_embed.explore.prf import grow, number, prf

SEEDS = st.integers(-(2**64), 2**64)
PLACES = st.integers(0, 300)


@given(SEEDS, PLACES, PLACES, PLACES)
def test_a_byte_is_a_function_of_seed_and_index(seed: int, a: int, b: int, c: int) -> None:
    a, b, c = sorted((a, b, c))
    assert prf(seed, a, b) + prf(seed, b, c) == prf(seed, a, c) == prf(seed, 0, c)[a:]
    assert len(prf(seed, a, c)) == c - a


@given(SEEDS, st.binary(max_size=200), PLACES, PLACES)
def test_an_input_grows_with_the_same_bytes(seed: int, data: bytes, small: int, large: int) -> None:
    small, large = sorted((small, large))
    assert grow(seed, grow(seed, data, small), large) == grow(seed, data, large)
    assert grow(seed, data, large)[: len(data)] == data
    assert len(grow(seed, data, large)) == max(len(data), large)


def test_seeds_differ() -> None:
    assert len({prf(seed, 0, 64) for seed in range(100)}) == 100
    assert len({number(seed, bytes([i])) for seed in range(10) for i in range(10)}) == 100
