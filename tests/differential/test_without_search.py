"""Local search answers what other layers would: an exhausted campaign has the same paths without it."""

from __future__ import annotations

import sqlite3
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest

from score_embed import config
from score_embed.campaign import campaign
from score_embed.contract.words import Layer
from score_embed.results.summary import Summary
from score_embed.solve.local import SearchLayer
from score_embed.solve.query import Answer, Query

ROOT = Path(__file__).resolve().parents[2]
ASKED = {"sort", "grid", "huffman", "stores"}  # of the others all questions are answered before
PROGRAMS = {
    "sort": (ROOT / "bench" / "sort.c", ()),
    "grid": (ROOT / "bench" / "tables" / "grid.c", ("-DSIZE=2",)),
    "huffman": (ROOT / "bench" / "tables" / "huffman.c", ("-DSIZE=2",)),
    "bytecode": (ROOT / "bench" / "tables" / "bytecode.c", ("-DSIZE=2",)),
    "stores": (ROOT / "tests" / "programs" / "stores.c", ()),
}


def below(layer: SearchLayer, query: Query) -> Answer:
    return layer._inner.solve(query)


def explored(program: str, strategy: str, out: Path, verify: bool) -> tuple[Summary, set[tuple[int, ...]]]:
    """The summary, and the hashes of the recorded paths."""
    source, flags = PROGRAMS[program]
    settings = config.Settings(
        sources=(source,), cflags=flags, strategy=strategy, verify=verify, time=240.0, out=out, no_witness=True
    )
    with redirect_stderr(StringIO()):
        summary = campaign.run(settings).summary
    with sqlite3.connect(f"file:{out / 'campaign.db'}?mode=ro", uri=True) as record:
        return summary, set(record.execute("SELECT path FROM tests WHERE is_new"))


@pytest.mark.parts(4)
@pytest.mark.parametrize("strategy", ["dfs", "random"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_paths_are_the_same_without_it(
    program: str, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, paths = explored(program, strategy, tmp_path / "with", verify=strategy == "random")
    assert found.stopped == "exhausted"
    assert found.divergences == 0
    assert found.runs == found.paths  # none twice
    assert bool(found.solver.by[Layer.SEARCH]) == (program in ASKED)
    monkeypatch.setattr(SearchLayer, "solve", below)
    without, same = explored(program, strategy, tmp_path / "without", verify=False)
    assert without.solver.by[Layer.SEARCH] == 0
    assert (without.stopped, without.runs, same) == ("exhausted", found.runs, paths)
