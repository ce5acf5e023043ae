"""How a formula is told to an SMT solver: each node once, and a table as few decisions as can be.

What the terms are is the solver's business: `terms.py` makes Z3's, `bitwuzla_terms.py` those of Bitwuzla.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from score_embed.formula.expr import Expr
from score_embed.solve.integral import integral

T = TypeVar("T")  # a solver's term

_TERMS_KEPT = 100_000


class Words(Protocol[T]):
    """What a table is put together of."""

    def constant(self, value: int, width: int) -> T: ...

    def bit(self, value: T, at: int) -> T:
        """Whether this bit of it is set."""
        ...

    def either(self, condition: T, yes: T, no: T) -> T: ...

    def xor(self, a: T, b: T) -> T: ...


class Translator(ABC, Generic[T]):
    """Formulas as terms, each node once. One-bit nodes are booleans where that is what they are."""

    def __init__(self, look: Callable[[], None] = lambda: None) -> None:
        """`look` is called for each new node; what it raises ends the question."""
        self._look = look
        # By uid, not by node: terms of dead formulas go when the table is cleared.
        self._terms: dict[int, T] = {}
        self.made = 0  # terms so far

    def condition(self, expr: Expr) -> T:
        """A one-bit formula as a boolean, without floating point where it can be said so."""
        return self.formula(integral(expr))

    def formula(self, expr: Expr) -> T:
        """A one-bit formula as a boolean, as it is written."""
        if len(self._terms) > _TERMS_KEPT:
            self._clear()
        # Only down to what is known: formulas of a loop stand in one another, thousands deep.
        waiting = [(expr, False)]
        while waiting:
            node, is_ready = waiting.pop()
            if is_ready:
                self._look()
                self._terms[node.uid] = self._term(node)
                self.made += 1
            elif node.uid not in self._terms:
                waiting.append((node, True))
                waiting += [(arg, False) for arg in node.args]
        return self._boolean(self._terms[expr.uid])

    def _clear(self) -> None:
        self._terms.clear()

    @abstractmethod
    def _term(self, node: Expr) -> T:
        """Of a node whose arguments have their terms."""

    @abstractmethod
    def _boolean(self, term: T) -> T:
        """The same one-bit term, as a boolean."""


def table_term(words: Words[T], index: T, bits: int, entries: Sequence[int], width: int) -> T:
    """A table: as XORs where its entries are such (those of a CRC), else decisions, the highest bit first. What is the
    same in several places (a state's row, Unicode's blocks) is made once."""
    columns = [entries[1 << bit] ^ entries[0] for bit in range(bits)]
    chosen = [words.bit(index, bit) for bit in range(bits)]
    if _is_linear(entries, columns):
        nothing = words.constant(0, width)
        parts = [
            words.either(bit, words.constant(column, width), nothing)
            for bit, column in zip(chosen, columns, strict=True)
        ]
        return functools.reduce(words.xor, parts, words.constant(entries[0], width))
    terms = {entry: words.constant(entry, width) for entry in set(entries)}
    level: Sequence[int] = entries  # names of terms: of constants their values, of others negative numbers
    for bit in chosen:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        names = {pair: pair[0] for pair in pairs if pair[0] == pair[1]}
        for low, high in dict.fromkeys(pairs):
            if low != high:
                names[low, high] = -1 - len(terms)
                terms[-1 - len(terms)] = words.either(bit, terms[high], terms[low])
        level = [names[pair] for pair in pairs]
    return terms[level[0]]


def _is_linear(entries: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether each entry is the first one, changed by what belongs to each bit of the index."""
    expected = [entries[0]]
    for column in columns:
        expected += [entry ^ column for entry in expected]
    return expected == list(entries)
