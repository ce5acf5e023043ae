"""The host's mirror of what is symbolic on the target: slots of activations and bytes of memory, as formulas.

The target's taint decides what is symbolic; the mirror only says which formula. So it is never told of bytes
that became concrete, and may hold stale formulas for them.
"""

from __future__ import annotations

from score_embed.formula.build import concat, const, extract
from score_embed.formula.expr import Expr
from score_embed.trace.undo import UndoLog


class NotMirrored(LookupError):
    """The target calls symbolic what it never said to be so."""


class Mirror:
    """A cell of memory is (formula, which of its bytes), so that a value read as it was stored is the same node."""

    def __init__(self, pointer_bits: int, log: UndoLog) -> None:
        self._wrap = (1 << pointer_bits) - 1
        self._log = log
        self._cells: dict[int, tuple[Expr, int]] = {}
        self._slots: dict[tuple[int, int], Expr] = {}

    def slot(self, depth: int, slot: int) -> Expr:
        try:
            return self._slots[depth, slot]
        except KeyError:
            raise NotMirrored(f"slot {slot} at depth {depth}") from None

    def set_slot(self, depth: int, slot: int, expr: Expr) -> None:
        self._log.set(self._slots, (depth, slot), expr)

    def write(self, address: int, expr: Expr) -> None:
        """Store a formula of whole bytes, little endian."""
        for i in range(expr.width // 8):
            self._log.set(self._cells, (address + i) & self._wrap, (expr, i))

    def read(self, address: int, size: int) -> Expr:
        """The little-endian value of `size` symbolic bytes."""
        return self.read_partly(address, size, (1 << size) - 1, 0)

    def read_partly(self, address: int, size: int, mask: int, value: int) -> Expr:
        """As `read`, but bytes whose bit in `mask` is clear are those of the concrete `value`."""
        result: Expr | None = None
        i = 0
        while i < size:
            if mask >> i & 1:
                run, part = self._run(address, i, size, mask)
            else:
                run, part = 1, const(value >> 8 * i, 8)
            result = part if result is None else concat(part, result)
            i += run
        assert result is not None
        return result

    def _run(self, address: int, start: int, size: int, mask: int) -> tuple[int, Expr]:
        """The longest run of neighbouring bytes of one formula from `start` on, and that part of the formula."""
        cells, wrap = self._cells, self._wrap
        try:
            expr, first = cells[(address + start) & wrap]
            run = 1
            while start + run < size and mask >> (start + run) & 1:
                other, index = cells[(address + start + run) & wrap]
                if other is not expr or index != first + run:
                    break
                run += 1
        except KeyError:
            raise NotMirrored(f"memory at {(address + start) & wrap:#x}") from None
        return run, extract(expr, 8 * first, 8 * run)

    def copy(self, to: int, source: int, size: int) -> None:
        """As memmove: what the source holds is taken first, so overlap does no harm."""
        taken = [(offset, self._cells[at]) for offset, at in self._present(source, size)]
        self.forget(to, size)
        for offset, cell in taken:
            self._log.set(self._cells, (to + offset) & self._wrap, cell)

    def forget(self, address: int, size: int) -> None:
        for _, at in self._present(address, size):
            self._log.remove(self._cells, at)

    def _present(self, address: int, size: int) -> list[tuple[int, int]]:
        """(offset, address) of the cells in a range; a size from a damaged trace may be astronomic."""
        if size <= len(self._cells):
            places = ((offset, (address + offset) & self._wrap) for offset in range(size))
            return [(offset, at) for offset, at in places if at in self._cells]
        return [(offset, at) for at in self._cells if (offset := (at - address) & self._wrap) < size]
