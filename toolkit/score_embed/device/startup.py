"""An instance that runs and does not report READY: where is it?

Drivers look at its program counter a few times; who knows the image makes places of that (campaign/startup.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from score_embed.errors import TargetError

LOOKS = 24
PAUSE = 0.01  # seconds between two looks
_ATTACH, _DETACH, _PEEKUSER = 16, 17, 3
_STOPPED = frozenset({os.CLD_STOPPED, os.CLD_TRAPPED})
_RIP, _RSP = 16 * 8, 19 * 8  # in x86-64's struct user; of a process of 32 bits, too
_REGISTER = re.compile(r"\b(?P<name>R1[345]|pc|x1/ra|x2/sp)(?:=|\s+)(?P<value>[0-9a-fA-F]+)")
_WORD = re.compile(r"0x([0-9a-fA-F]{8})\b")
WORDS = 64  # of the stack
_libc = ctypes.CDLL(None, use_errno=True)


class Seen(NamedTuple):
    """Where it was at one moment. `returns`: what may be return addresses, of the innermost function first."""

    pc: int
    returns: tuple[int, ...]


class NoReady(TargetError):
    """It never reported READY. `seen`: where it ran, as far as that can be known."""

    def __init__(self, what: str, where: str = "", hint: str = "", seen: tuple[Seen, ...] = ()) -> None:
        super().__init__(what, where, hint)
        self.seen = seen


def by_monitor(ask: Callable[[str], str]) -> Seen | None:
    """As QEMU's monitor tells, of ARM and RISC-V; a virtual machine of another processor has no start-up of the
    program's."""
    found = {match["name"]: int(match["value"], 16) for match in _REGISTER.finditer(ask("info registers"))}
    names = ("R15", "R14", "R13") if "R15" in found else ("pc", "x1/ra", "x2/sp")
    if not found.keys() >= set(names):
        return None
    pc, link, stack = (found[name] for name in names)
    words = [int(word, 16) for word in _WORD.findall(ask(f"x/{WORDS}xw {stack & ~3:#x}"))]
    return Seen(pc, tuple(word & ~1 for word in (link, *words)))


def of_process(pid: int) -> tuple[Seen, ...]:
    """Of a child that runs; nothing where that cannot be asked."""
    if platform.machine() != "x86_64":
        return ()
    _libc.ptrace.restype = ctypes.c_long
    _libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    found: list[Seen] = []
    for _ in range(LOOKS):
        if _libc.ptrace(_ATTACH, pid, None, None) < 0:
            break
        # One that is killed meanwhile is left to who started it: its end is told once only.
        how = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if how is not None and how.si_code in _STOPPED:
            with contextlib.suppress(ChildProcessError):  # killed since then
                os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG)
            pc, stack = (_libc.ptrace(_PEEKUSER, pid, at, None) & 0xFFFFFFFFFFFFFFFF for at in (_RIP, _RSP))
            found.append(Seen(pc, _words(pid, stack)))
            _libc.ptrace(_DETACH, pid, None, None)
        else:
            break
        time.sleep(PAUSE)
    return tuple(found)


def stopped_by(pid: int) -> int:
    """The signal that has stopped a child; 0 while it runs, and when it has ended."""
    # Asked for stops alone, Linux knows no child that has ended and is not waited for yet (ECHILD).
    found = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found.si_status if found is not None and found.si_code in _STOPPED else 0


def _words(pid: int, at: int) -> tuple[int, ...]:
    """Its stack. Code lies below 4 GiB, also in a process of 64 bits."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(at)
            data = memory.read(8 * WORDS)
    except OSError:
        return ()
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
