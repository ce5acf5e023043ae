"""When a client breaks a test off because it is to go: not for ever, if it goes to another campaign."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

from score_embed.fleet.process.client import ClientProcess
from score_embed.fleet.protocol import ClientState


class Client(ClientProcess):
    """It hears nothing, and somebody else says what its state is and how late it is."""

    def __init__(self) -> None:
        self.at = 0.0
        self.told_to_leave = 0
        self.protocol = SimpleNamespace(state=ClientState.BUSY)
        self.interrupt = SimpleNamespace(wanted=False, pressing=lambda: False)
        self._now, self._looked, self._waiting = lambda: self.at, -1.0, deque()
        self._leaving = self._moving = self._end = self._failed = None
        protocol: Any = self.protocol
        interrupt: Any = self.interrupt
        self._client, self._interrupt = protocol, interrupt

    def _listen(self, seconds: float) -> None:
        self._looked = self.at

    def _tick(self) -> None:
        pass

    def _leave(self) -> None:
        self.told_to_leave += 1
        self._leaving = self.at

    def wants_end(self, at: float) -> bool:
        self.at = at
        return self._wants_end()


def test_who_has_moved_runs_its_tests_to_the_end() -> None:
    client = Client()
    assert not client.wants_end(10)
    client.protocol.state = ClientState.LEAVING
    assert not client.wants_end(20)
    assert client.wants_end(30)  # the test takes too long for somebody who waits for it
    client.protocol.state = ClientState.BUSY  # in the other campaign
    assert not client.wants_end(40)
    assert not client.wants_end(50)
    client.interrupt.wanted = True
    assert not client.wants_end(60)
    assert client.told_to_leave == 1
    assert client.wants_end(70)
