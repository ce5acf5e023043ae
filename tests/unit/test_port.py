"""An open port: what it asks of the driver, and that it does without what that cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest
import serial

from score_embed.device.port import Port


@pytest.fixture
def terminal() -> Iterator[str]:
    """A pseudo-terminal's name."""
    ours, theirs = os.openpty()
    yield os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def test_adapters_are_to_deliver_at_once(terminal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pseudo-terminal has no such mode, so what is asked of pyserial is all that can be seen here."""
    asked: list[bool] = []
    monkeypatch.setattr(serial.Serial, "set_low_latency_mode", lambda self, on: asked.append(on))
    with closing(Port(terminal, 115200, "dtr").line):
        assert asked == [True]


def test_a_port_whose_driver_cannot_is_used_all_the_same(terminal: str) -> None:
    plain = serial.Serial(terminal)
    with closing(plain), pytest.raises(ValueError, match="LOW_LATENCY"):
        plain.set_low_latency_mode(True)
    with closing(Port(terminal, 115200, "dtr").line) as line:
        line.send(b"x", float("inf"))


def test_a_url_has_no_driver() -> None:
    with closing(Port("loop://", 115200, "dtr").line) as line:
        line.send(b"x", float("inf"))
