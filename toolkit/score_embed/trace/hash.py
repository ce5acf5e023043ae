"""The running hashes of docs/design/probes.md, exactly as the target computes them (two lanes of 32 bits)."""

from __future__ import annotations

from score_embed.contract.descriptors import HASH_FACTORS, HASH_START

Lanes = tuple[int, int]

START: Lanes = HASH_START
_A, _B = HASH_FACTORS
_M = 0xFFFFFFFF


def mix(lanes: Lanes, x: int) -> Lanes:
    """One step; `x` is taken as 32 bits."""
    a, b = lanes
    x &= _M
    a = (a ^ x) * _A & _M
    b = ((b << 5 | b >> 27) + x & _M) * _B & _M
    return a ^ a >> 13, b ^ b >> 16


def value(lanes: Lanes) -> int:
    """The hash as one number."""
    return lanes[0] | lanes[1] << 32


def folded(lanes: Lanes) -> int:
    """32 bits of the hash."""
    return lanes[0] ^ lanes[1]


def mix_operand(lanes: Lanes, operand: int, bits: int) -> Lanes:
    """A leaf of a condition, as unsigned."""
    a, b = lanes
    x = operand & _M
    a = (a ^ x) * _A & _M
    b = ((b << 5 | b >> 27) + x & _M) * _B & _M
    lanes = a ^ a >> 13, b ^ b >> 16
    return mix(lanes, operand >> 32) if bits == 64 else lanes


def mix_condition(lanes: Lanes, site: int, direction: int) -> Lanes:
    """A tainted condition, for the condition hash."""
    a, b = lanes
    x = site << 1 | direction
    a = (a ^ x) * _A & _M
    b = ((b << 5 | b >> 27) + x & _M) * _B & _M
    return a ^ a >> 13, b ^ b >> 16


def mix_label(lanes: Lanes, site: int, chain: int, taken: int) -> Lanes:
    """One condition of the chain that a tainted switch stands for."""
    return mix(mix(lanes, site << 1 | taken), chain)
