"""What a campaign reached of statements, of MC/DC and of its goal, as the summary says it: of the record alone.

A statement is *unreachable* only where that is proved: by a campaign that is exhausted, none of whose paths came to its
stretch. It is *uncertain* if some test came to its stretch and none to its end: a fault, a failed check or a call that
does not come back stands before it or behind it in there; or if interrupts may run it, of which coverage knows nothing.
Else it is *open*.

Of MC/DC, `infeasible` is said only where it is proved: by constants, which the tree tells, or by a campaign that is
exhausted and saw the vectors of each path. Else what is missing is open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from score_embed.contract.coverage import Decision, Stretch
from score_embed.contract.sites import shown
from score_embed.contract.words import Statement, Stop, Vector
from score_embed.results import mcdc
from score_embed.results.parts import VECTORS
from score_embed.results.sourcemap import SourceMap, is_users
from score_embed.results.storage import damaged
from score_embed.results.store import Store
from score_embed.results.vectors import VectorState, by_decision, fewest_tests, require


class MissingStatement(Struct, frozen=True):
    file: str
    line: int
    function: str
    why: Statement


class Statements(Struct, frozen=True):
    """How many there are of each kind, and those that were not reached."""

    total: int
    reached: int
    unreachable: int
    uncertain: int
    open: int
    missing: tuple[MissingStatement, ...]


class Condition(Struct, frozen=True, omit_defaults=True):
    """Of each reading a word; `missing`: with which truths it has still to decide; `pair`: two vectors that show it.
    One that is constant has a value instead."""

    condition: str
    masking: Vector
    unique_cause: Vector
    value: bool | None = None
    missing: tuple[bool, ...] | None = None
    pair: tuple[str, ...] | None = None


class MadeDecision(Struct, frozen=True):
    """A decision, and the vectors that it was made with."""

    file: str
    line: int
    function: str
    decision: str
    vectors: tuple[str, ...]
    conditions: tuple[Condition, ...]


class Fewest(Struct, frozen=True):
    """`exact`: it is proved that fewer would not do."""

    tests: tuple[int, ...]
    exact: bool


class Mcdc(Struct, frozen=True):
    """`tests`: whose vectors were recorded, `own_tests` of them the user's; of `unknown_tests` they are not known."""

    decisions: int
    conditions: int
    masking: dict[Vector, int]
    unique_cause: dict[Vector, int]
    proved: bool
    tests: int
    own_tests: int
    unknown_tests: int
    left: int
    fewest: Fewest
    table: tuple[MadeDecision, ...]


class Goal(Struct, frozen=True):
    """What became of `--goal`. `proved`: what is missing cannot be."""

    criterion: str
    reached: bool
    proved: bool
    missing: int


def statement_words(
    stretches: Iterable[Stretch], covered: AbstractSet[int], stopped: str
) -> Iterator[tuple[Stretch, int, Statement]]:
    """Each statement, as a stretch and its number there, and what is known of it."""
    never = Statement.UNREACHABLE if stopped == Stop.EXHAUSTED else Statement.OPEN
    for one in stretches:
        reached = one.reached(covered)
        rest = Statement.UNCERTAIN if one.is_begun(covered) or one.beside else never
        for number in range(len(one.lines)):
            yield one, number, Statement.REACHED if number < reached else rest


def statement_counts(stretches: Iterable[Stretch], covered: AbstractSet[int], stopped: str) -> Counter[Statement]:
    """How many there are of each kind."""
    return Counter(word for _, _, word in statement_words(stretches, covered, stopped))


def of_statements(sources: SourceMap, covered: AbstractSet[int], stopped: str) -> Statements | None:
    """None if statements are not told."""
    if not sources.stretches:
        return None
    told = sorted(
        (*one.lines[number], one.function, word)
        for one, number, word in statement_words(sources.stretches, covered, stopped)
        if word is not Statement.REACHED
    )
    counts = statement_counts(sources.stretches, covered, stopped)
    return Statements(
        counts.total(),
        counts[Statement.REACHED],
        counts[Statement.UNREACHABLE],
        counts[Statement.UNCERTAIN],
        counts[Statement.OPEN],
        tuple(MissingStatement(*row) for row in told),
    )


