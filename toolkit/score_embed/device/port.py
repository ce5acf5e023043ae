"""A serial port (or what pyserial's URLs take for one): locked, opened, and every failure in words. And which there
are.

Ports are listed by names that stay the same after a reboot and at another socket. The lock is a file beside the port's
own `flock`: it says who works with the port and since when, also for ports on other machines. The kernel releases it
with the process that holds it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import getpass
import os
import re
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import serial
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from score_embed.board.lab import Connected
from score_embed.errors import TargetError
from score_embed.link.transport import Channel, Line, PolledChannel

BY_ID = Path("/dev/serial/by-id")
_LINK = re.compile(r"(?:usb|pci)-(?P<what>.+?)-if[0-9a-f]{2}(?:-port[0-9]+)?")
_NAP = 0.02  # seconds that a port without a descriptor is waited for at most in one go
_PULSE = 0.1
_GLANCE = 0.05  # seconds; longer than somebody needs who only asks whether the port is locked
_MASTERS = {"/dev/ptmx", "/dev/pts/ptmx"}
_UNNAMED = "somebody who has not said who"


def connected_ports(folder: Path = BY_ID) -> list[Connected]:
    """What is plugged in: all that `folder` has a name for, then USB ports that share a name with another (cheap ones
    have no serial number), by the socket they are plugged into."""
    facts = {os.path.realpath(info.device): info for info in list_ports.comports()}
    found = {os.path.realpath(link): _described(link, facts) for link in sorted(folder.glob("*"))}
    sockets = {os.path.realpath(link): link for link in sorted((folder.parent / "by-path").glob("*"))}
    for device, info in sorted(facts.items()):
        if device not in found and info.vid is not None:
            found[device] = _described(sockets.get(device, Path(device)), facts)
    return list(found.values())


def known_ports() -> str:
    """A sentence for a hint."""
    names = [port.port for port in connected_ports()] or sorted(port.device for port in list_ports.comports())
    return f"Ports found: {', '.join(names)}." if names else "No serial port was found on this machine."


def _described(link: Path, facts: Mapping[str, ListPortInfo]) -> Connected:
    info = facts.get(os.path.realpath(link))
    if info is None or info.vid is None:
        what, number = _from_name(link.name)
        return Connected(str(link), "", number, what)
    about = " ".join(_words(info))
    return Connected(str(link), f"{info.vid:04x}:{info.pid or 0:04x}", info.serial_number or "", about)


def _words(info: ListPortInfo) -> Iterator[str]:
    maker, product = info.manufacturer or "", info.product or ""
    if maker and not product.startswith(maker):
        yield maker
    yield product or info.name
    if info.interface and info.interface != product:
        yield info.interface


def _from_name(name: str) -> tuple[str, str]:
    """What udev wrote into a name: usb-MAKER_PRODUCT_NUMBER-if00."""
    found = _LINK.fullmatch(name)
    words = found["what"].split("_") if found else []
    return (" ".join(words[:-1]), words[-1]) if len(words) > 2 else (" ".join(words) or name, "")


class PortGone(TargetError):
    """The port is not there, or nobody answers at its address."""


class PortLock:
    """Nobody else of this machine runs tests over the port meanwhile."""

    def __init__(self, port: str) -> None:
        """Raises TargetError if somebody else has it."""
        self._path = _lock_path(port)
        while True:
            try:
                self._file = _open_shared(self._path)
            except OSError as error:
                what = f"cannot lock the port: {error.strerror}"
                raise TargetError(what, str(self._path), "Remove that file, or set TMPDIR.") from None
            if not _lock(self._file) and not _lock(self._file, _GLANCE):
                who = self._file.read().strip() or _UNNAMED
                self._file.close()
                raise TargetError(f"the port is in use by {who}", port, "Wait for its end, or stop it.")
            if self._is_current():
                break
            self._file.close()  # its last holder has just removed it
        self._file.truncate(0)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        self._file.write(f"score-embed, process {os.getpid()} of {_user()}, since {since}")
        self._file.flush()

    def holds(self, port: str) -> bool:
        """It is the lock of what this name leads to now."""
        return self._path == _lock_path(port)

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


def holder(port: str) -> str:
    """Who works with the port, in words; empty if nobody does."""
    with contextlib.suppress(OSError), _lock_path(port).open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return file.read().strip() or _UNNAMED
    return "" if "://" in port else _openers(port)


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
        with contextlib.suppress(AttributeError, ValueError):  # most drivers, and all URLs, have no such mode
            port.set_low_latency_mode(True)  # a USB adapter of FTDI keeps back what came for 1 ms instead of 16
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
        return TargetError(
            f"the port is in use by {_openers(name) or 'another program'}", name, "Stop that program, then start again."
        )
    if _no_terminal(name):
        return TargetError("this is no serial port", name, known_ports())
    if isinstance(error, ValueError):
        hint = "Give a device (/dev/ttyUSB0), socket://host:port or rfc2217://host:port."
        return TargetError(f"this is not a port: {error}", name, hint)
    return PortGone(f"the port cannot be opened: {error}", name, "Is the other end running?" if "://" in name else "")


def _no_terminal(name: str) -> bool:
    """A file or another device that can be opened, but is no serial port."""
    with contextlib.suppress(OSError):
        descriptor = os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return not os.isatty(descriptor)
        finally:
            os.close(descriptor)
    return False


def _openers(name: str) -> str:
    """The programs that have the port open, as far as this user may see. Who holds the other end of a pseudo-terminal
    is no user of it."""
    found: list[str] = []
    real = identity(name)
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            opened = {os.path.realpath(fd) for fd in (folder / "fd").iterdir()}
            if real in opened and opened.isdisjoint(_MASTERS):
                found.append(f"{(folder / 'comm').read_text().strip()} (process {folder.name})")
    return ", ".join(found)


def _lock_path(port: str) -> Path:
    return Path(tempfile.gettempdir()) / "score-embed-locks" / (identity(port).strip("/").replace("/", "!") + ".lock")


def _lock(file: IO[str], after: float = 0.0) -> bool:
    time.sleep(after)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _open_shared(path: Path) -> IO[str]:
    """Every user must be able to read and to take the lock."""
    folder = path.parent
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
