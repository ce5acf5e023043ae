"""What one client says it has seen is run again by others: who is asked, who is believed, who is at fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from score_embed.fleet.server.checks import MOST_OPEN, About, Checks, Claim, Derived, End, Settled

SAID, OTHER, THIRD = End("abort", 6, 1), End("return", 0, 2), End("return", 0, 3)
ALL = {name: (name, 1) for name in ("one", "two", "three", "four")}


def claim(about: About = About.BUG, client: str = "one") -> Claim:
    return Claim(1, about, b"in", SAID, client, client)


def asked(checks: Checks, there: dict[str, tuple[str, int]], now: float = 0.0) -> list[tuple[int, str]]:
    return [(number, client) for number, _, client in checks.to_ask(there, now)]


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ([SAID], Settled.CONFIRMED),
        ([OTHER, SAID], Settled.CONFIRMED),
        ([OTHER, OTHER], Settled.CONTRADICTED),
        ([OTHER, THIRD], Settled.OPEN),
        ([OTHER], None),
        ([], None),
    ],
)
def test_two_of_three_are_believed(answers: list[End], result: Settled | None) -> None:
    checks = Checks()
    checks.add(claim())
    for end in answers:
        ((number, client),) = asked(checks, ALL)
        assert client != "one"
        assert asked(checks, ALL) == []  # one at a time
        checks.answer(number, "one", "one", SAID)  # nobody has asked it
        checks.answer(number, client, client, end)
    assert [settled for _, settled in checks.settled(ALL)] == ([result] if result else [])
    assert len(checks) == (result is None)


def test_without_anybody_else_it_stays_open() -> None:
    checks, alone = Checks(), {"one": ("one", 1)}
    checks.add(claim())
    assert asked(checks, alone) == []
    assert not checks.holds(1, alone)
    assert checks.settled(alone) == []
    assert len(checks.alone(alone)) == 1
    same_key = {"one.1": ("one", 1), "one.2": ("one", 1), "elsewhere": ("two", 2)}
    assert asked(checks, same_key) == []
    assert checks.holds(1, ALL)
    ((number, client),) = asked(checks, ALL)
    checks.answer(number, client, client, OTHER)
    assert [settled for _, settled in checks.settled({"one": ("one", 1), client: (client, 1)})] == [Settled.OPEN]


def test_who_does_not_answer_is_not_waited_for() -> None:
    checks, there = Checks(), {"one": ("one", 1), "two": ("two", 1)}
    checks.add(claim())
    times = [now for now in range(0, 1000, 10) if asked(checks, there, float(now))]
    assert times == [0, 30, 60, 90, 120]
    assert not checks.holds(1, there)  # nobody waits for it any more
    assert [settled for _, settled in checks.settled(there)] == [Settled.OPEN]


def test_a_sample_does_not_pile_up_and_each_client_has_one_at_a_time() -> None:
    checks = Checks()
    for _ in range(2 * MOST_OPEN):
        checks.add(claim(About.SAMPLE))
    assert len(checks) == MOST_OPEN
    checks.add(claim())
    assert len(checks) == MOST_OPEN + 1
    assert sorted(client for _, client in asked(checks, ALL)) == ["four", "three", "two"]


PAIR = Derived(b"pair", b"marks", None, ())
MISSES = replace(SAID, missing=frozenset({b"a", b"b"}))


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ([SAID], Settled.CONFIRMED),
        ([MISSES, SAID], Settled.CONFIRMED),
        ([MISSES, replace(SAID, missing=frozenset({b"b"}))], Settled.CONTRADICTED),
        ([MISSES, replace(SAID, missing=frozenset({b"c"}))], Settled.OPEN),  # they do not agree on what is missing
        ([MISSES, OTHER], Settled.OPEN),
        ([replace(SAID, mispredicted=True)] * 2, Settled.CONTRADICTED),
    ],
)
def test_what_follows_is_compared_too(answers: list[End], result: Settled) -> None:
    assert ask_about(Claim(1, About.SAMPLE, b"in", SAID, "one", "one", derived=PAIR), answers) == [result]


def test_of_an_answer_only_what_follows_counts() -> None:
    asked_about = Claim(1, About.SAMPLE, b"", End("", 0, 0), "one", "one", derived=replace(PAIR, is_answer=True))
    assert ask_about(asked_about, [OTHER]) == [Settled.CONFIRMED]
    assert ask_about(asked_about, [replace(OTHER, missing=frozenset({b"a"})), MISSES]) == [Settled.CONTRADICTED]


def test_what_nobody_was_asked_does_not_count() -> None:
    assert ask_about(claim(), [MISSES]) == [Settled.CONFIRMED]


def ask_about(what: Claim, answers: list[End]) -> list[Settled]:
    checks = Checks()
    checks.add(replace(what, answers={}))
    for end in answers:
        ((number, client),) = asked(checks, ALL)
        checks.answer(number, client, client, end)
    return [settled for _, settled in checks.settled(ALL)]
