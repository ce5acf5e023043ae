"""What is asked of the solver layers, what they answer, and what a hard question may cost.

The limit is said here, so that Z3 is not imported before one is asked. The first times that a question is asked it gets
a share of `DEFAULT_RLIMIT`: `_efforts` of `chain.py` has the shares. Each layer that loops has a bound of its own, in
steps and never in time, so that campaigns repeat. What it leaves because of that is counted here. A clock only ends the
campaign: layers look here now and then whether it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from score_embed.contract.words import Layer
from score_embed.engine._core import Passed, questions_are
from score_embed.formula.domain import FULL, byte_set
from score_embed.formula.expr import Expr, Memo, bytes_of, evaluate

DEFAULT_RLIMIT = 20_000_000  # about ten seconds

_running: list[Callable[[], None]] = []


class Later(Exception):
    """The cheap layers have no answer: the question waits until its turn comes."""


class Stopped(Exception):
    """No more answers are wanted: the campaign has to end."""


class Result(Enum):
    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


class Query(NamedTuple):
    """Find input bytes that satisfy `target` and the slice: each byte in its set, and all of `several`."""

    target: Expr
    sets: Mapping[int, int]  # by input byte of the slice: the values its single-byte conditions leave
    several: Sequence[Expr]  # conditions over two bytes or more
    data: bytes  # the input of the run whose path this is
    path: Sequence[Expr] = ()  # all conditions before the target, in order: what sets and `several` are made of

    @property
    def conditions(self) -> list[Expr]:
        """The formulas of the slice as they stand on the path."""
        if isinstance(self.path, Passed):
            return self.path.about(self._deps())
        deps = self._deps()
        return [condition for condition in self.path if condition.deps & deps]

    @property
    def unexplained(self) -> bool:
        """Nobody says which conditions there are behind the slice: `conditions` is not all of it."""
        return not self.path and bool(self.sets or self.several)

    @property
    def products(self) -> bool:
        """Whether there is a product of unknowns, a quotient or a remainder in it."""
        return self.target.products or any(condition.products for condition in self.conditions or self.several)

    @property
    def floats(self) -> bool:
        """Whether there is an operator of floating point in it."""
        return self.target.floats or any(condition.floats for condition in self.several)

    @property
    def chooses(self) -> bool:
        """Whether there is an if-then-else in it, or a shift by an unknown number."""
        return self.target.chooses or any(condition.chooses for condition in self.several)

    @property
    def reads(self) -> bool:
        """Whether there is a table in it."""
        return self.target.reads or any(condition.reads for condition in self.several)

    def holds(self, data: Sequence[int]) -> bool:
        """Does this input satisfy target and slice?"""
        if any(not values >> data[index] & 1 for index, values in self.sets.items()):
            return False
        memo = Memo()
        return evaluate(self.target, data, memo) == 1 and all(evaluate(c, data, memo) for c in self.several)

    def indices(self) -> list[int]:
        """The input bytes of target and slice."""
        return bytes_of(self._deps())

    def _deps(self) -> int:
        deps = self.target.deps
        for condition in self.several:
            deps |= condition.deps
        for index in self.sets:
            deps |= 1 << index
        return deps


def sliced(target: Expr, conditions: Iterable[Expr], sets: Mapping[int, int], data: bytes) -> Query:
    """The question with those of the conditions that it depends on. All of them hold in the run."""
    sets = dict(sets)
    several = []
    for condition in conditions:
        index = condition.only_byte
        if index >= 0:
            sets[index] = sets.get(index, FULL) & byte_set(condition)
        elif condition.deps:
            several.append(condition)
    deps, kept = target.deps, []
    while True:
        joining = [condition for condition in several if condition.deps & deps]
        if not joining:
            break
        kept += joining
        several = [condition for condition in several if not condition.deps & deps]
        for condition in joining:
            deps |= condition.deps
    return Query(target, {index: sets[index] for index in bytes_of(deps) if index in sets}, kept, data)


class Answer(NamedTuple):
    """`assignment`: a value for bytes of the slice (sat); the others keep theirs. `layer`: who answered.

    `core`: formulas of target and slice that already exclude each other (unsat), if the layer knows them.
    """

    result: Result
    layer: Layer
    assignment: Mapping[int, int] = MappingProxyType({})
    core: Sequence[Expr] = ()

    def apply(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for index, value in self.assignment.items():
            changed[index] = value
        return bytes(changed)


class Solver(Protocol):
    """One layer: answers itself, or asks the layer it wraps."""

    def solve(self, query: Query) -> Answer: ...


class Limit:
    """What a question may cost; one object for all layers of a chain.

    `rlimit`: of Z3's resource count; Bitwuzla's limit is made of it. `trial`: it is asked for the first time: what is
    no more than a trial may be all. `again`: it was asked before with less, so that Z3's solvers that stay have given
    it up already. `stop`: whether no more answers are wanted. `gave_up`: questions that a layer left to the next
    because they took too many steps.
    """

    def __init__(self, rlimit: int = DEFAULT_RLIMIT) -> None:
        self.rlimit, self.trial, self.again = rlimit, False, False
        self.stop: Callable[[], bool] = lambda: False
        self.gave_up: Counter[Layer] = Counter()

    def look(self) -> None:
        """For loops that take long. Raises Stopped: the campaign has to end."""
        if self.stop():
            raise Stopped


def on_interrupt(end: Callable[[], None]) -> None:
    """From now on an interrupt is to call this, in any thread."""
    _running.append(end)


def interrupt() -> None:
    """End the running question, if any, as unknown. May be called by any thread; later questions are not affected."""
    for end in tuple(_running):
        end()


questions_are(Query, Stopped)
