"""The view of the file system that a target's process has (Landlock): what it may read, and what it may change.

Where the kernel can, it also keeps the process from signals to others (6.12) and from opening connections (6.7).
`ptrace` and the memory of other processes are out of its reach by that alone that it has such a view.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from score_embed.confine.rights import Rights

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every processor
_VERSION = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_TCP = 3  # bind, connect
_SCOPES = 3  # abstract sockets, signals
_SIGNALS = 2
# Rights over files by the version that brought the last of them.
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_WITH_NETWORK, WITH_SIGNALS = 4, 6

# Where what is opened is no file: a device acts, a process can be looked into.
_SPECIAL = ("dev", "proc", "sys", "run")
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_KERNEL = ("/proc/sys/vm", "/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system", "/sys/kernel/mm")
OWN = "/proc/self"  # of whoever opens it

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """That of the kernel's Landlock; 0: it has none, or may not be used."""
    return max(0, int(_libc.syscall(_CREATE, None, 0, _VERSION)))


def ruleset(rights: Rights) -> int:
    """A descriptor of the rules. Raises OSError."""
    has = version()
    handled = _HANDLED[min(has, 5)]
    network = _TCP if has >= _WITH_NETWORK and not rights.network else 0
    scopes = 0
    if has >= WITH_SIGNALS:
        scopes = _SIGNALS if rights.network else _SCOPES
    rules = struct.pack("<QQQ", handled, network, scopes)[
        : 8 if has < _WITH_NETWORK else 16 if has < WITH_SIGNALS else 24
    ]
    made = int(_libc.syscall(_CREATE, rules, len(rules), 0))
    if made < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    try:
        os.set_inheritable(made, False)
        for path in (*(_everything() if rights.everything else ()), *rights.reads):
            allow(made, path, handled & _READ)
        for path in (*_HARMLESS, *_KERNEL):
            allow(made, path, _READ_FILE | _READ_DIR)
        allow(made, "/dev/null", _READ_FILE | _WRITE_FILE)
        for path in rights.writes:
            allow(made, path, handled & ~_EXECUTE)
    except BaseException:
        os.close(made)
        raise
    return made


def allow(rules: int, path: str, access: int = _READ_FILE | _READ_DIR) -> None:
    """What is not there, or may not be reached, needs no rule. Raises OSError."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _OF_FILES
        if _libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("<Qi", access, place), 0):
            raise OSError(ctypes.get_errno(), "landlock_add_rule")
    finally:
        os.close(place)


def restrict(rules: int) -> None:
    """This process, for good. Raises OSError."""
    if _libc.syscall(_RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")


def _everything() -> Iterable[str]:
    return [f"/{name}" for name in os.listdir("/") if name not in _SPECIAL]
