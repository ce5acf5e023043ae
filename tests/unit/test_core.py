"""One processor for a host and its target: each host has another one, and gives it back."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from score_embed.confine import core


@pytest.fixture
def processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """Three processors, and those that this thread was told to keep to, the last of them at the end."""
    asked: list[set[int]] = [{2, 5, 7}]
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 5, 7})
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, cores: asked.append(cores))
    return asked


def test_hosts_have_different_processors(processors: list[set[int]]) -> None:
    with ExitStack() as hosts:
        for _ in range(3):
            hosts.enter_context(core.own_core())
        assert sorted(processors[1:], key=min) == [{2}, {5}, {7}]
        with core.own_core():  # there is none left
            assert len(processors) == 4
    assert processors[4:] == [{2, 5, 7}] * 3
    with core.own_core():
        assert len(processors[-1]) == 1


def test_what_works_beside_its_host_runs_everywhere(processors: list[set[int]]) -> None:
    core.run_everywhere()
    assert len(processors) == 1
    with core.own_core():
        core.run_everywhere()
        assert processors[-1] == {2, 5, 7}


def test_one_processor_is_not_taken(processors: list[set[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5})
    with core.own_core():
        assert len(processors) == 1


def test_without_a_place_for_locks_nothing_is_taken(
    processors: list[set[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "missing"))
    with core.own_core():
        assert len(processors) == 1
