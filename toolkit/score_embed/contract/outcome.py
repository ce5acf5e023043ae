"""What a target can do, whatever it is: run one test and tell how it ended.

Campaigns ask for this protocol, never for a driver; native processes, QEMU and boards implement it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol

from msgspec import Struct


class Verdict(StrEnum):
    """How a test ended, as the target saw it; `wire.HOST_VERDICTS`, and at times WATCHDOG and EXIT, as the host did."""

    RETURN = "return"
    EXIT = "exit"
    ASSUMPTION = "assumption"  # SCORE_ASSUME was false: not a path
    ASSERTION = "assertion"
    ABORT = "abort"
    NULL_DEREFERENCE = "null-dereference"
    INVALID_MEMORY_ACCESS = "invalid-memory-access"
    DIVISION_BY_ZERO = "division-by-zero"
    ILLEGAL_INSTRUCTION = "illegal-instruction"
    STACK_OVERFLOW = "stack-overflow"
    HANG = "hang"  # the branch budget ran out: deterministic
    WATCHDOG = "watchdog"  # wall clock: a backstop; such a test is incomplete, not a path
    OUT_OF_BOUNDS = "out-of-bounds"
    OVERFLOW = "overflow"
    SHIFT_RANGE = "shift-range"
    UNREACHABLE = "unreachable"
    USE_AFTER_FREE = "use-after-free"
    DOUBLE_FREE = "double-free"
    INVALID_FREE = "invalid-free"  # of what malloc did not give
    HEAP_CORRUPTION = "heap-corruption"  # something wrote beyond a block; noticed later
    RESET = "reset"  # the processor started again from its beginning
    # a fault that no handler can take, or nothing moves and no interrupt comes: not even the watch-dog's
    LOCK_UP = "lock-up"
    SIGNAL = "signal"  # one that nobody handles killed or stopped the process; the code is its number
    CORRUPTED = "corrupted"  # what the target said makes no sense: the program overwrote the probe runtime
    # as a hang or the watch-dog, in a loop that reads what is no memory: a device nobody models
    DEVICE_WAIT = "device-wait"
    LOST = "lost"  # targets died under the test, each in another way

    @property
    def is_bug(self) -> bool:
        return self not in _NO_BUG


_NO_BUG = frozenset(
    {Verdict.RETURN, Verdict.EXIT, Verdict.ASSUMPTION, Verdict.WATCHDOG, Verdict.DEVICE_WAIT, Verdict.LOST}
)


class Run(NamedTuple):
    """One test to execute. `condition_hash` is the expected hash over the first `predicted` conditions.

    `prefix`: event bytes that the run is expected to begin with; the target does not send them again if it does.
    `tell_from`: the target says all at once, for the test may be its end, and after so many event bytes also where it
    is. `bounded`: the test ends, as a hang, where it asks for more input than this; `vectors`: its events are those of
    all conditions, and of nothing else.
    """

    number: int
    input: bytes
    predicted: int = 0
    condition_hash: int = 0
    max_branches: int = 1_000_000
    prefix: bytes = b""
    tell_from: int | None = None
    bounded: bool = False
    vectors: bool = False


class Finished(NamedTuple):
    """What came back of one test. `events` is empty if the run was mispredicted, or asked for more input than it
    had."""

    verdict: Verdict
    code: int  # exit status, signal or fault status
    pc: int  # program counter of a fault, else 0
    address: int  # faulting data address, else 0
    site: int  # the last site seen before the end (0 if none, or if it just returned)
    stack: tuple[int, ...]  # `enter` sites, innermost first, at most 16
    path_hash: int
    conditions: int
    condition_match: bool
    operand_hash: int
    events: bytes
    coverage: tuple[int, ...]  # coverage indices this run set that the host had not acknowledged
    branches: int
    input_used: int  # bytes of input the program asked for
    output: bytes  # the program's own output, perhaps cut
    why_lost: str = ""  # what became of the target, or what the test could not show, for the report
    partial: bool = False  # the target has told no end; of the rest there is what came before
    taken: tuple[int, ...] = ()  # coverage indices that it said at once, of a run that was to say all so
    passed: tuple[tuple[int, int], ...] = ()  # the sites that it said it came by, each after so many bytes of events
    unchecked: int = 0  # accesses through pointers of which nobody knows the bounds
    retried: bool = False  # an earlier target died under the test, and this is what another one said of it


class TargetInfo(Struct, frozen=True):
    """Facts from READY: buffer sizes in bytes, for reports and limits."""

    build_id: bytes
    input_capacity: int
    free_ram: int


class LinkCounters(Struct, frozen=True):
    bytes_in: int = 0
    bytes_out: int = 0
    crc_errors: int = 0
    reruns: int = 0

    def plus(self, other: LinkCounters) -> LinkCounters:
        return LinkCounters(
            self.bytes_in + other.bytes_in,
            self.bytes_out + other.bytes_out,
            self.crc_errors + other.crc_errors,
            self.reruns + other.reruns,
        )

    def minus(self, other: LinkCounters) -> LinkCounters:
        return LinkCounters(
            self.bytes_in - other.bytes_in,
            self.bytes_out - other.bytes_out,
            self.crc_errors - other.crc_errors,
            self.reruns - other.reruns,
        )


# What was called, and words of the stack that may be return addresses, the innermost first.
Refused = tuple[str, tuple[int, ...]]


class Target(Protocol):
    """A running instance able to execute tests. Every call has a deadline on the host."""

    @property
    def info(self) -> TargetInfo: ...

    @property
    def counters(self) -> LinkCounters: ...

    def take_refused(self) -> Mapping[Refused, int]:
        """What confinement has refused to it since this was last called, and how often."""

    def begin(self, test: Run) -> None:
        """Let it execute a test. Raises TargetError if it cannot."""

    def finish(self) -> Finished:
        """What came of the test that was begun; a target that died is started again and the test judged."""

    def run(self, test: Run) -> Finished:
        """Both: execute one test."""

    def restart(self) -> None:
        """A fresh instance: used to confirm bugs."""

    def forget_coverage(self) -> None:
        """The next test reports all that it covers, also what runs before it have."""

    def close(self) -> None:
        """Stop the instance and release everything. Safe to call twice."""
