"""The word for a campaign that has no test left: `exhausted`, or `drained` if anything escaped it on the way.

`exhausted` is a proof that every feasible path was run, so it is said here only, of all that could not be followed,
whoever noted it: the explorer (of values and paths), the books (of a first test that differs when it is run again, of a
fleet's lost or repeated tests), the tests that are set aside, the image (of what was known to be lost when it was
built). What holds only within the surroundings that the program was told of is said beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from score_embed.contract.words import Stop
from score_embed.results.sourcemap import SourceMap

# What these return is no input that was explored, and differs from run to run. A stub makes it one.
_DIFFERS = frozenset({
    "arc4random", "arc4random_buf", "arc4random_uniform", "clock", "clock_gettime", "ftime", "getcpu", "getentropy",
    "getitimer", "getloadavg", "getpgid", "getpgrp", "getpid", "getppid", "getrandom", "getrusage", "getsid",
    "gettid", "gettimeofday", "mktemp", "sched_getcpu", "syscall", "sysinfo", "tempnam", "time", "timer_gettime",
    "times", "timespec_get", "tmpnam", "tmpnam_r", "__builtin_ia32_rdtsc", "__builtin_ia32_rdtscp",
    *(f"__builtin_ia32_rdrand{bits}_step" for bits in (16, 32, 64)),
    *(f"__builtin_ia32_rdseed_{bits}_step" for bits in ("hi", "si", "di")),
})  # fmt: skip


def word(sources: SourceMap, lost: int, *noted: Mapping[Any, int]) -> Stop:
    """`sources`: of the program, with what its image is known to lose; `lost`: tests that are set aside; `noted`:
    everybody's notes, and how often each was made."""
    escaped = len(sources.losses) + lost + sum(sum(notes.values()) for notes in noted)
    return Stop.DRAINED if escaped else Stop.EXHAUSTED


def surroundings(outside: Iterable[str]) -> tuple[str, ...]:
    """In words, what a program that uses these functions is told by its surroundings: it was explored with that
    only."""
    names = [f"{name}()" for name in outside if name in _DIFFERS]
    return (f"what {', '.join(names)} said",) if names else ()
