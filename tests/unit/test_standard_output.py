"""Standard output of every kind: what the commands ask of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TextIO

import pytest

from score_embed.cli.output import is_plain


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("make", "plain"),
    [
        (lambda: io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), True),
        (lambda: io.TextIOWrapper(io.BytesIO(), encoding="ascii"), False),
        (lambda: _Terminal(io.BytesIO(), encoding="utf-8"), False),
        (io.StringIO, False),  # it has no encoding: rich is asked
    ],
)
def test_lines_go_out_as_they_are_where_that_is_certain(
    make: Callable[[], TextIO], plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with redirect_stdout(make()):
        assert is_plain() is plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    with redirect_stdout(make()):
        assert not is_plain()
