"""The filter of system calls (seccomp) that a target's process gets before its first instruction.

It names what is refused: programs under test and emulators may use whatever is harmless. Refused is what reaches out
of the process: starting others, signals and limits for others, sockets, changes of files, objects that outlive it, the
machine's own state. A refused call fails with an error number, as it would for a user without permission; nothing is
killed, so that a program goes on as it would there.

The process is started through the filter (`execve`), and must not start anything later. A filter sees a call's numbers,
not what they point to. So it allows the one `execve` whose three pointers are those of the start: addresses in the
memory of the process that starts it, which the kernel has chosen at random and which are gone when the program runs.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from score_embed.confine.numbers import Calls, group, of_this_machine
from score_embed.confine.rights import Rights

_LOAD, _JUMP, _EQUAL, _ABOVE, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x05, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _WAY, _ARGUMENTS = 0, 4, 16  # in struct seccomp_data
_ALLOW, _ERROR, _ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
_OWN_OF_ARM, _OTHER_ABI = 0x0F0000, 0x40000000  # calls that only ARM has begin here; those of x32 there
_INSTRUCTION = struct.Struct("<HBBI")

_CREATES = 0o3 | 0o100 | 0o1000  # of open's flags: to write, to create, to cut off
_THREAD = 0x00010000
_OTHER_WORLDS = 0x7E028000  # of clone's flags: namespaces, and children of one's own parent
_PACK = 12  # calls
_SIGKILL = 9
_PDEATHSIG = 1
_ASK_PERSONALITY = 0xFFFFFFFF
# Whom to signal when a descriptor is ready, and how: F_SETOWN, F_SETSIG, F_SETOWN_EX. Whose turn a file is, which stops
# others who ask (a campaign's own record is kept so): F_SETLK, F_SETLKW, both once more with 64 bits and of
# descriptors, F_SETLEASE.
_OWNERS = (8, 10, 15)
_LOCKS = (6, 7, 13, 14, 37, 38, 1024)
# To ask a terminal or a file how it is, and whether to wait: TCGETS, TIOCGPGRP, TIOCOUTQ, TIOCGWINSZ, FIONREAD,
# FIONBIO, TIOCGSID, FIONCLEX, FIOCLEX, FIOQSIZE, TCGETS2, FIGETBSZ, FS_IOC_GETFLAGS (and in 32 bits),
# FS_IOC_FSGETXATTR. Others act: a file's flags, a subvolume, a copy of a file's blocks are changed by whoever may read.
_ASKS = (0x5401, 0x540F, 0x5411, 0x5413, 0x541B, 0x5421, 0x5429, 0x5450, 0x5451, 0x5460, 0x802C542A)
_ASKS_FILES = (0x2, 0x80086601, 0x80046601, 0x801C581F)


class Start(NamedTuple):
    """The one `execve` that is allowed: its three pointers."""

    path: int
    words: int
    environment: int


class _Step(NamedTuple):
    code: int
    value: int | str  # a name: known when the process is there
    yes: int = 0
    no: int = 0


_Rule = list[_Step]


class Filter:
    """Made before the process is there, which then only has to say its number: it should start quickly."""

    def __init__(self, rights: Rights, start: Start) -> None:
        known = {"pid": 0}
        for name, pointer in zip(Start._fields, start, strict=True):
            known |= {f"{name} low": pointer & 0xFFFFFFFF, f"{name} high": pointer >> 32}
        steps = _steps(replace(rights, reads=(), writes=rights.writes and ("some",)))  # which ones makes no difference
        self._bytes = bytearray().join(
            _INSTRUCTION.pack(code, yes, no, known[value] if isinstance(value, str) else value)
            for code, value, yes, no in steps
        )
        self._of_pid = [place for place, step in enumerate(steps) if step.value == "pid"]
        refused = (_ERROR | errno.EPERM, _ERROR | errno.EACCES)
        self._refusals = [at for at, step in enumerate(steps) if step.code == _RETURN and step.value in refused]

    def of(self, pid: int, asks: bool = False) -> bytes:
        """For the process of that number, as the kernel wants it. `asks`: it says what it refuses
        (`confine/notice.py`)."""
        for place in self._of_pid:
            struct.pack_into("<I", self._bytes, _INSTRUCTION.size * place + 4, pid)
        if not asks:
            return bytes(self._bytes)
        steps = bytearray(self._bytes)
        for place in self._refusals:
            struct.pack_into("<I", steps, _INSTRUCTION.size * place + 4, _ASK)
        return bytes(steps)


@lru_cache(maxsize=8)
def _steps(rights: Rights) -> tuple[_Step, ...]:
    sections = [_section(calls, rights) for calls in of_this_machine()]
    head = [_Step(_LOAD, _WAY)]
    end = 1 + 2 * len(sections) + 1
    for place, (calls, section) in enumerate(zip(of_this_machine(), sections, strict=True)):
        here = 2 * place + 2
        head += [_Step(_EQUAL, calls.audit, 0, 1), _Step(_JUMP, end - here - 1)]
        end += len(section)
    head += _refusal(errno.ENOSYS)
    return (*head, *(step for section in sections for step in section))


def _section(calls: Calls, rights: Rights) -> _Rule:
    """The rules for one way of calling. Every rule leaves the call's number where it was, or returns."""
    rules: _Rule = [_Step(_LOAD, _NUMBER)]
    for name, rule in _judged(rights):
        if name in calls.numbers:
            rules += _of(calls.numbers[name], rule)
    refused = dict.fromkeys(_refused(rights), errno.EPERM)
    refused |= dict.fromkeys(
        group("absent"), errno.ENOSYS
    )  # what they ask for lies in memory: callers know another way
    rules += _looked_up({calls.numbers[name]: error for name, error in refused.items() if name in calls.numbers})
    unknown = [_Step(_AT_LEAST, _OWN_OF_ARM, 0, 1), _Step(_AT_LEAST, _OTHER_ABI, 0, 1), *_refusal(errno.ENOSYS)]
    return [*rules, _Step(_ABOVE, calls.most, 0, 3), *unknown, _Step(_RETURN, _ALLOW)]


