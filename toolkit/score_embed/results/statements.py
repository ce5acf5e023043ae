"""Which of the user's statements were reached, and whether the others can be: of the record alone.

A statement is *unreachable* only where that is proved: by a campaign that is exhausted, none of whose paths came to its
stretch. It is *uncertain* if some test came to its stretch and none to its end: a fault, a failed check or a call that does not
come back stands before it or behind it in there; or if interrupts may run it, of which coverage knows nothing. Else it is *open*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from score_embed.contract.statements import Stretch
from score_embed.contract.words import Statement, Stop
from score_embed.results.sourcemap import SourceMap


def words(stretches: Iterable[Stretch], covered: AbstractSet[int], stopped: str) -> Iterator[tuple[Stretch, int, Statement]]:
    """Each statement, as a stretch and its number there, and what is known of it."""
    never = Statement.UNREACHABLE if stopped == Stop.EXHAUSTED else Statement.OPEN
    for one in stretches:
        reached = one.reached(covered)
        rest = Statement.UNCERTAIN if one.is_begun(covered) or one.beside else never
        for number in range(len(one.lines)):
            yield one, number, Statement.REACHED if number < reached else rest


def counts(stretches: Iterable[Stretch], covered: AbstractSet[int], stopped: str) -> dict[str, int]:
    """How many there are of each kind, and in all."""
    found = Counter(word for _, _, word in words(stretches, covered, stopped))
    return {"total": found.total(), **{word.value: found[word] for word in Statement}}


def of(sources: SourceMap, covered: AbstractSet[int], stopped: str) -> dict[str, Any]:
    """The counts, and in `missing` the statements that were not reached; empty if statements are not told."""
    if not sources.stretches:
        return {}
    told = sorted(
        (*one.lines[number], one.function, word)
        for one, number, word in words(sources.stretches, covered, stopped)
        if word is not Statement.REACHED
    )
    missing = [{"file": file, "line": line, "function": function, "why": word} for file, line, function, word in told]
    return {**counts(sources.stretches, covered, stopped), "missing": missing}
