"""Tests that are sent along with the one that is waited for: a campaign is the same as if none were."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from corpus import build, target_of
from runner import explore

from score_embed import config
from score_embed.campaign import campaign, engine_loop
from score_embed.contract.outcome import Run
from score_embed.device.native import NativeTarget
from score_embed.device.wired import WiredTarget
from score_embed.engine._core import Rounds
from score_embed.results.store import Store
from score_embed.results.summary import Summary
from score_embed.results.test_rows import TestRow

ROOT = Path(__file__).parents[2]
STRATEGIES = ("mixed", "dfs", "bfs", "random", "coverage", "exe")

# Many ways, and directions that only some of them take: what is covered is new now and then.
WAYS = """
#include "score.h"
static volatile int y;
#define STEP(i, j)                        \\
    if (in[i] > 200) y++;                 \\
    if (in[i] < 9 + i) {                  \\
        if (in[j] == 17) y += 2;          \\
        if (in[j] > 50 && i > 2) {        \\
            y += in[5 - i] == 33 ? 3 : 4; \\
        }                                 \\
    }
int main(void)
{
    unsigned char in[6];
    SYM_BYTES(in, sizeof in);
    STEP(0, 1) STEP(1, 4) STEP(2, 5) STEP(3, 2) STEP(4, 1) STEP(5, 0)
    return 0;
}
"""
# Now and then a test does something to its target.
DEADLY = """
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "score.h"
static volatile int y;
extern char __start_sc_data[];
int main(void)
{
    unsigned char in[5];
    SYM_BYTES(in, sizeof in);
    for (unsigned i = 0; i < sizeof in; i++) {
        if (in[i] < 50) y++;
        else if (in[i] > 200) y += 2;
        if (i == 2 && in[4] == 70) {
            BODY
        }
    }
    return 0;
}
"""
BODIES = {
    "signal-9": "kill(getpid(), SIGKILL);",
    "signal-10": "raise(SIGUSR1);",
    "null-dereference": "*(volatile int *)0 = 1;",
    "hang": "for (;;) {}",
    "abort": "abort();",
    "corrupted": "__start_sc_data[0] ^= 1;",  # of what the probes keep: all later tests of this target say so, too
    "exit": "_exit(3);",
    "refused": 'y += open("/etc/shadow", O_RDWR);',
    "slow": "struct timespec t = {0, 200000000}; nanosleep(&t, 0);",
}
NO_BUGS = {"exit", "refused", "slow"}


class Campaign(NamedTuple):
    rows: list[TestRow]
    coverage: tuple[list[int], list[tuple[int, int]]]  # directions, and how many each test was the first to take
    summary: Summary
    recalled: int  # tests that had been run when their turn came
    spent: int  # targets that were given up because of what had been sent along


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[Rounds]:
    """The engine's loops that are made."""
    made: list[Rounds] = []

    def noted(**parts: Any) -> Rounds:
        made.append(Rounds(**parts))
        return made[-1]

    monkeypatch.setattr(engine_loop, "Rounds", noted)
    return made


class Runs:
    """Campaigns with so many tests sent along."""

    def __init__(self, loops: list[Rounds], patch: pytest.MonkeyPatch, folder: Path) -> None:
        self._loops, self._patch, self._folder = loops, patch, folder

    def __call__(self, ahead: int, text: str, **options: Any) -> Campaign:
        source = self._folder / "p.c"
        source.write_text(text)
        spent = 0
        take_back = WiredTarget.take_back

        def counted(target: WiredTarget, *words: Any, is_spent: bool) -> None:
            nonlocal spent
            spent += is_spent
            take_back(target, *words, is_spent=is_spent)

        self._loops.clear()
        with self._patch.context() as patched:
            patched.setattr(NativeTarget, "ahead", ahead)
            patched.setattr(WiredTarget, "take_back", counted)
            out = self._folder / f"o{ahead}"
            found = campaign.run(config.Settings(sources=(source,), out=out, no_witness=True, **options))
        with Store.read(found.folder) as record:
            rows, coverage = list(record.tests()), (record.coverage(), record.coverage_by_test())
        return Campaign(rows, coverage, found.summary, sum(loop.recalled for loop in self._loops), spent)


@pytest.fixture
def run(loops: list[Rounds], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    return Runs(loops, monkeypatch, tmp_path)


def check_same(found: Campaign, expected: Campaign) -> None:
    assert found.rows == expected.rows
    assert found.coverage == expected.coverage
    assert sum(call.count for call in found.summary.refused) == sum(call.count for call in expected.summary.refused)
    for what in ("stopped", "bugs", "lost", "retried", "incomplete", "divergences", "paths"):
        assert getattr(found.summary, what) == getattr(expected.summary, what), what


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_tests_in_the_same_order(run: Runs, strategy: str) -> None:
    alone = run(0, WAYS, strategy=strategy, max_tests=1800)
    assert (len(alone.rows), alone.recalled) == (1800, 0)
    assert len(alone.coverage[1]) > 10
    for ahead in (1, NativeTarget.ahead, 9):
        found = run(ahead, WAYS, strategy=strategy, max_tests=1800)
        check_same(found, alone)
        assert found.recalled > 300
        assert found.spent == 0


@pytest.mark.parametrize("what", BODIES)
def test_what_a_test_does_to_its_target_is_its_own_doing(run: Runs, what: str) -> None:
    program = DEADLY.replace("BODY", BODIES[what])
    alone = run(0, program, strategy="dfs")
    assert {bug.kind for bug in alone.summary.bugs} == {what} - NO_BUGS
    assert alone.summary.stopped == "exhausted"
    found = run(NativeTarget.ahead, program, strategy="dfs")
    check_same(found, alone)
    assert (found.spent > 0) == (what != "exit")


@pytest.mark.parametrize("what", ["signal-9", "corrupted", "refused"])
@pytest.mark.parametrize("clients", ["1", "2"])
def test_clients_that_send_tests_along_find_the_same(run: Runs, tmp_path: Path, what: str, clients: str) -> None:
    program = DEADLY.replace("BODY", BODIES[what])
    alone = run(0, program)
    found = explore(tmp_path, {"q.c": program}, "--no-witness", "--clients", clients)
    with Store.read(found.folder) as record:
        rows = list(record.tests())
    assert sorted((row.input, row.verdict, row.code) for row in rows) == sorted(
        (row.input, row.verdict, row.code) for row in alone.rows
    )
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["retried"] == 0
    assert found.bug_kinds == [bug.kind for bug in alone.summary.bugs]


def test_a_spent_target_is_asked_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hang in a test that was sent along."""
    source = tmp_path / "p.c"
    source.write_text(WAYS)
    with target_of("native", build("native", [source])) as target:
        assert isinstance(target, NativeTarget)
        expected, before = target.run(Run(1, bytes(6))), target._process
        target.take_back(0, 0, b"", None, is_spent=True)
        assert target.lend(1000) is None
        with monkeypatch.context() as patched:
            patched.setattr(WiredTarget, "_greet", None)
            target.forget_coverage()
        assert target.run(Run(2, bytes(6))) == expected
        assert target._process is not before
