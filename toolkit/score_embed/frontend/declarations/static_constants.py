"""Whether C lets an initialiser stand at a static object (C11 6.6): arithmetic and address constants.

On doubt the answer is no: then the object is filled by stores, which is always right.
"""

from __future__ import annotations

from pycparser import c_ast

from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import InitialiserWalk, string_for
from score_embed.frontend.declarations.symbols import Constant, FunctionName, Variable
from score_embed.frontend.types.ctype import Array, CType, Float, Int, Pointer, Struct, is_integer

_KNOWN_CALLS = ("__builtin_offsetof", "__builtin_types_compatible_p")
_SIZES = ("sizeof", "_Alignof", "__alignof__", "alignof")


class StaticConstants:
    def __init__(self, declarations: Declarations, walk: InitialiserWalk) -> None:
        self._declarations = declarations
        self._walk = walk
        self._pointer_bits = declarations.types.model.pointer

    def may_initialise(self, t: CType, init: c_ast.Node) -> bool:
        """May `init` initialise a static object of type t?"""
        if string_for(t, init) is not None:
            return True
        if isinstance(init, c_ast.InitList):
            if isinstance(t, (Array, Struct)):
                return all(self.may_initialise(item.type, item.value) for item in self._walk.items(t, init))
            return len(init.exprs) == 1 and self.may_initialise(t, init.exprs[0])
        if isinstance(t, Pointer):
            return self._is_arithmetic(init) or self._is_address(init)
        if self._is_word(t) and isinstance(init, c_ast.Cast) and self._is_word(self._cast_type(init)):
            return self._is_arithmetic(init) or self._is_address(init.expr)
        return not isinstance(t, (Array, Struct)) and self._is_arithmetic(init)

    def _cast_type(self, node: c_ast.Cast) -> CType:
        return self._declarations.type_of(node.to_type)

    def _is_word(self, t: CType) -> bool:
        """An integer as wide as a pointer: an address stays a constant as one."""
        return isinstance(t, Int) and t.bits == self._pointer_bits

    def _is_arithmetic(self, node: c_ast.Node) -> bool:
        match node:
            case c_ast.Constant():
                return not node.value.endswith('"')
            case c_ast.ID():
                return isinstance(self._declarations.scope.find(node.name), Constant)
            case c_ast.UnaryOp():
                return node.op in _SIZES or (node.op in ("-", "~", "+", "!") and self._is_arithmetic(node.expr))
            case c_ast.BinaryOp():
                return self._is_defined(node) and self._is_arithmetic(node.left) and self._is_arithmetic(node.right)
            case c_ast.TernaryOp(iftrue=c_ast.Node()):
                return all(map(self._is_arithmetic, (node.cond, node.iftrue, node.iffalse)))
            case c_ast.Cast():
                to = self._cast_type(node)
                return (is_integer(to) or isinstance(to, Float)) and self._is_arithmetic(node.expr)
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                return name in _KNOWN_CALLS
        return False

    def _is_defined(self, node: c_ast.BinaryOp) -> bool:
        """Compilers take no division by zero and no shift by a negative count for a constant."""
        if node.op not in ("/", "%", "<<", ">>"):
            return True
        right = node.right
        if isinstance(right, c_ast.Constant) and ("float" in right.type or "double" in right.type):
            return True
        count = self._declarations.constant(right)
        return count is not None and (count != 0 if node.op in "/%" else count >= 0)

    def _is_address(self, node: c_ast.Node) -> bool:
        match node:
            case c_ast.Constant():
                return bool(node.value.endswith('"'))
            case c_ast.ID():
                symbol = self._declarations.scope.find(node.name)
                if isinstance(symbol, Variable):
                    return symbol.static and isinstance(symbol.type, Array)
                return isinstance(symbol, FunctionName)
            case c_ast.UnaryOp(op="&"):
                return self._is_static(node.expr)
            case c_ast.BinaryOp(op="+" | "-"):
                return self._is_address(node.left) and self._is_arithmetic(node.right)
            case c_ast.Cast():
                to_pointer = isinstance(self._cast_type(node), Pointer)
                return to_pointer and (self._is_arithmetic(node.expr) or self._is_address(node.expr))
        return False

    def _is_static(self, node: c_ast.Node) -> bool:
        """An object or function whose address the linker knows."""
        match node:
            case c_ast.ID():
                symbol = self._declarations.scope.find(node.name)
                return isinstance(symbol, FunctionName) or (isinstance(symbol, Variable) and symbol.static)
            case c_ast.StructRef(type="."):
                return self._is_static(node.name)
            case c_ast.StructRef(type="->"):
                return self._is_address(node.name)
            case c_ast.ArrayRef():
                return self._is_address(node.name) and self._is_arithmetic(node.subscript)
        return False
