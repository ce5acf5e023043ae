"""Lowering of the functions that score.h's macros and the models call: inputs, copies, assumptions, assertions."""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import SlotVariable, Unsupported
from score_embed.frontend.ir.body import Fail, Fill, Move, Pin, Sized, Symbolic
from score_embed.frontend.ir.exp import Const, Convert, Exp, Place, Raw, SlotRef
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.expressions import ByName, Expressions
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import Int, Pointer, declare, is_float, unqualified


class ScoreCalls:
    """Those of one function."""

    def __init__(self, expressions: Expressions, places: Places, assignments: Assignments) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.places, self.assignments = places, assignments
        self.by_name: ByName = {
            "__score_symbolic": self._symbolic,
            "__score_boolean": self._boolean,
            "__score_bytes": self._bytes,
            "__score_text": self._text,
            "__score_sized": self._sized,
            "__score_copy": self._copy,
            "__score_fill": self._fill,
            "__score_is_symbolic": self._is_symbolic,
            "__score_large": self._large,
            "__score_assume_fail": self._assume_fail,
            "__score_assert_fail": self._assert_fail,
            "__assert_fail": self._assert_fail,  # what assert() of glibc calls, and of newlib
            "__assert_func": self._assert_fail,
        }

    def _symbolic_dest(self, node: c_ast.Node) -> SlotRef | Place:
        target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "&" else None
        if target is not None:
            if isinstance(target, c_ast.ID):
                symbol = self.b.declarations.scope.find(target.name)
                if isinstance(symbol, SlotVariable):
                    found = self.places.lvalue(target)
                    assert isinstance(found, SlotRef)
                    return found
            place = self.places.lvalue(target)
            if isinstance(place, Place) and place.bit_field is None:
                return place
        raise Unsupported("a symbolic input must be a variable", node)

    def _name_of(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.Constant):
            return str(node.value).strip('"')
        raise Unsupported("the name of a symbolic input must be a string", node)

    def _symbolic(self, node: c_ast.FuncCall) -> None:
        pointer, _size, name = node.args.exprs
        dest = self._symbolic_dest(pointer)
        text = self._name_of(name)
        if isinstance(dest, SlotRef) and not (isinstance(dest.type, (Int, Pointer)) or is_float(dest.type)):
            raise Unsupported("this type cannot be symbolic", node)
        size = Const(self.types.size, f"sizeof({declare(unqualified(dest.type))})")
        self.b.add(Symbolic(self.b.coord, dest, text, size))

    def _boolean(self, node: c_ast.FuncCall) -> None:
        pointer, _size, name = node.args.exprs
        dest = self._symbolic_dest(pointer)
        byte = self.b.temporary(self.types.uchar)
        self.b.add(Symbolic(self.b.coord, byte, self._name_of(name), Const(self.types.size, "1", 1), boolean=True))
        one = Const(self.types.int, "1", 1)
        self.assignments.store(dest, self.arith.binary("&", byte, one, self.e.sizes.text))

    def _text(self, node: c_ast.FuncCall) -> None:
        self._bytes(node, text=True)

    def _bytes(self, node: c_ast.FuncCall, *, text: bool = False) -> None:
        pointer = self.b.settled(self.e.rvalue(node.args.exprs[0]))
        count = self.b.settled(self.arith.convert(self.e.rvalue(node.args.exprs[1]), self.types.size))
        if not isinstance(pointer.type, Pointer):
            raise Unsupported("SYM_BYTES needs a pointer", node)
        place = self.places.dereference(self.arith.convert(pointer, Pointer(self.types.uchar)), node)
        self.b.add(Symbolic(self.b.coord, place, self._name_of(node.args.exprs[2]), count=count, text=text))

    def _sized(self, node: c_ast.FuncCall) -> None:
        pointer, limit = node.args.exprs
        place = self._symbolic_dest(limit)
        if not isinstance(place, Place) or not place.static:
            raise Unsupported("the size of an object must be a static variable", node)
        self.b.add(Sized(self.b.coord, self.b.settled(self.e.rvalue(pointer)), place))

    def _copy(self, node: c_ast.FuncCall) -> None:
        dest, source, size = self._in_slots(node)
        for pointer in (dest, source):
            self.b.add(Pin(self.b.coord, pointer, "address"))
        self.b.add(Move(self.b.coord, dest, source, size))

    def _fill(self, node: c_ast.FuncCall) -> None:
        dest, value, size = self._in_slots(node)
        self.b.add(Pin(self.b.coord, dest, "address"))
        self.b.add(Fill(self.b.coord, dest, value, size))

    def _in_slots(self, node: c_ast.FuncCall) -> list[Exp]:
        return [self.b.settled(self.e.rvalue(argument)) for argument in node.args.exprs]

    def _is_symbolic(self, node: c_ast.FuncCall) -> Exp:
        """Of a parameter that keeps its value: only such a slot always has its own taint bit."""
        parameter = self.e.rvalue(node.args.exprs[0])
        while isinstance(parameter, Convert):  # a pointer, asked for as a number
            parameter = parameter.operand
        if not isinstance(parameter, SlotRef) or not 1 <= parameter.slot.index <= self.b.body.scalars:
            raise Unsupported("only a parameter can be asked for", node)
        index = parameter.slot.index
        return Raw(self.types.int, f"((int) (sc_m[{1 + (index >> 5)}] >> {index & 31}) & 1)")

    def _large(self, node: c_ast.FuncCall) -> Exp:
        """A size that is too large to try each: it is used as it is in this run."""
        size = self.b.settled(self.e.rvalue(node.args.exprs[0]))
        self.b.add(Pin(self.b.coord, size, "large size"))
        return Raw(self.types.size, size.c())

    def _assert_fail(self, node: c_ast.FuncCall) -> None:
        self.b.add(Fail(self.b.coord, "assert"))

    def _assume_fail(self, node: c_ast.FuncCall) -> None:
        self.b.add(Fail(self.b.coord, "assume"))
