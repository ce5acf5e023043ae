"""MC/DC for other tools: of each decision, which conditions have not been seen to decide, by masking.

It is what GCC's -fcondition-coverage measures, and what gcovr and lcov have in their formats: a condition is covered twice, by
having decided as true and by having decided as false. Conditions that are constant have nothing to show and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from score_embed.contract.words import Vector
from score_embed.report.findings import Findings


@dataclass(frozen=True, slots=True)
class Condition:
    """`missing`: the truths with which it has not decided."""

    text: str
    missing: frozenset[bool]


@dataclass(frozen=True, slots=True)
class Decision:
    file: str
    line: int
    function: str
    is_reached: bool
    conditions: tuple[Condition, ...]

    def missing(self, truth: bool) -> list[int]:
        """The conditions that have not decided with this truth."""
        return [number for number, condition in enumerate(self.conditions) if truth in condition.missing]


def of(found: Findings) -> list[Decision]:
    """In the order of the summary; none if the campaign recorded no vectors."""
    if not found.summary["mcdc"]:
        return []
    return [
        Decision(
            row["file"],
            row["line"],
            row["function"],
            bool(row["vectors"]),
            tuple(
                Condition(condition["condition"], frozenset(condition["missing"]))
                for condition in row["conditions"]
                if condition["masking"] != Vector.CONSTANT
            ),
        )
        for row in found.summary["mcdc"]["table"]
    ]
