"""One direction of a simulated serial line: bytes need time, and some are damaged, lost or come from nowhere."""

from __future__ import annotations

import math
import random
from collections import deque

from score_embed.simulate.scenario import Scenario

_BITS = 10  # on the line for each byte: start, eight, stop


class Wire:
    """Bytes in at one time, out at another. `now` is the caller's clock."""

    def __init__(self, scenario: Scenario, salt: int, burst: float = 0.0) -> None:
        self._scenario, self._burst = scenario, burst
        self._random = random.Random(scenario.seed * 2 + salt)
        self._byte = _BITS / scenario.baud if scenario.baud else 0.0
        self._under_way: deque[tuple[float, bytes]] = deque()  # when the last byte of it has arrived
        self._free = 0.0  # when the line can take the next byte
        self.garbled = False  # the two ends do not agree about the baud rate
        self.errors = 0

    def put(self, data: bytes, now: float) -> None:
        data = self._damaged(data)
        step = max(1, int(0.002 / self._byte)) if self._byte else max(1, len(data))  # what takes 2 ms comes at once
        for at in range(0, len(data), step):
            part = data[at : at + step]
            self._free = max(self._free, now) + len(part) * self._byte
            arrives = self._free + self._scenario.latency
            if self._burst:
                arrives = math.ceil(arrives / self._burst) * self._burst
            self._under_way.append((arrives, part))

    def take(self, now: float) -> bytes:
        """What has arrived."""
        out = []
        while self._under_way and self._under_way[0][0] <= now:
            out.append(self._under_way.popleft()[1])
        return b"".join(out)

    def wait(self, now: float) -> float | None:
        """Seconds until something arrives, if anything is under way."""
        return max(0.0, self._under_way[0][0] - now) if self._under_way else None

    def clear(self) -> None:
        self._under_way.clear()

    def _damaged(self, data: bytes) -> bytes:
        if self.garbled:
            self.errors += len(data)
            return bytes(self._random.randrange(0x80, 0x100) for _ in data)
        scenario, draw = self._scenario, self._random.random
        total = scenario.bit_errors + scenario.dropped + scenario.inserted
        if not total:
            return data
        out = bytearray()
        for byte in data:
            chance = draw()
            if chance >= total:
                out.append(byte)
                continue
            self.errors += 1
            if chance < scenario.bit_errors:
                out.append(byte ^ 1 << self._random.randrange(8))
            elif chance >= scenario.bit_errors + scenario.dropped:
                out += bytes((byte, self._random.randrange(256)))
        return bytes(out)
