"""The layers between a flip and Z3, and the books they keep.

Each layer answers what it can and hands the rest to the one it wraps: byte sets, equalities of bytes, what was proved
before, a value at hand, local search, tables, all assignments of two bytes, cuts, a solver that stays, Z3 from the
start.
Why in this order: docs/design/solving.md. `Chain` stands in front: it checks every sat answer by evaluation before
anyone uses it, and counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from msgspec import Struct, field

from score_embed.contract.words import Layer
from score_embed.engine._core import is_excluded
from score_embed.errors import UsageError
from score_embed.formula.domain import FULL, byte_set, members, smallest
from score_embed.formula.expr import Memo, evaluate
from score_embed.solve.cache import CacheLayer
from score_embed.solve.choices import ChoicesLayer
from score_embed.solve.cuts import CutLayer
from score_embed.solve.enumerate import EnumerateLayer
from score_embed.solve.equality import EqualityLayer
from score_embed.solve.finite import FiniteLayer
from score_embed.solve.integral import integral
from score_embed.solve.local import SearchLayer
from score_embed.solve.query import DEFAULT_RLIMIT, Answer, Later, Limit, Query, Result, Solver, Stopped
from score_embed.solve.ranges import RangeLayer

_REFUTED = Answer(Result.UNSAT, Layer.DOMAIN)
_VALUES_TRIED = 16  # of one byte: conditions such as checksums are dear to evaluate
_REFUSED = 4 * _VALUES_TRIED
_REMEMBERED = 10_000  # conditions
_KEPT_OF_CUTS = 1 << 20  # cells of tables that are remembered for them
_TRIED_OF_PARTS = 1 << 18  # inputs, by local search: a hash is met by chance, and Z3 needs half a second for it


class UnsoundAnswer(AssertionError):
    """A layer's answer is wrong: a bug of ours, never the user's."""


class DomainLayer:
    """Byte sets, intervals, and comparisons of one number with constants. An empty intersection is unsat; a member is
    sat only if nothing else binds the byte."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner

    def solve(self, query: Query) -> Answer:
        index = query.target.only_byte
        if index < 0:
            if is_excluded(query.target, query.several):
                return _REFUTED
            return self._inner.solve(query)
        left = query.sets.get(index, FULL) & byte_set(query.target)
        if not left:
            return _REFUTED
        if not any(condition.deps >> index & 1 for condition in query.several):
            return Answer(Result.SAT, Layer.DOMAIN, {index: smallest(left)})
        return self._inner.solve(query)


class ModelLayer:
    """A value at hand: the run's own input with one byte changed.

    A checksum holds for none, and is dear to evaluate: a condition that has refused `_REFUSED` values and never held is
    not tried again.
    """

    def __init__(self, inner: Solver) -> None:
        self._inner = inner
        self._refused: dict[int, int] = {}  # by the condition's uid: values, or -1 once it held

    def solve(self, query: Query) -> Answer:
        index = query.target.only_byte
        if index >= 0:
            found = self._one_byte(query, index)
            if found >= 0:
                return Answer(Result.SAT, Layer.MODEL, {index: found})
        return self._inner.solve(query)

    def _one_byte(self, query: Query, index: int) -> int:
        """A value of this byte alone that satisfies everything, or -1."""
        refused = self._refused
        bound = [condition for condition in query.several if condition.deps >> index & 1]
        if any(refused.get(condition.uid, 0) >= _REFUSED for condition in bound):
            return -1
        values = members(query.sets.get(index, FULL) & byte_set(query.target))
        candidate = bytearray(query.data)
        for value in values[:_VALUES_TRIED]:
            candidate[index] = value
            memo = Memo()
            failed = next((condition for condition in bound if not evaluate(condition, candidate, memo)), None)
            if failed is None:
                refused.update((condition.uid, -1) for condition in bound)
                return value
            count = refused.get(failed.uid, 0)
            if count >= 0:
                refused[failed.uid] = count + 1
        if len(refused) > _REMEMBERED:
            refused.clear()
        return -1


