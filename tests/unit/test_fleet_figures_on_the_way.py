"""What a client tells with a result of what it has counted: nothing that a result must not be told without may wait."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from score_embed.contract.sites import SiteTable
from score_embed.contract.words import Note, Unflipped
from score_embed.explore.concolic import Explorer
from score_embed.fleet.process import executor
from score_embed.fleet.process.executor import Executor
from score_embed.solve.chain import default_chain
from score_embed.trace.trail import Trail

COUNTED = object()


def client(explorer: Any, waiting: int) -> Executor:
    """One that has just told what it had counted."""
    made: Any = Executor.__new__(Executor)
    made._worker = SimpleNamespace(explorer=explorer, counted=lambda: COUNTED)
    made.queue, made._unflipped, made._counted_at = [None] * waiting, set(), 0.0
    made._counted(())
    return made  # type: ignore[no-any-return]


@pytest.fixture
def explorer() -> Explorer:
    return Explorer(Trail(SiteTable(32, {})), default_chain())


def test_figures_wait_as_long_as_there_is_something_to_run(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    told = client(explorer, 1)
    assert told._counted(()) is None
    monkeypatch.setattr(executor, "_SELDOM", 0.0)
    assert told._counted(()) is COUNTED
    monkeypatch.undo()
    told = client(explorer, 0)
    assert told._counted([None]) is None
    assert told._counted(()) is COUNTED


@pytest.mark.parametrize("name", ["notes", "forks", "divergences", "concretized"])
def test_what_makes_a_result_incomplete_does_not_wait(explorer: Explorer, name: str) -> None:
    told = client(explorer, 1)
    setattr(explorer, name, {"notes": Counter({(Note.GAVE_UP, 3): 1}), "forks": Counter({3: 1})}.get(name, 1))
    assert told._counted(()) is COUNTED
    explorer.take_tally()
    assert told._counted(()) is None


def test_each_reason_why_a_direction_is_not_taken_is_told_at_once(explorer: Explorer) -> None:
    told = client(explorer, 1)
    for index in (3, 4):
        explorer.unflipped[index, Unflipped.UNSAT] += 1
        assert told._counted(()) is COUNTED
        explorer.take_tally()
    explorer.unflipped[3, Unflipped.UNSAT] += 1
    assert told._counted(()) is None
