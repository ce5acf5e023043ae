"""Names of formulas by content: equal formulas have equal digests, also if one died before the other was made.

So a cache can remember formulas without keeping them alive. Origins are not part of it: they change no value.
"""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct

from score_embed.formula.expr import Expr

_SIZE = 16
_HEAD = Struct("<BIB")


def digest(expr: Expr) -> bytes:
    """The formula's digest. Remembered on each node."""
    if expr.digest:
        return expr.digest
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [arg for arg in node.args if not arg.digest]
        if missing:
            stack += missing
            continue
        stack.pop()
        size = (node.value.bit_length() + 7) // 8
        content = _HEAD.pack(node.kind, node.width, size) + node.value.to_bytes(size, "little")
        node.digest = blake2b(content + b"".join([arg.digest for arg in node.args]), digest_size=_SIZE).digest()
    return expr.digest
