"""Arrays whose size is computed at run time.

Declarations stand at the top of the lowered function, where the size is not known yet: so the array is a pointer, and
its stack is taken where it was declared. A declaration that is reached again gives back first what it took before, and
what was taken after it: as the end of its block would have. Each count is kept in a slot that the type names, so sizes
and addresses have formulas; in the emitted C such a type stands in casts only.
"""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import Unsupported, VariableArray, VariableLength
from score_embed.frontend.ir.body import Pin, Verbatim
from score_embed.frontend.ir.exp import Place, Raw, SlotRef
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.types.ctype import Array, CType, Pointer, declare

REASON = "array size"


class VariableArrays:
    """Those of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.e = expressions
        self.b = expressions.b
        self._declared = 0
        self._stack_at = -1  # where the declaration of what they gave back stands

    def count(self, node: c_ast.Node) -> str:
        """Evaluates a count; returns the name of the variable that keeps it."""
        if self.b.is_unevaluated:
            raise VariableLength("a variable length array in an operand that is not evaluated", node)
        size = self.b.types.size
        kept = self.b.temporary(size, keep=True)
        self.b.assign(kept, self.e.arith.convert(self.e.rvalue(node), size))
        self.b.counts[kept.slot.name] = kept
        return kept.slot.name

    def declare(self, name: str, t: Array) -> Place:
        """The declaration of an array: what it lies in is new."""
        size = self.b.temporary(self.b.types.size, keep=True)
        self.b.assign(size, self.e.sizes.of(t))
        self.b.add(Pin(self.b.coord, size, REASON))
        pointer = SlotRef(Pointer(t.of), self.b.new_slot(name, Pointer(t.of)))
        self.b.body.declarations.append(f"void *{name};")
        self.b.add(Verbatim(self.b.coord, self._give_back()))
        of: CType = t.of
        while isinstance(of, Array):
            of = of.of
        taken = f"__builtin_alloca_with_align({size.c()}, 8 * _Alignof({declare(of)}))"
        self.b.assign(pointer, Raw(pointer.type, taken))
        self.b.add(Verbatim(self.b.coord, f"SC_TAKEN({name}, {size.c()});"))
        self.b.declarations.scope.names[name] = VariableArray(pointer.slot, t)
        return self.e.sizes.variable_array(pointer.slot, t)

    def _give_back(self) -> str:
        """C that gives back the stack of this array and of all that were declared after it."""
        index, self._declared = self._declared, self._declared + 1
        text = f"void *sc_stack[{self._declared}] = {{ 0 }};"
        if self._stack_at < 0:
            self._stack_at = len(self.b.body.declarations)
            self.b.body.declarations.append(text)
        else:
            self.b.body.declarations[self._stack_at] = text
        mine, later = f"sc_stack[{index}]", f"sc_stack + {index + 1}"
        forget = f"__builtin_memset({later}, 0, sizeof sc_stack - {index + 1} * sizeof *sc_stack);"
        return f"if ({mine}) __builtin_stack_restore({mine}); else {mine} = __builtin_stack_save(); {forget}"


def refuse_unless_constant(builder: Builder, t: CType, what: str) -> None:
    """For what is emitted where counts are not known yet."""
    if builder.is_variable(t):
        raise Unsupported(f"{what} of variable length arrays")