def recorded(record: Store) -> VectorState | None:
    """The vectors of a campaign, if it recorded any. Raises StorageError if they are not of its decisions."""
    state = record.get(VECTORS)
    if state is not None:
        try:
            require(state, record.sources().decisions)
        except ValueError as error:
            raise damaged(record.folder, f"vectors: {error}") from None
    return state


def of_decisions(sources: SourceMap, state: VectorState, stopped: str) -> Mcdc:
    """MC/DC of the user's decisions."""
    proved = stopped == Stop.EXHAUSTED and not state.unknown
    known = by_decision(state, len(sources.decisions))
    rows = tuple(_decision(one, vectors, proved) for one, vectors in zip(sources.decisions, known, strict=True))
    conditions = [condition for row in rows for condition in row.conditions]
    return Mcdc(
        decisions=len(rows),
        conditions=len(conditions),
        masking=_counts([condition.masking for condition in conditions]),
        unique_cause=_counts([condition.unique_cause for condition in conditions]),
        proved=proved,
        tests=state.tests,
        own_tests=state.own,
        unknown_tests=state.unknown,
        left=state.left,
        fewest=Fewest(*fewest(sources, state)),
        table=rows,
    )


def fewest(sources: SourceMap, state: VectorState) -> tuple[tuple[int, ...], bool]:
    """As few tests as can be for what all tests show of decisions and take of branches, beside the user's own; and
    whether that is proved."""
    wanted = [index for index, at in sources.directions.items() if is_users(at.file, at.function)]
    return fewest_tests(state, sources.decisions, wanted)


def _counts(words: Sequence[Vector]) -> dict[Vector, int]:
    return {word: words.count(word) for word in Vector}


def _decision(decision: Decision, vectors: Sequence[str], proved: bool) -> MadeDecision:
    seen, possible = mcdc.shown(decision, vectors), mcdc.possible(decision)
    numbers = range(len(decision.conditions))
    return MadeDecision(
        decision.file,
        decision.line,
        shown(decision.function),
        decision.text,
        tuple(sorted(vectors)),
        tuple(_condition(decision, number, seen, possible, proved) for number in numbers),
    )


def _condition(
    decision: Decision, number: int, seen: mcdc.Shown, possible: AbstractSet[mcdc.Item], proved: bool
) -> Condition:
    condition = decision.conditions[number]
    if condition.constant is not None:
        return Condition(condition.text, Vector.CONSTANT, Vector.CONSTANT, value=condition.constant)
    both = {(number, False), (number, True)}
    lacking = both - seen.masking
    impossible = Vector.INFEASIBLE if proved or not lacking <= possible else Vector.OPEN
    alone = Vector.INFEASIBLE if proved or not both <= possible else Vector.OPEN
    return Condition(
        condition.text,
        impossible if lacking else Vector.SHOWN,
        Vector.SHOWN if number in seen.unique else alone,
        missing=tuple(value for _, value in sorted(lacking)),
        pair=tuple(seen.unique.get(number, ())),
    )


def goal(
    criterion: str, sources: SourceMap, covered: AbstractSet[int], state: VectorState | None, stopped: str
) -> Goal:
    """Whether it is reached, and if not, whether the rest is proved to be impossible."""
    if criterion == "statement":
        counts = statement_counts(sources.stretches, covered, stopped)
        missing = counts.total() - counts[Statement.REACHED]
        return Goal(criterion, not missing, missing == counts[Statement.UNREACHABLE] > 0, missing)
    branches = {index for index, at in sources.directions.items() if is_users(at.file, at.function)} - covered
    missing = len(branches)
    unknown = 0
    if criterion == "mcdc":
        state = state or VectorState()
        known = by_decision(state, len(sources.decisions))
        missing += sum(len(mcdc.missing(one, had)) for one, had in zip(sources.decisions, known, strict=True))
        unknown = state.unknown
    proved = bool(missing) and stopped == Stop.EXHAUSTED and not unknown
    return Goal(criterion, not missing, proved, missing)
