"""The native target: the image is a Linux process, the link two pipes.

Programs of another processor run in an emulator of its instructions (qemu-arm …), which is then the process. It dies
with its host (PR_SET_PDEATHSIG, and end of file on the link), so that nothing is left behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from score_embed.confine.notice import UNNOTICED, Notice, Refusal
from score_embed.confine.rights import Rights
from score_embed.confine.start import start
from score_embed.contract.outcome import Verdict
from score_embed.device.endings import Ending
from score_embed.device.startup import Seen, of_process, stopped_by
from score_embed.device.wired import WiredTarget
from score_embed.errors import TargetError
from score_embed.link.transport import Channel


class NativeTarget(WiredTarget):
    ahead = 4

    def __init__(
        self, elf: Path, build_id: bytes, emulator: Sequence[str] = (), watchdog: float = 10, confined: bool = True
    ) -> None:
        super().__init__(str(elf), build_id, watchdog)
        # An emulator has threads of its own.
        own = (os.path.dirname(elf.absolute()), os.getcwd())
        self._rights = Rights(threads=bool(emulator), reads=own) if confined else None
        self._elf = elf.absolute()
        self._emulator = tuple(emulator)
        self._process: subprocess.Popen[bytes] | None = None
        self._notice: Notice | None = None
        self._refused: Counter[Refusal] = Counter()

    def _launch(self) -> Channel:
        to_target, ours_out = os.pipe()
        ours_in, from_target = os.pipe()
        command = [str(self._elf), str(to_target), str(from_target)]
        if self._emulator:
            # Found here: the process has no PATH. The last word tells the runtime.
            command = [shutil.which(self._emulator[0]) or self._emulator[0], *self._emulator[1:], *command, "emulated"]
        try:
            self._process = start(
                command,
                self._rights,
                environment={},  # the program's environment must be the same in every run
                pass_fds=(to_target, from_target),
                stdout=subprocess.DEVNULL,  # what constructors write before the first test is not ours to print
                stderr=subprocess.PIPE,  # until the first test: what the program writes is captured by the runtime
                same_addresses=not self._emulator,
                notices=self._hear if not self._emulator else None,
            )
        except BaseException as error:
            os.close(ours_in)
            os.close(ours_out)
            if not isinstance(error, OSError):
                raise
            raise TargetError(
                f"the image cannot be started: {error.strerror}", str(self._elf), "was it built for this machine?"
            ) from None
        finally:
            os.close(to_target)
            os.close(from_target)
        channel = Channel(ours_in, ours_out)
        if self._notice is not None:
            channel.attend(self._notice.fd, self._notice.serve)
        return channel

    def take_refused(self) -> Counter[Refusal]:
        if self._notice is not None:
            self._refused += self._notice.take()
        taken, self._refused = self._refused, Counter()
        return taken

    def _hear(self, notice: Notice | None) -> None:
        self._notice = notice
        if notice is None:
            self._refused[UNNOTICED, ()] = 1

    def _stopped_by(self) -> int:
        return stopped_by(self._process.pid) if self._process is not None else 0

    def _ending(self, status: int) -> Ending:
        why = self._last_words(status)
        if status < 0:
            return Ending(Verdict.SIGNAL, -status, why)
        # What the runtime itself says stands there; what the program writes is captured.
        return Ending(Verdict.LOST if self.complaint else Verdict.EXIT, status, why)

    def _look(self) -> tuple[Seen, ...]:
        return of_process(self._process.pid) if self._process is not None and not self._emulator else ()

    def _terminate(self, patience: float = 0) -> int:
        process, self._process = self._process, None
        notice, self._notice = self._notice, None
        if notice is not None:  # nobody listens from now on, and it must not wait
            if self._is_spent:  # what waits is of a test that will be run again
                self._refused += notice.take()
            notice.close()
            if not self._is_spent:
                self._refused += notice.take()
        if process is None:
            return 0
        try:
            status = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        if process.stderr is not None:
            os.set_blocking(process.stderr.fileno(), False)  # a child of a wrapper may still hold its other end
            self.complaint = (process.stderr.read(4096) or b"").decode(errors="replace").strip()
            process.stderr.close()
        return status
