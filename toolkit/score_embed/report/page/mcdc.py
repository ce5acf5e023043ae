"""MC/DC on a campaign's page: a row for each decision, and a remark at its line where a condition has not been shown to
decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from score_embed.contract.words import Unflipped, Vector
from score_embed.report import criteria
from score_embed.report.findings import Findings
from score_embed.report.page.sources import Remark, Sources
from score_embed.results.criteria import Condition, MadeDecision

_MOST_DECISIONS = 2_000
_MOST_VECTORS = 16  # of a decision
# How each word looks: like the reason of a branch that means the same.
LOOKS: dict[str, str] = {
    Vector.SHOWN: "taken",
    Vector.INFEASIBLE: f"r-{Unflipped.UNSAT}",
    Vector.OPEN: f"r-{Unflipped.WAITING}",
    Vector.CONSTANT: "",
}


class ShownCondition(Struct, frozen=True):
    text: str
    masking: str  # of `Vector`
    unique: str
    never: str  # what is missing by masking
    pair: str  # vectors that show it by unique cause


class ShownDecision(Struct, frozen=True):
    file: str
    line: int
    function: str
    anchor: str
    text: str
    vectors: str
    shown: int  # conditions, by masking
    conditions: list[ShownCondition]


def rows(found: Findings, shown: Sources) -> list[ShownDecision]:
    """Of a campaign that recorded vectors; else none."""
    return [
        ShownDecision(
            row.file,
            row.line,
            row.function,
            shown.anchor(row.file, row.line),
            row.decision,
            _few(row.vectors),
            sum(condition.masking is Vector.SHOWN for condition in row.conditions),
            [_condition(condition) for condition in row.conditions],
        )
        for row in _table(found)[:_MOST_DECISIONS]
    ]


def totals(found: Findings) -> list[str]:
    """What stands above the table."""
    return list(criteria.mcdc_totals(found.summary.mcdc))


def remarks(found: Findings) -> Iterator[tuple[tuple[str, int], Remark]]:
    """By file and line: what is missing of decisions that were made."""
    for row in _table(found):
        if not row.vectors or row.line <= 0:
            continue
        for word, kind in ((Vector.OPEN, Unflipped.WAITING), (Vector.INFEASIBLE, Unflipped.UNSAT)):
            never = [
                f"{condition.condition} never decides as {criteria.truths(condition.missing)}"
                for condition in row.conditions
                if condition.masking is word
            ]
            if never:
                yield (row.file, row.line), Remark(kind, f"MC/DC {word}", "; ".join(never))


def _table(found: Findings) -> Sequence[MadeDecision]:
    return found.summary.mcdc.table if found.summary.mcdc is not None else ()


def _condition(row: Condition) -> ShownCondition:
    missing, pair = criteria.truths(row.missing), " and ".join(row.pair or ())
    return ShownCondition(row.condition, row.masking, row.unique_cause, missing, pair)


def _few(vectors: Sequence[str]) -> str:
    more = f" … ({len(vectors)})" if len(vectors) > _MOST_VECTORS else ""
    return " ".join(vectors[:_MOST_VECTORS]) + more
