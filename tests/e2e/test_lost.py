"""A test that kills its target, or the host, costs that test only: it is repeated, judged, or set aside and said.

Targets are killed from outside here, by the host's own process just after it has begun a test; the host at a test of
its choice. What a campaign finds is compared with a model of the program in Python.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from one_by_one import one_by_one
from runner import read_summary, score_embed

from score_embed import config
from score_embed.campaign import campaign
from score_embed.campaign.ending import LOST, Result
from score_embed.campaign.opening import resumed_settings
from score_embed.contract.outcome import Run
from score_embed.device.native import NativeTarget
from score_embed.device.wired import WiredTarget
from score_embed.engine._core import Lent
from score_embed.results.store import Store
from score_embed.results.summary import Summary
from score_embed.results.test_rows import TestRow

PROGRAM = """
#include "score.h"
static volatile int y;
int main(void)
{
    unsigned char x, z;
    SYM_U8(x);
    SYM_U8(z);
    if (z > 100)
        y++;
    if (x == 7)
        y += 2;
    SCORE_ASSERT(x != 9 || z != 3);
    if (z == 3)
        y += 2;
    if (x > 200)
        y += 3;
    return 0;
}
"""
KILLED = "killed by signal 9"


def path_of(x: int, z: int) -> tuple[bool, ...]:
    """The decisions of the program with these inputs."""
    before = (z > 100, x == 7, x == 9) + ((z == 3,) if x == 9 else ())
    return before if x == 9 and z == 3 else (*before, z == 3, x > 200)


ALL = {path_of(x, z) for x, z in itertools.product(range(256), repeat=2)}


def rows(folder: Path) -> list[TestRow]:
    with Store.read(folder) as record:
        return list(record.tests())


def paths(folder: Path) -> list[tuple[bool, ...]]:
    return [path_of(*test.input[:2]) for test in rows(folder) if test.outcome == "new"]


def check_exact(found: Result) -> None:
    """All paths, each once, the bug, and nothing else."""
    assert sorted(paths(found.folder)) == sorted(ALL)
    assert (found.summary.stopped, found.summary.lost, found.summary.incomplete) == ("exhausted", 0, ())
    assert [(bug.kind, bug.confirmed) for bug in found.summary.bugs] == [("assertion", True)]
    assert found.exit_code == 1


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM)
    return path


def settings(source: Path, **options: Any) -> config.Settings:
    return config.Settings(sources=(source,), out=source.parent / "o", no_witness=True, **options)


def go_on(found: Result, **options: Any) -> Result:
    plain = config.Settings(sources=(), resume=found.folder, **options)
    with Store.open(found.folder) as record:
        return campaign.run(resumed_settings(record, plain), record)


def kill_targets(monkeypatch: pytest.MonkeyPatch, when: Callable[[Run], bool]) -> list[Run]:
    """Whenever a test has begun of which `when` says so, its target is killed; the tests at which that was done."""
    begin, killed = WiredTarget.begin, list[Run]()

    def begin_and_kill(target: Any, test: Run) -> None:
        if not when(test):
            begin(target, test)
            return
        killed.append(test)
        if target._session is None:
            target._start()
        target._process.send_signal(signal.SIGSTOP)  # it must not be quicker than we are
        begin(target, test)
        target._process.kill()

    one_by_one(monkeypatch)
    monkeypatch.setattr(WiredTarget, "begin", begin_and_kill)
    return killed


def kill_lent(monkeypatch: pytest.MonkeyPatch, numbers: Iterable[int]) -> list[int]:
    """The same, where the engine runs tests: when it is given the target for so many times."""
    lend, count, killed = WiredTarget.lend, itertools.count(1), list[int]()

    def kill_and_lend(target: Any, max_branches: int) -> Lent | None:
        lent: Lent | None = lend(target, max_branches)
        number = next(count)
        if lent is not None and number in numbers:
            killed.append(number)
            target._process.kill()
        return lent

    monkeypatch.setattr(WiredTarget, "lend", kill_and_lend)
    return killed


def at(numbers: Iterable[int]) -> Callable[[Run], bool]:
    """At the runs of these numbers."""
    count, wanted = itertools.count(1), set(numbers)
    return lambda test: next(count) in wanted


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
@pytest.mark.parametrize("number", [1, 2, 5, 9])
def test_a_target_that_is_killed_once_costs_nothing(
    number: int, board: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first runs look for the first test, and see that it is deterministic."""
    killed = kill_targets(monkeypatch, at([number]))
    found = campaign.run(settings(source, board=board))
    assert len(killed) == 1
    check_exact(found)


