"""The filter of system calls, as the kernel would run it: which calls it lets through, of whom, with which
arguments."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from score_embed.confine import numbers
from score_embed.confine.filter import Filter, Start
from score_embed.confine.notice import UNNOTICED
from score_embed.confine.rights import Rights
from score_embed.device.native import NativeTarget
from score_embed.device.qemu import _files_of
from score_embed.fleet.process.inspection import _CALL
from score_embed.results.summary import _beyond

PID = 4711
START = Start(0x7F0000001000, 0x7F0000002000, 0x7F0000003000)
ALLOWED = 0
KINDS = {
    "program": Rights(),
    "emulator": Rights(threads=True),
    "semihosting": Rights(threads=True, everything=False, writes=("/tmp/fifo",)),
    "witness": Rights(children=True),
    "command": Rights(commands=True, network=True, writes=("/dev",)),
}
# Debian's packages, where they are installed.
HEADERS = {
    1: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    2: Path("/usr/include/x86_64-linux-gnu/asm/unistd_32.h"),
    3: Path("/usr/include/asm-generic/unistd.h"),
}
_DEFINED = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)")
ways = pytest.mark.parametrize("way", range(len(numbers.of_this_machine())))


def answer(rights: Rights, way: int, call: str | int, *arguments: int, audit: int | None = None) -> int:
    """The error number that the call fails with, or ALLOWED."""
    calls = numbers.of_this_machine()[way]
    number = call if isinstance(call, int) else calls.numbers[call]
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack(
        "<IIQ6Q", number, calls.audit if audit is None else audit, 0, *(w & (1 << 64) - 1 for w in words)
    )
    steps = list(struct.iter_unpack("<HBBI", Filter(rights, START).of(PID)))
    at, held = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", data, value)
            case 0x05:
                at += value
            case 0x15:
                at += yes if held == value else no
            case 0x25:
                at += yes if held > value else no
            case 0x35:
                at += yes if held >= value else no
            case 0x45:
                at += yes if held & value else no
            case 0x06:
                return ALLOWED if value == 0x7FFF0000 else value & 0xFFFF
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


@pytest.mark.parametrize("column", HEADERS)
def test_the_numbers_are_the_kernel_s(column: int) -> None:
    if not HEADERS[column].is_file():
        pytest.skip("no headers of the kernel")
    known = {name: int(number) for name, number in _DEFINED.findall(HEADERS[column].read_text())}
    rows = [row.split() for row in numbers._TABLE.strip().splitlines() if not row.startswith("[")]
    checked = 0
    for row in rows:
        if row[0] in known:
            assert row[column] == str(known[row[0]]), row[0]
            checked += 1
    assert checked > 100


@ways
@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_may(way: int, kind: str) -> None:
    known = numbers.of_this_machine()[way].numbers
    for call in (*numbers.group("others"), *numbers.group("kept"), *numbers.group("machine")):
        if call in known:
            assert answer(KINDS[kind], way, call) == errno.EPERM, call


@ways
@pytest.mark.parametrize("kind", ["program", "emulator", "semihosting", "witness"])
def test_who_runs_tests_changes_no_files_and_starts_nothing(way: int, kind: str) -> None:
    known = numbers.of_this_machine()[way].numbers
    rights = KINDS[kind]
    groups = [name for group in ("files", "attributes", "identity") for name in numbers.group(group)]
    for call in (*groups, "execveat", "socket", "socketcall", "socketpair"):
        if call in known:
            assert answer(rights, way, call) == errno.EPERM, call
    assert answer(rights, way, "execve", *START) == ALLOWED
    for wrong in range(3):
        for bit in (0, 31, 32, 46):
            pointers = list(START)
            pointers[wrong] ^= 1 << bit
            assert answer(rights, way, "execve", *pointers) == errno.EPERM


@ways
def test_files_are_opened_to_be_read_only(way: int) -> None:
    for flags, result in (
        (0, ALLOWED),
        (0o2000000, ALLOWED),
        (1, errno.EACCES),
        (2, errno.EACCES),
        (0o1000, errno.EACCES),
    ):
        assert answer(KINDS["program"], way, "openat", -100, 0x1000, flags) == result
        assert answer(KINDS["semihosting"], way, "openat", -100, 0x1000, flags) == ALLOWED  # the view decides


@ways
@pytest.mark.parametrize("kind", ["program", "emulator", "semihosting", "witness"])
def test_who_may_read_a_file_cannot_act_on_it(way: int, kind: str) -> None:
    """TIOCSTI, FS_IOC_SETFLAGS (in 32 bits, too), FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, BTRFS_IOC_SNAP_CREATE,
    TCSETS."""
    for action in (0x5412, 0x40086602, 0x40046602, 0x401C5820, 0x40806685, 0x50009401, 0x5402):
        assert answer(KINDS[kind], way, "ioctl", 3, action) == errno.EPERM
    for question in (0x5401, 0x541B, 0x5421, 0x80086601):
        assert answer(KINDS[kind], way, "ioctl", 3, question) == ALLOWED


@ways
def test_threads_children_and_neither(way: int) -> None:
    thread, child, namespace, sibling = 0x3D0F00, 17, 0x10000011, 0x8011
    for kind, may in (("program", ()), ("emulator", (thread,)), ("witness", (thread, child))):
        for flags in (thread, child, namespace, sibling):
            assert (answer(KINDS[kind], way, "clone", flags) == ALLOWED) == (flags in may), (kind, hex(flags))
    assert answer(KINDS["emulator"], way, "clone3", 0x1000, 88) == errno.ENOSYS


@ways
def test_signals_to_oneself(way: int) -> None:
    for who, result in ((PID, ALLOWED), (0, ALLOWED), (1, errno.EPERM), (-1, errno.EPERM), (-PID, errno.EPERM)):
        assert answer(KINDS["program"], way, "kill", who, 9) == result
    assert answer(KINDS["program"], way, "tgkill", PID, PID, 6) == ALLOWED
    assert answer(KINDS["program"], way, "tgkill", 1, 1, 6) == errno.EPERM
    assert answer(KINDS["program"], way, "prctl", 1, 9) == ALLOWED
    assert answer(KINDS["program"], way, "prctl", 1, 0) == errno.EPERM


@ways
@pytest.mark.parametrize("kind", KINDS)
def test_unknown_calls_are_not_there(way: int, kind: str) -> None:
    for number in (451, 1000, 0x40000000, 0x40000001, 0xFFFFFFFF):
        assert answer(KINDS[kind], way, number) == errno.ENOSYS
    assert answer(KINDS[kind], way, "ioctl", 1, 0x5401, audit=0x12345678) == errno.ENOSYS


def test_files_that_a_profile_names_for_its_emulator(tmp_path: Path) -> None:
    image = tmp_path / "flash.img"
    image.touch()
    options = ("-drive", f"if=pflash,file={image},format=raw", "-dtb", str(image), "-icount", "shift=0")
    assert _files_of(options, None) == (str(image),)


def test_where_the_kernel_does_not_ask_that_is_said() -> None:
    target = NativeTarget(Path("image"), b"")
    target._hear(None)
    assert target.take_refused() == {(UNNOTICED, ()): 1}
    assert target.take_refused() == {}
    assert _CALL.fullmatch(UNNOTICED)
    assert _beyond([(UNNOTICED, "", 0, 1)]) == (f"what a confined target may do (refused: {UNNOTICED})",)


def test_each_refused_call_is_told_once_and_not_too_many_are() -> None:
    rows = [(call, "p.c", line, 1) for call in "abcdefghijk" for line in (3, 4)]
    (said,) = _beyond(rows)
    assert said.startswith("what a confined target may do (refused: a at p.c:3, b at p.c:3, ")
    assert said.endswith("h at p.c:3, 3 more)")
    assert _beyond([]) == ()


def test_what_is_refused_is_asked_about_and_nothing_else() -> None:
    made = Filter(Rights(), START)
    plain, asking = ([step[3] for step in struct.iter_unpack("<HBBI", made.of(PID, asks))] for asks in (False, True))
    differ = {(before, after) for before, after in zip(plain, asking, strict=True) if before != after}
    refused = {0x00050000 | error for error in (errno.EPERM, errno.EACCES)}
    assert differ == {(before, 0x7FC00000) for before in refused}
    assert 0x7FFF0000 in asking
