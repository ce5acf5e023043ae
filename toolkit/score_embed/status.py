"""Progress for the person who waits, on stderr: a live line on a terminal, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

LINE_SECONDS = 10.0
REFRESH_SECONDS = 0.25


class Status:
    """`with Status("max3 on native") as status: if status.due: status.show(…)`."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._console = Console(stderr=True)
        self._live: Live | None = None
        self._began = self._shown = time.monotonic()

    def __enter__(self) -> Status:
        if self._console.is_terminal:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
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
        return time.monotonic() - self._shown >= (REFRESH_SECONDS if self._live else LINE_SECONDS)

    def show(
        self, *, runs: int, paths: int, waiting: int, covered: int, total: int, bugs: int, clients: int = 0
    ) -> None:
        self._shown = time.monotonic()
        seconds = self._shown - self._began
        percent = 100 * covered // total if total else 100
        text = (
            f"{self._title}: {seconds:.0f} s, {runs} tests ({runs / seconds:.0f}/s), {paths} paths, "
            f"{waiting} waiting, branches {covered}/{total} ({percent} %), bugs {bugs}"
        )
        if clients:
            text += f", {clients} clients"
        if self._live is not None:
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
        else:
            print(text, file=sys.stderr, flush=True)
