"""Words of the command line as numbers and names: durations, counts, lists of counts, files. A wrong one says what is
meant."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from score_embed import userfile

_UNITS = (("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0))
_LONGEST = 1e8  # seconds

TRUST = "the campaign is not yours, but its image and its board's commands may be executed"


def path(word: str) -> Path:
    """A file's name."""
    try:
        return userfile.name(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{userfile.shown(word)} is no file's name: {error}") from None


def cost(word: str) -> float:
    """Seconds of `0`, `0.05`, `50ms`, `20us`, `2s`."""
    number, unit = word, 1.0
    for name, seconds in _UNITS:
        if word.lower().endswith(name):
            number, unit = word[: -len(name)], seconds
            break
    try:
        value = float(number) * unit
    except ValueError:
        value = -1.0
    if not 0 <= value < _LONGEST:
        raise argparse.ArgumentTypeError(f"{word!r} is no time such as 20us, 50ms, 2s, 5m")
    return value


def duration(word: str) -> float:
    """As `cost`, and more than nothing."""
    value = cost(word)
    if not value:
        raise argparse.ArgumentTypeError("a time of nothing is too short")
    return value


def in_words(seconds: float) -> str:
    """As `cost` reads it."""
    name, unit = next((u for u in reversed(_UNITS[:3]) if seconds >= u[1]), _UNITS[0])
    return f"{seconds / unit:.3g}{name}" if seconds else "0"


def number(word: str) -> int:
    """0, 1, …"""
    return _whole(word, 0, 2**32 - 1)


def count(word: str) -> int:
    """1, 2, …"""
    return _whole(word, 1, 10**9)


def counts(most: int) -> Callable[[str], list[int]]:
    """`1,4,16`: in order, each once."""

    def read(word: str) -> list[int]:
        return sorted({_whole(part, 1, most) for part in word.split(",")})

    return read


def _whole(word: str, low: int, high: int) -> int:
    try:
        value = int(word)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number from {low} to {high}")
    return value
