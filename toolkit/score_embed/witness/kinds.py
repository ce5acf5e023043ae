"""Which of gcc's sanitizers are wanted, and what their reports are called here.

`--check` decides for both witnesses: what is no bug for the one (a firmware's numbers overflow on purpose) is none for
the other. Not used: UBSan's `null`, which also complains of `&p->member` of a null pointer, where nothing is accessed
(an access faults, and that is reported); `shift-base`, which complains of `1 << 31`; `bool` and `enum`, because a symbolic
struct may hold any bytes; `object-size`, for which tables between empty arrays of a section, and `p += new - old` where a
block was moved, are out of bounds.
"""

from __future__ import annotations

from score_embed.witness.reading import Reading

ALWAYS = ("address", "alignment", "vla-bound", "unreachable")
BY_CHECK = {
    "bounds": ("bounds",),
    "division": ("integer-divide-by-zero",),
    "overflow": ("signed-integer-overflow",),
    "shift": ("shift-exponent",),
}
NEAR_NULL = 0x10000  # below lies what a null pointer and an offset lead to
FOUR_GIB = 1 << 32

# By words that a report begins with.
_ADDRESS = {
    "heap-buffer-overflow": "out-of-bounds",
    "stack-buffer-overflow": "out-of-bounds",
    "stack-buffer-underflow": "out-of-bounds",
    "dynamic-stack-buffer-overflow": "out-of-bounds",
    "global-buffer-overflow": "out-of-bounds",
    "container-overflow": "out-of-bounds",
    "negative-size-param": "out-of-bounds",
    "heap-use-after-free": "use-after-free",
    "stack-use-after-scope": "use-after-scope",
    "stack-use-after-return": "use-after-return",
    "attempting double-free": "double-free",
    "attempting free on address": "invalid-free",
    "attempting to call malloc_usable_size": "invalid-free",
    "stack-overflow": "stack-overflow",
    "FPE": "division-by-zero",
    "BUS": "invalid-memory-access",
    "unknown-crash": "invalid-memory-access",
    "use-after-poison": "invalid-memory-access",
}
_OVERLAP = "-param-overlap"  # memcpy-param-overlap, strcat-param-overlap …
_UNDEFINED = (
    ("misaligned address", "misaligned"),
    ("out of bounds for type", "out-of-bounds"),
    ("division by zero", "division-by-zero"),
    ("signed integer overflow", "overflow"),
    ("cannot be represented in type", "overflow"),
    ("shift exponent", "shift-range"),
    ("variable length array bound", "array-length"),
    ("unreachable program point", "unreachable"),
)


def flags(checks: frozenset[str]) -> tuple[str, ...]:
    """gcc's flags. Arithmetic wraps as it does for the other witness, unless overflow is looked for."""
    wanted = [*ALWAYS, *(name for check in sorted(checks & BY_CHECK.keys()) for name in BY_CHECK[check])]
    return (f"-fsanitize={','.join(wanted)}", "-fno-sanitize-recover=all")


def kind_of(reading: Reading, program: tuple[int, int]) -> str | None:
    """The kind of bug, or None if it is none. `program`: where the program lies, from and to."""
    if not reading.by_address:
        return next((kind for words, kind in _UNDEFINED if words in reading.what), None)
    if reading.what.startswith("SEGV"):
        return _fault(reading.address, program)
    if _OVERLAP in reading.what.split(" ")[0]:
        return "overlapping-copy"
    return next((kind for words, kind in _ADDRESS.items() if reading.what.startswith(words)), None)


def _fault(address: int | None, program: tuple[int, int]) -> str | None:
    """Of an access of what is not there. A small address outside of the program is that of a device: firmware may well
    have a reason to be there. (Where it has none, the other witness sees the same fault.)"""
    if address is None:
        return "invalid-memory-access"
    if address < NEAR_NULL:
        return "null-dereference"
    begin, end = program
    is_device = address < FOUR_GIB and not begin <= address < end
    return None if is_device else "invalid-memory-access"
