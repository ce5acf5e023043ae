"""Library functions under their builtins' names: what `__builtin_printf` takes and returns where no header says so.

A signature is a word: the result, then the parameters, one letter each. The compiler knows all of these without a header.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.frontend.types.ctype import CType, Function, Pointer, Types, Void

BUILTIN = "__builtin_"

_SIGNATURES = {
    # memory and texts
    "malloc": "Pz", "calloc": "Pzz", "realloc": "PPz", "free": "vP",
    "memcpy": "PPCz", "memmove": "PPCz", "memset": "PPiz", "memcmp": "iCCz", "memchr": "PCiz", "mempcpy": "PPCz",
    "bcmp": "iCCz", "bcopy": "vCPz", "bzero": "vPz",
    "strlen": "zT", "strnlen": "zTz", "strcpy": "SST", "strncpy": "SSTz", "stpcpy": "SST", "stpncpy": "SSTz",
    "strcat": "SST", "strncat": "SSTz", "strcmp": "iTT", "strncmp": "iTTz", "strcasecmp": "iTT", "strncasecmp": "iTTz",
    "strchr": "STi", "strrchr": "STi", "index": "STi", "rindex": "STi", "strstr": "STT", "strspn": "zTT",
    "strcspn": "zTT", "strpbrk": "STT", "strdup": "ST", "strndup": "STz",
    # output
    "printf": "iT.", "puts": "iT", "putchar": "ii", "sprintf": "iST.", "snprintf": "iSzT.", "sscanf": "iTT.",
    # ends
    "abort": "v", "exit": "vi", "_exit": "vi", "_Exit": "vi", "unreachable": "v", "trap": "v",
    # numbers and characters
    "abs": "ii", "labs": "ll", "llabs": "qq",
}  # fmt: skip
_CHARACTERS = """isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
    isxdigit toascii tolower toupper"""
_SIGNATURES |= dict.fromkeys(_CHARACTERS.split(), "ii")

# Each with `double`, `float` (…f) and `long double` (…l) in the place of x.
_OF_ONE = """acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor lgamma log
    log10 log1p log2 logb nearbyint rint round significand sin sinh sqrt tan tanh tgamma trunc"""
_OF_TWO = "atan2 copysign drem fdim fmax fmin fmod hypot nextafter pow remainder scalb"
_MATH = {
    **dict.fromkeys(_OF_ONE.split(), "xx"),
    **dict.fromkeys(_OF_TWO.split(), "xxx"),
    **dict.fromkeys(("lrint", "lround"), "lx"),
    **dict.fromkeys(("llrint", "llround"), "qx"),
    **dict.fromkeys(("ldexp", "scalbn", "powi"), "xxi"),
    **dict.fromkeys(("inf", "huge_val"), "x"),
    "fma": "xxxx",
    "scalbln": "xxl",
    "ilogb": "ix",
    "nan": "xT",
}
RETURNS_TWICE = frozenset(
    ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp", "savectx", "vfork", "getcontext"]
)


def signature(name: str, types: Types) -> Function | None:
    """The type of the function that the compiler calls for `__builtin_<name>`; None if it is not one of these."""
    word, real = _SIGNATURES.get(name), types.double
    for suffix, t in (("", types.double), ("f", types.float), ("l", types.long_double)):
        if word is None and name.endswith(suffix):
            word, real = _MATH.get(name.removesuffix(suffix)), t
    if word is None:
        return None
    text = types.char
    letters: dict[str, CType] = {
        "v": types.void,
        "i": types.int,
        "l": types.long,
        "q": types.llong,
        "z": types.size,
        "x": real,
        "P": Pointer(types.void),
        "C": Pointer(Void(const=True)),
        "S": Pointer(text),
        "T": Pointer(replace(text, const=True)),
    }
    params = tuple(letters[letter] for letter in word[1:] if letter != ".")
    return Function(letters[word[0]], params, word.endswith("."))
