"""The board's data model: widths of the basic types, and what else only its compiler knows.

It comes from the compiler's predefined macros (`cc -dM -E`), so LP64, ILP32 and the sign of `char` are never assumed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

_FLOAT_FORMATS = {"24": 32, "53": 64}  # bits by those of the significand


class DataModel(Struct, frozen=True):
    """Widths in bits of the basic types on one board, and the sign of plain `char`."""

    short: int
    int_: int
    long: int
    long_long: int
    pointer: int
    char_signed: bool
    size_type: str
    ptrdiff_type: str
    wchar_type: str
    char16_type: str
    char32_type: str
    short_enums: bool
    float_: int  # 0: not a format that formulas know
    double: int
    long_double: int
    float_literals: bool  # a literal without suffix is a float
    shift_bits: int  # of a shift's count, that the processor looks at; 0: as many as the value's width has, 5 or 6

    @classmethod
    def from_macros(cls, text: str, flags: Sequence[str] = ()) -> DataModel:
        """Read the output of `cc FLAGS -dM -E`. Raises KeyError naming the macro a compiler does not define."""
        macros = dict(re.findall(r"^#define (\S+) (.*)$", text, re.M))

        def bits(name: str) -> int:
            return 8 * int(macros[f"__SIZEOF_{name}__"])

        def float_bits(name: str, prefix: str) -> int:
            """0 if between operations values have more bits than their type (x87), or the format is not one of
            IEEE's."""
            known = _FLOAT_FORMATS.get(macros.get(f"__{prefix}_MANT_DIG__", ""), 0)
            return known if macros.get("__FLT_EVAL_METHOD__") == "0" and bits(name) == known else 0

        return cls(
            short=bits("SHORT"),
            int_=bits("INT"),
            long=bits("LONG"),
            long_long=bits("LONG_LONG"),
            pointer=bits("POINTER"),
            char_signed="__CHAR_UNSIGNED__" not in macros,
            size_type=macros["__SIZE_TYPE__"],
            ptrdiff_type=macros["__PTRDIFF_TYPE__"],
            wchar_type=macros["__WCHAR_TYPE__"],
            char16_type=macros["__CHAR16_TYPE__"],
            char32_type=macros["__CHAR32_TYPE__"],
            short_enums=_short_enums(macros, flags),
            float_=float_bits("FLOAT", "FLT"),
            double=float_bits("DOUBLE", "DBL"),
            long_double=float_bits("LONG_DOUBLE", "LDBL"),
            float_literals="-fsingle-precision-constant" in flags,
            shift_bits=_shift_bits(macros),
        )


def _short_enums(macros: Mapping[str, str], flags: Sequence[str]) -> bool:
    """Only ARM's compilers say it by a macro."""
    asked = [flag for flag in flags if flag in ("-fshort-enums", "-fno-short-enums")]
    return asked[-1] == "-fshort-enums" if asked else macros.get("__ARM_SIZEOF_MINIMAL_ENUM") == "1"


def _shift_bits(macros: Mapping[str, str]) -> int:
    """Of a count that is too large: what C leaves open, and processors do as their manuals say (SAL in Intel's, LSLV in
    Arm's for AArch64, SLL in RISC-V's; for 32-bit Arm "shift amount in the bottom byte")."""
    if any(name in macros for name in ("__x86_64__", "__i386__", "__aarch64__", "__riscv")):
        return 0
    return 8 if "__arm__" in macros else 64
