"""What forks and what paths make constant loses no path: small programs against brute force.

Each is `exhausted` with exactly the paths of all 65,536 inputs: in every order, in verify mode, without elision, by
three clients, and after its process was killed.
"""

from __future__ import annotations

import itertools
import json
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from one_by_one import send_all
from table_programs import BruteForce, kept_inputs
from value_programs import PROGRAMS, program
from ways import WAYS, explored

from score_embed import config
from score_embed.campaign import campaign
from score_embed.results.summary import text

CASES = list(itertools.product(PROGRAMS, (*config.STRATEGIES, "whole", *WAYS)))


@pytest.mark.parts(len(CASES) // 4)
@pytest.mark.parametrize(("name", "way"), CASES)
def test_no_path_is_lost(name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "p.c"
    source.write_text(program(name))
    truth = BruteForce(source, 2, tmp_path, ("-DPLAIN",), blocks=False)
    if way == "whole":
        send_all(monkeypatch)
    found = summary(source, way, tmp_path)
    assert (found["stopped"], found["divergences"], found["mispredicted"]) == ("exhausted", 0, 0)
    # The front-end has conditions of its own (`?:`), so it may know more paths than B marks.
    assert truth.taken([data[:2] for data in kept_inputs(tmp_path / "out")]) == truth.paths


def summary(source: Path, way: str, folder: Path) -> dict[str, Any]:
    """Of a campaign with this program."""
    if way in WAYS:
        return explored(source, way, folder)
    strategy = way if way in config.STRATEGIES else config.Settings().strategy
    settings = config.Settings(sources=(source,), time=120.0, out=folder / "out", no_witness=True, strategy=strategy)
    with redirect_stderr(StringIO()):
        found: dict[str, Any] = json.loads(text(campaign.run(settings).summary))
        return found
