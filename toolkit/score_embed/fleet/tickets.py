"""Tickets: by them a client knows that pairs come from a client whom its server has asked for them.

The server gives each client, in each of its lives, a secret. A ticket for a hand-over is made of the receiver's secret,
the REQ and the giver; the giver gets it with the REQ, the receiver makes it once more and compares. So nothing has to
be said ahead of a hand-over, and a ticket is good for one giver, one receiver and one REQ. What was handed over the
receiver tells the server pair by pair, as *marks*; nothing is run before the server has found that they are the
record's own pairs, and has noted whose they are now.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from score_embed.fleet.messages import Pair, Pairs, Peer

SECRET_BYTES = 32
TICKET_BYTES = 16
MARK_BYTES = 8


def secret_of(server: bytes, client: Peer) -> bytes:
    """A client's secret. `server`: the server's own, of this epoch."""
    return _digest(server, SECRET_BYTES, client.client, client.incarnation)


def ticket(secret: bytes, req: int, giver: Peer) -> bytes:
    return _digest(secret, TICKET_BYTES, giver.client, giver.incarnation, req)


def is_good(secret: bytes, pairs: Pairs) -> bool:
    """Did the server ask this giver for pairs for us? `secret`: ours, empty if the server has told none."""
    return bool(secret) and hmac.compare_digest(pairs.ticket, ticket(secret, pairs.req, pairs.giver))


def mark(pair: Pair) -> bytes:
    """By which a pair is known to be what the record has."""
    return blake2b(pair.id + pair.depth.to_bytes(8, "big") + pair.data, digest_size=MARK_BYTES).digest()


def marks(pairs: Iterable[Pair]) -> bytes:
    return b"".join(map(mark, pairs))


def split(all_marks: bytes) -> Iterator[bytes]:
    return (all_marks[start : start + MARK_BYTES] for start in range(0, len(all_marks), MARK_BYTES))


def _digest(key: bytes, size: int, *about: object) -> bytes:
    return blake2b("\0".join(map(str, about)).encode(), key=key, digest_size=size).digest()
