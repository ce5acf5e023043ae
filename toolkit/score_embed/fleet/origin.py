"""Who a frame comes from, as far as the line can prove it; and what that entitles to.

What a message says of its sender is a claim. The line knows better: a frame came in through the socket file in a folder
that only its owner can enter, or over an authenticated channel whose key has a name, or over loopback from some process
of this machine. Names follow from that, and who may order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

APART = "."  # between a key's name and what tells several clients with that key apart


class Standing(Enum):
    OWN = auto()  # through the socket file: a process of the same user
    KEY = auto()  # a client with a key of its own
    ORDERS = auto()  # somebody with the key for orders
    LOOPBACK = auto()  # a process of this machine, perhaps another user's


@dataclass(frozen=True, slots=True)
class Origin:
    """`name`: of the key; `public`: the key itself, by which others reach its holder; `host`: an IP address."""

    standing: Standing
    name: str = ""
    public: str = ""
    host: str = ""

    @property
    def may_order(self) -> bool:
        return self.standing in (Standing.OWN, Standing.ORDERS)

    @property
    def is_foreign(self) -> bool:
        """It was not started by this user: it may lie, and may be sent away for good."""
        return self.standing is not Standing.OWN

    def may_be(self, client: str) -> bool:
        """May it speak as the client of this name?"""
        if self.standing is Standing.KEY:
            return client == self.name or client.startswith(self.name + APART)
        return self.standing is not Standing.ORDERS

    def witness(self, client: str) -> str:
        """As whom it counts where several are asked: all clients with one key are one."""
        return self.name if self.standing is Standing.KEY else client


OWN = Origin(Standing.OWN)
