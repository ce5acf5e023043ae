"""A compiler that hangs ends with all that it has started: at its deadline, and at Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from score_embed import command
from score_embed.confine import start

# As gcc does: the driver waits for another process, which is the one that hangs.
HANGS = """#!/bin/sh
case "$*" in *--version*) echo fake; exit 0;; esac
sleep 1000 &
echo $! > {note}
wait
"""


def hanging(folder: Path) -> tuple[Path, Path]:
    """A compiler, and where it notes whom it has started."""
    script, note = folder / "hangs", folder / "note"
    script.write_text(HANGS.format(note=note))
    script.chmod(0o755)
    return script, note


def noted(note: Path) -> int:
    deadline = time.monotonic() + 60
    while not (note.exists() and note.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(note.read_text())


def is_gone(number: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_what_a_command_has_started_ends_at_its_deadline(tmp_path: Path) -> None:
    script, note = hanging(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        command.run_command([str(script)], 1.0)
    assert is_gone(noted(note))


def test_a_driver_that_is_gone_leaves_nobody_behind(tmp_path: Path) -> None:
    note = tmp_path / "note"
    with pytest.raises(subprocess.TimeoutExpired):
        command.run_command(["sh", "-c", f"sleep 1000 & echo $! > {note}"], 1.0)
    assert is_gone(noted(note))


def test_what_it_says_is_told_apart_or_merged() -> None:
    words = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    done = command.run_command(words, 20.0)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert command.run_command(words, 20.0, merged=True).stdout == b"out\nerr\n"


def test_a_compiler_that_hangs_ends_at_ctrl_c(tmp_path: Path) -> None:
    script, note = hanging(tmp_path)
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "board.yaml").write_text(f"extends: native\ncompiler: {script}\n")
    words = [sys.executable, "-m", "score_embed.cli.main", "run", "--board", "board.yaml", "p.c"]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        pytest.skip("whoever runs the tests keeps Ctrl-C from them")
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        started = noted(note)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert is_gone(started)


def raising(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C raises, whoever runs the tests."""
    before = signal.signal(signal.SIGINT, raising)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def begun(heard: None, monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started, at each of which Ctrl-C came."""
    processes: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    return processes


def test_ctrl_c_while_a_command_is_started_leaves_nobody_behind(begun: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(KeyboardInterrupt):
        command.run_command(["sleep", "1000"], 30.0)
    assert [process.returncode for process in begun] == [-signal.SIGTERM]
    assert begun[0] not in command._RUNNING
    assert signal.getsignal(signal.SIGINT) is raising


def test_ctrl_c_while_a_target_is_started_leaves_nobody_behind(begun: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(KeyboardInterrupt):
        start.start(["/bin/sleep", "1000"], None)
    assert [process.returncode for process in begun] == [-signal.SIGKILL]
    assert all(stream is None or stream.closed for stream in (begun[0].stdin, begun[0].stdout, begun[0].stderr))


def test_what_a_thread_is_about_to_run_ends_with_what_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            command.end_all()  # nobody knows of this one yet

    monkeypatch.setattr(subprocess, "Popen", Late)
    assert command.run_command(["sleep", "1000"], 30.0).returncode == -signal.SIGTERM


@pytest.mark.parametrize("nested", [False, True])
def test_what_a_thread_runs_after_ctrl_c_ends_at_once(nested: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has been given the work before, and comes to it later; or has others do it."""
    is_over, close = threading.Event(), command.Workers.close

    def run() -> int:
        return command.run_command(["sleep", "1000"], 10.0).returncode

    def work() -> int:
        is_over.wait(30.0)
        if not nested:
            return run()
        with command.workers() as others:
            return others.begin(run).result()

    def close_later() -> None:
        is_over.set()
        close(pool)

    tasks = []
    with contextlib.suppress(KeyboardInterrupt), command.workers() as pool:
        tasks.append(pool.begin(work))
        monkeypatch.setattr(pool, "close", close_later)
        raise KeyboardInterrupt
    assert tasks[0].result() == -signal.SIGTERM
    assert command.run_command(["true"], 10.0).returncode == 0


@pytest.mark.usefixtures("heard")
def test_ctrl_c_that_comes_to_the_copy_of_this_process_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = start._Entry._prepare

    def interrupted(self: start._Entry) -> None:
        signal.raise_signal(signal.SIGINT)  # a signal that came just before `fork` is taken up after it, in both
        prepare(self)

    monkeypatch.setattr(start._Entry, "_prepare", interrupted)
    process = start.start(["/bin/true"], None)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_what_is_held_comes_at_the_end(heard: None) -> None:
    seen = []
    try:
        with command.held():
            signal.raise_signal(signal.SIGINT)
            seen.append("held")
    except KeyboardInterrupt:
        seen.append("came")
    assert seen == ["held", "came"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_is_ignored_stays_so(heard: None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with command.held():
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
