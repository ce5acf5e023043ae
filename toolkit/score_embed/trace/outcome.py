"""What a branch event says: its conditions, in order, with what each side leads to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from score_embed.contract.sites import Site
from score_embed.formula.expr import Expr


class Chosen(NamedTuple):
    """The object that a symbolic address is in, where it may be in others; or the value that a formula has, where others
    have their turn later: then `address` is the formula, `base` the value, and the size says nothing."""

    address: Expr
    base: int
    size: int  # bytes; 0: any of the constants that a table leads to
    inside: Callable[[int, int], Expr]  # that the address is in the object of that base and size


class Outcome(NamedTuple):
    """A condition of a branch event: the link of a switch's chain (-1: a plain condition), its direction and formula."""

    chain: int
    direction: int
    formula: Expr
    elsewhere: tuple[int, ...]  # coverage indices that only the other side leads to
    chosen: Chosen | None = None
    is_fork: bool = False  # the host's own: the target does not count it


# Takes a branch's site, the leaves it compares, and its conditions in order. False: the path was cut there.
OnBranch = Callable[[Site, tuple[Expr, ...], Sequence[Outcome]], bool]


def place(site: Site) -> str:
    """`file:line` of a site, for messages."""
    return f"{site.file}:{site.line}" if site.file else ""
