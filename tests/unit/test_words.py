"""Words of the command line as numbers."""

from __future__ import annotations

import argparse

import pytest

from score_embed.cli import words


@pytest.mark.parametrize(
    ("word", "seconds"),
    [("0", 0), ("0.05", 0.05), ("50ms", 0.05), ("20us", 20e-6), ("2s", 2), ("5M", 300), ("1h", 3600)],
)
def test_a_time(word: str, seconds: float) -> None:
    assert words.cost(word) == pytest.approx(seconds)


@pytest.mark.parametrize("seconds", [0, 2e-6, 0.0005, 0.05, 1, 90, 7200])
def test_a_time_in_words_can_be_read_again(seconds: float) -> None:
    assert words.cost(words.in_words(seconds)) == pytest.approx(seconds)


@pytest.mark.parametrize("word", ["", "x", "-1", "ms", "1e99", "nan", "inf", "5d"])
def test_no_time(word: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no time"):
        words.cost(word)


def test_counts() -> None:
    assert words.counts(64)("16,1,4,4") == [1, 4, 16]
    for wrong in ("", "0", "65", "1,", "a", "1.5"):
        with pytest.raises(argparse.ArgumentTypeError, match="whole number from 1 to 64"):
            words.counts(64)(wrong)
    with pytest.raises(argparse.ArgumentTypeError):
        words.duration("0")
