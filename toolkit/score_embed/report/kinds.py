"""The kinds of bugs in words."""

from __future__ import annotations

# Every kind of bug: what happened, and what to do.
RULES = {
    "assertion": ("An assertion is false.", "The input makes the asserted condition false: replay it and look why."),
    "abort": ("The program aborts.", "abort() was called, as a failed assert() does."),
    "null-dereference": ("A null pointer is used.", "Check the pointer before this line."),
    "invalid-memory-access": ("Memory is accessed that is not there.", "An address or index is out of range here."),
    "out-of-bounds": ("An object is accessed beyond its end.", "Check the index against the size of the object."),
    "division-by-zero": ("An integer is divided by zero.", "Check the divisor before this line."),
    "stack-overflow": ("The stack is used up.", "Bound the recursion, or the size of the local objects."),
    "hang": ("The program does not come to an end.", "A loop has no end for this input; if it is only slow, raise --max-branches."),
    "illegal-instruction": ("The processor meets no valid instruction.", "A wrong function pointer, or a trap of the compiler."),
    "use-after-free": ("Memory is used after it was freed.", "Look who freed it."),
    "double-free": ("Memory is freed twice.", "Look who freed it first."),
    "invalid-free": ("Memory is freed that malloc did not give.", "Give free the pointer that malloc returned."),
    "heap-corruption": ("Somebody wrote beyond a block of the heap.", "Look who writes to the block that is freed or was allocated here."),
    "overflow": ("Signed arithmetic overflows.", "Check the operands' range."),
    "shift-range": ("A shift is wider than its operand.", "Check the number of bits to shift."),
    "use-after-scope": ("A local object is used after its block has ended.", "Declare it outside of the block, or copy its value."),
    "use-after-return": ("A local object is used after its function has returned.", "Make it static, or let the caller provide it."),
    "misaligned": ("Memory is accessed at an address that does not fit its type.", "Copy the bytes with memcpy."),
    "overlapping-copy": ("memcpy or one of its kin copies onto itself.", "Use memmove."),
    "array-length": ("A variable length array has no positive length.", "Check the length before this line."),
    "reset": ("The processor starts again by itself.", "Look what asks for a reset here, or whose watch-dog is not fed."),
    "lock-up": ("The processor locks up.", "Look for a fault within a handler, or an endless loop with interrupts masked."),
    "signal": ("A signal that nobody handles ends the program.", "Handle the signal, or do not raise it."),
    "corrupted": ("The program overwrites what the probes keep in memory.", "A copy, an index or a wild pointer writes far beyond its object before this line."),
    "unreachable": ("Code is reached that was marked as unreachable.", "The mark is wrong for this input."),
}  # fmt: skip


def rule(kind: str) -> tuple[str, str]:
    """What happened, and what to do: two sentences."""
    return RULES.get("signal" if kind.startswith("signal-") else kind, (f"{kind}.", "Replay the input."))


def happened(kind: str) -> str:
    """What happened, within a sentence."""
    what = rule(kind)[0].removesuffix(".")
    return what[:1].lower() + what[1:]
