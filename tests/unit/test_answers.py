"""What stubs gave, in words."""

from __future__ import annotations

from score_embed.report import text
from score_embed.results import shown


def test_calls_are_told_in_order() -> None:
    values: dict[str, int | float | str] = {"x": 3, "read()": -1, "read(*data)": "0a0b", "read()#2": 3}
    assert text.inputs(values) == "x = 3; read() returned -1, then 3; read() set *data to 0a0b"
    assert shown.without_answers(values) == {"x": 3}


def test_what_comes_again_and_again_is_said_once() -> None:
    values: dict[str, int | float | str] = {"ready()": 0, "ready()#2": 0, "ready()#3": 0, "ready()#4": 1}
    assert shown.answers(values) == ["ready() returned 0 3 times, then 1"]


def test_pointers_and_texts() -> None:
    values: dict[str, int | float | str] = {
        "get() != NULL": 1,
        "*get()": "6f6e00ff",
        "get() != NULL#2": 0,
        "open(*out) != NULL": 0,
        "find()->next.id": 4,
        "fill(b->mac)": "0102",
    }
    assert shown.answers(values) == [
        "get() returned an object, then NULL",
        '*get() was "on"',
        "open() set *out to NULL",
        "find()->next.id was 4",
        "fill() set b->mac to 0102",
    ]


def test_calls_that_gave_nothing_are_told() -> None:
    values: dict[str, int | float | str] = {"log() called": 7, "x": 1, "kick() called": 0, "kick() called#2": 9}
    assert text.inputs(values) == "x = 1; log() called; kick() called twice"
    often: dict[str, int | float | str] = {f"log() called#{n}": 0 for n in range(1, 5)}
    assert shown.answers(often) == ["log() called 4 times or more"]


def test_inputs_of_the_program_are_none() -> None:
    assert not any(map(shown.is_answer, ("x", "x#2", "argv[1]", "stdin", "a.b", "p->x")))
