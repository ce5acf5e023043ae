"""The single source of the wire's constants; `contract/header.py` writes the C side of them.

Frames and their CRC: the engine's `frame.cpp` on the host, `runtime/frame.c` on the target. Messages:
docs/design/wire.md.
"""

from __future__ import annotations

from enum import IntEnum

from score_embed.contract.outcome import Verdict

WIRE_VERSION = 5
MAX_RUN_HEAD = 1 + 1 + 4 + 5 + 5 + 5 + 5 + 2 + 5 + 2 + 5 + 8  # the last 8: one (skip, count)
MAX_OUTPUT = 65536  # bytes of the program's own output that are kept of one test


class Type(IntEnum):
    """Message types, 4 bits; those from 8 on come from the target."""

    HELLO = 1
    RUN = 2
    AGAIN = 3  # send the END of this test again
    RESET = 4
    PASSED = 8  # of a run that is EAGER: a coverage index that it has just taken, or the site where it is
    READY = 9
    TRACE = 10
    END = 11
    LOG = 12
    NEED_FULL = 13
    COVERAGE = 14
    DAMAGED = 15  # a frame came to the target that was none


class RunFlag(IntEnum):
    FULL = 1  # the size of the input and the limits follow; the input is a difference against nothing
    PREDICTED = 2  # the number of predicted conditions and 16 bits of their hash follow
    ELIDED = 4  # the number of event bytes the host holds and 16 bits of their CRC follow
    SHORT = 8  # the most bytes that a TRACE, LOG or COVERAGE may carry follow
    ACKNOWLEDGED = 16  # the host has all of the test before this one, coverage too
    # send each byte of the events, and what is PASSED, at once: the test may be the target's end. The number of
    EAGER = 32
    # event bytes after which sites are told follows
    BOUNDED = 64  # the test ends, as a hang, where it asks for more input than this
    VECTORS = 128  # of the events only those of conditions are sent, and of all of these, also without symbolic data


class EndFlag(IntEnum):
    MATCHED = 1  # the condition hash was as predicted
    ELISION_FAILED = 2  # the events left out were not those the host holds
    INTACT = 4  # the runtime's canaries are alive
    USED = 8  # the bytes of input that were used follow: not all of it, or more
    CHUNKED = 16  # the number of event bytes before those in this message follows: not just those left out
    VERDICT = 32  # verdict, code, site, pc, address, stack follow: it was not a plain return of 0
    EXTRAS = 64  # the sizes of output and coverage and the number of damaged frames follow
    UNCHECKED = 128  # the number of accesses follows of which nobody knows the bounds


class Capability(IntEnum):
    VERIFY = 1
    RESET = 2
    BOOTED = 0x8000  # this READY was not asked for: the target has just started


# How a test ended, by number on the wire: in the order in which the ends are said, but for those that the host gives,
# for the target could not.
HOST_VERDICTS = frozenset({Verdict.LOST, Verdict.RESET, Verdict.LOCK_UP, Verdict.SIGNAL, Verdict.CORRUPTED})
VERDICTS: tuple[Verdict, ...] = tuple(verdict for verdict in Verdict if verdict not in HOST_VERDICTS)
