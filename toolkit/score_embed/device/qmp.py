"""QEMU's control channel: reset and questions, with a deadline.

qemu.qmp is asynchronous; a target's methods are not. This wrapper owns an event loop and runs it only while a
command is under way.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Coroutine
from typing import Any

from qemu.qmp import QMPClient, QMPError

_DEADLINE = 5.0

# The library reports a QEMU that goes away as errors of its own; we say it in our words.
logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)


class QmpFailed(Exception):
    """The command did not succeed in time: QEMU is gone or stuck."""


class Qmp:
    """Connects on the first command: QEMU greets as soon as it runs, and waits."""

    def __init__(self, control: socket.socket) -> None:
        self._socket = control
        self._loop = asyncio.new_event_loop()
        self._client: QMPClient | None = None

    def reset(self) -> None:
        """Reset the machine; returns when that has happened. Raises QmpFailed."""
        self._run(self._reset())

    def ask(self, command: str) -> str:
        """What a command of QEMU's monitor says. Raises QmpFailed."""
        return str(self._run(self._ask(command)))

    def close(self) -> None:
        """Safe to call twice."""
        if self._loop.is_closed():
            return
        try:
            if self._client is not None:
                self._run(self._client.disconnect())
        except QmpFailed:
            pass  # it is gone: as wanted
        finally:
            self._client = None
            self._socket.close()
            self._loop.close()

    async def _connected(self) -> QMPClient:
        if self._client is None:
            client = QMPClient("score-embed")
            await client.connect(self._socket)
            self._client = client
        return self._client

    async def _ask(self, command: str) -> object:
        client = await self._connected()
        return await client.execute("human-monitor-command", {"command-line": command})

    async def _reset(self) -> None:
        client = await self._connected()
        with client.listener(("RESET",)) as resets:
            await client.execute("system_reset")  # only asks for it: the event says that it is done
            await resets.get()

    def _run(self, work: Coroutine[Any, Any, object]) -> object:
        try:
            return self._loop.run_until_complete(asyncio.wait_for(work, _DEADLINE))
        except (TimeoutError, QMPError, OSError, EOFError, asyncio.CancelledError) as error:
            raise QmpFailed(str(error)) from None
