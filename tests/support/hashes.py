"""The running hashes of docs/design/probes.md once more, slow and as they are written there: what the engine's are
compared with, and what the tests' own targets send."""

from __future__ import annotations

import struct

from score_embed.contract.descriptors import HASH_FACTORS
from score_embed.trace.trail import START, Lanes, value

__all__ = ["START", "Lanes", "folded", "mix", "mix_condition", "mix_label", "mix_operand", "siphash", "value"]

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


def siphash(key: bytes, message: bytes) -> bytes:
    """SipHash-2-4 with 128 bits, which names decisions. `key`: 16 bytes."""
    mask = 0xFFFFFFFFFFFFFFFF
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def add(a: int, b: int, turn: int) -> None:
        v[a] = v[a] + v[b] & mask
        v[b] = (v[b] << turn | v[b] >> 64 - turn) & mask ^ v[a]

    def swap(a: int) -> None:
        v[a] = (v[a] << 32 | v[a] >> 32) & mask

    def rounds(count: int) -> None:
        for _ in range(count):
            add(0, 1, 13)
            swap(0)
            add(2, 3, 16)
            add(0, 3, 21)
            add(2, 1, 17)
            swap(2)

    last = message[len(message) & ~7 :].ljust(7, b"\0") + bytes([len(message) & 255])
    for (word,) in struct.iter_unpack("<Q", message[: len(message) & ~7] + last):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    made = b""
    for at, mark in ((2, 0xEE), (1, 0xDD)):
        v[at] ^= mark
        rounds(4)
        made += struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])
    return made
