"""Progress for the person who waits, on stderr: a live line on a terminal, else a line every ten seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from score_embed.campaign.ledger import Ledger
from score_embed.errors import printable

if TYPE_CHECKING:
    from rich.live import Live

LINE_SECONDS = 10.0
REFRESH_SECONDS = 0.25
QUIET_SECONDS = 20.0  # without a new branch direction: then that is said


def _may_be_terminal() -> bool:
    """Whether stderr is one rich decides, if there is any reason to ask it."""
    return sys.stderr.isatty() or "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ


class _Line:
    """One line of text that changes, where there is a terminal."""

    def __init__(self, title: str) -> None:
        self._title = printable(title)
        self._live: Live | None = None
        self._began = self._shown = time.monotonic()

    def __enter__(self) -> Self:
        if _may_be_terminal():
            from rich.console import Console  # here, since it takes as long as a small campaign
            from rich.live import Live

            console = Console(stderr=True)
            if console.is_terminal and not console.is_dumb_terminal:  # on which nothing can change
                self._live = Live(console=console, transient=True, auto_refresh=False)
                self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def due(self) -> bool:
        """What was shown last is old."""
        return time.monotonic() >= self.due_at

    @property
    def due_at(self) -> float:
        """When that is, by time.monotonic."""
        return self._shown + (REFRESH_SECONDS if self._live else LINE_SECONDS)

    def _put(self, text: str) -> None:
        self._shown = time.monotonic()
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
        else:
            print(text, file=sys.stderr, flush=True)


class Steps(_Line):
    """`with Steps("max3 on native") as steps: steps("parsing max3.c")`: what is done before the first test. May be
    called by several threads; without a terminal only a step that begins when the last one shown is old is shown."""

    def __call__(self, step: str) -> None:
        if self._live is not None or self.due:
            self._put(f"{self._title}: {printable(step)}, {time.monotonic() - self._began:.0f} s")


class Status(_Line):
    """`with Status("max3 on native") as status: if status.due: status.show(campaigns, waiting)`."""

    def show(self, campaigns: Sequence[Ledger], waiting: int, clients: int = 0) -> None:
        """`waiting`: pairs, of all campaigns."""
        now = time.monotonic()
        seconds = now - self._began
        quiet = now - max(self._began, *(ledger.coverage.grown for ledger in campaigns))
        runs = sum(ledger.totals.runs for ledger in campaigns)
        paths = sum(ledger.totals.paths for ledger in campaigns)
        covered = sum(len(ledger.coverage.covered) for ledger in campaigns)
        total = sum(ledger.coverage.total for ledger in campaigns)
        bugs = sum(len(ledger.bugs) for ledger in campaigns)
        percent = 100 * covered // total if total else 100
        text = (
            f"{self._title}: {seconds:.0f} s, {runs} tests ({runs / seconds:.0f}/s), {paths} paths, "
            f"{waiting} waiting, branches {covered}/{total} ({percent} %), bugs {bugs}"
        )
        if quiet >= QUIET_SECONDS and covered < total:
            text += f", nothing new for {quiet:.0f} s"
        if clients:
            text += f", {clients} clients"
        self._put(text)