class Gate:
    """Before the layers that search. While it is shut, what comes here waits: raises Later."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner
        self.shut = False

    def solve(self, query: Query) -> Answer:
        if self.shut:
            raise Later
        return self._inner.solve(query)


class Late:
    """Layers that are made for their first question: those on Z3, whose import takes as long as a small campaign."""

    def __init__(self, make: Callable[[], Solver]) -> None:
        self._make = make
        self._made: Solver | None = None

    def solve(self, query: Query) -> Answer:
        if self._made is None:
            self._made = self._make()
        return self._made.solve(query)


class TablesLayer:
    """To what is driven by tables its layers. The values of other formulas are few only if they are of one byte or
    two."""

    def __init__(self, tables: Solver, others: Solver) -> None:
        self._tables, self._others = tables, others

    def solve(self, query: Query) -> Answer:
        is_driven = query.reads or query.chooses or len(query.indices()) <= 2
        return (self._tables if is_driven else self._others).solve(query)


class Nobody:
    """Behind the last layer of a trial."""

    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.CHOICES)


class ArithmeticLayer:
    """To each kind of arithmetic its solver. With floating point Z3 is slow, and learns little from one question for
    others. Its products and quotients are dear to build, so that one solver keeps all that it learned about them."""

    def __init__(self, floats: Solver, products: Solver, others: Solver) -> None:
        self._floats, self._products, self._others = floats, products, others

    def solve(self, query: Query) -> Answer:
        if query.floats and (
            len(query.indices()) <= 2 or any(integral(c).floats for c in (query.target, *query.several))
        ):
            return self._floats.solve(query)
        return (self._products if query.products else self._others).solve(query)


class ValidatingLayer:
    """For tests: every sat is evaluated on the path's own formulas, every unsat is asked of plain Z3."""

    def __init__(self, inner: Solver) -> None:
        from score_embed.solve.smt import SmtLayer

        self.inner = inner
        self._judge = SmtLayer()

    def solve(self, query: Query) -> Answer:
        answer = self.inner.solve(query)
        self.check(query, answer)
        return answer

    def check(self, query: Query, answer: Answer) -> None:
        """Raises UnsoundAnswer."""
        if answer.result is Result.SAT:
            data = answer.apply(query.data)
            wrong = [c for c in (query.target, *query.conditions) if not evaluate(c, data)]
            if wrong:
                raise UnsoundAnswer(f"layer {answer.layer}: the answer does not satisfy {wrong[0]!r}")
        elif answer.result is Result.UNSAT:
            path = (query.target, *query.conditions)
            if not set(answer.core) <= set(path):
                raise UnsoundAnswer(f"layer {answer.layer}: the core is not of this path: {query.target!r}")
            if self._judge.solve_plain(query, answer.core or path).result is Result.SAT:
                raise UnsoundAnswer(f"layer {answer.layer}: not unsat: {query.target!r}")