def _refused(rights: Rights) -> Iterable[str]:
    yield from (*group("others"), *group("kept"), *group("machine"))
    if not rights.commands:
        yield from (*group("files"), *group("attributes"), *group("identity"), "execveat")
    if not rights.network:
        yield from ("socket", "socketcall", "socketpair")  # one of a pair can send to any socket that has a name
    if not (rights.children or rights.commands):
        yield from ("fork", "vfork")


def _judged(rights: Rights) -> Iterable[tuple[str, _Rule]]:
    """Calls whose arguments decide."""
    yield "prctl", _stays_bound()
    if rights.commands:
        return
    yield "personality", _among(0, (_ASK_PERSONALITY,), errno.EPERM)
    yield "execve", _one_start()
    of_files = _OWNERS if rights.needs_view else (*_OWNERS, *_LOCKS)  # QEMU locks the disks it was given
    yield "fcntl", _not_among(1, of_files, errno.EPERM)
    yield "fcntl64", _not_among(1, of_files, errno.EPERM)
    if not rights.needs_view:
        yield "flock", _refusal(errno.EPERM)
    yield "ioctl", _among(1, (*_ASKS, *_ASKS_FILES), errno.EPERM)
    if not rights.needs_view:
        yield "open", _without(1, _CREATES, errno.EACCES)
        yield "openat", _without(2, _CREATES, errno.EACCES)
    if rights.children:
        yield "clone", _without(0, _OTHER_WORLDS, errno.EPERM)
    elif rights.threads:
        yield "clone", [*_argument(0), _Step(_ANY_BIT, _THREAD, 1, 0), *_refusal(errno.EPERM), *_allowed()]
    else:
        yield "clone", _refusal(errno.EPERM)
    yield "prlimit64", _among(0, (0,) if rights.children else (0, "pid"), errno.EPERM)
    if not rights.children:
        yield "kill", _among(0, ("pid", 0), errno.EPERM)
        yield "tgkill", _among(0, ("pid",), errno.EPERM)
        yield "rt_sigqueueinfo", _among(0, ("pid",), errno.EPERM)


def _looked_up(errors: dict[int, int]) -> _Rule:
    """The calls that are refused, in order and in packs: most are passed by at a step a pack. (The kernel tries all
    numbers when a filter is installed, so a long list costs time at each start.)"""
    rules: _Rule = []
    numbers = sorted(errors)
    for first in range(0, len(numbers), _PACK):
        pack = numbers[first : first + _PACK]
        tests = [step for number in pack for step in _of(number, _refusal(errors[number]))]
        rules += [_Step(_ABOVE, pack[-1], len(tests), 0), *tests]
    return rules


def _of(number: int, rule: _Rule) -> _Rule:
    return [_Step(_EQUAL, number, 0, len(rule)), *rule]


def _refusal(error: int) -> _Rule:
    return [_Step(_RETURN, _ERROR | error)]


def _allowed() -> _Rule:
    return [_Step(_RETURN, _ALLOW)]


def _argument(index: int, half: int = 0) -> _Rule:
    return [_Step(_LOAD, _ARGUMENTS + 8 * index + 4 * half)]


def _without(index: int, bits: int, error: int) -> _Rule:
    return [*_argument(index), _Step(_ANY_BIT, bits, 0, 1), *_refusal(error), *_allowed()]


def _among(index: int, values: Iterable[int | str], error: int) -> _Rule:
    """Allowed if the argument, an `int`, is one of these."""
    tests: _Rule = [step for value in values for step in (_Step(_EQUAL, value, 0, 1), *_allowed())]
    return [*_argument(index), *tests, *_refusal(error)]


def _not_among(index: int, values: Iterable[int], error: int) -> _Rule:
    tests: _Rule = [step for value in values for step in (_Step(_EQUAL, value, 0, 1), *_refusal(error))]
    return [*_argument(index), *tests, *_allowed()]


def _one_start() -> _Rule:
    halves = [
        (index, half, f"{name} {('low', 'high')[half]}") for index, name in enumerate(Start._fields) for half in (0, 1)
    ]
    rule: _Rule = []
    for index, half, value in halves:
        rule += [*_argument(index, half), _Step(_EQUAL, value, 1, 0), *_refusal(errno.EPERM)]
    return [*rule, *_allowed()]


def _stays_bound() -> _Rule:
    """Its end when its host dies cannot be taken back."""
    asks = [*_argument(1), _Step(_EQUAL, _SIGKILL, 1, 0), *_refusal(errno.EPERM)]
    return [*_argument(0), _Step(_EQUAL, _PDEATHSIG, 0, len(asks)), *asks, *_allowed()]
