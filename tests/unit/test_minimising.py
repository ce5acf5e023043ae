"""Inputs of bugs made small: the same bug, fewer runs than promised, the same result each time."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from score_embed.campaign import simpler
from score_embed.contract.outcome import Verdict
from score_embed.results.minimising import MOST_RUNS, Enough, needed, smaller
from score_embed.results.testcase import Named, Value, named_inputs

OBJECTS = (
    Named("len", 0, 4, "unsigned"),
    Named("delta", 4, 2, "signed"),
    Named("name", 6, 8, "text"),
    Named("buf", 14, 16, "bytes"),
    Named("p != NULL", 30, 1, "unsigned"),
    Named("ok", 31, 1, "boolean"),
)
DATA = (
    (1000).to_bytes(4, "little")
    + (-300).to_bytes(2, "little", signed=True)
    + b"say\x01ng\0z"
    + bytes(range(1, 17))
    + b"\x7f\x03"
)
Condition = Callable[[dict[str, Value]], bool]


def found(condition: Condition, most: int = MOST_RUNS) -> tuple[dict[str, Value], int]:
    runs = 0

    def again(data: bytes) -> bool:
        nonlocal runs
        runs += 1
        assert len(data) == len(DATA)
        return condition(named_inputs(OBJECTS, data))

    return named_inputs(OBJECTS, smaller(DATA, OBJECTS, again, most)), runs


ZERO: dict[str, Value] = {"len": 0, "delta": 0, "name": '""', "buf": "00" * 16, "p != NULL": 0, "ok": 0}
BUF = bytes(range(1, 17)).hex()


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        (lambda v: True, {}),
        (lambda v: v["len"] > 3, {"len": 4}),
        (lambda v: v["delta"] < -17, {"delta": -18}),
        (lambda v: v["delta"] < 0 and v["len"] > 0, {"delta": -1, "len": 1}),
        (lambda v: v["name"][1] == "s", {"name": '"s"'}),
        (lambda v: "\\" in v["name"], {"name": '"say\\x01"'}),
        (lambda v: len(v["name"]) > 4, {"name": '"say"'}),
        (lambda v: v["buf"][8:10] == "05", {"buf": "0000000005" + "00" * 11}),
        (lambda v: v["p != NULL"] != 0, {"p != NULL": 1}),
        (lambda v: v["ok"] == 1 and v["buf"] == BUF, {"ok": 1, "buf": BUF}),
    ],
)
def test_what_does_not_matter_is_zero(condition: Condition, left: dict[str, Value]) -> None:
    result, runs = found(condition)
    assert result == ZERO | left
    assert runs <= MOST_RUNS
    assert found(condition) == (result, runs)


@pytest.mark.parametrize("most", [0, 1, 5])
def test_runs_are_bounded(most: int) -> None:
    result, runs = found(lambda v: v["len"] == 1000, most)
    assert runs <= most
    assert result["len"] == 1000


def test_it_may_be_broken_off() -> None:
    def again(data: bytes) -> bool:
        raise Enough

    assert smaller(DATA, OBJECTS, again) == DATA


def test_a_null_is_needed_if_the_bug_goes_without_it() -> None:
    null = DATA[:30] + b"\0" + DATA[31:]

    def left(depends: tuple[str, ...] | None, data: bytes, again: Callable[[bytes], bool]) -> tuple[str, ...]:
        return needed(depends, data, null if data is not DATA else DATA, OBJECTS, again)

    p = ("p != NULL",)
    assert left(p, null, lambda data: data[30] == 0) == p
    assert left(p, null, lambda data: True) == ()
    assert needed(p, DATA, null, OBJECTS, lambda data: data[30] == 0) == ()
    assert left(p, DATA, lambda data: True) == p
    assert needed(("len",), DATA, null, OBJECTS, lambda data: True) == ("len",)
    assert "p != NULL" not in needed(None, null, null, OBJECTS, lambda data: True)
    assert set(needed(None, null, null, OBJECTS, lambda data: data[30] == 0)) == {part.name for part in OBJECTS}


def test_too_many_runs_throw_nothing_away() -> None:
    """What nobody looked at any more counts as needed."""

    def again(data: bytes) -> bool:
        raise Enough

    null = DATA[:30] + b"\0" + DATA[31:]
    assert needed(("p != NULL",), null, null, OBJECTS, again) == ("p != NULL",)


def test_bytes_move_to_the_front_before_their_count_is_made_small() -> None:
    result, _ = found(lambda v: "05" in str(v["buf"])[: 2 * int(v["len"])])
    assert result == ZERO | {"len": 1, "buf": "05" + "00" * 15}


def test_runs_that_take_long_are_enough_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of gigabytes ends, and shows the bug each time."""
    now = [0.0]
    monkeypatch.setattr("score_embed.campaign.simpler.time", SimpleNamespace(monotonic=lambda: now[0]))

    def attempt(data: bytes) -> Any:
        now[0] += 12.0
        return SimpleNamespace(verdict=Verdict.OUT_OF_BOUNDS)

    again = simpler._Bounded(attempt, lambda done, size: True, False, 200)
    assert [again(b"x") for _ in range(3)] == [True] * 3
    with pytest.raises(Enough):
        again(b"x")


def test_so_it_is_where_each_run_sends_millions_of_events() -> None:
    def attempt(data: bytes) -> Any:
        return SimpleNamespace(verdict=Verdict.STACK_OVERFLOW)

    again = simpler._Bounded(attempt, lambda done, size: True, False, 2)
    assert [again(b"x") for _ in range(2)] == [True] * 2
    with pytest.raises(Enough):
        again(b"x")
