"""Threads that run commands."""

from __future__ import annotations

import threading
import time

import pytest

from score_embed.command import Workers, workers


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
