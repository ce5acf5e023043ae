"""From a typed expression to its template: leaves, postfix words, and what the probe call passes.

One walk yields everything that must agree: the words of the site table (C text, computed by the board's
compiler), the leaf words of the descriptor, and what the probe call passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from score_embed.contract.descriptors import FLOATS, MAX_LEAVES
from score_embed.contract.sites import Op
from score_embed.contract.sites import Place as Where
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.exp import (
    MATH,
    AddressOf,
    Binary,
    Const,
    Convert,
    Exp,
    FloatConst,
    GlobalAddress,
    Load,
    LocalAddress,
    MathCall,
    Offset,
    Place,
    PointerAdd,
    PointerDiff,
    Raw,
    SlotRef,
    Storage,
    Unary,
)
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.types.constant import number, pattern
from score_embed.frontend.types.ctype import CType, Float, Int, Pointer, Types, as_int, is_float, is_integer

_SIGNED = {"/": Op.SDIV, "%": Op.SREM, ">>": Op.ASHR, "<": Op.SLT, "<=": Op.SLE}
_UNSIGNED = {"/": Op.UDIV, "%": Op.UREM, ">>": Op.LSHR, "<": Op.ULT, "<=": Op.ULE}
_EITHER = {
    "+": Op.ADD,
    "-": Op.SUB,
    "*": Op.MUL,
    "&": Op.AND,
    "|": Op.OR,
    "^": Op.XOR,
    "<<": Op.SHL,
    "==": Op.EQ,
    "!=": Op.NE,
}


_FLOAT = {
    "+": Op.FADD,
    "-": Op.FSUB,
    "*": Op.FMUL,
    "/": Op.FDIV,
    "==": Op.FEQ,
    "<": Op.FLT,
    "<=": Op.FLE,
}


def long_words(text: str, pointer: int) -> tuple[str, ...]:
    """A constant of up to 64 bits in words of the site table, the low one first."""
    if pointer == 16:
        return tuple(f"SC_PART(sc_u64, {text}, {shift})" for shift in (0, 16, 32, 48))
    return f"SC_LO({text})", f"SC_HI({text})"


@dataclass(frozen=True)
class LeafText:
    """One leaf: site words, descriptor word, and the words the probe is given for it."""

    where: Where
    bits: int
    site_word: str
    slot: int
    passed: tuple[str, ...]

    def words(self) -> list[str]:
        return [str(int(self.where)), str(self.bits), self.site_word]

    def descriptor(self) -> str:
        return str(leaf_word(self.where, self.bits, self.slot))


def leaf_word(where: Where, bits: int, slot: int) -> int:
    log2 = {8: 0, 16: 1, 32: 2, 64: 3}[bits]
    return int(where) << 14 | log2 << 12 | slot


def bits_text(text: str, t: CType) -> str:
    """A scalar as C text of an integer or a pointer: of a floating-point number, its pattern."""
    return f"sc_bits{t.bits}({text})" if is_float(t) else text


def _float_constant(value: int, t: Float) -> FloatConst:
    return FloatConst(t, f"{value}.0{'f' if t.name == 'float' else ''}", None, pattern(value, t.bits))


def storage_of(place: Place) -> Storage | None:
    return place.bit_field.storage if place.bit_field else None


def address_text(place: Place) -> str:
    """The address of what lies there; of a bit-field, that of the bytes that hold it."""
    storage = storage_of(place)
    if place.bit_field is None or storage is None:
        return f"&{place.text}"
    return f"((const char *) &{place.bit_field.container} + {storage.offset})"


# in a memory leaf's descriptor, in the place of a slot: it may change by itself (WAITED of runtime/probe.c)
_WAITED = 1


def memory_leaf(place: Place, bits: int, waited: bool = False) -> LeafText:
    """A leaf of that many bits; of a bit-field, of those of its storage. `waited`: it may change by itself."""
    storage, address = storage_of(place), f"(sc_word) {address_text(place)}"
    bits = 8 * storage.size if storage else bits
    if place.static:
        return LeafText(Where.GLOBAL, bits, address, _WAITED * waited, (address,))
    return LeafText(Where.MEMORY, bits, "0", _WAITED * waited, (address,))


@dataclass
class TemplateText:
    """A template under construction; `never` is the index of a slot that is never tainted."""

    types: Types
    never: int
    maybe: Maybe
    leaves: list[LeafText] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    floats: bool = False  # there is an operator of floating point in it
    slots: set[int] = field(default_factory=set)
    memory: bool = False

    @property
    def can_be_tainted(self) -> bool:
        return self.memory or bool(self.slots)

    def site_words(self) -> list[str]:
        words = [str(len(self.leaves))]
        for leaf in self.leaves:
            words += leaf.words()
        return [*words, str(len(self.steps)), *self.steps]

    def descriptor(self) -> list[str]:
        if len(self.leaves) > MAX_LEAVES:
            raise Unsupported(f"more than {MAX_LEAVES} operands in one expression")
        count = len(self.leaves) | (FLOATS if self.floats else 0)
        return [str(count), *(leaf.descriptor() for leaf in self.leaves)]

    def passed(self) -> list[str]:
        """The words that a probe is given: addresses of memory, values of slots."""
        return [word for leaf in self.leaves for word in leaf.passed]

    # --- building --------------------------------------------------------------------------------------------

    def bits_of(self, t: CType) -> int:
        if is_float(t):
            return t.bits
        return self.types.model.pointer if isinstance(t, Pointer) else as_int(t).bits

    def add(self, exp: Exp) -> int:
        """Append the steps of `exp`; returns the width of the value in bits."""
        match exp:
            case Const():
                return self._const(exp)
            case SlotRef() if not self.maybe.slot(exp.slot.index):
                return self._untracked(exp)
            case SlotRef():
                bits = self.bits_of(exp.type)
                self.slots.add(exp.slot.index)
                return self._leaf(
                    LeafText(Where.SLOT, bits, str(exp.slot.index), exp.slot.index, self._words(exp, bits))
                )
            case Load():
                return self._load(exp) if self.maybe.place(exp.place) else self._untracked(exp)
            case LocalAddress() | Raw():
                return self._untracked(exp)
            case GlobalAddress():
                return self._address(f"(sc_word) &{exp.text}")
            case AddressOf():
                return self.add(exp.place.address)
            case Offset():
                bits = self.add(exp.base)
                self._constant(exp.bytes, bits)
                return self._op(Op.ADD, bits)
            case PointerAdd():
                return self._pointer_add(exp)
            case PointerDiff():
                bits = self.add(exp.left)
                self.add(exp.right)
                self._op(Op.SUB, bits)
                self._constant(exp.size, bits)
                return self._op(Op.SDIV, bits)
            case Unary():
                negative = Op.FNEG if is_float(exp.type) else Op.NEG
                return self._op(negative if exp.op == "-" else Op.NOT, self.add(exp.operand))
            case MathCall():
                return self._math_call(exp)
            case Binary():
                return self._binary(exp)
            case Convert() if is_float(exp.type) or is_float(exp.operand.type):
                return self._convert_float(exp)
            case Convert():
                return self._convert(
                    self.add(exp.operand),
                    # gcc sign-extends a pointer that becomes a wider integer
                    self._signed(exp.operand.type) or isinstance(exp.operand.type, Pointer),
                    self.bits_of(exp.type),
                )
        raise AssertionError(exp)

    def comparison(self, op: str, left: Exp, right: Exp) -> None:
        """The root of a condition: 1 bit. `op` is one of == != < <= (operands already swapped for > and >=)."""
        bits = self.add(left)
        self.add(right)
        if is_float(left.type):
            self._op(_FLOAT["==" if op == "!=" else op], bits)
            if op == "!=":  # true also if one of them is no number
                self._op(Op.NOT, 1)
            return
        table = _SIGNED if self._signed(left.type) else _UNSIGNED
        self._op(table.get(op) or _EITHER[op], bits)

    def in_range(self, source: SlotRef, to: Int) -> str:
        """That a floating-point number has a value of an integer type, if its fraction is cut off: the template, and
        C."""
        assert is_float(source.type)
        t, lowest = source.type, -(1 << (to.bits - 1)) if to.signed else 0
        above = number(pattern(lowest - 1, t.bits), t.bits) == lowest - 1  # else there is none between the two
        first = _float_constant(lowest - 1 if above else lowest, t)
        end = _float_constant(1 << (to.bits - to.signed), t)
        self.comparison("<" if above else "<=", first, source)
        self.comparison("<", source, end)
        self._op(Op.AND, 1)
        return f"{first.c()} {'<' if above else '<='} {source.c()} && {source.c()} < {end.c()}"

    @staticmethod
    def _signed(t: CType) -> bool:
        return is_integer(t) and as_int(t).signed

    def _op(self, op: Op, bits: int) -> int:
        self.floats |= op >= Op.FADD
        self.steps.append(str(int(op) | bits << 8))
        return bits

    def _constant(self, text: str, bits: int) -> int:
        self._op(Op.CONST, bits)
        self.steps += long_words(text, self.types.model.pointer)
        return bits

    def _address(self, text: str) -> int:
        self._op(Op.ADDRESS, self.types.model.pointer)
        self.steps.append(text)
        return self.types.model.pointer

    def _const(self, exp: Const) -> int:
        bits = self.bits_of(exp.type)
        if isinstance(exp, FloatConst):
            return self._constant(f"{exp.pattern:#x}ull", bits)
        if isinstance(exp.type, Pointer):
            return self._constant("0", bits) if exp.value == 0 else self._address(f"(sc_word) {exp.text}")
        return self._constant(exp.text, bits)

    def _words(self, exp: Exp, bits: int) -> tuple[str, ...]:
        """A slot's value in words of the machine, the low one first."""
        text = bits_text(exp.c(), exp.type)
        word = self.types.model.pointer
        if bits <= word:
            return (f"(sc_word) {text}",)
        if word == 16:
            return tuple(f"SC_PART(sc_u{bits}, {text}, {shift})" for shift in range(0, bits, word))
        return f"SC_LO({text})", f"SC_HI({text})"

    def _leaf(self, leaf: LeafText) -> int:
        if leaf not in self.leaves:
            self.leaves.append(leaf)
        self._op(Op.LEAF, leaf.bits)
        self.steps.append(str(self.leaves.index(leaf)))
        return leaf.bits

    def _load(self, exp: Load) -> int:
        self.memory = True
        bits = self._leaf(memory_leaf(exp.place, self.bits_of(exp.type), self.maybe.waited(exp.place)))
        storage = storage_of(exp.place)
        if storage is None:
            return bits
        if storage.shift:
            self._constant(str(storage.shift), bits)
            self._op(Op.LSHR, bits)
        width = self._convert(bits, False, storage.width)
        return self._convert(width, self._signed(exp.place.type), self.bits_of(exp.type))

    def stored(self, exp: Exp, place: Place) -> None:
        """What the storage of a bit-field holds when `exp` has been stored to the field."""
        storage = storage_of(place)
        assert storage is not None
        bits, mask = 8 * storage.size, (1 << storage.width) - 1
        self._convert(self.add(exp), False, bits)
        if storage.width == bits:
            return
        self._constant(f"{mask:#x}ull", bits)
        self._op(Op.AND, bits)
        self._constant(str(storage.shift), bits)
        self._op(Op.SHL, bits)
        self.memory = True
        self._leaf(memory_leaf(place, bits))
        self._constant(f"{((1 << bits) - 1) ^ mask << storage.shift:#x}ull", bits)
        self._op(Op.AND, bits)
        self._op(Op.OR, bits)

    def _untracked(self, exp: Exp) -> int:
        """A concrete value: sent as a leaf that is never tainted."""
        bits = self.bits_of(exp.type)
        return self._leaf(LeafText(Where.SLOT, bits, str(self.never), self.never, self._words(exp, bits)))

    def _pointer_add(self, exp: PointerAdd) -> int:
        bits = self.add(exp.base)
        self._convert(self.add(exp.index), self._signed(exp.index.type), bits)
        if exp.size != "1":
            self._constant(exp.size, bits)
            self._op(Op.MUL, bits)
        return self._op(Op.SUB if exp.minus else Op.ADD, bits)

    def _binary(self, exp: Binary) -> int:
        if exp.is_comparison:
            op, left, right = oriented(exp.op, exp.left, exp.right)
            self.comparison(op, left, right)
            return self._op(Op.ZEXT, self.bits_of(exp.type))
        bits = self.add(exp.left)
        right_bits = self.add(exp.right)
        if exp.op in ("<<", ">>"):
            self._convert(right_bits, False, bits)
            self._count(exp.right, bits)
        if is_float(exp.type):
            return self._op(_FLOAT[exp.op], bits)
        table = _SIGNED if self._signed(exp.type) else _UNSIGNED
        return self._op(table.get(exp.op) or _EITHER[exp.op], bits)

    def _count(self, count: Exp, bits: int) -> None:
        """What the processor takes of a shift's count, where that may be too large. Compilers fold constants."""
        looked_at = self.types.model.shift_bits or (bits - 1).bit_length()
        if looked_at < bits and not isinstance(count, Const):
            self._constant(str((1 << looked_at) - 1), bits)
            self._op(Op.AND, bits)

    def _convert_float(self, exp: Convert) -> int:
        """A conversion from or to floating point."""
        source, to, bits = exp.operand.type, exp.type, self.add(exp.operand)
        if not is_float(source):
            return self._op(Op.SITOF if self._signed(source) else Op.UITOF, self.bits_of(to))
        if not is_float(to):
            return self._op(Op.FTOSI if self._signed(to) else Op.FTOUI, self.bits_of(to))
        return bits if bits == to.bits else self._op(Op.FCONV, to.bits)

    def _math_call(self, exp: MathCall) -> int:
        bits = self.add(exp.operand)
        if exp.name in MATH:
            return self._op(MATH[exp.name], bits)
        assert exp.name == "signbit"
        self._constant(str(bits - 1), bits)
        self._op(Op.LSHR, bits)
        return self._convert(bits, False, self.bits_of(exp.type))

    def _convert(self, bits: int, signed: bool, to: int) -> int:
        if to < bits:
            return self._op(Op.TRUNC, to)
        if to > bits:
            return self._op(Op.SEXT if signed else Op.ZEXT, to)
        return bits


def oriented(op: str, left: Exp, right: Exp) -> tuple[str, Exp, Exp]:
    """`>` and `>=` as `<` and `<=` with the operands exchanged."""
    return {">": ("<", right, left), ">=": ("<=", right, left)}.get(op, (op, left, right))
