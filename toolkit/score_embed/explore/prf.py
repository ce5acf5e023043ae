"""Input bytes that nobody chose: a pseudo-random function of the campaign's seed and the byte's index.

So byte i is the same on every client and in every session, and the same seed gives the same set of paths.
"""

from __future__ import annotations

from hashlib import blake2b

_BLOCK = 64


def prf(seed: int, start: int, end: int) -> bytes:
    """Bytes start … end − 1."""
    key = (seed & (1 << 64) - 1).to_bytes(8, "little")
    first = start // _BLOCK
    stream = b"".join(
        blake2b(block.to_bytes(8, "little"), key=key, digest_size=_BLOCK).digest()
        for block in range(first, (end + _BLOCK - 1) // _BLOCK)
    )
    return stream[start - first * _BLOCK : end - first * _BLOCK]


def digits(seed: int, start: int, end: int) -> bytes:
    """Bytes start … end − 1 as decimal digits."""
    return bytes(b"0123456789"[byte % 10] for byte in prf(seed, start, end))


def grow(seed: int, data: bytes, size: int) -> bytes:
    """`data`, at least `size` bytes long."""
    return data if len(data) >= size else data + prf(seed, len(data), size)


def number(seed: int, ident: bytes) -> int:
    """64 bits that nobody chose, for whatever has this id."""
    key = (seed & (1 << 64) - 1).to_bytes(8, "little")
    return int.from_bytes(blake2b(ident, key=key, digest_size=8).digest(), "little")
