"""A process that is looked at, and that ends in this moment: who started it hears of its end, as ever."""

import ctypes
import os
import platform
import signal
import subprocess

import pytest

from score_embed.device import startup

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the registers of this processor are not read")


class KillsAtOnce:
    """ptrace of the C library, and a process that is attached to is killed before it has stopped."""

    def __init__(self) -> None:
        self.pid = 0
        self._real = ctypes.CDLL(None, use_errno=True)
        self._real.ptrace.restype = ctypes.c_long
        self._real.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.ptrace = self._Call(self)

    class _Call:
        restype: object = None
        argtypes: object = None

        def __init__(self, owner: "KillsAtOnce") -> None:
            self._owner = owner

        def __call__(self, request: int, pid: int, at: object, data: object) -> int:
            done = self._owner._real.ptrace(request, pid, at, data)
            if request == startup._ATTACH:
                self._owner.pid = pid
                os.kill(pid, signal.SIGKILL)
            return int(done)


def test_the_end_of_a_process_that_is_killed_meanwhile_is_left_to_who_started_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kills = KillsAtOnce()
    monkeypatch.setattr(startup, "_libc", kills)
    process = subprocess.Popen(["/bin/sleep", "60"])

    assert startup.of_process(process.pid) == ()

    assert kills.pid == process.pid
    assert process.wait(10) == -signal.SIGKILL


def test_a_process_that_runs_is_looked_at_and_runs_on() -> None:
    process = subprocess.Popen(["/bin/sleep", "60"])
    try:
        assert len(startup.of_process(process.pid)) == startup.LOOKS
        assert process.poll() is None
    finally:
        process.kill()
        assert process.wait(10) == -signal.SIGKILL


def test_one_that_is_stopped_is_known_by_its_signal_and_one_that_has_ended_is_not_stopped() -> None:
    process = subprocess.Popen(["/bin/sleep", "60"])
    try:
        assert startup.stopped_by(process.pid) == 0
        process.send_signal(signal.SIGSTOP)
        assert os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT) is not None
        assert startup.stopped_by(process.pid) == signal.SIGSTOP
    finally:
        process.kill()
    assert os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT) is not None

    assert startup.stopped_by(process.pid) == 0  # it has ended, and nobody has waited for it

    assert process.wait(10) == -signal.SIGKILL
