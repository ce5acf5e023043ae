"""Starts a process of ours that is not trusted: a target, an emulator, the second witness.

Between fork and exec the process gives up what it does not need, in an order in which each step is still allowed:
capabilities, new privileges, the view of files, system calls. What a user's shell handed on (ignored signals, a mask,
open descriptors) is undone like the environment, so that a program finds the same world everywhere.

That it is done before exec and not by the program's own runtime is the point: constructors and whatever else runs
before main() are the program's, too.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from score_embed.command import held
from score_embed.confine import filter as calls
from score_embed.confine import landlock, layers
from score_embed.confine.core import run_everywhere
from score_embed.confine.notice import Notice
from score_embed.confine.rights import Rights

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 22, 28, 38, 47
_FILTER, _RAISE, _CLEAR_ALL = 2, 2, 4
_NO_RANDOM_ADDRESSES = 0x0040000
_ASK_PERSONALITY = 0xFFFFFFFF
_CAPABILITIES = 0x20080522  # their version 3
_READ_SEARCH = 2  # CAP_DAC_READ_SEARCH
_NO_ROOT = 3  # and locked
_CLOSE_RANGE, _CLOSE_ON_EXEC = 436, 4
_SET_FILTER, _NEW_LISTENER = 1, 8

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


class _Words:
    """A program's path, words and environment where `execve` wants them."""

    def __init__(self, path: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self._path = ctypes.create_string_buffer(os.fsencode(path))
        self._words = _strings(words)
        self._environment = _strings([f"{name}={value}" for name, value in environment.items()])
        self.start = calls.Start(
            ctypes.addressof(self._path), ctypes.addressof(self._words), ctypes.addressof(self._environment)
        )

    def execute(self) -> int:
        """The error number: it only returns if the program cannot be started."""
        _libc.execve(*map(ctypes.c_void_p, self.start))
        return ctypes.get_errno()


def _strings(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * (len(texts) + 1))(*map(os.fsencode, texts), None)


def start(
    words: Sequence[str],
    rights: Rights | None,
    *,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    cwd: str | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.PIPE,
    same_addresses: bool = False,
    everywhere: bool = False,
    notices: Callable[[Notice | None], None] | None = None,
) -> subprocess.Popen[bytes]:
    """The program `words[0]` (a path) in a session of its own, ended by SIGKILL when this process ends. `rights`: None
    leaves it unconfined. `environment`: None is ours. `same_addresses`: nothing of it lies at random addresses.
    `everywhere`: on any processor, not only on its host's own. `notices`: is given what tells which calls are refused
    (None: that cannot be had here), and has to see that it is served.

    Raises UsageError if it cannot be confined here, OSError if it cannot be started.
    """
    if rights is not None:
        layers.require(rights)
    rules = landlock.ruleset(rights) if rights is not None and landlock.version() else -1
    said, say = os.pipe()
    hear, tell = socket.socketpair()
    entry = _Entry(_Words(words[0], words, os.environ if environment is None else environment), rights, rules, say)
    entry.same_addresses, entry.everywhere, entry.passed = same_addresses, everywhere, tuple(pass_fds)
    entry.tell = tell if notices is not None else None
    process = None
    try:
        with held():
            process = subprocess.Popen(
                list(words),
                pass_fds=(*pass_fds, say, *([rules] if rules >= 0 else [])),
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for the host: it ends the test in good order
                preexec_fn=entry,
            )
    except BaseException:
        os.close(said)
        hear.close()
        if process is not None:  # Ctrl-C
            process.kill()
            _forget(process)
        raise
    finally:
        os.close(say)
        tell.close()
        if rules >= 0:
            os.close(rules)
    try:
        begun = _begun(process, said)
        if notices is not None and rights is not None:
            notices(_notice(hear, begun.pid))
    finally:
        hear.close()
    return begun


def _notice(hear: socket.socket, pid: int) -> Notice | None:
    """What the process has sent before it was the program."""
    _, descriptors, _, _ = socket.recv_fds(hear, 1, 1)
    return Notice(descriptors[0], pid) if descriptors else None


def _begun(process: subprocess.Popen[bytes], said: int) -> subprocess.Popen[bytes]:
    """The process, unless it said why it did not come to its program. Raises OSError."""
    with os.fdopen(said, "rb") as pipe:
        why = pipe.read()
    if not why:
        return process
    _forget(process)
    number, _, step = why.decode(errors="replace").partition(" ")
    text = f"{os.strerror(int(number))} ({step})" if step else os.strerror(int(number))
    raise OSError(int(number), text)


def _forget(process: subprocess.Popen[bytes]) -> None:
    """It ends, and nobody is to hear of it."""
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _Entry:
    """What the new process does before it is the program. It has its own copy of this one's memory, and one thread."""

    def __init__(self, words: _Words, rights: Rights | None, rules: int, say: int) -> None:
        self._words, self._rights, self._rules, self._say = words, rights, rules, say
        self._filter = calls.Filter(rights, words.start) if rights is not None else None
        self._ignored = [number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN]
        self._parent = os.getpid()
        self.same_addresses = self.everywhere = False
        self.passed: tuple[int, ...] = ()
        self.tell: socket.socket | None = None

    def __call__(self) -> None:
        try:
            self._prepare()
            number, step = self._words.execute(), ""
        except OSError as error:
            number, step = error.errno or errno.EINVAL, error.strerror or "start"
        os.write(self._say, f"{number} {step}".strip().encode())
        os._exit(127)

    def _prepare(self) -> None:
        for number in self._ignored:  # as `nohup` left it; handlers end with this program
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.same_addresses:
            now = _libc.personality(_ASK_PERSONALITY)
            _libc.personality(now | _NO_RANDOM_ADDRESSES)  # a container may forbid it: the runtime copes
        if self.everywhere:
            run_everywhere()
        self._close_others()
        rights = self._rights
        if rights is not None and not rights.commands:
            _give_up_capabilities()
        _die_with(self._parent)
        if self._filter is None:
            return
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        if self._rules >= 0:
            landlock.allow(self._rules, landlock.OWN)
            landlock.restrict(self._rules)
        asks = _asking(self._filter.of(os.getpid(), asks=True)) if self.tell is not None else -1
        if asks < 0:
            _filter_calls(self._filter.of(os.getpid()))
        elif self.tell is not None:
            socket.send_fds(self.tell, [b"!"], [asks])

    def _close_others(self) -> None:
        """When the program starts, but for what it is given."""
        if _libc.syscall(_CLOSE_RANGE, 3, 0xFFFFFFFF, _CLOSE_ON_EXEC):
            for name in os.listdir("/proc/self/fd"):  # before Linux 5.11
                with suppress(OSError):
                    os.set_inheritable(int(name), int(name) < 3)
        for descriptor in self.passed:
            os.set_inheritable(descriptor, True)


def _die_with(parent: int) -> None:
    """SIGKILL when the parent ends, also if it just did."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _give_up_capabilities() -> None:
    """Root's powers, all but one: files that only root may read stay readable.

    First that a program of root's has powers by being root's: to get them back would be taken for a gain, at which the
    kernel makes addresses random again. Who may not say that keeps them: the other layers hold root, too.
    """
    if _libc.prctl(_PR_SET_SECUREBITS, _NO_ROOT, 0, 0, 0):
        return
    header = struct.pack("<Ii", _CAPABILITIES, 0)
    have = ctypes.create_string_buffer(24)
    if _libc.capget(header, have):
        raise OSError(ctypes.get_errno(), "capget")
    _, permitted = struct.unpack_from("<II", have)
    kept = permitted & 1 << _READ_SEARCH
    _libc.prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    if _libc.capset(header, struct.pack("<6I", kept, kept, kept, 0, 0, 0)):
        raise OSError(ctypes.get_errno(), "capset")
    if kept:
        _libc.prctl(_PR_CAP_AMBIENT, _RAISE, _READ_SEARCH, 0, 0)


def _asking(steps: bytes) -> int:
    """Where it is asked about what this filter refuses, closed when the program starts; -1 if the kernel cannot do
    that, or somebody else is asked already."""
    program = _program(steps)
    return int(_libc.syscall(layers.seccomp_number(), _SET_FILTER, _NEW_LISTENER, ctypes.byref(program)))


def _program(steps: bytes) -> _Program:
    return _Program(len(steps) // 8, ctypes.cast(ctypes.c_char_p(steps), ctypes.c_void_p))


def _filter_calls(steps: bytes) -> None:
    program = _program(steps)
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")
