"""A pair (test case, negation limit) with its prediction: what queues hold, the record keeps and clients exchange.

The limit is what makes the search tree unique (Kim, Kim: SCORE, Theorem 1): conditions before it were flipped, or will
be, by the test this one was derived from.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from hashlib import blake2b

_HEAD = struct.Struct("<IIQ")


@dataclass(frozen=True, slots=True)
class Pair:
    """`input`: bytes; `neg_limit`: the first condition (from 1) to flip; `predicted`: k, how many conditions
    are foreseen; `condition_hash`: their hash (docs/design/probes.md)."""

    input: bytes
    neg_limit: int = 1
    predicted: int = 0
    condition_hash: int = 0

    @property
    def id(self) -> bytes:
        """16 bytes that name the predicted decision prefix: equal for equal pairs, whoever made them."""
        return blake2b(_HEAD.pack(0, self.predicted, self.condition_hash), digest_size=16).digest()

    def to_bytes(self) -> bytes:
        return _HEAD.pack(self.neg_limit, self.predicted, self.condition_hash) + self.input

    @classmethod
    def from_bytes(cls, data: bytes) -> Pair:
        """Raises ValueError if it is no pair."""
        if len(data) < _HEAD.size:
            raise ValueError("a stored pair is cut short")
        limit, predicted, condition_hash = _HEAD.unpack_from(data)
        return cls(data[_HEAD.size :], limit, predicted, condition_hash)
