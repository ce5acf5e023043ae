"""Threads that run commands."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import score_embed
from score_embed.command import Workers, workers

TOOLKIT = Path(score_embed.__file__).parent


def _slow_product(a: int, b: int) -> int:
    time.sleep(0.001 * (9 - a))
    return a * b


def test_results_come_in_order_also_after_the_end() -> None:
    with workers() as pool:
        doubled = pool.map(_slow_product, range(9), [2] * 9)
    assert list(doubled) == [2 * number for number in range(9)]


def test_no_more_at_once_than_there_are_threads() -> None:
    pool, most, now, lock = Workers(3), 0, 0, threading.Lock()

    def one(_number: int) -> None:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.002)
        with lock:
            now -= 1

    assert len(list(pool.map(one, range(20)))) == 20
    pool.close()
    assert 1 < most <= 3


def test_what_comes_when_all_threads_have_ended_is_done() -> None:
    pool = Workers(2)
    for number in range(200):
        assert pool.begin(lambda number=number: number).result() == number  # type: ignore[misc]
    pool.close()


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    done: list[int] = []
    with pytest.raises(ZeroDivisionError), workers() as pool:
        list(pool.map(lambda number: done.append(1 // number), [1, 0, 1]))
    assert done[0] == 1


def test_what_is_dropped_is_not_begun() -> None:
    pool, go, done = Workers(1), threading.Event(), list[int]()
    pool.begin(lambda: go.wait(10))
    pool.begin(lambda: done.append(1))
    pool.drop()
    go.set()
    pool.close()
    assert not done


def test_a_thread_that_ctrl_c_kept_from_starting_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), workers() as pool:
        pool.begin(lambda: None)


BETWEEN = """
import os, signal, sys, threading
from score_embed import command

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have it ignored

def between(frame, event, called):
    global left
    if event == "c_return" and called.__name__ == "{lock}" and frame.f_code.co_filename == threading.__file__:
        left -= 1
        if not left:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)  # the lock is taken or given back, and `with` does not know

left = {number}
thread = {module}.Thread(target=print, args=("begun",), daemon=True)
timer = {module}.Timer(1000, print)
timer.daemon = True
sys.setprofile(between)
try:
    thread.start()
    timer.start()
    timer.cancel()
    sys.setprofile(None)
except BaseException as error:
    print(type(error).__name__, flush=True)
locks = [each._cond for each in (thread._started, timer._started, timer.finished)]
os._exit(0 if all(lock.acquire(timeout=2) for lock in locks) else 1)
"""


def ended(module: str, lock: str, number: int) -> tuple[int, str]:
    """How it ended when Ctrl-C came at that moment, and what it said."""
    words = [sys.executable, "-c", BETWEEN.format(module=module, lock=lock, number=number)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert not done.stderr
    return done.returncode, done.stdout


def test_ctrl_c_leaves_no_lock_of_a_thread_as_it_must_not_be() -> None:
    """A command that hung for ever after Ctrl-C showed that it can."""
    for lock in ("__enter__", "release", "acquire"):
        ours, theirs = ([ended(module, lock, number) for number in range(1, 6)] for module in ("command", "threading"))
        assert {code for code, _ in ours} == {0}, lock
        assert all("KeyboardInterrupt" in said for _, said in ours[:2]), ours
        assert any(code or "RuntimeError" in said for code, said in theirs) == (lock != "acquire"), theirs


@pytest.mark.parametrize("path", sorted(TOOLKIT.rglob("*.py")), ids=lambda path: str(path.relative_to(TOOLKIT)))
def test_threads_are_ours(path: Path) -> None:
    used = re.findall(r"threading\.(?:Thread|Timer|Condition|Semaphore)\b", path.read_text(encoding="utf-8"))
    assert not used or path.name == "command.py"
