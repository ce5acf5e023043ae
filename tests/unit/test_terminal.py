"""Progress lines and Ctrl-C as a wish."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
from pathlib import Path

import pytest
import recorded
from rich.console import Console

from score_embed.campaign import interrupt, status
from score_embed.campaign.interrupt import Interrupt
from score_embed.campaign.ledger import Ledger
from score_embed.cli import show as show_module
from score_embed.cli.console import table
from score_embed.cli.grid import WIDEST, Grid
from score_embed.formula import build
from score_embed.formula.expr import Kind
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import Named
from score_embed.solve import smt
from score_embed.solve.query import Limit, Query, Result
from score_embed.solve.smt import SmtLayer


def show(shown: status.Status, ledger: Ledger) -> None:
    if shown.due:
        shown.show([ledger, ledger], waiting=2)


def test_a_line_now_and_then_without_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    recorded.write(tmp_path)
    with Store.read(tmp_path) as record:
        ledger = Ledger(record, record.sources())
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with status.Status("p on native") as shown:
        show(shown, ledger)
        assert capsys.readouterr().err == ""
        now += status.LINE_SECONDS
        show(shown, ledger)
        show(shown, ledger)
    line = "p on native: 10 s, 8 tests (1/s), 6 paths, 2 waiting, branches 8/16 (50 %), bugs 4\n"
    assert capsys.readouterr().err == line


def test_the_line_says_when_nothing_new_was_covered_for_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    recorded.write(tmp_path)
    with Store.read(tmp_path) as record:
        ledger = Ledger(record, record.sources())
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with status.Status("p on native") as shown:
        now += 40
        ledger.coverage.grown = 90.0  # in an earlier session
        shown.show([ledger], 2, clients=2)
        ledger.coverage.grown = now - status.QUIET_SECONDS + 1
        shown.show([ledger], 2)
    quiet, busy = capsys.readouterr().err.splitlines()
    assert quiet.endswith(", nothing new for 40 s, 2 clients")
    assert "nothing new" not in busy


def test_first_signal_is_a_wish_second_stops(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt(lambda: None) as interrupt:
        assert not interrupt.wanted
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.wanted
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
    assert "stopping after this test" in capsys.readouterr().err


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    monkeypatch.setattr(interrupt, "_PATIENCE", 0.1)
    return threading.Event()


def test_a_signal_hurries_what_goes_on_for_too_long(
    hurried: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    before = threading.active_count()
    with Interrupt(hurried.set) as wish:
        assert not hurried.wait(0.4)
        assert not wish.pressing()
        os.kill(os.getpid(), signal.SIGTERM)
        assert not wish.pressing()  # there is a moment to end by itself
        assert hurried.wait(10)
        assert wish.pressing()
    assert threading.active_count() == before


def test_so_does_the_end_of_the_time(hurried: threading.Event) -> None:
    with Interrupt(hurried.set) as wish:
        wish.deadline = time.monotonic() + 0.2
        assert not hurried.wait(0.2)
        assert hurried.wait(10)
        assert wish.pressing()
        assert not wish.wanted


def test_who_asks_need_not_wait_for_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not run while the engine does."""
    monkeypatch.setattr(interrupt, "_POLL", 60.0)  # so long it does not look
    with Interrupt(lambda: None) as wish:
        wish.deadline = time.monotonic() + 9
        assert not wish.pressing()
        wish.deadline = time.monotonic() - 9
        assert wish.pressing()


