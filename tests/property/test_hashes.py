"""The set of hashes against Python's own."""

from __future__ import annotations

import random
import resource
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.engine._core import HashSet

# Few high bits, so that shards fill and numbers meet.
hashes = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 40),
    st.just(2**64 - 1),
    st.integers(0, 2**52 - 1),
    st.integers(2**52 - 40, 2**52 + 40),
    st.integers(2**51 - 40, 2**51 + 40),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(hashes, max_size=300) | st.lists(hashes, min_size=300, max_size=900))
def test_a_number_is_new_once(numbers: list[int]) -> None:
    paths, known = HashSet(), set[int]()
    for number in numbers:
        assert paths.add(number) == (number not in known)
        known.add(number)
    again = HashSet(numbers)  # though some of them are there twice
    assert not any(again.add(number) for number in numbers)
    for number in (number ^ 1 for number in numbers):
        assert again.add(number) == (number not in known)
        known.add(number)


def test_it_takes_a_fraction_of_a_sets_memory() -> None:
    choose = random.Random(1)
    before = _resident()
    paths = HashSet()
    assert all(paths.add(choose.getrandbits(64)) for _ in range(500_000))
    assert _resident() - before < 20 * 500_000


def _resident() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
