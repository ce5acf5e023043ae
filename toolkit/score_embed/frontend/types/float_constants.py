"""Floating constants as bit patterns: the site table holds integers, and C has no constant expression for a pattern.

The value of a literal is exact, and rounded once to the type it has: through the host's double it would be rounded twice.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from struct import pack, unpack

_LITERAL = re.compile(
    r"(?:0x(?P<whole>[0-9a-f]*)\.?(?P<part>[0-9a-f]*)p(?P<power>[+-]?\d+)|(?P<decimal>[\d.]+(?:e[+-]?\d+)?))[fld]?",
    re.I,
)
# A literal has so many characters, and its power counts as at most this: far beyond, all are infinite, or zero.
_LONGEST, _MOST_POWER = 2000, 20_000
_PRECISION = {32: (24, -126, "<f"), 64: (53, -1022, "<d")}  # bits of the significand, least exponent, how it is packed


def literal_pattern(text: str, bits: int) -> int | None:
    """The pattern of a literal as a number of that many bits; None if it is not understood."""
    found = _LITERAL.fullmatch(text.replace("'", "")) if len(text) <= _LONGEST else None
    if found is None:
        return None
    if found["decimal"]:
        digits, _, power = found["decimal"].lower().partition("e")
        return pattern(Fraction(f"{digits}e{_bounded(power or '0')}"), bits)
    whole = int(found["whole"] + found["part"] or "0", 16)
    return pattern(whole * Fraction(2) ** (_bounded(found["power"]) - 4 * len(found["part"])), bits)


def _bounded(power: str) -> int:
    return max(-_MOST_POWER, min(int(power), _MOST_POWER))


def pattern(value: Fraction | int, bits: int) -> int:
    """The pattern of the nearest number of that many bits; of two, the even one."""
    precision, least, how = _PRECISION[bits]
    size = abs(Fraction(value))
    if not size:
        return 0
    exponent = math.floor(size).bit_length() - 1 if size >= 1 else -math.ceil(1 / size).bit_length()
    # The true exponent is this or one more: one bit too many would round to another number.
    exponent += size >= Fraction(2) ** (exponent + 1)
    unit = max(exponent, least) - precision + 1
    try:
        packed = pack(how, math.ldexp(round(size / Fraction(2) ** unit), unit))
    except OverflowError:
        packed = pack(how, math.inf)
    return int.from_bytes(packed, "little") | (value < 0) << (bits - 1)


def number(pattern: int, bits: int) -> int | None:
    """The number of a pattern without what stands behind its point; None if it is infinite or none."""
    value = unpack(_PRECISION[bits][2], pattern.to_bytes(bits // 8, "little"))[0]
    return int(value) if math.isfinite(value) else None
