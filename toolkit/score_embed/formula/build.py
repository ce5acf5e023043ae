"""Makes formulas: one function an operator, each with the light simplifications that pay for themselves (the engine's
`build.cpp`)."""

from __future__ import annotations

from score_embed.engine._core import (
    FALSE,
    TRUE,
    binary,
    bit_not,
    byte,
    concat,
    const,
    extract,
    float_binary,
    float_unary,
    from_bytes,
    ite,
    less_equal,
    member,
    neg,
    sext,
    zext,
)

__all__ = [
    "FALSE", "TRUE", "binary", "bit_not", "byte", "concat", "const", "extract", "float_binary", "float_unary",
    "from_bytes", "ite", "less_equal", "member", "neg", "negate", "sext", "zext",
]  # fmt: skip

negate = bit_not  # of a condition
