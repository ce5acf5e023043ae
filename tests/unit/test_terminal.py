"""Progress lines and Ctrl-C as a wish."""

from __future__ import annotations

import os
import signal

import pytest

from score_embed import status
from score_embed.interrupt import Interrupt


def show(shown: status.Status) -> None:
    shown.show(runs=10, paths=4, waiting=2, covered=3, total=6, bugs=1)


def test_a_line_now_and_then_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(status.time, "monotonic", lambda: now)
    with status.Status("p on native") as shown:
        show(shown)
        assert capsys.readouterr().err == ""
        now += status.LINE_SECONDS
        show(shown)
        show(shown)
    line = "p on native: 10 s, 10 tests (1/s), 4 paths, 2 waiting, branches 3/6 (50 %), bugs 1\n"
    assert capsys.readouterr().err == line


def test_first_signal_is_a_wish_second_stops(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert not interrupt.wanted
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.wanted
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
    assert "stopping after this test" in capsys.readouterr().err
