"""Bit-fields: where they lie, and what reading and storing one means.

They are read and written through their storage, if that is known (declarations/layout.py); else they have no formula.
A field wider than `int` has in gcc a type of exactly its width.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.body import Assign, ForgetObject, SetPlain
from score_embed.frontend.ir.exp import Binary, BitField, Const, Exp, Load, Offset, Place, Raw
from score_embed.frontend.lower.arithmetic import Arithmetic
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.types.ctype import CType, Int, Pointer, Struct, as_int, unqualified


class BitFields:
    """Those of one function."""

    def __init__(self, builder: Builder, arith: Arithmetic) -> None:
        self.b = builder
        self.types = builder.types
        self.arith = arith

    def place(self, base: Place, text: str, name: str, t: CType, bits: int) -> Place:
        """The place of a bit-field called `name` in the struct at `base`. `bits`: its width, -1 if not known."""
        assert isinstance(base.type, Struct)
        storage = self.b.declarations.storage(base.type.record, name)
        if storage is None:
            field = BitField(base.text, bits if bits > 0 else None, None)
            return replace(base, text=text, type=t, static=False, bit_field=field)
        address = Offset(Pointer(t), base.address, str(storage.offset))
        field = BitField(base.text, storage.width, storage)
        return replace(base, text=text, type=t, address=address, bit_field=field)

    def type_of(self, declared: CType, field: BitField) -> Int:
        """The promoted type of its value."""
        t = as_int(declared)
        if field.width is None:
            raise Unsupported("a bit-field of a width that is not known")
        if self.is_wide(declared, field):
            return replace(_unqualified_int(t), precision=field.width)
        return self.types.promote(_unqualified_int(t), field.width)

    def is_wide(self, declared: CType, field: BitField) -> bool:
        """Whether gcc computes with exactly its width, for which C has no name."""
        return field.width is not None and self.types.int.bits < field.width < as_int(declared).bits

    # --- reading ---------------------------------------------------------------------------------------------

    def read(self, place: Place, field: BitField) -> Exp:
        """Its value in the promoted type."""
        t = self.type_of(place.type, field)
        if t.precision:
            return replace(self.read_wide(place, field), type=t)
        if field.storage is not None:
            load = Load(t, place)
            return self.b.save(load) if place.type.volatile else load
        self._forget(place, field, clear=False)
        ref = self.b.temporary(t)
        self.b.add(Assign(self.b.coord, ref, Raw(t, place.text)))
        return ref

    def read_wide(self, place: Place, field: BitField) -> Exp:
        """The value of one that is wider than int, in its declared type."""
        t = unqualified(place.type)
        if field.storage is None:
            self._forget(place, field, clear=False)
        return self.b.save(Raw(t, place.text) if field.storage is None else Load(t, place))

    def _forget(self, place: Place, field: BitField, *, clear: bool) -> None:
        self.b.add(ForgetObject(self.b.coord, field.container, "bit-field", clear, place))

    # --- storing ---------------------------------------------------------------------------------------------

    def store(self, dest: Place, field: BitField, exp: Exp, wanted: bool) -> Exp | None:
        """Store a value of its declared type; what the field then holds, if it is wanted."""
        if wanted and field.storage is not None and not isinstance(exp, Const):
            exp = self.b.save(exp)
        if field.storage is not None and not dest.type.volatile:
            self.b.assign(dest, exp)
        else:  # what lies around a volatile one may not be read once more, and its new value depends on that
            self.b.report(exp, "bit-field")
            self._forget(dest, field, clear=True)
            self.b.add(SetPlain(self.b.coord, dest.text, exp))
        if not wanted:
            return None
        return self.read(dest, field) if field.storage is None else self._held(dest.type, field, exp)

    def _held(self, declared: CType, field: BitField, exp: Exp) -> Exp:
        """What a bit-field holds once `exp` was stored to it, without reading it."""
        t, result = self.types.promote(as_int(declared)), self.type_of(declared, field)
        exp, width = self.arith.convert(exp, t), field.width or 0
        if width == t.bits or as_int(declared) == self.types.bool:
            return self.arith.convert(exp, result)
        if not as_int(declared).signed:
            mask = (1 << width) - 1
            return self.arith.convert(Binary(t, "&", exp, Const(t, f"(({t.name}) {mask:#x})", mask)), result)
        count = Const(self.types.int, str(t.bits - width), t.bits - width)
        return self.arith.convert(Binary(t, ">>", Binary(t, "<<", exp, count), count), result)


def _unqualified_int(t: Int) -> Int:
    return replace(t, volatile=False, const=False, atomic=False, spelling=None)
