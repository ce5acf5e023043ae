"""The QEMU target: a machine in an emulator, the link its first UART, QMP to reset it.

UART and QMP are socket pairs, so nothing listens anywhere and nothing is left in the file system. QEMU gets SIGKILL
when its host dies.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
from pathlib import Path

from score_embed.errors import TargetError, UsageError
from score_embed.link.transport import Channel
from score_embed.target.qmp import Qmp, QmpFailed
from score_embed.target.wired import WiredTarget

_PACKAGES = {"qemu-system-arm": "qemu-system-arm", "qemu-system-riscv32": "qemu-system-misc"}
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with(parent: int) -> None:
    """In the child before exec: SIGKILL when the parent dies, also if it just did."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class QemuTarget(WiredTarget):
    def __init__(self, elf: Path, build_id: bytes, command: str, machine: str, watchdog: float = 10) -> None:
        super().__init__(f"{command} -M {machine}", build_id, watchdog)
        self._elf, self._command, self._machine = elf.absolute(), command, machine
        self._process: subprocess.Popen[bytes] | None = None
        self._qmp: Qmp | None = None

    def _launch(self) -> Channel:
        uart, uart_qemu = socket.socketpair()
        control, control_qemu = socket.socketpair()
        arguments = [self._command, "-M", self._machine, "-kernel", str(self._elf)]
        arguments += ["-nodefaults", "-display", "none", "-monitor", "none"]
        arguments += ["-chardev", f"socket,id=u0,fd={uart_qemu.fileno()}", "-serial", "chardev:u0"]
        arguments += ["-chardev", f"socket,id=q0,fd={control_qemu.fileno()}", "-mon", "chardev=q0,mode=control"]
        parent = os.getpid()
        try:
            self._process = subprocess.Popen(
                arguments,
                pass_fds=(uart_qemu.fileno(), control_qemu.fileno()),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the host: it ends the test in good order
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                preexec_fn=lambda: _die_with(parent),
            )
        except FileNotFoundError:
            uart.close()
            control.close()
            package = _PACKAGES.get(Path(self._command).name, "qemu-system")
            raise UsageError(
                f"{self._command} is not installed", hint=f"Install it: apt-get install {package}"
            ) from None
        except OSError as error:
            uart.close()
            control.close()
            raise TargetError(f"cannot start {self._command}: {error.strerror}") from None
        finally:
            uart_qemu.close()
            control_qemu.close()
        self._qmp = Qmp(control)
        descriptor = uart.detach()
        return Channel(descriptor, descriptor)

    def _reset(self) -> bool:
        if self._qmp is None or self._process is None or self._process.poll() is not None:
            return False
        try:
            self._qmp.reset()
        except QmpFailed:
            return False
        return True

    def _terminate(self) -> int:
        process, self._process = self._process, None
        qmp, self._qmp = self._qmp, None
        if process is None:
            return 0
        process.kill()  # nothing in it is worth a clean end
        status = process.wait()
        if process.stderr is not None:
            self.complaint = process.stderr.read(4096).decode(errors="replace").strip()
            process.stderr.close()
        if qmp is not None:
            qmp.close()
        return status
