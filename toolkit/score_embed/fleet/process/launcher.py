"""Who starts a session's clients: on this machine (`crew`), or on the nodes of a cluster (`cluster`)."""

from __future__ import annotations

from typing import Protocol

from score_embed.fleet.process.crew import Gone


class Launcher(Protocol):
    def __len__(self) -> int:
        """How many were started and have not ended, as far as is known."""

    def start(self, count: int) -> None:
        """Start so many more. Raises TargetError if there is no device for them."""

    def reap(self) -> list[Gone]:
        """Those that have ended since this was last asked."""

    def hurry(self) -> None:
        """Let all of them end their tests and leave."""

    def end(self, seconds: float) -> None:
        """Wait for their end; who takes longer is killed. Safe to call twice."""
