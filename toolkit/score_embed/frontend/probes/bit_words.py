"""A bit-field as bits of the word that holds it, for reads and stores whose address may be symbolic.

A field has no address, so a choice among the fields of an array's elements has no formula; a choice among their words
has one. The field is then what a shift and a mask leave of the word that was chosen.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.frontend.ir.exp import Binary, Const, Convert, Exp, Place, Storage
from score_embed.frontend.probes.templates import address_text, storage_of
from score_embed.frontend.types.ctype import CType, Int, Pointer, Types, as_int


def is_in_word(place: Place) -> bool:
    """Whether it is a bit-field, and it is known which bits of which bytes it has."""
    return storage_of(place) is not None


def word_of(place: Place, types: Types) -> Place:
    """The unsigned number that the bytes make which hold a bit-field."""
    t = types.unsigned(8 * _storage(place).size)
    text = f"SC_STORED({t.bits}, {address_text(place)})"
    return replace(place, text=text, type=t, address=replace(place.address, type=Pointer(t)), bit_field=None)


def read_field(word: Exp, to: CType, place: Place, types: Types) -> Exp:
    """The value of type `to` that is read from the field at `place`, if its word is `word`."""
    storage, declared = _storage(place), as_int(place.type)
    t = _computed(word.type, types)
    if not declared.signed:
        shifted = Binary(t, ">>", _converted(word, t), _number(storage.shift, t))
        return _converted(Binary(t, "&", shifted, _number(_mask(storage), t)), to)
    signed = types.signed_of(t)
    high = Binary(t, "<<", _converted(word, t), _number(t.bits - storage.shift - storage.width, t))
    low = Binary(signed, ">>", _converted(high, signed), _number(t.bits - storage.width, signed))
    return _converted(low, to)


def with_field(word: Exp, place: Place, value: Exp, types: Types) -> Exp:
    """The word of the field at `place` once `value` is stored there, if the word was `word`."""
    storage = _storage(place)
    t = _computed(word.type, types)
    mask = _mask(storage) << storage.shift
    bits = Binary(t, "<<", _converted(value, t), _number(storage.shift, t))
    others = Binary(t, "&", _converted(word, t), _number(((1 << t.bits) - 1) ^ mask, t))
    return _converted(Binary(t, "|", others, Binary(t, "&", bits, _number(mask, t))), word.type)


def field_text(place: Place, word: str) -> str:
    """The C text of the field's bits in the word `word`."""
    storage = _storage(place)
    return f"(({word}) >> {storage.shift} & {_mask(storage):#x}ull)"


def _storage(place: Place) -> Storage:
    storage = storage_of(place)
    assert storage is not None
    return storage


def _mask(storage: Storage) -> int:
    return (1 << storage.width) - 1


def _computed(word: CType, types: Types) -> Int:
    """The unsigned type that C computes in with such a word (C11 6.3.1.1)."""
    t = as_int(word)
    return types.uint if t.bits < types.int.bits else t


def _converted(exp: Exp, t: CType) -> Exp:
    return exp if exp.type == t else Convert(t, exp)


def _number(value: int, t: Int) -> Const:
    return Const(t, f"(({t.name}) {value:#x}ull)", value)
