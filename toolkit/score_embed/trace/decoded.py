"""What the events so far say: the mirror, the inputs declared, values used concretely, and what was lost.

Everything here can be rolled back to a checkpoint, at a cost proportional to what came after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from score_embed.formula import build
from score_embed.formula.count import limit_of, most_values
from score_embed.formula.domain import FULL, byte_set
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.formula.floats import PRECISION, is_nan, pattern_uses
from score_embed.formula.replace import replaced
from score_embed.trace.cursor import Cursor
from score_embed.trace.memory import Mirror
from score_embed.trace.path import Disagreement, Pin, SymbolicObject
from score_embed.trace.undo import UndoLog


class Checkpoint(NamedTuple):
    """A state to go back to. `at`: bytes of the stream read."""

    at: int
    address: int
    depth: int
    consumed: int
    undo: int
    pins: int
    objects: int
    settled: int
    reach: int
    forked: int
    vanished: int


class Decoded:
    """The state of decoding one stream, for a run with input `data`."""

    def __init__(self, pointer_bits: int, verify: bool) -> None:
        self.verify = verify
        self.cursor = Cursor(pointer_bits)
        self._log = UndoLog()
        self.mirror = Mirror(pointer_bits, self._log)
        self._declared: dict[str, int] = {}  # how often each input was
        self.contents: dict[tuple[int, int], bytes] = {}  # of objects that were read, by address and size
        self.notes: dict[tuple[str, int], int] = {}  # (what, site) → how often; they make a result incomplete
        self._sets: dict[int, int] = {}  # the values that the path's conditions leave to an input byte
        self._limits: dict[Expr, int] = {}  # and the largest value of a formula
        self._fixed: dict[Expr, Expr] = {}  # and formulas that they make a constant
        self._limited: dict[int, Expr] = {}  # sizes in bytes that are formulas, of objects by address
        self._replaced: dict[Expr, Expr] = {}  # formulas with all of these put in
        self.clear()

    def clear(self) -> None:
        """The state before the first event."""
        self._log.undo(0)
        self._replaced.clear()
        cursor = self.cursor
        cursor.events, cursor.at, cursor.address, cursor.depth = b"", 0, 0, 0
        self.pins: list[Pin] = []
        self.objects: list[SymbolicObject] = []
        self.disagreements: list[Disagreement] = []
        self.consumed = 0  # input bytes
        self._settled = 0  # a bit for each input byte that has one value left
        self._reach = 0  # input bytes of formulas that are fixed
        self.forked = 0  # and of those that are so because the path has forked
        self.vanished = 0  # of what was assigned as a constant
        self.take_input(b"")

    def take_input(self, data: bytes) -> None:
        """From now on values are those under this input."""
        self.data = data
        self._values: dict[Expr, int] = {}

    def checkpoint(self, at: int, address: int) -> Checkpoint:
        """The state before an event that began at byte `at`, after that address, and has changed nothing yet."""
        return Checkpoint(
            at,
            address,
            self.cursor.depth,
            self.consumed,
            self._log.mark(),
            len(self.pins),
            len(self.objects),
            self._settled,
            self._reach,
            self.forked,
            self.vanished,
        )

    def return_to(self, point: Checkpoint) -> None:
        self._replaced.clear()
        self._log.undo(point.undo)
        cursor = self.cursor
        cursor.at, cursor.address, cursor.depth = point.at, point.address, point.depth
        self.consumed, self._settled, self._reach = point.consumed, point.settled, point.reach
        self.forked, self.vanished = point.forked, point.vanished
        del self.pins[point.pins :]
        del self.objects[point.objects :]
        self.disagreements.clear()

    def value(self, expr: Expr) -> int:
        """The formula's value under the run's input."""
        if expr.kind is Kind.CONST:
            return expr.value
        if expr.kind is Kind.BYTE:
            return self.data[expr.value]
        return evaluate(expr, self.data, self._values)

    def holds(self, condition: Expr) -> bool:
        index = condition.only_byte
        if index >= 0:
            return bool(byte_set(condition) >> self.data[index] & 1)
        return bool(self.value(condition))

    def learn(self, condition: Expr) -> None:
        """A condition of the path, which holds from here on."""
        index = condition.only_byte
        if index >= 0:
            before = self._sets.get(index, FULL)
            after = before & byte_set(condition)
            if after != before:
                self._log.set(self._sets, index, after)
                if not after & after - 1:
                    self._settled |= 1 << index
        elif condition.kind is Kind.EQ and condition.args[1].is_const:
            self._fix(*condition.args)
        elif (limit := limit_of(condition)) is not None:
            formula, most = limit
            if most < self._limits.get(formula, most + 1):
                self._log.set(self._limits, formula, most)
                if not most:
                    self._fix(formula, build.const(0, formula.width))

    def _fix(self, value: Expr, constant: Expr) -> None:
        """From here on the formula has this value."""
        if not constant.origins:
            self._log.set(self._fixed, value, constant)
            self._replaced.clear()
            self._reach |= value.deps

    def fork(self, value: Expr) -> None:
        """The path has forked: from here on the formula is the value that it has in this run."""
        self._fix(value, build.const(self.value(value), value.width))
        self.forked |= value.deps

    def is_fixed(self, value: Expr) -> bool:
        return value in self._fixed

    def most_values(self, value: Expr) -> int:
        """How many values the formula can have on this path at most."""
        return most_values(value, self._limits)

    def said(self, leaves: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The leaves as the path lets them be said: those that its conditions leave one value are constants.

        That is as sound as slices are: a byte with one value left keeps it, whether its conditions are in a question or not.
        """
        known = self._settled | self._reach
        for leaf in leaves:
            if leaf.deps & known:
                return tuple(map(self._constant, leaves))
        return leaves

    def said_of_value(self, leaves: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The same, of what a value is made of that is assigned: what looks at it later sees no input bytes."""
        said = self.said(leaves)
        if said is not leaves:
            for leaf, now in zip(leaves, said, strict=True):
                if not now.deps:
                    self.vanished |= leaf.deps
        return said

    def _constant(self, leaf: Expr) -> Expr:
        if not leaf.deps or leaf.floats:
            return leaf
        if leaf.deps & ~self._settled:
            found = self._replaced.get(leaf)
            if found is None:
                found = self._replaced[leaf] = replaced(leaf, self._fixed, self._reach)
            return found
        return build.const(self.value(leaf), leaf.width, leaf.origins)

    def note(self, what: str, site: int) -> None:
        key = what, site
        self._log.set(self.notes, key, self.notes.get(key, 0) + 1)

    def pin(self, site: int, value: Expr) -> None:
        """A symbolic value was used concretely."""
        formula = build.binary(Kind.EQ, value, build.const(self.value(value), value.width))
        self.pins.append(Pin(site, value, formula))

    def pin_number(self, site: int, value: Expr) -> None:
        """Of the result of an operation its pattern was used: it has to be a number."""
        self.pins.append(Pin(site, value, build.float_binary(Kind.FEQ, value, value)))

    def no_numbers(self, patterns: Iterable[Expr]) -> bool:
        """Is one of these floating-point values none?"""
        return any(is_nan(self.value(expr), expr.width) for expr in patterns)

    def keep_content(self, address: int, content: bytes) -> None:
        """What an object holds, as far as it is constant."""
        key = address, len(content)
        if self.contents.get(key) is not content:
            self._log.set(self.contents, key, content)

    def keep_limit(self, address: int, size: Expr) -> None:
        """An object's size is a formula."""
        self._log.set(self._limited, address, size)

    def limit_of(self, address: int, size: int, width: int) -> Expr:
        """The size of the object there: `size`, if it is no formula."""
        found = self._limited.get(address)
        return build.const(size, width) if found is None else self.said((found,))[0]

    def declare(self, site: int, name: str, size: int) -> int:
        """An input of so many bytes; returns its place in the test's input."""
        number = self._declared.get(name, 0) + 1
        self._log.set(self._declared, name, number)
        offset = self.consumed
        self.consumed += size
        self.objects.append(SymbolicObject(name if number == 1 else f"{name}#{number}", offset, size, site))
        return offset

    def check_stored(self, site: int, expr: Expr) -> None:
        """Verify mode: the value that the program stored follows in the stream."""
        if not self.verify:
            return
        stored, computed = self.cursor.signed() & ((1 << expr.width) - 1), self.value(expr)
        if stored != computed and not (expr.floats and self._is_open(expr, stored, computed)):
            self.disagreements.append(Disagreement(site, stored, computed))

    def _is_open(self, expr: Expr, stored: int, computed: int) -> bool:
        """Whether both are no number, or depend on how the machine writes that."""
        width = expr.width
        both = width in PRECISION and is_nan(stored, width) and is_nan(computed, width)
        return both or self.no_numbers(pattern_uses(expr, whole=True))
