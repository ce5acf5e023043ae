"""What functions of the C library do with what they are told: it may come back by another of them.

Most are told something to compute with it, and give a result. Some only put it out; that is lost for the program unless it
reads what it has written. Some keep it (`srand`, `setenv`), or keep a pointer (`putenv`): what they give later has no formula.
"""

from __future__ import annotations

from score_embed.contract.descriptors import OpaqueCall
from score_embed.frontend.types.builtin_names import RETURNS_TWICE
from score_embed.frontend.types.ctype import Function, Pointer

LIBRARY = ("sc_library_", "__score_other_")  # so begin the names by which models call the library's own functions
RUNTIME = "sc_heap_"  # so begin the names of the runtime's functions that models call: these see to taint themselves

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


def writes_nothing(name: str, t: Function, library: bool) -> bool:
    """Whether an opaque function writes nothing of the program: known by name, or by its parameters' types."""
    if name in _OUTPUT or name in RETURNS_TWICE or name.startswith(RUNTIME):
        return True
    if not library or t.params is None:
        return False
    return not any(isinstance(p, Pointer) and not p.to.const for p in t.params)


def only_puts_out(name: str) -> bool:
    """Whether what the function is told is not lost, if its result is not used."""
    return name in _OUTPUT or name in RETURNS_TWICE or name.startswith(RUNTIME)


def keeps_pointer(name: str, library: bool) -> bool:
    """Whether the library goes on to use memory that it is given a pointer to."""
    return library and name in _KEEPS


def gives_to_program(name: str, library: bool) -> bool:
    """Whether what `exit` is given, which counts as put out, comes back to a function of the program's."""
    return library and name == "on_exit"


def flags(name: str, *, harmless: bool, library: bool, pointers: bool) -> OpaqueCall:
    """Of an opaque call, for the runtime. `pointers`: some argument is one; of others the front-end tells by pins."""
    silent = only_puts_out(name) or (harmless and (name in _PURE or not pointers))
    gives_back = library and name in _GIVES_BACK
    said = {
        OpaqueCall.HARMLESS: harmless,
        OpaqueCall.OF_THE_PROJECT: not library,
        OpaqueCall.OUTPUT: silent,
        OpaqueCall.GIVES_BACK: gives_back,
    }
    return OpaqueCall(sum(flag for flag, holds in said.items() if holds))
