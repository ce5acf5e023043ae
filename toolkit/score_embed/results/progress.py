"""How far a campaign has come: the running totals that are committed with each batch, and that it goes on from."""

from __future__ import annotations

from msgspec import Struct

from score_embed.contract.outcome import LinkCounters
from score_embed.contract.words import Stop
from score_embed.explore.tally import ExplorerState


class Memory(Struct, frozen=True):
    """Bytes: the largest resident size of the host's processes, and what the target has free."""

    host_rss: int
    target: int


class Progress(Struct, frozen=True):
    totals: dict[str, int]
    conditions: tuple[int, int]  # of all new paths together, and the most of one
    notes: tuple[tuple[str, str, int, int], ...]  # what, file, line, how often: besides the explorer's
    stopped: Stop | None  # None: it runs, or was killed
    seconds: float  # of all sessions
    explorer: ExplorerState
    link: LinkCounters  # of all sessions
    memory: Memory
