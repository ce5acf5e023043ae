"""Lowering of calls: instrumented, opaque, indirect, and the functions of score.h.

An instrumented callee gets the taint of its arguments through its slots; everything else is opaque: its result is
concretized (and remembered as such), what it changed in tainted memory is found out by the runtime.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from score_embed.contract.sites import MODEL
from score_embed.frontend.declarations.symbols import FunctionName, SlotVariable, Unsupported
from score_embed.frontend.ir.body import Argument, Call, Fail, Fill, Move, Note, Pin, Symbolic
from score_embed.frontend.ir.exp import AddressOf, Const, Convert, Exp, Load, Place, Raw, SlotRef
from score_embed.frontend.lower.bit_calls import BitCalls
from score_embed.frontend.lower.compiler_calls import CompilerCalls
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.lower.float_calls import FloatCalls
from score_embed.frontend.lower.lowering import Selection
from score_embed.frontend.lower.overflow_calls import OverflowCalls
from score_embed.frontend.types.builtin_names import BUILTIN, signature
from score_embed.frontend.types.ctype import (
    Function,
    Int,
    Pointer,
    Struct,
    VaList,
    Void,
    as_int,
    declare,
    is_float,
    is_integer,
    is_untracked,
    unqualified,
)
from score_embed.frontend.types.library_calls import RUNTIME, keeps_pointer, only_puts_out, writes_nothing

_JUMPS = frozenset(["longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"])


class Calls(CompilerCalls):
    """Calls of one function."""

    def __init__(
        self,
        expressions: Expressions,
        instrumented: Callable[[str], bool],
        is_library: Callable[[str], bool],
        argument_order: str,
    ) -> None:
        super().__init__(expressions)
        self.floats, self.bits = FloatCalls(expressions), BitCalls(expressions)
        self.overflows = OverflowCalls(expressions)
        self.instrumented = instrumented
        self.is_library = is_library
        self.argument_order = argument_order
        expressions.call = self.call

    def call(self, node: c_ast.FuncCall, wanted: bool) -> Exp | Place | None:
        self.b.at(node)
        while isinstance(node.name, Selection):
            node = c_ast.FuncCall(self.e.chosen(node.name), node.args, node.coord)
        coord = self.b.coord
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        special = getattr(self, f"_special{name}", None) if name.startswith("__") else None
        if special is not None:
            return self._special_call(special, node)
        symbol = self.b.declarations.scope.find(name) if name else None
        if name == "alloca" and not self.instrumented(name):
            return self._special__builtin_alloca(node)
        if (name.startswith(BUILTIN) and symbol is None) or (
            isinstance(symbol, FunctionName) and self.is_library(symbol.file)
        ):
            formula = self.floats.call(name, node) or self.bits.call(name, node) or self.overflows.call(name, node)
            if formula is not None:
                return formula
        if name.startswith(BUILTIN) and symbol is None:
            symbol = self._builtin(name, node)
            name = name.removeprefix(BUILTIN)
        implicit = bool(name) and symbol is None
        if implicit:
            symbol = self._undeclared(name, node)
        if isinstance(symbol, FunctionName):
            callee, t, kind = symbol.name, symbol.type, "known" if self.instrumented(symbol.name) else "opaque"
            pointer: Exp | None = None
        else:
            pointer = self.e.settled(self.e.rvalue(node.name))
            if not (isinstance(pointer.type, Pointer) and isinstance(pointer.type.to, Function)):
                raise Unsupported("call of something that is no function", node)
            callee, t, kind = pointer.c(), pointer.type.to, "indirect"
        args = self._arguments(node, t)
        self.b.coord = coord
        library = isinstance(symbol, FunctionName) and (self.is_library(symbol.file) or name.startswith(RUNTIME))
        harmless = kind == "opaque" and writes_nothing(name, t, library)
        if kind != "known":
            self._pin_arguments(args, kind, only_puts_out(name) and not wanted)
        if keeps_pointer(name, library) and not (len(args) > 1 and _is_null(args[1].exp)):
            self.b.add(Note(coord, "memory that the C library keeps a pointer to"))
        if name in _JUMPS and isinstance(args[-1].exp, SlotRef):  # comes back as the result of an opaque call
            self.b.add(Pin(coord, args[-1].exp, "value of longjmp"))
        if kind != "opaque" and t.variadic:
            self.report_unpassed(args, len(t.params or ()))
        if pointer is not None:
            self.b.add(Pin(coord, pointer, "address"))
        return self._emit(callee, name or callee, t, kind, args, harmless, library, wanted, implicit)

    def _special_call(self, special: Callable[[c_ast.FuncCall], Exp | None], node: c_ast.FuncCall) -> Exp | None:
        return special(node)

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
    ) -> Exp | Place | None:
        result = unqualified(t.result)
        dest: SlotRef | Place | str | None = None
        value: Exp | Place | None = None
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
        order = range(len(nodes)) if self.argument_order == "left" else range(len(nodes) - 1, -1, -1)
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
        value = self.e.exact_value(node) if declared is not None else self.e.value(node)
        if value is None:
            raise Unsupported("a void value is passed", node)
        if isinstance(declared, Struct):
            return self.e.as_union(value, declared, node, transparent=True)
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
                self.b.add(Pin(self.b.coord, argument.exp, "argument"))

    # --- score.h and builtins --------------------------------------------------------------------------------

    def _symbolic_dest(self, node: c_ast.Node) -> SlotRef | Place:
        target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "&" else None
        if target is not None:
            if isinstance(target, c_ast.ID):
                symbol = self.b.declarations.scope.find(target.name)
                if isinstance(symbol, SlotVariable):
                    found = self.e.lvalue(target)
                    assert isinstance(found, SlotRef)
                    return found
            place = self.e.lvalue(target)
            if isinstance(place, Place) and place.bit_field is None:
                return place
        raise Unsupported("a symbolic input must be a variable", node)

    def _name_of(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.Constant):
            return str(node.value).strip('"')
        raise Unsupported("the name of a symbolic input must be a string", node)

    def _special__score_symbolic(self, node: c_ast.FuncCall) -> None:
        pointer, _size, name = node.args.exprs
        dest = self._symbolic_dest(pointer)
        text = self._name_of(name)
        if isinstance(dest, SlotRef) and not (isinstance(dest.type, (Int, Pointer)) or is_float(dest.type)):
            raise Unsupported("this type cannot be symbolic", node)
        size = Const(self.types.size, f"sizeof({declare(unqualified(dest.type))})")
        self.b.add(Symbolic(self.b.coord, dest, text, size))

    def _special__score_boolean(self, node: c_ast.FuncCall) -> None:
        pointer, _size, name = node.args.exprs
        dest = self._symbolic_dest(pointer)
        byte = self.b.temporary(self.types.uchar)
        self.b.add(Symbolic(self.b.coord, byte, self._name_of(name), Const(self.types.size, "1", 1), boolean=True))
        one = Const(self.types.int, "1", 1)
        self.e.store(dest, self.arith.binary("&", byte, one, self.e.size_text))

    def _special__score_bytes(self, node: c_ast.FuncCall) -> None:
        pointer = self.e.settled(self.e.rvalue(node.args.exprs[0]))
        count = self.e.settled(self.arith.convert(self.e.rvalue(node.args.exprs[1]), self.types.size))
        if not isinstance(pointer.type, Pointer):
            raise Unsupported("SYM_BYTES needs a pointer", node)
        place = self.e.dereference(self.arith.convert(pointer, Pointer(self.types.uchar)), node)
        self.b.add(Symbolic(self.b.coord, place, self._name_of(node.args.exprs[2]), count=count))

    def _special__score_copy(self, node: c_ast.FuncCall) -> None:
        dest, source, size = self._in_slots(node)
        for pointer in (dest, source):
            self.b.add(Pin(self.b.coord, pointer, "address"))
        self.b.add(Move(self.b.coord, dest, source, size))

    def _special__score_fill(self, node: c_ast.FuncCall) -> None:
        dest, value, size = self._in_slots(node)
        self.b.add(Pin(self.b.coord, dest, "address"))
        self.b.add(Fill(self.b.coord, dest, value, size))

    def _in_slots(self, node: c_ast.FuncCall) -> list[Exp]:
        return [self.e.settled(self.e.rvalue(argument)) for argument in node.args.exprs]

    def _special__score_is_symbolic(self, node: c_ast.FuncCall) -> Exp:
        """Of a parameter that keeps its value: only such a slot always has its own taint bit."""
        parameter = self.e.rvalue(node.args.exprs[0])
        while isinstance(parameter, Convert):  # a pointer, asked for as a number
            parameter = parameter.operand
        if not isinstance(parameter, SlotRef) or not 1 <= parameter.slot.index <= self.b.body.scalars:
            raise Unsupported("only a parameter can be asked for", node)
        index = parameter.slot.index
        return Raw(self.types.int, f"((int) (sc_m[{1 + (index >> 5)}] >> {index & 31}) & 1)")

    def _special__score_assert_fail(self, node: c_ast.FuncCall) -> None:
        self.b.add(Fail(self.b.coord, "assert"))

    def _special__score_assume_fail(self, node: c_ast.FuncCall) -> None:
        self.b.add(Fail(self.b.coord, "assume"))

    _special__assert_fail = _special__score_assert_fail
    _special__assert_func = _special__score_assert_fail

    def _undeclared(self, name: str, node: c_ast.FuncCall) -> FunctionName:
        """A function without a declaration gives an int, unless the compiler knows it (`malloc`, `sqrt`)."""
        known = None if self.instrumented(name) else signature(name, self.types)
        t = known or self._atomic(name, node) or Function(self.types.int, None)
        return FunctionName(name, t, self.b.coord.file)

    def _builtin(self, name: str, node: c_ast.FuncCall) -> FunctionName:
        model = self.b.declarations.scope.find(MODEL + name.removeprefix(BUILTIN))
        if isinstance(model, FunctionName):
            return model
        plain = self.b.declarations.scope.find(name.removeprefix(BUILTIN))
        if isinstance(plain, FunctionName):  # what the program itself defines is called as it is
            return plain if self.instrumented(plain.name) else FunctionName(name, plain.type, plain.file)
        t = signature(name.removeprefix(BUILTIN), self.types)
        if t is None:
            raise Unsupported(f"builtin '{name}'", node)
        return FunctionName(name, t, "<builtin>")


def _is_null(exp: Exp | Place) -> bool:
    while isinstance(exp, Convert):
        exp = exp.operand
    return isinstance(exp, Const) and exp.value == 0
