"""Which layers of confinement this machine has, in words; and the refusal to go without the least of them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from score_embed.confine import landlock, numbers
from score_embed.confine.rights import Rights
from score_embed.errors import UsageError

UNCONFINED = "--unconfined lets programs under test do what you may do."
# What is refused, by the names under which programs call it. Who opens a file may want to read it, which is allowed: a
# name does not tell.
_REFUSED = frozenset(
    [
        "arch_prctl",
        "chdir",
        "chmod",
        "chown",
        "clone",
        "creat",
        "creat64",
        "execl",
        "execle",
        "execlp",
        "execv",
        "execve",
        "execvp",
        "fchdir",
        "fchmod",
        "fchown",
        "fopen",
        "fopen64",
        "fork",
        "freopen",
        "freopen64",
        "ftw",
        "killpg",
        "link",
        "memfd_create",
        "mkdir",
        "mkdtemp",
        "mkfifo",
        "mknod",
        "mkostemp",
        "mkstemp",
        "mlockall",
        "mount",
        "mq_open",
        "msgget",
        "nftw",
        "open",
        "open64",
        "openat",
        "openat64",
        "opendir",
        "popen",
        "posix_spawn",
        "posix_spawnp",
        "prctl",
        "prlimit",
        "prlimit64",
        "pthread_create",
        "ptrace",
        "remove",
        "rename",
        "renameat",
        "rmdir",
        "scandir",
        "semget",
        "setitimer",
        "setpgid",
        "setpgrp",
        "setrlimit",
        "setrlimit64",
        "setsid",
        "shm_open",
        "shmget",
        "socket",
        "socketpair",
        "symlink",
        "system",
        "thrd_create",
        "timer_create",
        "tmpfile",
        "tmpfile64",
        "truncate",
        "umount",
        "unlink",
        "unlinkat",
        "utime",
        "utimes",
        "vfork",
    ]
)
_SECCOMP_NUMBERS = {0xC000003E: 317, 0xC00000B7: 277}
_IS_AVAILABLE = 2
_RETURN_ERROR = 0x00050000
_libc = ctypes.CDLL(None, use_errno=True)


class Layers(Struct, frozen=True):
    """`active`: their names; `missing`: those that are not to be had, each with the reason."""

    active: tuple[str, ...]
    missing: tuple[str, ...]


def layers(confined: bool = True) -> Layers:
    """Those that a process gets that is started now."""
    if not confined:
        return Layers((), ("all: --unconfined",))
    active, missing = ["no new privileges", "system calls"], list[str]()
    has = landlock.version()
    if not has:
        missing.append("a view of files: the kernel has no Landlock (Linux 5.13), or it may not be used here")
    else:
        active.append("files")
        if has >= landlock.WITH_SIGNALS:
            active.append("signals")
        else:
            missing.append("Landlock's scope of signals: this kernel has none (Linux 6.12)")
    return Layers(tuple(active), tuple(missing))


def bounds(outside: Iterable[str]) -> tuple[str, ...]:
    """In words, what lies beyond a confined exploration of a program that calls these functions."""
    names = [f"{name}()" for name in outside if name in _REFUSED]
    return (f"what a confined target may do ({', '.join(names)})",) if names else ()


def require(rights: Rights) -> None:
    """Raises UsageError if a process cannot be confined here as far as it must be."""
    why = _without_filter()
    if why:
        raise UsageError(f"targets cannot be confined on this machine: {why}", "", UNCONFINED)
    if rights.needs_view and not landlock.version():
        what = (
            "this target writes files (its link, or what its profile names), and only Landlock can keep it from others"
        )
        hint = f"Take a board whose link is its UART (`qemu: {{link: uart}}`), or a kernel with Landlock. {UNCONFINED}"
        raise UsageError(f"targets cannot be confined on this machine: {what}", "", hint)


def seccomp_number() -> int:
    """Of the call that installs filters, on a machine whose calls are known."""
    return _SECCOMP_NUMBERS[numbers.of_this_machine()[0].audit]


@lru_cache(maxsize=1)
def _without_filter() -> str:
    """Why there can be no filter of system calls; empty: there can."""
    calls = numbers.of_this_machine()
    if not calls:
        return "nobody has written down the system calls of its processor"
    number = seccomp_number()
    action = ctypes.c_uint32(_RETURN_ERROR)
    if _libc.syscall(number, _IS_AVAILABLE, 0, ctypes.byref(action)):
        return "the kernel has no filters of system calls (seccomp), or they may not be used here"
    return ""
