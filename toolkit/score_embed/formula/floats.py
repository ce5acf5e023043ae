"""IEEE 754 on bit patterns (the engine's `ieee.hpp`): the constants of binary32 and binary64, and which operators do
what.

Every result that is no number (NaN) has one pattern here, while machines differ in its sign and payload: `pattern_uses`
finds the formulas whose value could depend on that.
"""

from __future__ import annotations

from score_embed.engine._core import Kind, decode, encode, is_nan, may_be_nan, pattern_uses

__all__ = [
    "ARITHMETIC", "CEIL", "COMPARISONS", "FLOOR", "FROM_INTEGER", "INFINITY", "NAN", "PRECISION", "SIGN", "TO_INTEGER",
    "TRUNC", "decode", "encode", "is_nan", "may_be_nan", "pattern_uses",
]  # fmt: skip

NAN = {32: 0x7FC00000, 64: 0x7FF8000000000000}
INFINITY = {32: 0x7F800000, 64: 0x7FF0000000000000}
PRECISION = {32: 24, 64: 53}  # bits of the significand

# Their results may be no number, of a pattern that only the machine knows.
ARITHMETIC = frozenset({Kind.FADD, Kind.FSUB, Kind.FMUL, Kind.FDIV, Kind.FSQRT, Kind.FROUND, Kind.FCONV})
SIGN = frozenset({Kind.FNEG, Kind.FABS})  # these change the sign bit and nothing else, also of NaN
FROM_INTEGER = frozenset({Kind.SITOF, Kind.UITOF})
TO_INTEGER = frozenset({Kind.FTOSI, Kind.FTOUI})
COMPARISONS = frozenset({Kind.FEQ, Kind.FLT, Kind.FLE})
FLOOR, CEIL, TRUNC = 1, 2, 3  # values of FROUND
