"""Formulas: bit vectors over the bytes of a test's input, as a hash-consed DAG with an evaluator. The engine has them
(docs/design/engine.md; what can be called says engine/_core.pyi); here are their names and kinds.

`digest` names a formula by its content: equal formulas have equal digests, also if one died before the other was made,
so that a cache can remember formulas without keeping them alive. `Chosen` is formulas as they are where every choice in
them is made as in one run.
"""

from __future__ import annotations

from score_embed.engine._core import (
    WIDEST,
    Chosen,
    Expr,
    Kind,
    Memo,
    TableRead,
    bytes_of,
    changed_bytes,
    compute,
    digest,
    evaluate,
    intern,
    intern_table,
    nodes,
    table_size,
)

__all__ = [
    "COMPARISONS", "NOWHERE", "WIDEST", "Chosen", "Expr", "Kind", "Memo", "TableRead", "bytes_of", "changed_bytes",
    "compute", "digest", "evaluate", "intern", "intern_table", "nodes", "table_size", "to_signed",
]  # fmt: skip

NOWHERE: frozenset[int] = frozenset()
COMPARISONS = frozenset({Kind.EQ, Kind.ULT, Kind.SLT, Kind.FEQ, Kind.FLT, Kind.FLE})


def to_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value
