"""What functions of the C library take and return where no header says so, and what they do with what they are told.

The compiler knows `__builtin_printf` and its kin without a header. A signature is a word: the result, then the
parameters, one letter each.

Most functions are told something to compute with it, and give a result. Some only put it out; that is lost for the
program unless it reads what it has written. Some keep it (`srand`, `setenv`), or keep a pointer (`putenv`): what they
give later has no formula.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.contract.descriptors import OpaqueCall
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
# Where they lead to the program's functions know: what they are given comes back as the result of one of the above.
JUMPS = frozenset(["longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"])
LIBRARY = ("sc_library_", "__score_other_")  # so begin the names by which models call the library's own functions
RUNTIME = "sc_heap_"  # so begin the names of the runtime's functions that models call: these see to taint themselves
BLOCKS = frozenset({"free", f"{RUNTIME}free", f"{RUNTIME}size"})  # they are given a block of the heap
# They write to files, or end the program.
_OUTPUT = frozenset(
    [
        "printf",
        "fprintf",
        "vprintf",
        "vfprintf",
        "puts",
        "fputs",
        "putchar",
        "putc",
        "fputc",
        "fwrite",
        "fflush",
        "perror",
        "exit",
        "_exit",
        "_Exit",
        "abort",
        "__assert_fail",
        "__assert_func",
        "assert",
        "free",
    ]
)
# The same, of names that a program's own functions may well have.
_OUTPUT_OF_LIBRARY = frozenset(
    [
        "write",
        "dprintf",
        "vdprintf",
        "syslog",
        "vsyslog",
        "warn",
        "warnx",
        "vwarn",
        "vwarnx",
        "err",
        "errx",
        "verr",
        "verrx",
        "error",
        "error_at_line",
        "quick_exit",
        "putchar_unlocked",
        "putc_unlocked",
        "fputc_unlocked",
        "fputs_unlocked",
        "fwrite_unlocked",
    ]
)
# They give what was put out, or say how much that was.
_GIVES_BACK = frozenset(
    [
        "fgetc",
        "getc",
        "getchar",
        "fgets",
        "gets",
        "fread",
        "fscanf",
        "scanf",
        "vfscanf",
        "vscanf",
        "getline",
        "getdelim",
        "getw",
        "fgetwc",
        "getwc",
        "read",
        "pread",
        "readv",
        "recv",
        "recvfrom",
        "recvmsg",
        "ftell",
        "ftello",
        "fgetpos",
        "lseek",
        "stat",
        "fstat",
        "mmap",
        "ferror",
        "feof",
        "fclose",
    ]
)
# They keep a pointer to memory of the program's, which other functions of the library read and write.
_KEEPS = frozenset(
    [
        "putenv",
        "setvbuf",
        "setbuf",
        "setbuffer",
        "fmemopen",
        "open_memstream",
        "open_wmemstream",
        "fopencookie",
        "tsearch",
        "hsearch",
        "setstate",
        "initstate",
        "sigaltstack",
        "aio_read",
        "aio_write",
    ]
)
# They compute with texts and arrays, and remember nothing.
_PURE = frozenset(["atof", "strcoll", "strxfrm", "memmem", "strpbrk", "wcslen", "wcscmp", "strverscmp", "imaxabs"])


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


def writes_nothing(name: str, t: Function, library: bool) -> bool:
    """Whether an opaque function writes nothing of the program: known by name, or by its parameters' types."""
    if only_puts_out(name, library):
        return True
    if not library or t.params is None:
        return False
    return not any(isinstance(p, Pointer) and not p.to.const for p in t.params)


def only_puts_out(name: str, library: bool) -> bool:
    """Whether what the function is told is not lost, if its result is not used."""
    by_name = name in _OUTPUT or name in RETURNS_TWICE or name in JUMPS or name.startswith(RUNTIME)
    return by_name or (library and name in _OUTPUT_OF_LIBRARY)


def keeps_pointer(name: str, library: bool) -> bool:
    """Whether the library goes on to use memory that it is given a pointer to."""
    return library and name in _KEEPS


def gives_to_program(name: str, library: bool) -> bool:
    """Whether what `exit` is given, which counts as put out, comes back to a function of the program's."""
    return library and name == "on_exit"


def flags(name: str, *, harmless: bool, library: bool, pointers: bool) -> OpaqueCall:
    """Of an opaque call, for the runtime. `pointers`: some argument is one; of others the front-end tells by pins."""
    silent = only_puts_out(name, library) or (harmless and (name in _PURE or not pointers))
    gives_back = library and name in _GIVES_BACK
    said = {
        OpaqueCall.HARMLESS: harmless,
        OpaqueCall.OF_THE_PROJECT: not library,
        OpaqueCall.OUTPUT: silent,
        OpaqueCall.GIVES_BACK: gives_back,
    }
    return OpaqueCall(sum(flag for flag, holds in said.items() if holds))
