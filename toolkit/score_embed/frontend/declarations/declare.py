"""Declarations: from pycparser's syntax tree to C types and scopes.

Types are built structurally (C11 6.7); sizes that only the board's compiler can know stay C text. Records and
enums without a tag get one, so that a temporary of such a type can be declared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.c.signature import attribute_texts, declared_attributes
from score_embed.frontend.declarations.longer import Where, where
from score_embed.frontend.declarations.symbols import Constant, Scope, TypedefName, Unsupported, VariableLength
from score_embed.frontend.ir.exp import Storage
from score_embed.frontend.types.constant import ConstantFolder, Value
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enum,
    Enumeration,
    Float,
    Function,
    Int,
    Member,
    Pointer,
    Record,
    Struct,
    Types,
    VaList,
    as_int,
    qualified,
)

_FLOATS = {
    "float",
    "double",
    "_Complex",
    "_Float16",
    "_Float32",
    "_Float64",
    "_Float128",
    "_Float32x",
    "_Float64x",
    "__float128",
}
# Attributes that make a typedef another type than the one it is for.
_OWN_TYPE = re.compile(r"\b_*(aligned|vector_size)_*\b")
_CONSTANT_BUILTINS = ("__builtin_offsetof", "__builtin_constant_p", "__builtin_types_compatible_p")
ANONYMOUS = "sc_anonymous_"  # how tags begin that a record or an enum without one gets
MEMBER = "sc_member_"  # how tags begin by which C does not know their record: that of a member without a name
_MODE = re.compile(r"\b_{0,2}mode_{0,2}\s*\(\s*_{0,2}([A-Za-z]\w*?)_{0,2}\s*\)")
_MODES = {"QI": 8, "HI": 16, "SI": 32, "DI": 64, "TI": 128, "byte": 8}
_FLOAT_MODES = {"SF": 32, "DF": 64}


class Declarations:
    """Builds types in a current scope.

    Inside functions the lowering sets `typeof_`, which types an expression for `typeof`, and `define`, which is given
    each struct, union and enum when it is complete. `counted` keeps a count that is computed there. `storage` says
    where a record has a bit-field, `longer` which structures are allocated with more room than they say.
    """

    def __init__(self, types: Types) -> None:
        self.types = types
        self.scope = Scope()
        self.typeof_: Callable[[c_ast.Node], CType] | None = None
        self.define: Callable[[c_ast.Node], None] = lambda node: None
        self.text: Callable[[c_ast.Node], str] = lambda node: ""
        self.storage: Callable[[Record, str], Storage | None] = lambda record, name: None
        self.counted: Callable[[c_ast.Node], str] | None = None  # keeps a count that is computed at run time
        self.longer: Set[Where] = frozenset()
        self._anonymous = 0
        self._folder = ConstantFolder(types, self._enumerator, self.type_of)

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        """What is declared in a function, or among the parameters of a prototype, is unknown outside."""
        outer = self.scope
        self.scope = Scope(outer)
        try:
            yield
        finally:
            self.scope = outer

    # --- types -----------------------------------------------------------------------------------------------

    def type_of(self, node: c_ast.Node) -> CType:
        """The type that a declarator (or Typename) denotes."""
        match node:
            case c_ast.Decl() | c_ast.Typedef():
                return self._qualify(self.type_of(node.type), attribute_texts(node))
            case c_ast.Typename():
                if any(_OWN_TYPE.search(text) for text in declared_attributes(node)):
                    raise Unsupported("an attribute in the type of a cast", node)
                return self.type_of(node.type)
            case c_ast.TypeDecl():
                return self._qualify(self.type_of(node.type), node.quals)
            case c_ast.IdentifierType():
                return self._basic(node.names, node)
            case c_ast.PtrDecl():
                return self._qualify(Pointer(self.type_of(node.type)), node.quals)
            case c_ast.ArrayDecl():
                return self._array(node)
            case c_ast.FuncDecl():
                return self._function(node)
            case c_ast.Struct() | c_ast.Union():
                return self._record(node)
            case c_ast.Enum():
                return self._enum(node)
            case c_ast.TypeOf():
                return self._typeof(node)
        raise Unsupported(f"type {type(node).__name__}", node)

    def function(self, decl: c_ast.Decl) -> Function:
        """The type of a function that is defined here."""
        t = self.type_of(decl)
        assert isinstance(t, Function)
        return t

    def typedef(self, node: c_ast.Typedef) -> TypedefName:
        """What a typedef makes of its name."""
        texts = [text for text in declared_attributes(node) if _OWN_TYPE.search(text)]
        if any("vector_size" in text for text in texts):
            return TypedefName(Float(node.name))
        if any("transparent_union" in text for text in declared_attributes(node)):
            raise Unsupported("a transparent union that is another's name", node)
        t = self.type_of(node)
        return TypedefName(replace(t, spelling=node.name) if texts else t)

    def _qualify(self, t: CType, quals: list[str] | None) -> CType:
        words = [q for q in quals or [] if isinstance(q, str)]
        for word in words:
            mode = _MODE.search(word)
            if mode and isinstance(t, (Int, Enum, Float)):
                t = self._moded(t if isinstance(t, Float) else as_int(t), mode[1])
            if "vector_size" in word:
                raise Unsupported("a vector without a typedef")
        atomic = "_Atomic" in words
        if atomic and not isinstance(t, (Int, Enum, Float, Pointer, Struct)):
            raise Unsupported("_Atomic of what is no scalar")
        t = qualified(t, volatile=atomic or "volatile" in words, const="const" in words)
        return replace(t, atomic=True) if atomic else t

    def _moded(self, t: Int | Float, name: str) -> Int | Float:
        """`__attribute__((mode(DI)))`: as wide as that mode, whatever the type before it says (GCC manual, 6.33.1)."""
        if isinstance(t, Float):
            same = [of for of in (self.types.float, self.types.double) if of.bits and of.bits == _FLOAT_MODES.get(name)]
            if not same:
                raise Unsupported(f"mode {name} of floating point")
            return same[0]
        pointer = self.types.model.pointer
        bits = {**_MODES, "pointer": pointer, "word": 8 if pointer == 16 else pointer}.get(name)
        types = self.types
        for of in (types.int, types.schar, types.short, types.long, types.llong, types.int128):
            if of.bits == bits:
                return of if t.signed else types.unsigned_of(of)
        raise Unsupported(f"mode {name} of an integer")

    def _basic(self, names: list[str], node: c_ast.Node) -> CType:
        if len(names) == 1:
            symbol = self.scope.find(names[0])
            if isinstance(symbol, TypedefName):
                return symbol.type
        if names[-1] in ("__builtin_va_list", "__gnuc_va_list"):
            return VaList()
        if names[-1] in ("__int128_t", "__uint128_t"):  # typedefs of gcc's own
            return self.types.int128 if names[-1] == "__int128_t" else self.types.uint128
        if "void" in names:
            return self.types.void
        if any(n in _FLOATS for n in names):
            return self.types.floating(" ".join(names))
        known = {"int", "char", "short", "long", "signed", "unsigned", "_Bool", "__int128", "bool"}
        if not names or any(n not in known for n in names):
            raise Unsupported(f"unknown type name '{' '.join(names)}'", node)
        return self.types.by_spelling(" ".join(names))

    def _array(self, node: c_ast.ArrayDecl) -> Array:
        of = self.type_of(node.type)
        if node.dim is None or (isinstance(node.dim, c_ast.ID) and node.dim.name == "*"):
            return Array(of, None)
        length = self.constant(node.dim)
        if length is None and not self._is_constant(node.dim):
            if self.counted is None:
                raise VariableLength("a variable length array", node)
            return Array(of, self.counted(node.dim))
        return Array(of, self.text(node.dim), length)

    def _is_constant(self, node: c_ast.Node) -> bool:
        """An expression without variables, even if only the compiler can compute it."""
        match node:
            case c_ast.ID():
                return isinstance(self.scope.find(node.name), Constant)
            case c_ast.UnaryOp(op="sizeof" | "_Alignof" | "__alignof__"):
                return True
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in _CONSTANT_BUILTINS:
                return True
            case c_ast.FuncCall() | c_ast.Assignment():
                return False
            case c_ast.StructRef():
                return self._is_constant(node.name)
            case c_ast.Typename():
                return True
        return all(self._is_constant(child) for _, child in node.children())

    def _function(self, node: c_ast.FuncDecl) -> Function:
        result = self.type_of(node.type)
        if node.args is None:
            return Function(result, None)
        params: list[CType] = []
        variadic = False
        with self.inner_scope():
            for param in node.args.params:
                if isinstance(param, c_ast.EllipsisParam):
                    variadic = True
                elif isinstance(param, c_ast.ID):
                    return Function(result, None)  # K&R: names only
                else:
                    params.append(self._prototyped(param))
        if len(params) == 1 and params[0] == self.types.void and not variadic:
            params = []
        return Function(result, tuple(params), variadic)

    def _prototyped(self, param: c_ast.Node) -> CType:
        """The type to which a call converts an argument."""
        try:
            return self.parameter(param)
        except VariableLength:  # a pointer to such arrays: one to arrays of unknown size is compatible
            inner = param.type.type
            if isinstance(inner, c_ast.ArrayDecl) and not isinstance(inner.type, c_ast.ArrayDecl):
                return Pointer(Array(self.type_of(inner.type), None))
            return Pointer(self.types.void)

    def parameter(self, node: c_ast.Node) -> CType:
        """The type of a declared parameter."""
        if isinstance(node.type, c_ast.ArrayDecl):  # its size means nothing: it may be a variable
            return Pointer(self.type_of(node.type.type))
        return self.decay(self.type_of(node))

    @staticmethod
    def decay(t: CType) -> CType:
        """The type of a parameter declared with type t (C11 6.7.6.3)."""
        if isinstance(t, Array):
            return Pointer(t.of)
        return Pointer(t) if isinstance(t, Function) else t

    def _tag(self, node: c_ast.Node) -> str:
        if node.name is None:
            self._anonymous += 1
            node.name = f"{ANONYMOUS}{self._anonymous}"
        return str(node.name)

    def _record(self, node: c_ast.Node, *, member: bool = False) -> Struct:
        kind = "struct" if isinstance(node, c_ast.Struct) else "union"
        tag = f"{MEMBER}{id(node)}" if member and node.name is None else self._tag(node)
        found = self.scope.tags.get(tag) if node.decls is not None else self.scope.find_tag(tag)
        if not isinstance(found, Record):
            found = Record(kind, tag)
            self.scope.tags[tag] = found
        if found.refused:
            raise Unsupported(found.refused, node)
        if node.decls is not None and found.members is None:
            self._complete(found, node)
            if not member or node.name is not None:
                self.define(node)
        return Struct(found)

    def _complete(self, record: Record, node: c_ast.Node) -> None:
        record.members, record.longer = [], where(node) in self.longer
        counted, self.counted = self.counted, None  # a member's position would be one that is computed at run time
        try:
            if any("scalar_storage_order" in text for text in attribute_texts(node)):
                raise Unsupported("a byte order of its own", node)
            for decl in node.decls:
                self._member(record.members, decl)
        except Unsupported as error:
            record.refused = f"{record.kind} {record.tag} has {error.what}"
            raise
        finally:
            self.counted = counted

    def _member(self, members: list[Member], decl: c_ast.Node) -> None:
        if not isinstance(decl, c_ast.Decl):
            return  # pragma, static assertion
        if isinstance(decl.type, (c_ast.Struct, c_ast.Union)) and decl.name is None:
            members.append(Member(None, self._record(decl.type, member=True), None))
            return
        bits = None
        if decl.bitsize is not None:
            bits = self.constant(decl.bitsize)
            bits = -1 if bits is None else bits
        members.append(Member(decl.name or "", self.type_of(decl), bits))

    def _enum(self, node: c_ast.Enum) -> CType:
        tag = self._tag(node)
        found = self.scope.tags.get(tag) if node.values is not None else self.scope.find_tag(tag)
        if not isinstance(found, Enumeration):
            found = Enumeration(tag, self.types.uint)
            self.scope.tags[tag] = found
        if node.values is not None and not found.complete:
            found.complete = True
            found.int_type = self._enumerators(node, node.values.enumerators)
            self.define(node)
        return Enum(found)

    def _enumerators(self, node: c_ast.Enum, enumerators: list[c_ast.Enumerator]) -> Int:
        """Names them, each at once: the next ones may be computed of it. Until the enum is complete those that do not
        fit an int have the types of their expressions."""
        value: Value | None = Value(-1, self.types.int)
        found: list[tuple[str, int | None]] = []
        for item in enumerators:
            if item.value is not None:
                value = self._folder.fold(item.value)
            elif value is not None:
                value = self._next(value)
            number, of = (None, self.types.int) if value is None else (value.number, value.type)
            found.append((item.name, number))
            self.scope.names[item.name] = Constant(item.name, self._int_or(number, of), number)
        numbers = [number for _, number in found if number is not None]
        whole = self._enum_type(node, min([0, *numbers]), max([0, *numbers]))
        for name, number in found:
            self.scope.names[name] = Constant(name, self._int_or(number, whole), number)
        return whole

    def _int_or(self, number: int | None, of: Int) -> Int:
        """An enumerator is an int if that can hold it."""
        return self.types.int if self._fits(number or 0, number or 0, self.types.int) else of

    def _next(self, value: Value) -> Value:
        t, number = self.types, value.number + 1
        return Value(number, self._fitting(number, number, (value.type, t.uint, t.long, t.ulong, t.llong)))

    def _enum_type(self, node: c_ast.Enum, low: int, high: int) -> Int:
        """The integer type behind an enum with values from low to high, as gcc chooses it."""
        t = self.types
        mode = _MODE.search(" ".join(attribute_texts(node)))
        if mode:
            return as_int(self._moded(t.int if low < 0 else t.uint, mode[1]))
        usual = (t.uint, t.int, t.ulong, t.long, t.ullong, t.llong)
        if self.types.model.short_enums or _packed(node):  # of two types of one width gcc prefers int to short
            return self._fitting(
                low,
                high,
                (t.uchar, t.schar, *(usual[:2] if t.int.bits == t.short.bits else ()), t.ushort, t.short, *usual),
            )
        return self._fitting(low, high, usual)

    @staticmethod
    def _fits(low: int, high: int, t: Int) -> bool:
        if t.signed:
            return -(1 << (t.bits - 1)) <= low and high < 1 << (t.bits - 1)
        return low >= 0 and high < 1 << t.bits

    def _fitting(self, low: int, high: int, candidates: tuple[Int, ...]) -> Int:
        return next((t for t in candidates if self._fits(low, high, t)), self.types.ullong)

    def _typeof(self, node: c_ast.TypeOf) -> CType:
        inner = next(child for _, child in node.children())
        if isinstance(inner, c_ast.Typename):
            return self.type_of(inner)
        if self.typeof_ is None:
            raise Unsupported("typeof of an expression outside functions", node)
        return self.typeof_(inner)

    # --- constants -------------------------------------------------------------------------------------------

    def constant(self, node: c_ast.Node) -> int | None:
        """The value of an integer constant expression, or None if only the compiler can tell."""
        value = self._folder.fold(node)
        return None if value is None else value.number

    def _enumerator(self, name: str) -> Value | None:
        symbol = self.scope.find(name)
        if isinstance(symbol, Constant) and symbol.value is not None:
            return Value(symbol.value, symbol.type)
        return None


def _packed(node: c_ast.Node) -> bool:
    return any("packed" in text for text in attribute_texts(node))
