"""Coverage criteria in words, for the terminal, the report and the page: statements, MC/DC, and what became of
`--goal`.

Of MC/DC there are the totals, and a table of each decision's conditions with what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from score_embed.contract.words import Statement, Vector
from score_embed.results.criteria import Condition, Goal, Mcdc, Statements

_WHY = {
    Statement.OPEN: "no test came there",
    Statement.UNREACHABLE: "proved to be unreachable",
    Statement.UNCERTAIN: "uncertain: tests that came near ended there, a call did not come back, or interrupts run it",
}
_MOST_NUMBERS = 20  # of tests that are shown; `export --tests fewest` writes them all
_WORDS = {
    Vector.SHOWN: "shown",
    Vector.INFEASIBLE: "infeasible",
    Vector.OPEN: "open",
    Vector.CONSTANT: "constant",
}
_COUNTED = {
    "statement": "statements",
    "branch": "branch directions",
    "mcdc": "branch directions and truths of conditions",
}


def statement_lines(found: Statements | None, within: Sequence[str]) -> Iterator[str]:
    """All that the report says of it; nothing if statements are not told."""
    if found is None:
        return
    yield from statement_totals(found)
    if found.unreachable and within:
        yield f"unreachable: within {', '.join(within)}"
    for (file, function, why), some in groupby(found.missing, key=lambda row: (row.file, row.function, row.why)):
        numbers = ", ".join(map(str, dict.fromkeys(row.line for row in some)))
        yield f"{file}:{numbers} in {function}: {_WHY[why]}"


def statement_totals(found: Statements | None) -> Iterator[str]:
    """The counts."""
    if found is not None:
        others = (("unreachable", found.unreachable), ("uncertain", found.uncertain), ("open", found.open))
        rest = ", ".join(f"{count} {word}" for word, count in others if count)
        yield f"statements: {found.reached}/{found.total} reached" + (f"; {rest}" if rest else "")


def goal_lines(found: Goal | None, within: Sequence[str]) -> Iterator[str]:
    """What became of `--goal`. `within`: the bounds of what was explored."""
    if found is None:
        return
    bounds = f" within {', '.join(within)}" if within else ""
    name = {"mcdc": "MC/DC"}.get(found.criterion, found.criterion)
    if found.reached:
        yield f"goal {name}: reached"
    elif found.proved:
        others = "other one is" if found.missing == 1 else f"other {found.missing} are"
        yield f"goal {name}: all that is possible is reached; the {others} proved to be infeasible{bounds}"
    else:
        yield f"goal {name}: not reached, {found.missing} {_COUNTED[found.criterion]} missing"


def mcdc_lines(found: Mcdc | None, within: Sequence[str]) -> Iterator[str]:
    """All that the report says of it."""
    if found is None:
        return
    yield from mcdc_totals(found)
    if found.proved and within:
        yield f"infeasible: within {', '.join(within)}"
    for row in found.table:
        yield f"{row.file}:{row.line} in {row.function}: {row.decision}"
        for condition in row.conditions:
            yield "  " + _condition(condition)


def mcdc_totals(found: Mcdc | None) -> Iterator[str]:
    """The totals; nothing if no vectors were recorded."""
    if found is None:
        return
    own = f", {found.own_tests} of them yours" if found.own_tests else ""
    yield f"{found.decisions} decisions of several conditions; vectors of {found.tests} tests{own}"
    for name, counts in (("masking", found.masking), ("unique cause", found.unique_cause)):
        said = ", ".join(f"{counts[word]} {_WORDS[word]}" for word in Vector if counts[word])
        yield f"{name}: of {found.conditions} conditions {said}" if said else f"{name}: no conditions"
    if found.unknown_tests:
        yield f"of {found.unknown_tests} tests the vectors are not known"
    tests = found.fewest.tests
    beside = " beside your own" if found.own_tests else ""
    proved = "" if found.fewest.exact else "; perhaps fewer would do"
    if tests:
        numbers = ", ".join(map(str, tests[:_MOST_NUMBERS]))
        more = ", …" if len(tests) > _MOST_NUMBERS else ""
        yield f"all of this and all branches{beside} with {len(tests)} tests{proved}: {numbers}{more}"


def truths(values: Sequence[bool] | None) -> str:
    """With which a condition has still to decide, in words."""
    return " and ".join("true" if value else "false" for value in values or ())


def _condition(row: Condition) -> str:
    if row.masking is Vector.CONSTANT:
        return f"{row.condition}: constant ({'true' if row.value else 'false'})"
    missing = truths(row.missing)
    masking = _WORDS[row.masking] + (f" (never decides as {missing})" if missing else "")
    pair = " and ".join(row.pair or ())
    return f"{row.condition}: masking {masking}; unique cause {_WORDS[row.unique_cause]}" + (
        f" ({pair})" if pair else ""
    )
