"""What probes and the runtime agree on: the numbers in a function's descriptors, and the runtime's own events.

A descriptor is what a probe finds in ROM about its site (docs/design/probes.md). The front-end writes it, the runtime
reads it, and some of what the runtime says of it the host reads: so each number stands here, and `contract/header.py`
writes it for C.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

MAX_LEAVES = 32  # of one site: two mask bits each in one 64-bit varint
MAX_ARGUMENTS = 63  # scalar arguments whose taint is passed
MAX_STRUCTS = 8  # struct arguments of one call whose taint is passed
STACK_SITES = 16  # `enter` sites that are told of a bug
MOST_VARIABLE = 16384  # bytes of an object that can change and is read at a symbolic address

FLOATS = 0x8000  # in the number of leaves: they may be floating-point numbers
MODEL_TABLE = 0x8000  # in the number of struct parameters: of a model of the C library

# The running hashes: how they begin, and the factors of their two lanes.
HASH_START = (0x9E3779B9, 0x7F4A7C15)
HASH_FACTORS = (0x85EBCA6B, 0xC2B2AE35)


class Reserved(IntEnum):
    """The runtime's own events, in the place of a site."""

    FRAME = 0  # the activation that the following events belong to
    UNTAINT = 2  # an opaque call changed these tainted bytes
    OPAQUE_ARGUMENTS = 3  # an opaque call that may write received symbolic data
    CALLBACK_RETURN = 4  # a callback gave symbolic data to opaque code
    LOST = 5  # a symbolic value was stored where the taint map does not reach
    SEEN = 6  # a probe saw symbolic data in an interrupt
    FOUND = 7  # symbolic data lies where opaque code can find it without an argument
    SHARED = 8  # a symbolic value was stored in a variable that a handler without probes names
    OPAQUE_NUMBERS = 9  # as OPAQUE_ARGUMENTS, but of arguments only whose values the host was told before


class OpaqueCall(IntFlag):
    """Of a call of code without probes."""

    HARMLESS = 1  # it writes nothing of the program
    OF_THE_PROJECT = 2  # it is no library function
    OUTPUT = 4  # what it is told nobody can ask it for again, but by a function that gives back what was put out
    GIVES_BACK = 8
    TOLD = 16  # each argument that may be symbolic has a pin before the call
    TOLD_AFTER = 32  # the same, but after the call: only then it is known that no function with probes was called


class Relation(IntEnum):
    """What a condition compares that the runtime decides itself; beside it the flags below."""

    EQ = 0
    NE = 1
    LT = 2
    LE = 3


class RelationFlag(IntFlag):
    SIGNED = 4
    CONSTANT_LEFT = 8


class Unsized(IntEnum):
    """What an argument of `...` is, in the place of the slot of a leaf without taint; 0: what its size says."""

    DOUBLE = 1
    UNKNOWN = 2
