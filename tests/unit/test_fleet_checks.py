"""What one client says it has seen is run again by others: who is asked, who is believed, who is at fault."""

from __future__ import annotations

import random
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
    checks = Checks(random.Random(1))
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
    checks, alone = Checks(random.Random(1)), {"one": ("one", 1)}
    checks.add(claim())
    assert asked(checks, alone) == []
    assert not checks.holds(1, alone)
    assert (checks.has(1), checks.has(2)) == (True, False)
    assert checks.settled(alone) == []
    assert len(checks.alone(alone)) == 1
    same_key = {"one.1": ("one", 1), "one.2": ("one", 1), "elsewhere": ("two", 2)}
    assert asked(checks, same_key) == []
    assert checks.holds(1, ALL)
    ((number, client),) = asked(checks, ALL)
    checks.answer(number, client, client, OTHER)
    assert [settled for _, settled in checks.settled({"one": ("one", 1), client: (client, 1)})] == [Settled.OPEN]


def test_who_does_not_answer_is_not_waited_for() -> None:
    checks, there = Checks(random.Random(1)), {"one": ("one", 1), "two": ("two", 1)}
    checks.add(claim())
    times = [now for now in range(0, 1000, 10) if asked(checks, there, float(now))]
    assert times == [0, 30, 60, 90, 120]
    assert not checks.holds(1, there)  # nobody waits for it any more
    assert [settled for _, settled in checks.settled(there)] == [Settled.OPEN]


def test_a_sample_does_not_pile_up_and_each_client_has_one_at_a_time() -> None:
    checks = Checks(random.Random(1))
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
    checks = Checks(random.Random(1))
    checks.add(replace(what, answers={}))
    for end in answers:
        ((number, client),) = asked(checks, ALL)
        checks.answer(number, client, client, end)
    return [settled for _, settled in checks.settled(ALL)]


@pytest.mark.parametrize(("keys", "liars"), [(4, 2), (6, 2), (10, 2), (10, 4), (64, 8), (3, 2)])
@pytest.mark.parametrize("are_first", [False, True])
def test_liars_with_several_keys_are_found_out_by_the_others(keys: int, liars: int, are_first: bool) -> None:
    """Each lies, and says the same as the others of them. Of K keys with L liars a lie that is looked at is
    contradicted by (K - L)(K - L - 1) of (K - 1)(K - 2) pairs of witnesses, an honest word by L(L - 1): whoever joined
    first, and however many clients a key has."""
    rng, rounds = random.Random(keys * liars), 4000
    false, honest = {f"l{n}" for n in range(liars)}, [f"h{n}" for n in range(keys - liars)]
    clients = [(f"{key}.{n}", key) for key in sorted(false) for n in range(5)] + [(f"{key}.0", key) for key in honest]
    there = {name: (key, 1) for name, key in (clients if are_first else clients[::-1])}
    ends = dict.fromkeys(Settled, 0), dict.fromkeys(Settled, 0)
    for number in range(rounds):
        is_lie = number % 2 == 0
        checks, author = Checks(rng), "l0" if is_lie else "h0"
        checks.add(replace(claim(About.SAMPLE, author), end=OTHER if is_lie else SAID))
        while not (found := checks.settled(there)):
            ((asked_as, client),) = asked(checks, there)
            witness = there[client][0]
            checks.answer(asked_as, client, witness, OTHER if witness in false else SAID)
        ends[is_lie][found[0][1]] += 1
    others, good = keys - 1, keys - liars
    bounds = (
        (False, liars * (liars - 1) / (others * (others - 1))),
        (True, good * (good - 1) / (others * (others - 1))),
    )
    for is_lie, share in bounds:
        assert abs(ends[is_lie][Settled.CONTRADICTED] / (rounds / 2) - share) < 0.04