@pytest.mark.parametrize("ahead", [0, NativeTarget.ahead])
def test_targets_that_the_engine_has_may_be_killed(ahead: int, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If other tests were sent along, too: each is run again, and none of them is to blame. Then one may have two targets
    die under it, and counts once; whether it does is a matter of time."""
    monkeypatch.setattr(NativeTarget, "ahead", ahead)
    killed = kill_lent(monkeypatch, range(2, 1000, 2))
    found = campaign.run(settings(source))
    assert len(killed) >= 2
    check_exact(found)
    assert found.summary.retried == len(killed) or ahead
    assert len(killed) <= 2 * found.summary.retried <= 2 * len(killed)


def test_targets_that_are_killed_again_and_again_cost_nothing(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = kill_targets(monkeypatch, at(range(4, 1000, 2)))
    found = campaign.run(settings(source))
    assert len(killed) >= 8
    check_exact(found)
    assert found.summary.retried >= 8
    shown = score_embed("report", str(found.folder), cwd=source.parent)
    assert f"retried: {found.summary.retried} tests whose target died once" in shown.stdout


def dying(x: int) -> Callable[[Run], bool]:
    """Its target is killed whenever this x is tried: somebody does that, so each time in another way."""
    return lambda test: test.input[:1] == bytes([x])


@pytest.fixture
def differently(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a target that was killed had told before differs from time to time, as it does from outside."""
    from score_embed.device import endings, wired

    judged, count = endings.judged, itertools.count()

    def cut(ending: Any, known: Any) -> Any:
        found = judged(ending, known)
        return found._replace(code=100 + next(count)) if KILLED in ending.why else found

    monkeypatch.setattr(wired, "judged", cut)
    return


def test_what_dies_each_time_is_set_aside_and_repeated(
    source: Path, monkeypatch: pytest.MonkeyPatch, differently: None
) -> None:
    with monkeypatch.context() as patched:
        kill_targets(patched, dying(7))
        found = campaign.run(settings(source))
    summary = found.summary
    assert (summary.stopped, summary.lost > 0) == ("drained", True)
    assert found.exit_code == 1  # a bug is more
    assert len(set(paths(found.folder))) < len(ALL)
    for lost in summary.lost_tests:
        assert lost.input.startswith("07")
        assert Path(lost.file).name == "p.c"
        assert KILLED in lost.why
        assert next((found.folder / "tests").glob(f"{lost.test:06d}-*.bin")).read_bytes()[0] == 7
    assert {row.what.partition(":")[0] for row in summary.incomplete} == {"lost"}
    shown = score_embed("report", str(found.folder), cwd=source.parent)
    assert (
        f"lost tests: {summary.lost}; their ends are not known; once more: score-embed run --resume" in shown.stdout
    )
    again = go_on(found)
    assert (again.summary.stopped, again.summary.lost) == ("drained", summary.lost)
    check_exact(go_on(found, retry_lost=True))


def test_a_campaign_that_lost_tests_does_not_end_with_0(
    source: Path, monkeypatch: pytest.MonkeyPatch, differently: None
) -> None:
    source.write_text(PROGRAM.replace("SCORE_ASSERT(x != 9 || z != 3);", ""))
    with monkeypatch.context() as patched:
        kill_targets(patched, dying(7))
        found = campaign.run(settings(source, max_tests=4))
        while found.summary.stopped == "max-tests":
            found = go_on(found, max_tests=4)
    assert (found.summary.stopped, found.summary.bugs, found.exit_code) == ("drained", (), LOST)
    done = score_embed("run", "--resume", "o", "--json", cwd=source.parent)
    assert done.stdout, done.stderr
    assert (done.returncode, json.loads(done.stdout)["stopped"]) == (LOST, "drained")
    done = score_embed("run", "--resume", "o", "--json", "--retry-lost", cwd=source.parent)
    assert (done.returncode, json.loads(done.stdout)["stopped"]) == (0, "exhausted")
    wrong = score_embed("run", "--retry-lost", "p.c", cwd=source.parent)
    assert (wrong.returncode, "--retry-lost is for a campaign that goes on" in wrong.stderr) == (2, True)


# Whoever has the test in work is killed, in a process of its own ----------------------------------------------------

# Imported by every Python that starts: who begins a test of x = 7 kills itself, as long as the mark is not there; of a
# fleet's processes the client. The engine gets no target, since nobody can die within its tests.
KILLER = """
import os, signal, sys
if "score_embed.cli.main" in sys.orig_argv:
    from score_embed.campaign.running import Runner
    begin = Runner.begin

    def begin_and_die(self, pair, number, prefix):
        if pair.input[:1] == b"\\x07" and not os.path.exists(os.environ["SCORE_MARK"]):
            with open(os.environ["SCORE_MARK"] + ".deaths", "a") as file:
                file.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        return begin(self, pair, number, prefix)

    Runner.begin = begin_and_die
    Runner.lend = lambda self, target: None
"""
KILLER_OF_THE_FIRST = """
import os, signal, sys
if "score_embed.cli.main" in sys.orig_argv:
    from score_embed.campaign.running import Runner
    complete = Runner.complete

    def complete_or_die(self, data):
        if not os.path.exists(os.environ["SCORE_MARK"]):
            os.kill(os.getpid(), signal.SIGKILL)
        return complete(self, data)

    Runner.complete = complete_or_die
"""


def run_with_killer(folder: Path, *words: str, killer: str = KILLER) -> subprocess.CompletedProcess[str]:
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(killer)
    environment = os.environ | {
        "PYTHONPATH": f"{site}:{os.environ.get('PYTHONPATH', '')}",
        "SCORE_MARK": str(folder / "mark"),
    }
    command = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


def deaths(folder: Path) -> int:
    path = folder / "mark.deaths"
    return len(path.read_text()) if path.exists() else 0


def test_a_test_that_kills_its_host_twice_is_set_aside(source: Path) -> None:
    folder = source.parent
    done = run_with_killer(folder, "--no-witness", "--out", "o", "p.c")
    for _ in range(20):
        if done.returncode != -9:
            break
        done = run_with_killer(folder, "--resume", "o")
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert summary["stopped"] == "drained"
    assert deaths(folder) == 2 * summary["lost"] > 0
    assert all(lost["input"].startswith("07") and "killed" in lost["why"] for lost in summary["lost_tests"])
    (folder / "mark").touch()
    done = run_with_killer(folder, "--resume", "o", "--retry-lost")
    check_exact(Result(read_summary(done.stdout), folder / "o", done.returncode))


def test_a_test_that_kills_clients_is_set_aside(source: Path) -> None:
    folder = source.parent
    done = run_with_killer(folder, "--no-witness", "--clients", "2", "--out", "o", "p.c")
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert summary["stopped"] == "drained"
    assert deaths(folder) == 2 * summary["lost"] > 0
    (folder / "mark").touch()
    done = run_with_killer(folder, "--resume", "o", "--retry-lost")
    check_exact(Result(read_summary(done.stdout), folder / "o", done.returncode))


@pytest.mark.parametrize("clients", ["1", "2"])
def test_a_first_test_that_kills_its_host_twice_is_said(clients: str, source: Path) -> None:
    folder = source.parent

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return run_with_killer(folder, *words, killer=KILLER_OF_THE_FIRST)

    assert run("--no-witness", "--clients", clients, "--out", "o", "p.c").returncode == -9
    assert run("--resume", "o").returncode == -9
    done = run("--resume", "o")
    assert (done.returncode, "2 processes of score-embed were killed" in done.stderr) == (4, True)
    (folder / "mark").touch()
    assert run("--resume", "o").returncode == 4
    done = run("--resume", "o", "--retry-lost")
    check_exact(Result(read_summary(done.stdout), folder / "o", done.returncode))


# Every second target of a client's dies with its test; the engine, which would not notice the patch, runs none.
KILLS_TARGETS = """
import signal, sys
if "score_embed.cli.main" in sys.orig_argv and "client" in sys.orig_argv:
    from score_embed.campaign.rounds import ClientRounds
    from score_embed.device.wired import WiredTarget
    ClientRounds.go = lambda *_: None
    begin, count = WiredTarget.begin, 0

    def begin_and_kill(self, test):
        global count
        count += 1
        if count % 2 or self._session is None:
            begin(self, test)
            return
        self._process.send_signal(signal.SIGSTOP)
        begin(self, test)
        self._process.kill()

    WiredTarget.begin = begin_and_kill
"""
# In every fifth round it dies, at any moment of it or soon after.
KILLS_TARGETS_OF_ROUNDS = """
import sys, threading
if "score_embed.cli.main" in sys.orig_argv and "client" in sys.orig_argv:
    from score_embed.campaign.rounds import ClientRounds
    go, count = ClientRounds.go, 0

    def go_and_kill(self, *arguments):
        global count
        count += 1
        process = self._worker.runner.target._process
        if count % 5 == 0 and process is not None:
            threading.Timer(0.0002 * (count % 13), process.kill).start()
        return go(self, *arguments)

    ClientRounds.go = go_and_kill
"""


def in_a_fleet(folder: Path, killer: str) -> tuple[Summary, int]:
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(killer)
    environment = os.environ | {"PYTHONPATH": f"{site}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--no-witness", "--clients", "2"]
    done = subprocess.run(
        [*command, "--out", "o", "p.c"], cwd=folder, env=environment, capture_output=True, text=True, timeout=200
    )
    return read_summary(done.stdout), done.returncode


def test_in_a_fleet_nothing_is_lost_with_killed_targets(source: Path) -> None:
    summary, code = in_a_fleet(source.parent, KILLS_TARGETS)
    assert summary.retried >= 5
    check_exact(Result(summary, source.parent / "o", code))


def test_nothing_is_lost_with_targets_that_die_in_rounds(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nint main(void) { unsigned char b[13]; int n = 0; SYM_BYTES(b, sizeof b);\n'
        "for (unsigned i = 0; i < sizeof b; i++) if (b[i] > 100) n++;\nreturn n; }\n"
    )
    summary, code = in_a_fleet(tmp_path, KILLS_TARGETS_OF_ROUNDS)
    assert summary.retried >= 3
    assert (summary.stopped, summary.paths, summary.runs, code) == ("exhausted", 2**13, 2**13, 0)
