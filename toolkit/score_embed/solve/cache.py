"""Slices already proved sat or unsat, remembered by content and used for other slices too.

A slice that holds an unsatisfiable core is unsat; a model of a slice satisfies each slice that asks for less.
Entries hold digests, byte sets and values, no formulas: so nothing is kept alive, and the tables are bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct

from score_embed.contract.words import Layer
from score_embed.formula.domain import FULL, byte_set
from score_embed.formula.expr import Expr, digest
from score_embed.solve.query import Answer, Query, Result, Solver

_MODELS_TRIED = 50  # for a question
_ELEMENTS_KEPT = 100_000  # digests and sets or values, of each of the two tables

_Names = dict[bytes, None]  # digests; in order, so that the same campaign finds the same entries every time


class _Entry(Struct, frozen=True, eq=False):
    conditions: frozenset[bytes]  # digests of those over two bytes or more
    bytes_: Mapping[int, int]  # of a core: by index, the values that its conditions allow; of a model: the value

    @property
    def size(self) -> int:
        return len(self.conditions) + len(self.bytes_) + 1


class _Table:
    """Entries by the conditions they are to be found under. What was not used for long is forgotten."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[_Entry, tuple[bytes, ...]] = OrderedDict()  # → what it is found under
        self._under: dict[bytes, dict[_Entry, None]] = {}
        self.size = 0

    def add(self, entry: _Entry, names: Iterable[bytes]) -> None:
        kept = self._entries[entry] = tuple(names)
        for name in kept:
            self._under.setdefault(name, {})[entry] = None
        self.size += entry.size
        while self.size > self._limit:
            self._forget(*self._entries.popitem(last=False))

    def _forget(self, entry: _Entry, names: Iterable[bytes]) -> None:
        self.size -= entry.size
        for name in names:
            found = self._under[name]
            del found[entry]
            if not found:
                del self._under[name]

    def under(self, name: bytes) -> dict[_Entry, None]:
        return self._under.get(name, {})

    def used(self, entry: _Entry) -> None:
        self._entries.move_to_end(entry)


class CacheLayer:
    """Answers from earlier answers of the layer it wraps."""

    def __init__(self, inner: Solver, limit: int = _ELEMENTS_KEPT) -> None:
        self._inner = inner
        self._cores, self._models = _Table(limit), _Table(limit)

    def solve(self, query: Query) -> Answer:
        names, sets = _parts(query)
        conditions = frozenset(names)
        core = self._core_of(names, conditions, sets)
        if core is not None:
            self._cores.used(core)
            return Answer(Result.UNSAT, Layer.CACHE)
        model = self._model_of(names, conditions, sets, query.data)
        if model is not None:
            self._models.used(model)
            known = {index: model.bytes_[index] for index in query.indices() if index in model.bytes_}
            return Answer(Result.SAT, Layer.CACHE, known)
        answer = self._inner.solve(query)
        if answer.result is Result.UNSAT:
            self._add_core(*(_named(answer.core) if answer.core else (names, sets)))
        elif answer.result is Result.SAT:
            data = answer.apply(query.data)
            self._models.add(_Entry(conditions, {index: data[index] for index in query.indices()}), names)
        return answer

    def _core_of(self, names: _Names, conditions: frozenset[bytes], sets: Mapping[int, int]) -> _Entry | None:
        """An entry whose conditions all follow from these."""
        for name in names:
            for entry in self._cores.under(name):
                if entry.conditions <= conditions and all(
                    not sets.get(index, FULL) & ~values for index, values in entry.bytes_.items()
                ):
                    return entry
        return None

    def _model_of(
        self, names: _Names, conditions: frozenset[bytes], sets: Mapping[int, int], data: bytes
    ) -> _Entry | None:
        """An entry whose model satisfies these."""
        rarest = min((self._models.under(name) for name in names), key=len, default={})
        for entry in islice(reversed(rarest), _MODELS_TRIED):
            if conditions <= entry.conditions and all(
                values >> entry.bytes_.get(index, data[index]) & 1 for index, values in sets.items()
            ):
                return entry
        return None

    def _add_core(self, names: _Names, sets: Mapping[int, int]) -> None:
        """Remember what is impossible, under the condition that the fewest entries are found under."""
        if names:
            rarest = min(names, key=lambda name: len(self._cores.under(name)))
            self._cores.add(_Entry(frozenset(names), sets), (rarest,))


def _named(formulas: Iterable[Expr]) -> tuple[_Names, dict[int, int]]:
    """Digests of the formulas over two bytes or more, and the values that the others leave of each byte."""
    names: _Names = {}
    sets: dict[int, int] = {}
    for formula in formulas:
        index = formula.only_byte
        if index >= 0:
            sets[index] = sets.get(index, FULL) & byte_set(formula)
        else:
            names[digest(formula)] = None
    return names, sets


def _parts(query: Query) -> tuple[_Names, Mapping[int, int]]:
    """Target and slice as digests of conditions over two bytes or more, and a set a byte."""
    names, sets = _named((query.target, *query.several))
    for index, values in query.sets.items():
        sets[index] = sets.get(index, FULL) & values
    return names, sets
