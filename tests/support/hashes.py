"""The running hashes of docs/design/probes.md once more, slow and as they are written there: what the engine's are
compared with, and what the tests' own targets send."""

from __future__ import annotations

from score_embed.contract.descriptors import HASH_FACTORS
from score_embed.trace.trail import START, Lanes, value

__all__ = ["START", "Lanes", "folded", "mix", "mix_condition", "mix_label", "mix_operand", "value"]

_M = 0xFFFFFFFF


def mix(lanes: Lanes, x: int) -> Lanes:
    """One step; `x` is taken as 32 bits."""
    a = ((lanes[0] ^ x & _M) * HASH_FACTORS[0]) & _M
    rotated = lanes[1] << 5 | lanes[1] >> 27
    b = ((rotated + x) & _M) * HASH_FACTORS[1] & _M
    return a ^ a >> 13, b ^ b >> 16


def folded(lanes: Lanes) -> int:
    """32 bits of the hash."""
    return lanes[0] ^ lanes[1]


def mix_operand(lanes: Lanes, operand: int, bits: int) -> Lanes:
    """A leaf of a condition, as unsigned."""
    lanes = mix(lanes, operand)
    return mix(lanes, operand >> 32) if bits == 64 else lanes


def mix_condition(lanes: Lanes, site: int, direction: int) -> Lanes:
    """A tainted condition, for the condition hash."""
    return mix(lanes, site << 1 | direction)


def mix_label(lanes: Lanes, site: int, chain: int, taken: int) -> Lanes:
    """One condition of the chain that a tainted switch stands for."""
    return mix(mix(lanes, site << 1 | taken), chain)
