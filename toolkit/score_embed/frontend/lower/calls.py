"""Lowering of calls: instrumented, opaque, indirect; what the compiler or score.h means by a name is looked up first.

An instrumented callee gets the taint of its arguments through its slots; everything else is opaque: its result is
concretized (and remembered as such), what it changed in tainted memory is found out by the runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycparser import c_ast

from score_embed.contract.sites import MODEL
from score_embed.frontend.declarations.symbols import FunctionName, Unsupported
from score_embed.frontend.ir.body import ARGUMENT, Argument, Call, Note, Pin
from score_embed.frontend.ir.exp import AddressOf, Const, Convert, Exp, Load, Place, Raw, SlotRef
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.atomic_calls import AtomicCalls
from score_embed.frontend.lower.compiler_calls import BitCalls, CompilerCalls
from score_embed.frontend.lower.expressions import ByName, Expressions, Selection, Value
from score_embed.frontend.lower.float_calls import FloatCalls
from score_embed.frontend.lower.overflow_calls import OverflowCalls
from score_embed.frontend.lower.parameters import Variadic
from score_embed.frontend.lower.places import Places
from score_embed.frontend.lower.score_calls import ScoreCalls
from score_embed.frontend.types.ctype import (
    Function,
    Pointer,
    Struct,
    VaList,
    Void,
    as_int,
    is_integer,
    is_untracked,
    unqualified,
)
from score_embed.frontend.types.library_calls import (
    BLOCKS,
    BUILTIN,
    JUMPS,
    LIBRARY,
    RUNTIME,
    gives_to_program,
    keeps_pointer,
    only_puts_out,
    signature,
    writes_nothing,
)


@dataclass(frozen=True)
class Callees:
    """What a unit knows of the functions that it calls. `instrumented`: by their names; `is_library`: by the files that
    declare them; `argument_order`: in which arguments are evaluated, "left" or "right" first."""

    instrumented: Callable[[str], bool]
    is_library: Callable[[str], bool]
    argument_order: str


class Calls:
    """Calls of one function."""

    def __init__(self, expressions: Expressions, places: Places, assignments: Assignments, callees: Callees) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.places, self.assignments = places, assignments
        self.callees = callees
        self._compiler, self._variadic = CompilerCalls(expressions), Variadic(expressions, places)
        self._atomic = AtomicCalls(expressions, assignments)
        score = ScoreCalls(expressions, places, assignments)
        self._special: ByName = {**self._compiler.by_name, **self._variadic.by_name, **score.by_name}
        overflows = OverflowCalls(expressions, places, assignments)
        self._formulas = (FloatCalls(expressions).call, BitCalls(expressions).call, overflows.call)

    def call(self, node: c_ast.FuncCall, wanted: bool) -> Value:
        """Any call; its value, if it is wanted."""
        self.b.at(node)
        while isinstance(node.name, Selection):
            node = c_ast.FuncCall(self.e.chosen(node.name), node.args, node.coord)
        coord = self.b.coord
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        special = self._special.get(name)
        if special is not None:
            return special(node)
        symbol = self.b.declarations.scope.find(name) if name else None
        if name == "alloca" and not self.callees.instrumented(name):
            return self._compiler.alloca(node)
        if (name.startswith(BUILTIN) and symbol is None) or (
            isinstance(symbol, FunctionName) and self.callees.is_library(symbol.file)
        ):
            for formula in self._formulas:
                if (found := formula(name, node)) is not None:
                    return found
        if name.startswith(BUILTIN) and symbol is None:
            symbol = self._builtin(name, node)
            name = name.removeprefix(BUILTIN)
        if symbol is None and self._atomic.is_access(name, node):
            return self._atomic.access(name, node)
        implicit = bool(name) and symbol is None
        if implicit:
            symbol = self._undeclared(name, node)
        if isinstance(symbol, FunctionName):
            callee, t, kind = symbol.name, symbol.type, "known" if self.callees.instrumented(symbol.name) else "opaque"
            pointer: Exp | None = None
        else:
            pointer = self.b.settled(self.e.rvalue(node.name))
            if not (isinstance(pointer.type, Pointer) and isinstance(pointer.type.to, Function)):
                raise Unsupported("call of something that is no function", node)
            callee, t, kind = pointer.c(), pointer.type.to, "indirect"
        args = self._arguments(node, t)
        self.b.coord = coord
        library = isinstance(symbol, FunctionName) and (
            self.callees.is_library(symbol.file) or name.startswith((RUNTIME, *LIBRARY))
        )
        harmless = kind == "opaque" and writes_nothing(name, t, library)
        if kind != "known":
            self._pin_arguments(args, kind, only_puts_out(name, library) and not wanted)
            if library and name in BLOCKS and args:
                args[0] = Argument(self._settled_block(args[0].exp))
        if keeps_pointer(name, library) and not (len(args) > 1 and _is_null(args[1].exp)):
            self.b.add(Note(coord, "memory that the C library keeps a pointer to"))
        if gives_to_program(name, library):
            self.b.add(Note(coord, "what exit is given comes back without a formula"))
        if name in JUMPS and isinstance(args[-1].exp, SlotRef):  # comes back as the result of an opaque call
            self.b.add(Pin(coord, args[-1].exp, "value of longjmp"))
        if kind != "opaque" and t.variadic:
            self._variadic.report_unpassed(args, len(t.params or ()))
        if pointer is not None:
            self.b.add(Pin(coord, pointer, "address"))
        return self._emit(callee, name or callee, t, kind, args, harmless, library, wanted, implicit)

    def _emit(
        self,
        callee: str,
        name: str,
        t: Function,
        kind: str,
        args: list[Argument],
        harmless: bool,
        library: bool,
        wanted: bool,
        implicit: bool,
    ) -> Value:
        result = unqualified(t.result)
        dest: SlotRef | Place | str | None = None
        value: Value = None
        if isinstance(result, Struct):
            dest = value = self.b.object_temporary(result)
        elif is_untracked(result):
            dest = self.b.plain_temporary(result)
            value = Raw(result, dest)
        elif not isinstance(result, Void) and (wanted or kind != "opaque"):
            dest = value = self.b.temporary(as_int(result) if is_integer(result) else result)
        declared = len(t.params or ()) if t.variadic else None
        self.b.add(Call(self.b.coord, callee, dest, args, kind, harmless, library, result, name, implicit, declared))
        return value

    # --- arguments -------------------------------------------------------------------------------------------

    def _arguments(self, node: c_ast.FuncCall, t: Function) -> list[Argument]:
        nodes = list(node.args.exprs) if node.args else []
        if t.params is not None and (len(nodes) < len(t.params) or (len(nodes) > len(t.params) and not t.variadic)):
            raise Unsupported("wrong number of arguments", node)
        values: dict[int, Exp | Place] = {}
        order = range(len(nodes)) if self.callees.argument_order == "left" else range(len(nodes) - 1, -1, -1)
        for index in order:
            with self.b.buffered() as effects:
                value = self._argument(nodes[index], t, index)
            if effects:
                self._protect(values)
            self.b.body.statements.extend(effects)
            values[index] = value
        return [Argument(self._settled(values[i])) for i in range(len(nodes))]

    def _protect(self, values: dict[int, Exp | Place]) -> None:
        """Arguments already evaluated must not see the side effects of a later one."""
        for index, value in values.items():
            if isinstance(value, Place) or isinstance(value.type, VaList):  # no value that could be kept
                continue
            if any(isinstance(e, (Load, Raw)) for e in value.walk()):
                values[index] = self.b.save(value)

    def _argument(self, node: c_ast.Node, t: Function, index: int) -> Exp | Place:
        declared = t.params[index] if t.params is not None and index < len(t.params) else None
        value = self.places.exact_value(node) if declared is not None else self.e.value(node)
        if value is None:
            raise Unsupported("a void value is passed", node)
        if isinstance(declared, Struct):
            return self.assignments.as_union(value, declared, node, transparent=True)
        if isinstance(value, Place):
            return value
        if declared is not None:
            return self.arith.convert(value, declared)
        return self.arith.argument_promoted(value)

    def _settled(self, value: Exp | Place) -> Exp | Place:
        """Scalar arguments are slots or constants, so that a call needs no template."""
        if isinstance(value, (Place, Const, SlotRef)) or is_untracked(value.type):
            return value
        if isinstance(value, AddressOf) and not value.place.slots:
            return value
        return self.b.save(value)

    def _pin_arguments(self, args: list[Argument], kind: str, lossless: bool) -> None:
        if lossless or kind == "indirect":
            return
        for argument in args:
            if isinstance(argument.exp, SlotRef):
                self.b.add(Pin(self.b.coord, argument.exp, ARGUMENT))

    def _settled_block(self, pointer: Exp | Place) -> Exp | Place:
        """Which block is freed decides what is right from there on: the pointer is used as it is in this run, and the
        pin sees to the others."""
        if not isinstance(pointer, SlotRef):
            return pointer
        self.b.add(Pin(self.b.coord, pointer, "address"))
        return Raw(pointer.type, pointer.c())

    # --- functions without a declaration ---------------------------------------------------------------------

    def _undeclared(self, name: str, node: c_ast.FuncCall) -> FunctionName:
        """A function without a declaration gives an int, unless the compiler knows it (`malloc`, `sqrt`)."""
        known = None if self.callees.instrumented(name) else signature(name, self.types)
        t = known or self._atomic.type_of(name, node) or Function(self.types.int, None)
        return FunctionName(name, t, self.b.coord.file)

    def _builtin(self, name: str, node: c_ast.FuncCall) -> FunctionName:
        model = self.b.declarations.scope.find(MODEL + name.removeprefix(BUILTIN))
        if isinstance(model, FunctionName):
            return model
        plain = self.b.declarations.scope.find(name.removeprefix(BUILTIN))
        if isinstance(plain, FunctionName):  # what the program itself defines is called as it is
            return plain if self.callees.instrumented(plain.name) else FunctionName(name, plain.type, plain.file)
        t = signature(name.removeprefix(BUILTIN), self.types)
        if t is None:
            raise Unsupported(f"builtin '{name}'", node)
        return FunctionName(name, t, "<builtin>")


def _is_null(exp: Exp | Place) -> bool:
    while isinstance(exp, Convert):
        exp = exp.operand
    return isinstance(exp, Const) and exp.value == 0
