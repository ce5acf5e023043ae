"""The trail: the decoded path of the last run, rolled back to where a new trace first differs and extended from there
(the engine's `trail.cpp`; docs/design/trail.md says why that is sound).

A path is made of its conditions, the values it used concretely, and the inputs it declared. It has running hashes
(docs/design/probes.md) as numbers: two lanes of 32 bits, which the engine's `hashes.hpp` mixes. What an event does, say
the engine's `steps.cpp`, and `access.hpp` for symbolic addresses.

Events come from a board over a wire, so nothing about them is trusted: whatever the bytes are, the result is a path or
a TraceError that says at which byte (the engine's `cursor.cpp`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from score_embed.contract.descriptors import HASH_START
from score_embed.contract.sites import SiteTable
from score_embed.engine import _core
from score_embed.engine._core import MAX_DEPTH, Condition, Cursor, Inside, damage_is, parts_are
from score_embed.errors import TargetError
from score_embed.formula.expr import Expr

__all__ = [
    "KEPT", "MAX_DEPTH", "MOST_VALUES", "START", "Chosen", "Condition", "Constants", "Cursor", "Disagreement",
    "Follower", "Forks", "Inside", "Lanes", "Pin", "SymbolicObject", "TraceError", "Trail", "value",
]  # fmt: skip

Lanes = tuple[int, int]
START: Lanes = HASH_START
KEPT = 20_000  # results of each kind that are remembered: bounds memory, and how many formulas outlive their path
MOST_VALUES = 256  # of a value that forks, unless the user says otherwise (--fork-values)


class TraceError(TargetError):
    """The events are not what the image's probes send."""

    def __init__(self, what: str, where: str = "") -> None:
        hint = "The link damages data in a way its checksums miss, or the program overwrote the probe runtime."
        super().__init__(f"the trace is damaged: {what}", where, hint)


damage_is(TraceError)


class Chosen(NamedTuple):
    """The object that a symbolic address is in, where it may be in others; or the value that a formula has, where
    others have their turn later: then `address` is the formula, `base` the value, and the size says nothing."""

    address: Expr
    base: int
    size: int  # bytes; 0: any of the constants that a table leads to; with ASTRAY: the access was wrong there
    inside: Inside  # called: that the address is in the object of that base and size
    others: tuple[tuple[int, int], ...] = ()  # base and size of more objects, any of which it may be in


class Pin(Struct, frozen=True):
    """A symbolic value that the program used concretely: `formula` says that it keeps the value it had. Which values
    fork instead, decides the engine's `concrete.cpp`."""

    site: int
    value: Expr
    formula: Expr


class SymbolicObject(Struct, frozen=True):
    """A declared input: `size` bytes of the test's input from `offset` on."""

    name: str
    offset: int
    size: int
    site: int


class Disagreement(Struct, frozen=True):
    """Verify mode: the program stored another value than the formula gives."""

    site: int
    stored: int
    computed: int


def value(lanes: Lanes) -> int:
    """The hash as one number."""
    return lanes[0] | lanes[1] << 32


parts_are(Chosen, Pin, SymbolicObject, Disagreement)


class Forks:
    """Which values that the program uses as they are in the run fork (docs/design/forks.md; the engine's
    `concrete.cpp`).

    `values`: how many a value may have at most to fork; 0: none does. `arguments`: not only addresses and sizes do, but
    also arguments of opaque calls and numbers of types without formulas (128 bits, `long double`).
    """

    def __init__(self, values: int = MOST_VALUES, arguments: bool = False) -> None:
        self.values, self.arguments = values, arguments


class Constants(Protocol):
    """What the image holds that no program can change. What it says never changes."""

    def object_at(self, address: int) -> tuple[int, int] | None:
        """Address and size of the constant that this is a byte of, or of a piece of what has no name. No two
        overlap."""

    def read(self, address: int, size: int) -> bytes | None:
        """The bytes there, if they are constant and the image has them all."""

    def initial(self, address: int, size: int) -> bytes | None:
        """The bytes there as the program begins with them, constant or not."""

    has_bounds: bool  # the target holds accesses to the bounds of the object that their pointer leads to

    @property
    def bounds(self) -> Sequence[tuple[int, int]]:
        """Address and size of each object of that kind that has a place of its own, in order."""


class Follower(Protocol):
    """What somebody knows of the path, condition by condition. It goes back when the trail does."""

    def cut(self, count: int) -> None:
        """The path is its first `count` conditions again."""

    def pass_by(self, condition: Condition) -> None:
        """The path goes on in this condition's direction."""


class Trail(_core.Trail):
    """The path of the last run. `verify`: the image was built to send what it stores."""

    def __init__(
        self,
        table: SiteTable,
        verify: bool = False,
        constants: Constants | None = None,
        forks: Forks | None = None,
    ) -> None:
        super().__init__(table, verify, constants, forks or Forks(), KEPT)
