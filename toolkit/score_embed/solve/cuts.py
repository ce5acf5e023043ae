"""Questions through few values of what is dear to invert: a bucket of a hash table, a remainder, a hash's low bits.

All that a program does with a bucket is a function of its number, and of numbers there are few. So such parts are cut
out (an *abstraction*): each is taken for a number of its own, whatever input gives it. What is left is a question about
few small numbers, as tables decide it. If it has no solution, the question has none. If it has one, that says which
number each part has to be, and only this is asked of the solver behind, without what was looked up by them.

Where that answers nothing (checksums, lengths) it costs as much as the solver behind. So tries are earned, as those of
local search are: by answers. Without any left, one question in some is tried. Measured in docs/design/solving.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from score_embed.contract.words import Layer
from score_embed.engine._core import interval_of, substituted
from score_embed.formula import build
from score_embed.formula.domain import FULL, byte_set
from score_embed.formula.expr import Expr, Kind, evaluate, nodes
from score_embed.solve.query import Answer, Query, Result, Solver, sliced

_FEW = 256  # values of a part
_FROM = 3  # input bytes of a part: what has fewer is enumerated
_PARTS = 16
_TRIES = 16  # to begin with, and at most
_EARNED = 4  # by an answer
_EVERY = 16  # questions: one of so many is tried though no try is left
_NARROWS = frozenset({Kind.UREM, Kind.AND, Kind.EXTRACT, Kind.LSHR, Kind.TABLE})


class _Part(NamedTuple):
    formula: Expr
    values: int  # how many, from 0 on
    place: int  # of the input byte that stands for it, behind the input

    @property
    def free(self) -> Expr:
        """A number of its own."""
        width, byte = self.formula.width, build.byte(self.place)
        return build.zext(byte, width) if width > 8 else build.extract(byte, 0, width)

    def number(self, value: int) -> Expr:
        return build.const(value, self.formula.width)

    def has(self, value: int) -> Expr:
        return build.binary(Kind.EQ, self.formula, self.number(value))


class CutLayer:
    """`quick`: decides what is left; `of_parts`: is asked for the parts; `inner`: for what that does not answer, and
    for all that has no such parts."""

    def __init__(
        self, quick: Solver, inner: Solver, of_parts: Solver, is_trial: Callable[[], bool] = lambda: False
    ) -> None:
        """`is_trial`: whether an answer "unknown" for the parts will do; the question comes again."""
        self._quick, self._inner, self._of_parts, self._is_trial = quick, inner, of_parts, is_trial
        self._tries, self._passed_by = _TRIES, 0

    def solve(self, query: Query) -> Answer:
        parts = _parts(query) if self._may_try(query) else ()
        if not parts:
            return self._inner.solve(query)
        answer = self._try(query, parts)
        is_answered = answer is not None and answer.result is not Result.UNKNOWN
        self._tries = min(_TRIES, self._tries + _EARNED) if is_answered else max(0, self._tries - 1)
        return self._inner.solve(query) if answer is None else answer

    def _may_try(self, query: Query) -> bool:
        if query.floats:
            return False
        if not self._tries:
            self._passed_by = (self._passed_by + 1) % _EVERY
        return not self._passed_by

    def _try(self, query: Query, parts: tuple[_Part, ...]) -> Answer | None:
        """None: the layers behind are to answer."""
        numbers = bytes(evaluate(part.formula, query.data) for part in parts)
        answer = self._quick.solve(_small(query, parts, numbers))
        if answer.result is Result.UNSAT:
            return Answer(Result.UNSAT, Layer.CUT)
        if answer.result is Result.SAT:
            wanted = {part: answer.assignment.get(part.place, now) for part, now in zip(parts, numbers, strict=True)}
            found = self._of_parts.solve(_with_parts(query, wanted))
            if found.result is Result.SAT:
                return Answer(Result.SAT, Layer.CUT, found.assignment)
            if found.result is Result.UNKNOWN and self._is_trial():
                return found
        return None


def _parts(query: Query) -> tuple[_Part, ...]:
    """The deepest parts that have few values of many input bytes; none, if they are too many."""
    made: list[_Part] = []
    has_one: set[Expr] = set()
    for node in nodes([query.target, *query.several]):
        if any(arg in has_one for arg in node.args):
            has_one.add(node)
        elif node.kind in _NARROWS and node.width > 1 and node.deps.bit_count() >= _FROM:
            _, most = interval_of(node)
            if most < _FEW:
                has_one.add(node)
                made.append(_Part(node, most + 1, len(query.data) + len(made)))
    return tuple(made) if len(made) <= _PARTS else ()


def _small(query: Query, parts: Iterable[_Part], numbers: bytes) -> Query:
    """The question with each part a number of its own."""
    free = {part.formula: part.free for part in parts}
    sets = {**query.sets, **{part.place: (1 << part.values) - 1 for part in parts}}
    several = [substituted(condition, free) for condition in query.several]
    return sliced(substituted(query.target, free), several, sets, query.data + numbers)


def _with_parts(query: Query, wanted: Mapping[_Part, int]) -> Query:
    """The question with each part the number that it has to be; and it has to be that."""
    known = {part.formula: part.number(number) for part, number in wanted.items()}
    conditions = [substituted(condition, known) for condition in (query.target, *query.several)]
    conditions += [part.has(number) for part, number in wanted.items()]
    sets, missing, several = dict(query.sets), [], []
    for condition in conditions:
        index = condition.only_byte
        if condition.deps and not evaluate(condition, query.data):
            missing.append(condition)  # search begins with what the run does not fulfil; all sets hold there
        elif index >= 0:
            sets[index] = sets.get(index, FULL) & byte_set(condition)
        elif condition.deps:
            several.append(condition)
    target, *others = [*missing, *several]
    return Query(target, sets, others, query.data)
