"""The options of a test run: which share of the proofs (support/share.py), what it cost (support/times.py), golden
files.

Golden files hold what a generator made when somebody last looked at it. `--update-golden` writes them anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from share import ALONE, PARTS, Case, Part, case_of, in_share, share_of_commit
from times import Cost, Times, processor_seconds

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
COST = "processor seconds"  # a property of a test's last report
SHARE = pytest.StashKey[int]()
BEFORE = pytest.StashKey[float]()
TIMES = Times()  # of the process that prints: a report does not say of which run it is


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew instead of comparing")
    parser.addoption("--all", action="store_true", help="the whole of each proof: all cases, all inputs; takes hours")
    parser.addoption("--part", type=Part.read, metavar="K/N", help="with --all: the Kth of N parts of all that it runs")
    parser.addoption("--share", type=int, metavar="N", help="this share of each proof, not the one of the commit")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.all and config.option.share is not None:
        raise pytest.UsageError("--all leaves nothing to share: give --all or --share, not both")
    if config.option.part and not config.option.all:
        raise pytest.UsageError("--part says which part of --all: give both; --share takes a share of each proof")
    if config.option.all:
        os.environ["SCORE_PROOF"] = "full"  # support/proof.py reads it, here and in the workers of pytest-xdist
    config.addinivalue_line(
        "markers", "nights(n): of random cases, with --all: one in n, by turns, since they have no whole"
    )
    config.pluginmanager.register(FailuresAtOnce(config))
    config.addinivalue_line("markers", "parts(n): one case in n of this test in each run, not as many as of others")
    if not (config.option.all or config.getoption("lf", False) or any("::" in word for word in config.args)):
        share = config.option.share
        config.stash[SHARE] = share_of_commit(TESTS) if share is None else share


def is_narrowed(config: pytest.Config) -> bool:
    """Whether someone asks for tests of a file, or by -k, and then wants to see all cases but those of large
    families."""
    files = any(word.endswith(".py") for word in config.args)
    return config.option.share is None and (files or bool(config.option.keyword))


@pytest.hookimpl(trylast=True)  # after -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = config.stash.get(SHARE, None)
    part = config.option.part
    if share is not None:
        whole = is_narrowed(config)
        chosen = in_share([case(item, whole) for item in items], share)
        left_out = {item for item in items if item.nodeid not in chosen}
    elif config.option.all:
        tonight = in_share([Case(item.nodeid, family(item), nights(item)) for item in items], share_of_commit(TESTS))
        left_out = {item for item in items if item.nodeid not in tonight or (part and item.nodeid not in part)}
    else:
        return
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def case(item: pytest.Item, whole: bool) -> Case:
    mark = item.get_closest_marker("parts")
    file = item.path.relative_to(TESTS)
    return case_of(item.nodeid, file, family(item), mark and mark.args[0], hasattr(item, "callspec"), whole)


def family(item: pytest.Item) -> str:
    return f"{item.path}::{getattr(item, 'originalname', None) or item.name}"


def nights(item: pytest.Item) -> int:
    mark = item.get_closest_marker("nights")
    return int(mark.args[0]) if mark else 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[BEFORE] = processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown":
        report.user_properties.append((COST, f"{processor_seconds() - item.stash[BEFORE]:.3f}"))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    TIMES.add(report.nodeid, cost_of(report))


class FailuresAtOnce:
    """A run of hours says which test failed when it has, and not only at its end: it may never come there."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write(f"\nfailed: {report.nodeid} ({report.when}, after {report.duration:.0f} s)\n")
            terminal.flush()


def cost_of(report: pytest.TestReport) -> Cost:
    processor = dict(report.user_properties).get(COST, "0") if report.when == "teardown" else "0"
    return Cost(report.when == "teardown", report.duration, float(str(processor)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.section("time by file")
    for line in TIMES.table():
        terminalreporter.write_line(line)
    share = config.stash.get(SHARE, None)
    if share is not None:
        terminalreporter.write_line(
            f"share {share} of the proofs (one case in {PARTS} of each test, one in {ALONE} of tests without cases); to repeat it:"
        )
        terminalreporter.write_line(f"    ./run-tests --share {share}")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: the text is that of the golden file."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            GOLDEN.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), (
            f"look at the difference; if it is right: --update-golden ({path})"
        )

    return check
