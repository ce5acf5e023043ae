"""Runs somebody else's command to its end: a compiler, a flasher. What it has started ends with it.

A compiler's driver starts others, which go on for minutes if only the driver is killed. So a command has a process group of
its own, and when its deadline passes, or Ctrl-C breaks the wait off, all of the group is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence


def run_command(command: Sequence[str], deadline: float, *, merged: bool = False) -> subprocess.CompletedProcess[bytes]:
    """What it puts out, and its exit code. `deadline` is in seconds; `merged`: its errors stand in its output.

    Raises OSError if it cannot be started, subprocess.TimeoutExpired.
    """
    errors = subprocess.STDOUT if merged else subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, process_group=0
    ) as process:
        try:
            output, complaints = process.communicate(timeout=deadline)
        except BaseException:
            _kill_group(process)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, complaints)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:  # not waited for: its number is still its own
        os.killpg(process.pid, signal.SIGKILL)
