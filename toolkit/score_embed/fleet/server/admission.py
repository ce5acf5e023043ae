"""Who may say what to the server, and how much; and who is sent away for good.

A message is taken in only from whom it says it is from. Strangers have a limited number of names, since the server
remembers each, and of frames and bytes a second. What no client of ours would ever say is a *fault*; after some of
these, and only then, a client that is not of this user is expelled: what it holds goes to others, and the record says
so. Nobody is expelled for what a bad line, a crash or a slow board can bring about.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from score_embed.fleet.messages import Pairs, ToServer
from score_embed.fleet.origin import Origin, Standing
from score_embed.fleet.timers import Allowance

FAULTS = 3  # until a client is expelled
MOST_NAMES = 64  # clients with one key …
MOST_LOCAL = 1024  # … and of this machine, without keys
_FRAMES, _FRAMES_AT_ONCE = 500.0, 2000.0  # a second, of one key
_BYTES, _BYTES_AT_ONCE = float(32 << 20), float(128 << 20)


@dataclass(frozen=True, slots=True)
class Expel:
    """An effect: hear this client no more, and say why in the record."""

    client: str
    origin: Origin
    why: str


class Admission:
    def __init__(self) -> None:
        self.expelled: dict[str, str] = {}  # witness → why
        self._names: dict[str, set[str]] = {}  # by key; for look-ups only
        self._faults: Counter[str] = Counter()
        self._allowed: dict[str, tuple[Allowance, Allowance]] = {}  # by key: frames, bytes

    def has_room(self, origin: Origin, size: int, now: float) -> bool:
        """May it say so many bytes more? If not, they are as if they had been lost on the way."""
        if not origin.is_foreign:
            return True
        allowed = self._allowed.get(origin.name)
        if allowed is None:
            allowed = Allowance(_FRAMES, _FRAMES_AT_ONCE), Allowance(_BYTES, _BYTES_AT_ONCE)
            self._allowed[origin.name] = allowed
        return allowed[0].take(1, now) and allowed[1].take(size, now)

    def admits(self, message: ToServer | Pairs, origin: Origin) -> bool:
        """Is it from whom it says, and may that one speak?"""
        client = message.giver.client if isinstance(message, Pairs) else message.peer.client
        if not origin.may_be(client) or origin.witness(client) in self.expelled:
            return False
        if not origin.is_foreign:
            return True
        names = self._names.setdefault(origin.name, set())
        most = MOST_NAMES if origin.standing is Standing.KEY else MOST_LOCAL
        if client not in names and len(names) >= most:
            return False
        names.add(client)
        return True

    def fault(self, client: str, origin: Origin, why: str) -> Expel | None:
        """It said what no client of ours says. Returns what follows, if this was once too often."""
        witness = origin.witness(client)
        self._faults[witness] += 1
        if not origin.is_foreign or self._faults[witness] < FAULTS or witness in self.expelled:
            return None
        self.expelled[witness] = why
        return Expel(client, origin, why)
