"""Deals: which clients were asked to give pairs to which, and may still do it.

A hand-over is valid only under a deal: so a client can take nothing from another by saying that it got it.
"""

from __future__ import annotations

from score_embed.fleet.messages import Peer

MOST = 1024  # of one giver: one that never answers is asked for others again and again

_Deal = tuple[int, Peer]  # REQ, receiver


class Deals:
    def __init__(self) -> None:
        self._open: dict[Peer, dict[_Deal, None]] = {}  # by giver, the oldest first

    def open(self, req: int, giver: Peer, receiver: Peer) -> None:
        deals = self._open.setdefault(giver, {})
        deals[req, receiver] = None
        if len(deals) > MOST:
            del deals[next(iter(deals))]

    def is_open(self, req: int, giver: Peer, receiver: Peer) -> bool:
        return (req, receiver) in self._open.get(giver, ())

    def close(self, req: int, giver: Peer, receiver: Peer) -> bool:
        """It is done, or off; False if there was none."""
        deals = self._open.get(giver)
        if deals is None or (req, receiver) not in deals:
            return False
        del deals[req, receiver]
        if not deals:
            del self._open[giver]
        return True

    def forget(self, giver: Peer) -> None:
        """It gives no more: this life of it is over."""
        self._open.pop(giver, None)
