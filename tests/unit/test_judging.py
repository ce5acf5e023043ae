"""Whether an end is the test's doing: a target that dies as it is told, and a runner that sees tests through."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from events import Stream, compare, condition, slot, symbolic, table
from exploring import next_pair, record, search

from score_embed import config
from score_embed.campaign.judging import NOT_AGAIN, Judge
from score_embed.campaign.running import Runner
from score_embed.contract.outcome import Finished, LinkCounters, Refused, Run, TargetInfo, Verdict
from score_embed.contract.sites import Op
from score_embed.errors import TargetError
from score_embed.explore.search import Search

SITES = table(symbolic(16, slot(1), 4, "x"), condition(17, compare(Op.EQ, slot(1), 5)))
EVENTS = bytes(Stream().head(16).head(17, 0))
DATA = bytes(4)
IMAGE: Any = SimpleNamespace(sites=SITES, verify=False, constants=None, entry=None)


def end(verdict: Verdict, code: int = 0, events: bytes = EVENTS, **more: object) -> Finished:
    found = Finished(verdict, code, 0, 0, 0, (), 99, 1, True, 0, events, (), 3, 4, b"", "it died", partial=True)
    return found._replace(**more)  # type: ignore[arg-type]


def lives(events: bytes = EVENTS, **more: object) -> Finished:
    found = end(Verdict.RETURN, events=events, partial=False, why_lost="")
    return found._replace(**more)  # type: ignore[arg-type]


class Scripted:
    """Ends each run as the script says."""

    info = TargetInfo(b"", 64, 0)
    counters = LinkCounters()

    def __init__(self, *script: Finished) -> None:
        self.script, self.runs, self.restarts, self.forgotten = list(script), list[Run](), 0, 0

    def take_refused(self) -> dict[Refused, int]:
        return {}

    def begin(self, test: Run) -> None:
        self.runs.append(test)

    def finish(self) -> Finished:
        return self.script.pop(0)

    def run(self, test: Run) -> Finished:
        self.begin(test)
        return self.finish()

    def restart(self) -> None:
        self.restarts += 1

    def forget_coverage(self) -> None:
        self.forgotten += 1

    def close(self) -> None:
        pass


def judged(first: Finished, *script: Finished) -> tuple[Finished, Scripted]:
    target = Scripted(*script)
    return Judge(target, IMAGE).judge(Run(1, DATA, 3, 7, prefix=b"x"), first), target


def test_the_same_end_twice_is_a_verdict_with_its_path_and_what_it_took() -> None:
    told = end(Verdict.RESET, taken=(4, 9), passed=((16, 1),))
    found, target = judged(end(Verdict.RESET, events=b""), told, end(Verdict.RESET))
    assert (found.verdict, found.why_lost, found.events, found.conditions) == (Verdict.RESET, "", EVENTS, 1)
    assert (found.coverage, found.site, found.input_used, found.condition_match) == ((4, 9), 16, 4, True)
    assert [(run.predicted, run.prefix) for run in target.runs] == [(0, b"")] * 2  # all of it is told …
    assert [run.tell_from for run in target.runs] == [0, 0xFFFFFFFF]  # … and once also where it is
    assert target.restarts == 3  # and what comes next finds a fresh one


@pytest.mark.parametrize("told", [b"", EVENTS[:1]], ids=["nothing was told", "it began"])
def test_what_the_first_run_told_is_no_evidence(told: bytes) -> None:
    """A target that was killed from outside twice, at other moments: no bug, though one account begins as the other."""
    dies, other = end(Verdict.SIGNAL, 15), end(Verdict.SIGNAL, 15, events=told)
    assert judged(other, dies, lives())[0][:2] == (Verdict.RETURN, 0)
    assert judged(dies, other, dies, lives())[0][:2] == (Verdict.RETURN, 0)


def test_who_is_killed_has_to_die_often() -> None:
    """The OOM killer may come three times in a row."""
    killed = end(Verdict.SIGNAL, 9)
    assert judged(killed, killed, killed, killed, killed)[0][:2] == (Verdict.SIGNAL, 9)
    for times in range(1, 4):
        found, _ = judged(killed, *[killed] * times, lives())
        assert (found.verdict, found.retried) == (Verdict.RETURN, True)
    emulator = end(Verdict.LOST, -9)
    for times in range(6):
        assert judged(emulator, *[emulator] * times, lives())[0].verdict is Verdict.RETURN
    assert judged(emulator, *[emulator] * 6)[0].verdict is Verdict.LOST


@pytest.mark.parametrize(
    "again",
    [
        end(Verdict.SIGNAL, 11),
        end(Verdict.LOCK_UP),
        end(Verdict.SIGNAL, 15, events=bytes(Stream().head(16).head(17, 1))),
    ],
    ids=["another signal", "another end", "another way"],
)
def test_a_last_run_decides(again: Finished) -> None:
    first = end(Verdict.SIGNAL, 15)
    assert judged(first, again, again)[0].verdict is again.verdict
    assert judged(first, again, first, first)[0][:2] == (Verdict.SIGNAL, 15)
    lost, _ = judged(first, again, first, end(Verdict.WATCHDOG))
    assert (lost.verdict, lost.why_lost) == (Verdict.LOST, f"it died; {NOT_AGAIN}")


def test_a_test_that_survives_is_what_it_was_then() -> None:
    """Somebody else has ended the first target."""
    found, target = judged(end(Verdict.SIGNAL, 9, events=b""), lives())
    assert (found.verdict, found.events, found.path_hash, found.retried) == (Verdict.RETURN, EVENTS, 99, True)
    assert len(target.runs) == 1


def test_what_nobody_can_explain_is_no_verdict_however_often_it_comes() -> None:
    lost = end(Verdict.LOST, 1)
    assert judged(lost, lost, lost, lost)[0].verdict is Verdict.LOST


def test_events_that_break_off_or_make_no_sense_count_as_far_as_they_are_whole() -> None:
    for tail in (b"\x22", b"\xff" * 12, bytes(Stream().head(99))):
        events = EVENTS[:1] + tail if tail == b"\x22" else EVENTS + tail
        again = end(Verdict.RESET, events=events)
        found, _ = judged(end(Verdict.RESET, events=b""), again, again)
        assert found.events == (EVENTS[:1] if len(events) < len(EVENTS) else EVENTS)


def runner(target: Scripted) -> tuple[Runner, Search]:
    settings = config.Settings(sources=(), max_branches=1000, seed=1)
    return Runner(target, settings, IMAGE), search(SITES, DATA)


def test_a_trace_that_cannot_be_read_twice_is_the_program_s_doing() -> None:
    damaged = lives(EVENTS + b"\xff" * 12)
    again = damaged._replace(passed=((17, 1), (16, 99)))
    target = Scripted(damaged, again, again)
    made, searched = runner(target)
    pair = next_pair(searched)
    done = made.finish(partial(record, searched), pair, made.begin(pair, 1, b""))
    assert (done.finished.verdict, done.finished.site) == (Verdict.CORRUPTED, 17)  # what came later is not believed
    assert (done.brought.outcome.is_path, len(done.brought.outcome.children), not searched.explorer.notes) == (
        True,
        1,
        True,
    )
    assert made.shows_again(done.test, done.finished)


def test_a_stack_that_is_used_up_amid_an_event_needs_no_other_run() -> None:
    """The target lives and says so; another one may come as far as one call more or less."""
    cut = lives(EVENTS + b"\xff")._replace(verdict=Verdict.STACK_OVERFLOW, pc=64, stack=(16,), site=17)
    target = Scripted(cut, cut._replace(events=EVENTS))
    made, searched = runner(target)
    pair = next_pair(searched)
    done = made.finish(partial(record, searched), pair, made.begin(pair, 1, b""))
    finished = done.finished
    assert (finished.verdict, finished.events, finished.conditions) == (Verdict.STACK_OVERFLOW, EVENTS, 1)
    assert (finished.pc, finished.stack, finished.site) == (64, (16,), 17)
    assert (len(target.runs), len(done.brought.outcome.children)) == (1, 1)
    assert made.shows_again(done.test, finished)
    assert not runner(Scripted(lives()))[0].shows_again(done.test, finished)


def test_a_used_up_stack_with_all_its_events_is_as_told_and_one_that_makes_no_sense_is_judged() -> None:
    whole = lives()._replace(verdict=Verdict.STACK_OVERFLOW)
    found, target = judged(whole)
    assert (found, target.runs) == (whole, [])
    damaged = whole._replace(events=EVENTS + b"\xff" * 600)
    found, target = judged(damaged, damaged, damaged)
    assert (found.verdict, len(target.runs)) == (Verdict.CORRUPTED, 2)


def test_an_end_that_comes_again_by_the_same_path_is_not_read_again() -> None:
    """A test without an end sends millions of events."""
    unreadable = lives(b"\xff" * 12)
    target = Scripted(unreadable)
    assert runner(target)[0].shows_again(Run(1, DATA), lives())
    assert len(target.runs) == 1
    other = unreadable._replace(path_hash=7)
    assert not runner(Scripted(other, other, other))[0].shows_again(Run(1, DATA), lives())


def test_a_target_that_is_lost_in_every_test_ends_the_campaign() -> None:
    ends = [end(Verdict.SIGNAL, 15), end(Verdict.RESET), end(Verdict.LOCK_UP), end(Verdict.SIGNAL, 11)]
    made, searched = runner(Scripted(*ends * 20))
    pair = next_pair(searched)
    for _ in range(19):
        assert made.finish(partial(record, searched), pair, made.begin(pair, 1, b"")).finished.verdict is Verdict.LOST
    with pytest.raises(TargetError, match="lost in each of the last 20 tests"):
        made.finish(partial(record, searched), pair, made.begin(pair, 1, b""))


def test_more_input_than_fits_loses_one_test_only() -> None:
    asks = lives(b"", input_used=100, condition_match=False)
    bounded = lives(input_used=100)._replace(verdict=Verdict.HANG)
    made, searched = runner(Scripted(asks, bounded))
    pair = next_pair(searched)
    done = made.finish(partial(record, searched), pair, made.begin(pair, 1, b""))
    assert (done.finished.verdict, len(done.test.input), done.test.bounded) == (Verdict.LOST, 64, True)
    assert done.brought.outcome.set_aside is not None
    with pytest.raises(TargetError, match="needs 100 bytes of input, the target's buffer has 64"):
        runner(Scripted(asks))[0].complete(b"")