class SolverStats(Struct):
    """Flips answered, by result and by layer, and the time they took. `seconds_by`: of the flips that the layer
    answered. `gave_up`: questions that the layer left to the next one because they took more steps than it may."""

    sat: int = 0
    unsat: int = 0
    unknown: int = 0
    seconds: float = 0.0
    by: dict[Layer, int] = field(default_factory=lambda: dict.fromkeys(Layer, 0))
    seconds_by: dict[Layer, float] = field(default_factory=lambda: dict.fromkeys(Layer, 0.0))
    gave_up: dict[Layer, int] = field(default_factory=dict)

    def count_byte_sets(self, sat: int, unsat: int, seconds: float) -> None:
        """So many flips more, which the engine answered as DomainLayer does."""
        self._count(Layer.DOMAIN, sat + unsat, seconds)
        self.sat, self.unsat, self.seconds = self.sat + sat, self.unsat + unsat, self.seconds + seconds

    def count(self, answer: Answer, seconds: float) -> None:
        """One flip more."""
        self._count(answer.layer, 1, seconds)
        if answer.result is Result.SAT:
            self.sat += 1
        elif answer.result is Result.UNSAT:
            self.unsat += 1
        else:
            self.unknown += 1

    def count_given_up(self, left: Mapping[Layer, int]) -> None:
        """So many questions more that a layer left because of its limit."""
        for layer, count in left.items():
            self.gave_up[layer] = self.gave_up.get(layer, 0) + count

    def add(self, other: SolverStats) -> None:
        """What somebody else has counted."""
        self.sat, self.unsat, self.unknown = (
            self.sat + other.sat,
            self.unsat + other.unsat,
            self.unknown + other.unknown,
        )
        self.seconds += other.seconds
        for layer, count in other.by.items():
            self._count(layer, count, other.seconds_by.get(layer, 0.0))
        self.count_given_up(other.gave_up)

    def _count(self, layer: Layer, count: int, seconds: float) -> None:
        self.by[layer] = self.by.get(layer, 0) + count
        self.seconds_by[layer] = self.seconds_by.get(layer, 0.0) + seconds


class Chain:
    """What exploration asks. Counts every flip once, whoever answers it."""

    def __init__(
        self, first: Solver, stats: SolverStats | None = None, gate: Gate | None = None, limit: Limit | None = None
    ) -> None:
        """`gate`: behind it are the dear layers; `limit`: theirs. Without a gate, all layers are cheap."""
        self.first = first
        self.stats = stats or SolverStats()
        self._gate, self._limit = gate, limit or Limit()
        self._efforts = _efforts(limit.rlimit) if limit else (0,)
        self.check = first.check if isinstance(first, ValidatingLayer) else None
        first = first.inner if isinstance(first, ValidatingLayer) else first
        # Whether the engine may answer as this layer would, before a question is put into words.
        self.decides_bytes = isinstance(first, DomainLayer)

    @property
    def stop(self) -> Callable[[], bool]:
        """When it says so, `solve` raises Stopped."""
        return self._limit.stop

    @stop.setter
    def stop(self, wanted: Callable[[], bool]) -> None:
        self._limit.stop = wanted

    @property
    def efforts(self) -> int:
        """How often a question is asked at most, each time with a larger limit."""
        return len(self._efforts)

    @property
    def may_wait(self) -> bool:
        """Whether there are dear layers, for which a question may wait."""
        return self._gate is not None

    def answer_cheaply(self, strict: Query, loose: Query | None = None) -> Answer | None:
        """As `solve`, by the layers that do not search; None if they have no answer."""
        if self._gate is None:
            return self.solve(strict, loose)
        began = time.perf_counter()
        self._gate.shut = True
        try:
            return self.solve(strict, loose)
        except Later:
            self.stats.seconds += time.perf_counter() - began
            return None
        finally:
            self._gate.shut = False

    def solve(self, strict: Query, loose: Query | None = None, effort: int = 0) -> Answer:
        """Answer `strict` (with the path's pins); if it has no model, `loose` (without them), if given.

        A pin says "this concretized value stays as it was": with it, a model is sure to lead where it should.
        `effort`: how often the question was asked before, from 0 to `efforts` - 1; before the last time, an answer
        "unknown" does not count.
        """
        limit = self._limit
        limit.look()
        limit.rlimit = self._efforts[effort]
        limit.trial, limit.again = effort == 0, effort > 1
        began = time.perf_counter()
        answer = self._checked(strict)
        if loose is not None and answer.result is not Result.SAT:
            limit.look()
            answer = self._checked(loose)
        if answer.result is Result.UNKNOWN and self.stop():
            raise Stopped  # broken off, not given up
        stats = self.stats
        if limit.gave_up:
            stats.count_given_up(limit.gave_up)
            limit.gave_up.clear()
        took = time.perf_counter() - began
        stats.seconds += took
        if answer.result is Result.UNKNOWN and effort < self.efforts - 1:
            return answer
        stats.count(answer, took)
        return answer

    def _checked(self, query: Query) -> Answer:
        answer = self.first.solve(query)
        if answer.result is Result.SAT and not query.holds(answer.apply(query.data)):
            if self.stop():
                raise Stopped  # Z3 was interrupted, and then may leave out a condition
            raise UnsoundAnswer(f"layer {answer.layer}: the answer does not satisfy {query.target!r}")
        return answer


