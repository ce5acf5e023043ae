"""What pytest loads at each start, in every project of whoever has score-embed installed.

So it is small, imports nothing of score-embed, and does nothing until pytest meets a file that says by its name that it
is ours: `test_….score.yaml`. A project's `score-embed.yaml` is not enough: it belongs to the command line, and a run of
pytest should not begin to explore a program because somebody installed a package.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from score_embed.pytest_plugin.items import CampaignFile

ENDINGS = (".score.yaml", ".score.yml")
MARK = "score_embed"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("score-embed", "score-embed: campaigns in test_*.score.yaml")
    group.addoption("--score-time", type=_time, metavar="TIME", help="each campaign ends after this time: 90, 60s, 5m")
    group.addoption(
        "--score-board",
        action="append",
        metavar="NAME",
        help="run campaigns and regression tests on this board, not on those of their files; may be repeated",
    )
    group.addoption("--score-out", metavar="DIR", help="folder for the results (score-out/pytest in pytest's rootdir)")


def _time(word: str) -> str:
    from score_embed import config

    try:
        config.seconds(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return word


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}: a campaign or a regression test of score-embed")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CampaignFile | None:
    name = file_path.name
    if not name.endswith(ENDINGS) or not (name.startswith("test_") or parent.session.isinitpath(file_path)):
        return None
    from score_embed.pytest_plugin.items import CampaignFile

    return CampaignFile.from_parent(parent, path=file_path)
