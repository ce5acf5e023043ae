"""The input bytes nobody chose: byte i of every test is PRF(campaign seed, i).

The same on every client and in every session, so that the same seed gives the same set of paths.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

_BLOCK = 64  # bytes of one BLAKE2b digest


@lru_cache(maxsize=1024)
def _block(seed: int, number: int) -> bytes:
    return blake2b(number.to_bytes(8, "little"), key=str(seed).encode()[:64]).digest()


def grow(seed: int, data: bytes, size: int) -> bytes:
    """`data`, extended to at least `size` bytes by the seed's bytes of those positions."""
    grown = bytearray(data)
    while len(grown) < size:
        at = len(grown)
        grown += _block(seed, at // _BLOCK)[at % _BLOCK :][: size - at]
    return bytes(grown)
