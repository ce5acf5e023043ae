"""How long a silent line is waited for: it is learned, and unlearned."""

from __future__ import annotations

import random

import pytest

from score_embed.device.patience import Patience


def after(share: float, tests: int = 2000) -> float:
    """What a line comes to on which that share of what was asked for again came by itself."""
    patience, chance = Patience(0.01, 0.1), random.Random(1)
    for _ in range(tests):
        patience.learn(needless=chance.random() < share)
    assert 0.01 <= patience.quick <= patience.most / 4
    return patience.quick


def test_an_adapter_that_delivers_in_bursts_is_waited_for() -> None:
    assert after(1.0, 6) == pytest.approx(0.5)


def test_a_bad_line_is_not() -> None:
    """An answer that is late now and then, among many that were damaged: the host was busy."""
    assert after(0.0) == 0.01
    assert after(0.03) < 0.1


def test_what_was_learned_is_unlearned() -> None:
    patience = Patience(0.01, 0.1)
    for _ in range(10):
        patience.learn(needless=True)
    for _ in range(60):
        patience.learn(needless=False)
    assert patience.quick == 0.01
    assert patience.first == 0.1
