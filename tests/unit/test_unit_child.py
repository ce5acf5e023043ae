"""A function's process is waited for once, and asked as often as somebody wants."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from score_embed.unit.child import Child


def code_of(child: Child) -> int:
    until = time.monotonic() + 60
    while (code := child.ended()) is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    return code


@pytest.mark.parametrize("code", [0, 7])
def test_how_it_ended_is_told_again(code: int, tmp_path: Path) -> None:
    """The system tells it once: Ctrl-C in the moment after ended in a traceback."""
    child = Child(lambda: code, tmp_path / "log", 60)
    assert code_of(child) == code
    assert child.ended() == code
    child.stop()
    assert child.ended() == code


def test_an_interrupt_at_once_is_the_childs(tmp_path: Path) -> None:
    """Before it was one of its own it went up through the copy of this process, which spoke for it to whoever runs it."""
    def work() -> int:
        while True:  # Python does not hear an interrupt that comes right before the system's sleep begins
            time.sleep(0.05)

    told = tmp_path / "told"
    for number in range(40):
        try:
            child = Child(work, tmp_path / f"log{number}", 60)
        except KeyboardInterrupt:  # only a copy of this process comes here
            told.write_text("a copy")
            os._exit(1)
        child.stop()
        assert child.ended() == 130
    assert not told.exists()


def test_what_is_told_to_end_ends(tmp_path: Path) -> None:
    def work() -> int:
        time.sleep(60)
        return 0

    began = time.monotonic()
    child = Child(work, tmp_path / "log", 60)
    child.stop()
    assert child.ended() not in (None, 0)
    assert time.monotonic() - began < 50
    late = Child(work, tmp_path / "log", 0.2)
    assert code_of(late) == -signal.SIGKILL
    assert late.late
