"""One campaign inside a bench's own process, and the same with everything sent: no prefix left out, whole inputs."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from score_embed import config
from score_embed.campaign import campaign
from score_embed.campaign.rounds import Rounds
from score_embed.device import wired
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair
from score_embed.link.session import Session
from score_embed.results.summary import text


def explored(settings: config.Settings, *, everything: bool = False) -> dict[str, Any]:
    """The summary of a campaign whose files are thrown away. `everything`: the same link with e = 0 and no
    differences."""
    with ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(redirect_stderr(StringIO()))
        if everything:
            stack.enter_context(one_by_one())
            stack.enter_context(patch.object(Explorer, "expected", _nothing))
            stack.enter_context(patch.object(wired, "Session", _Whole))
        found: dict[str, Any] = json.loads(text(campaign.run(replace(settings, out=Path(work) / "o")).summary))
        return found


def one_by_one() -> Any:
    """As a context: the engine runs no test by itself, so each goes through Python, where it can be looked at."""

    def go(*_: Any) -> tuple[bool, None]:
        return False, None

    return patch.object(Rounds, "go", go)


def _nothing(explorer: Explorer, pair: Pair) -> bytes:
    return b""


class _Whole(Session):
    """Sends whole inputs, as it does where limits change: so they change with each test."""

    _more = 0

    def start(
        self, data: bytes, predicted: int = 0, condition_hash: int = 0, max_branches: int = 1, *rest: Any
    ) -> bytes:
        self._more ^= 1
        return super().start(data, predicted, condition_hash, max_branches + self._more, *rest)
