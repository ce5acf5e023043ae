"""The running hashes of docs/design/probes.md as numbers: two lanes of 32 bits (the engine's `hashes.hpp` mixes them)."""

from __future__ import annotations

from score_embed.contract.descriptors import HASH_START

Lanes = tuple[int, int]

START: Lanes = HASH_START


def value(lanes: Lanes) -> int:
    """The hash as one number."""
    return lanes[0] | lanes[1] << 32
