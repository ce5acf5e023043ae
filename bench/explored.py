"""One campaign inside a bench's own process, and the same with everything sent: no prefix left out, whole inputs."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from score_embed import config
from score_embed.campaign import campaign
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair
from score_embed.link import message
from score_embed.link.message import RunMessage


def explored(settings: config.Settings, *, everything: bool = False) -> dict[str, Any]:
    """The summary of a campaign whose files are thrown away. `everything`: the same encoder with e = 0 and no differences."""
    with ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(redirect_stderr(StringIO()))
        if everything:
            stack.enter_context(patch.object(Explorer, "expected", _nothing))
            stack.enter_context(patch.object(message, "RunMessage", _whole))
        return dict(campaign.run(replace(settings, out=Path(work) / "o")).summary)


def _nothing(explorer: Explorer, pair: Pair) -> bytes:
    return b""


def _whole(**fields: Any) -> RunMessage:
    """A RUN with the whole input."""
    return RunMessage(**{**fields, "base": None})
