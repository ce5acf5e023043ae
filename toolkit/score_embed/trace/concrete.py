"""Values that the program uses as they are in the run: what has no formula (a structure that is copied at a symbolic index,
a call through a table, a volatile object), and arguments of opaque calls.

Such a use *forks* if the value is one of few: that it is what it is becomes a condition of the path, whose other side is
another value, until each had its test. The target knows nothing of that condition: it is in neither of its hashes and not in
its count. From there on the value is a constant. Else the use is noted, and the value is *pinned*: a soft constraint
(docs/design/forks.md).
"""

from __future__ import annotations

from score_embed.contract.sites import Site
from score_embed.contract.words import Note
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind
from score_embed.trace.decoded import Decoded
from score_embed.trace.outcome import Chosen, OnBranch, Outcome

MOST_VALUES = 256  # of a value that forks, unless the user says otherwise (--fork-values)
_WIDEST = 64  # bits
# Reasons of PIN sites: these values decide what is run and what is read, so that their other values are other paths.
_DECIDING = frozenset({"address", "array size", "value of longjmp"})


class Forks:
    """`values`: how many a value may have at most to fork; 0: none does. `arguments`: not only addresses and sizes do, but
    also arguments of opaque calls and numbers of types without formulas (128 bits, `long double`)."""

    def __init__(self, values: int = MOST_VALUES, arguments: bool = False) -> None:
        self.values, self.arguments = values, arguments


class Concrete:
    """What becomes of such uses while one stream is decoded."""

    def __init__(self, decoded: Decoded, on_branch: OnBranch, forks: Forks) -> None:
        self._decoded, self._on_branch, self._forks = decoded, on_branch, forks

    def use(self, site: Site, value: Expr, symbolic: str, opaque: str, is_address: bool = False) -> None:
        """The value of this event is used as it is. `symbolic`, `opaque`: the notes if it does not fork, as input or as an
        opaque result; nothing: what comes of it is noted."""
        if not value.deps:
            if value.origins and opaque:
                self._decoded.note(opaque, site.id)
            return
        fork = self.fork(site, value) if site.name in _DECIDING or self._forks.arguments or is_address else None
        if fork is not None:
            self._on_branch(site, (), (fork,))
        elif not self._decoded.is_fixed(value):
            if symbolic:
                self._decoded.note(symbolic, site.id)
            self._decoded.pin(site.id, value)

    def address(self, site: Site, value: Expr, symbolic: str = Note.SYMBOLIC_ADDRESS) -> None:
        """The same, of an address."""
        self.use(site, value, symbolic, Note.OPAQUE_ADDRESS, True)

    def is_few(self, value: Expr) -> bool:
        """Whether it is symbolic, and its values are so few that each can have its test."""
        if not value.deps or value.floats or value.width > _WIDEST:
            return False
        return self._decoded.most_values(value) <= self._forks.values

    def fork(self, site: Site, value: Expr) -> Outcome | None:
        """The condition that the value is what it is in this run; None if it is pinned, or known."""
        decoded = self._decoded
        if decoded.is_fixed(value) or not self.is_few(value):
            return None

        def equals(number: int, _: int) -> Expr:
            return build.binary(Kind.EQ, value, build.const(number, value.width))

        now = decoded.value(value)
        return Outcome(-1, 1, equals(now, 0), (), Chosen(value, now, 0, equals), is_fork=True)