def default_chain(rlimit: int = DEFAULT_RLIMIT, validate: bool = False, solver: str = "auto") -> Chain:
    """All layers in order. `validate` checks each answer independently (slow, for tests); `solver`: which one decides
    what the layers leave, see `solver_of`. Raises UsageError."""
    limit, first = Limit(rlimit), solver_of(solver)
    gate = Gate(SearchLayer(Late(lambda: _searching(limit, first)), lambda: limit.trial))
    layers: Solver = DomainLayer(EqualityLayer(CacheLayer(ModelLayer(RangeLayer(gate))), limit=limit))
    return Chain(ValidatingLayer(layers) if validate else layers, gate=gate, limit=limit)


def solver_of(wanted: str) -> str:
    """`z3`; `bitwuzla`, with Z3 behind it; `auto`: Bitwuzla where it is installed. Raises UsageError."""
    if wanted != "z3" and find_spec("bitwuzla") is not None:
        return "bitwuzla"
    if wanted == "bitwuzla":
        hint = "Install it (pip install bitwuzla), or begin a campaign with --solver z3."
        raise UsageError("Bitwuzla is not installed, and the campaign is to use it", "--solver", hint)
    return "z3"


def _searching(limit: Limit, solver: str) -> Solver:
    """The layers behind the gate."""
    last = Late(lambda: _last(limit, solver))
    return TablesLayer(_for_tables(last, limit), last)


def _for_tables(last: Solver, limit: Limit) -> Solver:
    quick = DomainLayer(EqualityLayer(ModelLayer(FiniteLayer(Nobody(), limit)), limit=limit))
    return FiniteLayer(EnumerateLayer(ChoicesLayer(quick, last, limit), limit), limit)


def _last(limit: Limit, solver: str) -> Solver:
    # Z3 is made for its first question, too: Bitwuzla may answer all.
    plain = Late(lambda: _z3(limit))
    nobody = EnumerateLayer(Nobody(), limit)
    quick = DomainLayer(EqualityLayer(FiniteLayer(nobody, limit, kept=_KEPT_OF_CUTS), limit=limit))
    of_parts = SearchLayer(plain, most=_TRIED_OF_PARTS)
    return CutLayer(quick, _staying(plain, limit, solver), of_parts, lambda: limit.trial)


def _z3(limit: Limit) -> Solver:
    from score_embed.solve.smt import SmtLayer

    return SmtLayer(limit)


def _staying(plain: Solver, limit: Limit, solver: str) -> Solver:
    if solver == "bitwuzla":
        try:
            from score_embed.solve.bitwuzla import BitwuzlaLayer
        except ImportError as error:
            hint = "Install it again (pip install --force-reinstall bitwuzla), or begin a campaign with --solver z3."
            raise UsageError(f"Bitwuzla cannot be loaded: {error}", "--solver", hint) from None
        first = BitwuzlaLayer(plain, limit)
        return ArithmeticLayer(plain, first, first)
    from score_embed.solve.smt import LearningLayer, PathLayer

    return ArithmeticLayer(plain, LearningLayer(plain, limit), PathLayer(plain, limit))


def _efforts(rlimit: int) -> tuple[int, ...]:
    """The limits of a question, each time it is asked: what is hard does not hold up what is not. The first time may be
    a trial only (choices.py), so there is a second one like it."""
    return (max(1, rlimit // 10), max(1, rlimit // 10), max(1, rlimit // 3), rlimit)
