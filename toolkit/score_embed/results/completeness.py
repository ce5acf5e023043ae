"""The word for a campaign that has no test left: `exhausted`, or `drained` if anything escaped it on the way.

`exhausted` is a proof that every feasible path was run, so it is said here only, of all that could not be followed,
whoever noted it: the explorer (of values and paths), the books (of a first test that differs when it is run again, of a
fleet's lost or repeated tests), the tests that are set aside, the image (of what was known to be lost when it was
built). What holds only within the surroundings that the program was told of is said beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from score_embed.contract.program import ARGUMENTS, STDIN, Whole
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

# The same, from machine to machine.
_OF_MACHINE = frozenset({
    "accept", "access", "fopen", "fopen64", "freopen", "getaddrinfo", "getcwd", "getegid", "getenv", "geteuid",
    "getgid", "gethostbyname", "gethostname", "getuid", "isatty", "lstat", "open", "open64", "openat", "opendir",
    "popen", "read", "readlink", "recv", "recvfrom", "recvmsg", "secure_getenv", "stat", "sysconf", "ttyname", "uname",
})  # fmt: skip
_READS_INPUT = frozenset({STDIN, "getchar", "getchar_unlocked", "gets", "getwchar", "scanf", "vscanf", "wscanf"})


def word(sources: SourceMap, lost: int, *noted: Mapping[Any, int]) -> Stop:
    """`sources`: of the program, with what its image is known to lose; `lost`: tests that are set aside; `noted`:
    everybody's notes, and how often each was made."""
    escaped = len(sources.losses) + lost + sum(sum(notes.values()) for notes in noted)
    return Stop.DRAINED if escaped else Stop.EXHAUSTED


def surroundings(outside: Iterable[str], given: Whole, begins_with_main: bool) -> tuple[str, ...]:
    """In words, what a program that has this from outside is told by its surroundings: it was explored with that
    only. `given`: as symbolic input; `begins_with_main`: not with a function that somebody named."""
    found = set(outside)
    words = []
    if ARGUMENTS in found and not given.argv and begins_with_main:
        words.append("no arguments (--argv N,N)")
    if found & _READS_INPUT and not given.stdin:
        words.append("an empty standard input (--stdin-bytes N)" if begins_with_main else "an empty standard input")
    names = [f"{name}()" for name in sorted(found & (_DIFFERS | _OF_MACHINE))]
    return (*words, f"what {', '.join(names)} said") if names else tuple(words)
