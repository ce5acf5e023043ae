"""Bytes that nobody chose: byte i is the same however many are asked for, from wherever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from score_embed.explore.prf import digits, grow, number, prf

SEEDS = st.integers(-(2**64), 2**64)
PLACES = st.integers(0, 300)


@given(SEEDS, PLACES, PLACES, PLACES)
def test_a_byte_is_a_function_of_seed_and_index(seed: int, a: int, b: int, c: int) -> None:
    a, b, c = sorted((a, b, c))
    assert prf(seed, a, b) + prf(seed, b, c) == prf(seed, a, c) == prf(seed, 0, c)[a:]
    assert len(prf(seed, a, c)) == c - a


@given(SEEDS, PLACES, PLACES)
def test_digits_are_those_of_the_bytes(seed: int, a: int, b: int) -> None:
    a, b = sorted((a, b))
    assert digits(seed, a, b) == b"".join(b"%d" % (byte % 10) for byte in prf(seed, a, b))


@given(SEEDS, st.binary(max_size=200), PLACES, PLACES)
def test_an_input_grows_with_the_same_bytes(seed: int, data: bytes, small: int, large: int) -> None:
    small, large = sorted((small, large))
    assert grow(seed, grow(seed, data, small), large) == grow(seed, data, large)
    assert grow(seed, data, large)[: len(data)] == data
    assert len(grow(seed, data, large)) == max(len(data), large)


def test_seeds_differ() -> None:
    assert len({prf(seed, 0, 64) for seed in range(100)}) == 100
    assert len({number(seed, bytes([i])) for seed in range(10) for i in range(10)}) == 100


@given(SEEDS, st.binary(max_size=20))
def test_of_a_seed_64_bits_count(seed: int, ident: bytes) -> None:
    assert number(seed, ident) == number(seed % 2**64, ident) < 2**64
    assert prf(seed, 3, 9) == prf(seed % 2**64, 3, 9)


def test_campaigns_of_earlier_versions_go_on() -> None:
    """A record has inputs that were grown by what these were then."""
    assert prf(7, 60, 70).hex() == "451387b3844950d7d636"
    assert prf(-1, 0, 4).hex() == "5efc1ebf"
    assert number(7, b"a pair") == 13511614374901747530
    assert grow(7, b"ab", 4) == b"ab" + prf(7, 2, 4)
    assert grow(7, b"abc", 2) == b"abc"
