"""The forking process (runtime/witness/server.c): one input goes in, one answer comes out. No wait without a
deadline."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import time
from pathlib import Path

from msgspec import Struct

from score_embed.confine.rights import Rights
from score_embed.confine.start import start

_HELLO = struct.Struct("<4s4xQQ")
_ANSWER = struct.Struct("<IIIIII")
_SIZE = struct.Struct("<I")
_MAGIC = b"SCW2"
PATIENCE = 10.0  # seconds for an answer: a test has one, and a busy machine is slow
_PIPE = 1 << 17  # bytes: an input fits in, whatever the process does
_MOST_TEXT = 1 << 16
_SECOND = 1e6  # microseconds


class Answer(Struct, frozen=True):
    """How a test ended. `status`: as wait() gives it; `was_killed`: it took too long, or too much memory; `used`: bytes
    of its input that it asked for; `layout`: which objects they went to, as a number."""

    status: int
    was_killed: bool
    seconds: float
    text: str  # what the sanitizers printed
    used: int = 0
    layout: int = 0


class Died(Exception):
    """The process has ended, or does not answer."""


class WitnessProcess:
    """Started by the first input; after `Died` the next one starts another."""

    def __init__(self, program: Path, confined: bool = True) -> None:
        self._rights = Rights(children=True, reads=(str(program.absolute()), os.getcwd())) if confined else None
        self.span = (0, 0)  # where the program lies in its memory
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._greeted = False
        self._deadline = 0.0
        self._got = bytearray()

    def send(self, data: bytes) -> None:
        """Have a test run. Raises Died."""
        process = self._process or self._start()
        assert process.stdin is not None
        self._deadline = time.monotonic() + PATIENCE
        try:
            os.write(process.stdin.fileno(), _SIZE.pack(len(data)) + data)
        except OSError as error:
            self.close()
            raise Died(str(error)) from None

    def run(self, data: bytes) -> Answer:
        """The same, and its answer. Raises Died."""
        self.send(data)
        while True:
            answer = self.take(PATIENCE)
            if answer is not None:
                return answer

    def take(self, seconds: float = 0.0) -> Answer | None:
        """The answer, if it comes within so many seconds. Raises Died."""
        end = time.monotonic() + seconds
        while True:
            answer = self._answer()
            if answer is not None:
                return answer
            left = max(0.0, end - time.monotonic())
            if not self._read(left) and left == 0.0:
                if time.monotonic() > self._deadline:
                    self.close()
                    raise Died(f"it did not answer within {PATIENCE:.0f} s")
                return None

    def close(self) -> None:
        """End the process. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for end in (process.stdin, process.stdout):
                assert end is not None
                end.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self._got.clear()
        self._greeted = False
        try:
            process = start(
                [str(self._program.absolute())],
                self._rights,
                environment={},  # as the tests have it
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                same_addresses=True,
                everywhere=True,
            )
        except OSError as error:
            raise Died(error.strerror or str(error)) from None
        assert process.stdin is not None
        assert process.stdout is not None
        fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, _PIPE)
        os.set_blocking(process.stdin.fileno(), False)
        os.set_blocking(process.stdout.fileno(), False)
        self._process = process
        return process

    def _read(self, seconds: float) -> bool:
        """Take in what there is; True if there was something. Raises Died."""
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            return False
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        if not data:
            self.close()
            raise Died("it has ended")
        self._got += data
        return True

    def _answer(self) -> Answer | None:
        if not self._greeted and len(self._got) >= _HELLO.size:
            magic, begin, end = _HELLO.unpack_from(self._got)
            del self._got[: _HELLO.size]
            if magic != _MAGIC:
                self.close()
                raise Died("it does not speak as it should")
            self.span, self._greeted = (begin, end), True
        if not self._greeted or len(self._got) < _ANSWER.size:
            return None
        status, killed, microseconds, used, layout, length = _ANSWER.unpack_from(self._got)
        if length > _MOST_TEXT:
            self.close()
            raise Died("it does not speak as it should")
        if len(self._got) < _ANSWER.size + length:
            return None
        text = bytes(self._got[_ANSWER.size : _ANSWER.size + length]).decode("utf-8", "replace")
        del self._got[: _ANSWER.size + length]
        return Answer(status, bool(killed), microseconds / _SECOND, text, used, layout)
