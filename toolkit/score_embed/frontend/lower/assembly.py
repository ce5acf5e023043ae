"""Inline assembly: kept as written, on operands that have been computed before it.

What it computes has no formula: a symbolic operand is used as it is in this run, which is reported (also if nothing is
put out: a register may keep it), and what is put out is concrete. With a "memory" clobber, a pointer among its operands
or the name of a variable in its text it is treated as a call of opaque code is, unless its instructions are known to be
about order or interrupts only. An empty template is a barrier to the compiler: nothing happens, and what goes in and
out keeps its formula.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import Asm, AsmOperand
from score_embed.frontend.declarations.symbols import PlainVariable, Unsupported, Variable
from score_embed.frontend.ir.body import Assembly, Assign, Clear, ForgetObject, Pin, Verbatim
from score_embed.frontend.ir.exp import Const, Exp, Place, Raw, SlotRef
from score_embed.frontend.lower.expressions import Expressions, LValue
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import Pointer

_REASON = "inline assembly"
# Barriers, hints, and what turns interrupts on and off: they change no object of the program.
_ORDER_ONLY = frozenset(
    [
        "nop",
        "dmb",
        "dsb",
        "isb",
        "dsb.sy",
        "cpsid",
        "cpsie",
        "wfi",
        "wfe",
        "sev",
        "yield",
        "mrs",
        "msr",
        "cli",
        "sei",
        "sti",
        "hlt",
        "pause",
        "mfence",
        "lfence",
        "sfence",
        "fence",
        "fence.i",
        "sleep",
        "wdr",
        "csrr",
        "csrw",
        "csrs",
        "csrc",
        "csrsi",
        "csrci",
        "csrrs",
        "csrrc",
        "csrrw",
        "in",
    ]
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_SEPARATOR = re.compile(r'\\[nt]|[;\n\t"]')


class InlineAssembly:
    """That of one function."""

    def __init__(self, expressions: Expressions, places: Places) -> None:
        self.e = expressions
        self.b = expressions.b
        self.places = places

    def lower(self, node: Asm) -> None:
        text = self.b.declarations.text
        if node.labels or "goto" in node.quals:
            raise Unsupported("asm goto", node)
        instructions = _instructions(node)
        names = not instructions <= _ORDER_ONLY and self._names_variables(node)
        if node.outputs is None:
            whole = text(node) + ";"
            self.b.add(Assembly(self.b.coord, whole, True) if names else Verbatim(self.b.coord, whole))
            return
        clobbers = any('"memory"' in str(c.value) for c in node.clobbers) and not instructions <= _ORDER_ONLY
        leads = bool(instructions)
        outputs = [(operand, self._output(operand)) for operand in node.outputs]
        inputs = [self._input(operand, leads) for operand in node.inputs]
        for operand, dest in outputs:
            if "+" in operand.constraint.value and instructions:
                self._report(dest)
        groups = [
            ", ".join(_operand(operand, _text(dest)) for operand, dest in outputs),
            ", ".join(_operand(operand, shown) for operand, (shown, _) in zip(node.inputs, inputs, strict=True)),
            ", ".join(map(text, node.clobbers)),
        ]
        quals = "".join(f" {'__volatile__' if q == 'volatile' else q}" for q in node.quals)
        whole = f"__asm__{quals} ({text(node.template)} : {' : '.join(groups)});"
        leading = () if instructions <= _ORDER_ONLY else tuple(shown for shown, pointer in inputs if pointer)
        self.b.add(Assembly(self.b.coord, whole, clobbers or names or bool(leading), leading))
        for operand, dest in outputs:
            if "+" not in operand.constraint.value or instructions:
                self._make_concrete(dest)

    def _names_variables(self, node: Asm) -> bool:
        find = self.b.declarations.scope.find
        found = [find(word) for word in _words(node)]
        return any(isinstance(symbol, Variable) and symbol.static for symbol in found)

    def _output(self, operand: AsmOperand) -> LValue:
        dest = self.places.lvalue(operand.expr)
        if isinstance(dest, Place) and dest.bit_field is not None:
            raise Unsupported("a bit-field as an operand of inline assembly", operand)
        if isinstance(dest, Place) and dest.slots:
            self.b.add(Pin(self.b.coord, dest.address, "address"))
        return dest

    def _input(self, operand: AsmOperand, leads: bool) -> tuple[str, bool]:
        """The text of an operand that is read, and whether that is a pointer. `leads`: its value may go somewhere."""
        constraint = str(operand.constraint.value).strip('"')
        letters = set(re.sub(r"[^a-zA-Z]", "", constraint))
        if letters and letters <= set("insX"):
            return self.b.declarations.text(operand.expr), False
        if letters and letters <= set("moVQ"):
            place = self._output(operand)
            if leads:
                self._report(place)
            return _text(place), False
        value = self.e.value(operand.expr)
        if value is None:
            raise Unsupported("a void value in inline assembly", operand)
        if isinstance(value, Place):
            if leads:
                self._report(value)
            return value.text, False
        if not isinstance(value, (Const, SlotRef, Raw)):
            value = self.b.save(value)
        if leads and isinstance(value, Exp) and isinstance(value, SlotRef):
            self.b.add(Pin(self.b.coord, value, _REASON))
        return value.c(), isinstance(value.type, Pointer)

    def _report(self, read: LValue) -> None:
        if isinstance(read, SlotRef):
            self.b.add(Pin(self.b.coord, read, _REASON))
        elif isinstance(read, Place):
            self.b.add(ForgetObject(self.b.coord, read.text, _REASON, False))

    def _make_concrete(self, written: LValue) -> None:
        if isinstance(written, SlotRef):
            self.b.add(Assign(self.b.coord, written, Raw(written.type, written.slot.name)))
        elif isinstance(written, Place):
            self.b.add(Clear(self.b.coord, written.text))


def names_in_assembly(node: c_ast.Node) -> set[str]:
    """What may be names of variables in all assembly of a tree, outside of functions, too."""
    found = _words(node) if isinstance(node, Asm) else set()
    return found.union(*(names_in_assembly(child) for _, child in node.children()))


def _words(node: Asm) -> set[str]:
    """What may be names in its template."""
    return {word for line in _SEPARATOR.split(str(node.template.value)) for word in _WORD.findall(line)}


def _instructions(node: Asm) -> set[str]:
    """The words its lines begin with."""
    lines = (line.strip() for line in _SEPARATOR.split(str(node.template.value)))
    return {line.split()[0].lower() for line in lines if line}


def _text(value: LValue) -> str:
    if isinstance(value, SlotRef):
        return value.slot.name
    return value.name if isinstance(value, PlainVariable) else value.text


def _operand(operand: AsmOperand, text: str) -> str:
    name = f"[{operand.name}] " if operand.name else ""
    assert isinstance(operand.constraint, c_ast.Constant)
    return f"{name}{operand.constraint.value} ({text})"
