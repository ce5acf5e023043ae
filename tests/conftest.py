"""The options of a test run: which share of the proofs (support/share.py), what it cost (support/times.py), golden files.

Golden files hold what a generator made when somebody last looked at it. `--update-golden` writes them anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from share import PARTS, SHARED, in_share, share_of_commit
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
    parser.addoption("--share", type=int, metavar="N", help="this share of each proof, not the one of the commit")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.all and config.option.share is not None:
        raise pytest.UsageError("--all leaves nothing to share: give --all or --share, not both")
    if config.option.all:
        os.environ["SCORE_PROOF"] = "full"  # support/proof.py reads it, here and in the workers of pytest-xdist
    share = config.option.share
    if share is None and not config.option.all and not is_narrowed(config):
        share = share_of_commit(TESTS)
    if share is not None:
        config.option.share = config.stash[SHARE] = share  # as an option it reaches the workers of pytest-xdist


def is_narrowed(config: pytest.Config) -> bool:
    """Whether someone asks for tests by name, and then wants to see all cases of them."""
    files = any("::" in word or word.endswith(".py") for word in config.args)
    return files or bool(config.option.keyword) or bool(config.option.lf)


@pytest.hookimpl(trylast=True)  # after -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = config.stash.get(SHARE, None)
    if share is None:
        return
    shared = [item for item in items if item.path.relative_to(TESTS).parts[0] in SHARED]
    chosen = in_share(((f"{item.path}::{family(item)}", item.nodeid) for item in shared), share)
    left_out = [item for item in shared if item.nodeid not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def family(item: pytest.Item) -> str:
    return getattr(item, "originalname", None) or item.name


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


def cost_of(report: pytest.TestReport) -> Cost:
    processor = dict(report.user_properties).get(COST, "0") if report.when == "teardown" else "0"
    return Cost(report.when == "teardown", report.duration, float(str(processor)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.section("time by file")
    for line in TIMES.table():
        terminalreporter.write_line(line)
    share = config.stash.get(SHARE, None)
    if share is not None:
        terminalreporter.write_line(f"share {share} of the proofs (about 1 case in {PARTS}); to repeat it on any commit:")
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
