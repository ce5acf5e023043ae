"""A serial port (or what pyserial's URLs take for one): locked, opened, and every failure in words.

The lock is a file beside the port's own `flock`: it says who works with the port and since when, also for ports on
other machines. The kernel releases it with the process that holds it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import getpass
import os
import tempfile
import termios
import time
from pathlib import Path
from typing import IO

import serial
from serial.tools import list_ports

from score_embed.errors import TargetError
from score_embed.link.transport import Channel, Line, PolledChannel

_NAP = 0.02  # seconds that a port without a descriptor is waited for at most in one go
_PULSE = 0.1


class PortGone(TargetError):
    """The port is not there, or nobody answers at its address."""


class PortLock:
    """Nobody else of this machine runs tests over the port meanwhile."""

    def __init__(self, port: str) -> None:
        """Raises TargetError if somebody else has it."""
        folder = Path(tempfile.gettempdir()) / "score-embed-locks"
        self._path = folder / (identity(port).strip("/").replace("/", "!") + ".lock")
        while True:
            try:
                self._file = _open_shared(folder, self._path)
            except OSError as error:
                what = f"cannot lock the port: {error.strerror}"
                raise TargetError(what, str(self._path), "Remove that file, or set TMPDIR.") from None
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = self._file.read().strip() or "somebody who has not said who"
                self._file.close()
                raise TargetError(f"the port is in use by {holder}", port, "Wait for its end, or stop it.") from None
            if self._is_current():
                break
            self._file.close()  # its last holder has just removed it
        self._file.truncate(0)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        self._file.write(f"score-embed, process {os.getpid()} of {_user()}, since {since}")
        self._file.flush()

    def release(self) -> None:
        """Safe to call twice."""
        if not self._file.closed:
            with contextlib.suppress(OSError):  # it may be another user's
                self._path.unlink()
            self._file.close()

    def _is_current(self) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        return False


def identity(port: str) -> str:
    """One name for a port, whatever link leads to it."""
    return port if "://" in port else os.path.realpath(port)


class Port:
    """An open port: the line to the board, and the modem lines that may reset it."""

    def __init__(self, name: str, baud: int, reset_line: str) -> None:
        """Raises PortGone, or TargetError if it cannot be used."""
        try:
            port = serial.serial_for_url(name, do_not_open=True, exclusive=True, timeout=_NAP)
            port.baudrate = baud
            if reset_line == "rts":
                port.rts = False  # asserted, it would hold the board in reset
            port.open()
        except (OSError, ValueError) as error:
            raise _failure(error, name) from None
        self._port, self._reset_line = port, reset_line
        self.line: Line = _line(port)

    def reset(self) -> None:
        """A pulse on the line that is wired to the board's reset: DTR released and asserted again, or RTS asserted."""
        for level in (False, True) if self._reset_line == "dtr" else (True, False):
            try:
                setattr(self._port, self._reset_line, level)
            except OSError as error:
                if error.errno not in (errno.ENOTTY, errno.EINVAL):  # a simulated port has no modem lines
                    raise PortGone(f"the port failed: {error}", str(self._port.port)) from None
            time.sleep(_PULSE)


def known_ports() -> str:
    """A sentence for a hint."""
    names = sorted(port.device for port in list_ports.comports())
    return f"Ports found: {', '.join(names)}." if names else "No serial port was found on this machine."


def _line(port: serial.Serial) -> Line:
    try:
        descriptor = port.fileno()
    except (AttributeError, OSError):
        return PolledChannel(port)
    with contextlib.suppress(termios.error):  # not a terminal
        # Without this an empty read would look like the end of the file.
        attributes = termios.tcgetattr(descriptor)
        attributes[6][termios.VMIN] = 1
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
    return Channel(descriptor, descriptor, port.close)


def _failure(error: Exception, name: str) -> TargetError:
    code = getattr(error, "errno", None)
    if code == errno.ENOENT:
        return PortGone("there is no such port", name, f"Is the cable plugged in? {known_ports()}")
    if code in (errno.EACCES, errno.EPERM):
        hint = "Join the group that owns it: sudo usermod -aG dialout $USER, then log in again."
        return TargetError("you may not open this port", name, hint)
    if code in (errno.EAGAIN, errno.EBUSY):
        return TargetError(f"the port is in use by {_holders(name)}", name, "Stop that program, then start again.")
    if isinstance(error, ValueError):
        hint = "Give a device (/dev/ttyUSB0), socket://host:port or rfc2217://host:port."
        return TargetError(f"this is not a port: {error}", name, hint)
    return PortGone(f"the port cannot be opened: {error}", name, "Is the other end running?" if "://" in name else "")


def _holders(name: str) -> str:
    """The programs that have the port open, as far as this user may see."""
    found: list[str] = []
    real = identity(name)
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            if any(os.path.realpath(fd) == real for fd in (folder / "fd").iterdir()):
                found.append(f"{(folder / 'comm').read_text().strip()} (process {folder.name})")
    return ", ".join(found) or "another program"


def _open_shared(folder: Path, path: Path) -> IO[str]:
    """Every user must be able to read and to take the lock."""
    if not folder.is_dir():
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)
    with contextlib.suppress(FileNotFoundError):
        return path.open("r+", encoding="utf-8")
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with contextlib.suppress(OSError):
        os.fchmod(number, 0o666)
    return os.fdopen(number, "r+", encoding="utf-8")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"