def test_a_query_of_z3_is_hurried(hurried: threading.Event) -> None:
    a, b = (build.from_bytes([build.byte(i) for i in range(start, start + 8)]) for start in (0, 8))
    product = build.binary(Kind.EQ, build.binary(Kind.MUL, a, b), build.const(0xD1CE5B4D3A291707, 64))
    bounds = [build.binary(Kind.ULT, part, build.const(1 << 33, 64)) for part in (a, b)]
    bounds += [build.binary(Kind.ULT, build.const(1, 64), part) for part in (a, b)]
    query = Query(product, {}, bounds, bytes(16))
    layer = SmtLayer(Limit(4_000_000_000))
    began = time.monotonic()
    with Interrupt(smt.interrupt) as wish:
        wish.deadline = began + 0.5
        assert layer.solve(query).result is Result.UNKNOWN
    assert time.monotonic() - began < 20  # it has a minute
    easy = build.binary(Kind.EQ, a, build.const(5, 64))
    assert layer.solve(Query(easy, {}, [], bytes(16))).result is Result.SAT  # the next is not affected


def test_a_test_that_was_not_decoded_shows_its_bytes() -> None:
    decoded = TestRow(1, b"\x06", "return", 0, 1, "new", "", (Named("x", 0, 1, "unsigned"),), "")
    mispredicted = TestRow(2, b"\xab\xcd", "return", 0, 2, "mispredicted", "", (), "")
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(table(show_module._tests([decoded, mispredicted])))
    assert "raw abcd" in console.export_text()


@pytest.mark.parametrize(("size", "is_cut"), [(100, False), (101, True), (5000, True)])
def test_what_is_long_is_cut_off_in_the_table(size: int, is_cut: bool) -> None:
    long = TestRow(1, bytes(size), "return", 0, 1, "mispredicted", "", (), "x" * 2 * size)
    decoded = TestRow(2, b"\x06", "return", 0, 2, "new", "", (Named("x", 0, 1, "unsigned"),), "")
    console = Console(record=True, width=1000, file=io.StringIO())
    console.print(table(show_module._tests([long, decoded])))
    text = console.export_text()
    assert (f"{'x' * 200}… ({2 * size} characters)" in text) is is_cut
    assert ("00… (" in text) is (size >= 100)
    assert max(map(len, text.splitlines())) < 500


@pytest.mark.parametrize("caption", ["", "the first 10", "the first 10 of these 1", "exactly as wide as its table"])
@pytest.mark.parametrize(
    "rows",
    [
        [["1", "5", ""], ["2", "-1", "  between  "]],
        [["1", "", "tab\tesc\x1b[31m"], ["10000", "[red]x[/red] :smile:", "a… (5 characters)"]],
        [["1", "x" * 200, "y" * 200], ["2", "", "a b c"]],
    ],
)
def test_a_grid_is_drawn_as_rich_draws_it(rows: list[list[str]], caption: str) -> None:
    grid = Grid(["test", "key", "output"], rows, caption)
    drawn = io.StringIO()
    Console(width=WIDEST, file=drawn, highlight=False).print(table(grid))
    assert [f"{line}\n" for line in grid.lines() or ()] == drawn.getvalue().splitlines(keepends=True)


@pytest.mark.parametrize(
    "grid",
    [
        Grid(["test"], [["\u4f60"]]),  # two columns wide
        Grid(["test"], [["\U0001f600"]]),
        Grid(["test"] * 300, [["1"] * 300]),
        Grid(["test"], [["1"]], "a caption that is wider than the table"),
    ],
)
def test_what_takes_more_to_lay_out_is_rich_s(grid: Grid) -> None:
    assert grid.lines() is None


@pytest.mark.parametrize("force", [False, True], ids=["none", "dumb"])
def test_steps_are_shown_without_a_terminal_only_if_they_take_long(
    force: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on one that cannot change what it shows."""
    if force:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with status.Steps("p on native") as steps:
        steps("parsing p.c")
        now += status.LINE_SECONDS
        steps("compiling p.c")
        steps("linking")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "p on native: compiling p.c, 10 s\n")


def test_steps_are_one_line_that_changes_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = io.StringIO()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("rich.console.Console", lambda stderr: Console(file=seen, force_terminal=True, width=80))
    with status.Steps("p on native") as steps:
        steps("parsing p.c")
        steps("linking")
    assert "p on native: parsing p.c, 0 s" in seen.getvalue()
    assert "p on native: linking, 0 s" in seen.getvalue()
