"""Relations: which values some variables may have together, a row each, as a database has them.

Rows and not arrays with an axis for each variable: most variables are functions of others, so that few of all combinations
are possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from score_embed.formula.grid import Variable

_CODES = 1 << 62  # combinations that can be told apart by a number

_numbers = itertools.count(1)


class TooLarge(Exception):
    """A join has too many rows, or too many variables."""


class Relation:
    """`rows`: for each combination the index of each variable's value; a column a variable, in the order of their ranks."""

    __slots__ = ("number", "rows", "variables")

    def __init__(self, variables: tuple[Variable, ...], rows: NDArray[np.int64]) -> None:
        self.variables, self.rows = variables, rows
        self.number = next(_numbers)

    @property
    def keys(self) -> NDArray[np.int64]:
        """A number for each row, its values as digits. Raises TooLarge."""
        return _coded(self.rows, range(len(self.variables)), self.variables)


def joined(relations: Sequence[Relation], most: int) -> Relation:
    """The rows that agree with all of the relations, which have a variable in common. Raises TooLarge beyond `most` rows."""
    waiting = sorted(relations, key=lambda relation: len(relation.rows))
    result = waiting.pop(0)
    while waiting:
        known = set(result.variables)
        at = max(range(len(waiting)), key=lambda k: (len(known & set(waiting[k].variables)), -len(waiting[k].rows)))
        result = _joined(result, waiting.pop(at), most)
    return result


def _joined(a: Relation, b: Relation, most: int) -> Relation:
    shared = [v for v in a.variables if v in b.variables]
    mine = _coded(a.rows, [a.variables.index(v) for v in shared], shared)
    theirs = _coded(b.rows, [b.variables.index(v) for v in shared], shared)
    order = np.argsort(theirs, kind="stable")
    theirs = theirs[order]
    low = theirs.searchsorted(mine, "left")
    counts = theirs.searchsorted(mine, "right") - low
    total = int(counts.sum())
    if total > most:
        raise TooLarge
    left = np.repeat(np.arange(len(mine)), counts)
    right = order[np.arange(total) - np.repeat(np.cumsum(counts) - counts - low, counts)]
    variables = tuple(sorted({*a.variables, *b.variables}, key=lambda v: v.rank))
    rows = np.empty((total, len(variables)), np.int64)
    for column, variable in enumerate(variables):
        if variable in a.variables:
            rows[:, column] = a.rows[left, a.variables.index(variable)]
        else:
            rows[:, column] = b.rows[right, b.variables.index(variable)]
    return Relation(variables, rows)


def _coded(rows: NDArray[np.int64], columns: Sequence[int], variables: Sequence[Variable]) -> NDArray[np.int64]:
    codes, combinations = np.zeros(len(rows), np.int64), 1
    for column, variable in zip(columns, variables, strict=True):
        combinations *= variable.count
        if combinations > _CODES:
            raise TooLarge
        codes = codes * variable.count + rows[:, column]
    return codes
