"""What a path is made of: its conditions, the values it used concretely, the inputs it declared."""

from __future__ import annotations

from dataclasses import dataclass

from score_embed.formula.expr import Expr
from score_embed.trace import hash as hashes
from score_embed.trace.outcome import Chosen


@dataclass(slots=True)
class Condition:
    """A tainted branch, or one link of the chain that a tainted switch stands for."""

    site: int
    chain: int  # a switch's label; -1 for a plain condition
    direction: int  # did it hold
    formula: Expr  # true in this run
    assumption: bool
    before: hashes.Lanes  # condition hash of what came before
    after: hashes.Lanes  # and with it
    elsewhere: tuple[int, ...]  # coverage indices that only the other side leads to
    chosen: Chosen | None  # of many objects or values: to be flipped on to the next one
    is_fork: bool  # the host's own: the target does not count it
    settled: bool  # conditions before it leave it no other side
    forked: int  # input bytes of the forks before it
    fixed: bool  # these have a say in what it compares
    counted: int  # conditions before it that the target counts, too
    loose: bool  # the target cannot tell the other side from this one: nothing is derived from a run of that
    start: int  # event bytes before its branch: what a run that takes the other side has in common with this one
    pins: int  # of the path, that stand before it

    @property
    def flippable(self) -> bool:
        """The false side of an assumption is never asked for."""
        return not (self.assumption and self.direction)

    @property
    def concrete(self) -> bool:
        """The target took it for symbolic, but its formula depends on no input."""
        return not (self.formula.deps or self.settled)

    def hash(self, flipped: bool = False) -> int:
        """The condition hash up to and including this one, or its other side."""
        if flipped:
            return hashes.value(mixed(self.before, self.site, self.chain, 1 - self.direction))
        return hashes.value(self.after)


def mixed(before: hashes.Lanes, site: int, chain: int, direction: int) -> hashes.Lanes:
    """The condition hash after a condition in this direction."""
    if chain < 0:
        return hashes.mix_condition(before, site, direction)
    return hashes.mix_label(before, site, chain, direction)


@dataclass(frozen=True, slots=True)
class Pin:
    """A symbolic value that the program used concretely: `formula` says that it keeps the value it had."""

    site: int
    value: Expr
    formula: Expr


@dataclass(frozen=True, slots=True)
class SymbolicObject:
    """A declared input: `size` bytes of the test's input from `offset` on."""

    name: str
    offset: int
    size: int
    site: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Verify mode: the program stored another value than the formula gives."""

    site: int
    stored: int
    computed: int
