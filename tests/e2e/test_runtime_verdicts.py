"""The runtime on both targets: every way a program can end, the restore between tests, captured output."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from images import LINKS, hand_image, target_of

from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.device.qemu import QemuTarget
from score_embed.device.wired import WiredTarget


@pytest.fixture(scope="module", params=LINKS)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WiredTarget]:
    board: str = request.param
    target = target_of(board, hand_image(board, tmp_path_factory.mktemp(board)), watchdog=1)
    yield target
    target.close()


def run(target: WiredTarget, *data: int, max_branches: int = 1000) -> Finished:
    return target.run(Run(1, bytes(data), max_branches=max_branches))


VERDICTS = [
    (0, Verdict.RETURN, 3),
    (1, Verdict.EXIT, 4),
    (2, Verdict.ABORT, 6),
    (3, Verdict.ASSERTION, 0),
    (4, Verdict.NULL_DEREFERENCE, None),
    (5, Verdict.DIVISION_BY_ZERO, None),
    (6, Verdict.ILLEGAL_INSTRUCTION, None),
    (7, Verdict.STACK_OVERFLOW, None),
    (8, Verdict.HANG, 0),
    (9, Verdict.WATCHDOG, None),
    (10, Verdict.INVALID_MEMORY_ACCESS, None),
    (11, Verdict.EXIT, 5),
    (14, Verdict.ASSUMPTION, 0),
    (15, Verdict.NULL_DEREFERENCE, None),
    (17, None, None),
    (18, Verdict.LOCK_UP, 0),
    (19, Verdict.NULL_DEREFERENCE, None),
    (20, Verdict.INVALID_MEMORY_ACCESS, None),
    (21, Verdict.INVALID_MEMORY_ACCESS, None),
    (22, Verdict.ASSERTION, 0),
    (23, Verdict.EXIT, 0x1234),
]


@pytest.mark.parametrize(("what", "verdict", "code"), VERDICTS)
def test_verdict_and_the_test_after_it(
    target: WiredTarget, what: int, verdict: Verdict | None, code: int | None
) -> None:
    target.grace = 1.0
    if verdict is None:
        verdict = Verdict.RESET if isinstance(target, QemuTarget) else Verdict.SIGNAL
    before = run(target, 0)
    ended = run(target, what)
    assert ended.verdict is verdict
    assert code is None or ended.code == code
    after = run(target, 0)
    assert (after.verdict, after.path_hash, after.events) == (before.verdict, before.path_hash, before.events)


@pytest.mark.parametrize("what", [3, 4, 5, 6, 10, 19, 20])
def test_a_fault_says_where(target: WiredTarget, what: int) -> None:
    ended = run(target, what)
    assert ended.pc != 0
    assert ended.site == 17  # the last probe before it
    assert ended.stack == (16,)
    assert ended.pc == run(target, what).pc
    if what == 19:
        assert ended.address == 16
    if what == 10:
        assert ended.address == 0x7F000000


def test_a_lost_test_says_why(target: WiredTarget) -> None:
    died, locked = run(target, 17).why_lost, run(target, 25).why_lost
    if isinstance(target, QemuTarget):
        assert died.startswith("the target started again by itself")
        assert locked.startswith("the target ended (killed by signal 6: qemu: fatal: Lockup")
    else:
        assert died == locked == "the target ended (killed by signal 9)"


def test_memory_is_restored(target: WiredTarget) -> None:
    outputs = {run(target, 13).output for _ in range(3)}
    assert outputs == {b"5 0 fresh 100000\nbye\n"}


def test_stack_is_restored(target: WiredTarget) -> None:
    run(target, 7)
    outputs = [run(target, 24).output for _ in range(3)]
    assert len(set(outputs)) == 1
    run(target, 2)
    assert run(target, 24).output == outputs[0]


def test_output_is_captured_and_cut(target: WiredTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_watchdog", 100.0)  # seconds: an emulated UART is slow
    assert run(target, 12).output == b"some output\n"
    output = run(target, 16).output
    assert len(output) == 65536
    assert output.startswith(b"%062d\n%062d\n" % (0, 1))
    assert run(target, 0).output == b""


def test_hang_is_by_budget(target: WiredTarget) -> None:
    first, second = run(target, 8, max_branches=500), run(target, 8, max_branches=500)
    assert first.branches == second.branches == 501
    assert first.path_hash == second.path_hash != run(target, 8, max_branches=400).path_hash


def test_a_failed_assertion_is_printed(target: WiredTarget) -> None:
    assert b"hand.c" in run(target, 3).output
    assert b"Assertion `zero' failed." in run(target, 3).output


def test_coverage_is_told_once(target: WiredTarget) -> None:
    target.restart()
    assert run(target, 8).coverage == (0, 1)
    assert run(target, 8).coverage == ()
    target.restart()
    assert run(target, 8).coverage == (0, 1)


def test_trace_is_the_same_first_later_and_fresh(target: WiredTarget) -> None:
    data = (100, 9, 0, 0, 0)
    target.restart()
    first = run(target, *data)
    for i in range(200):
        run(target, (0, 2, 12, 13, 100, 102)[i % 6], i & 0xFF, 1, 2, 3)
    later = run(target, *data)
    target.restart()
    fresh = run(target, *data)
    assert first.events == later.events == fresh.events != b""
    assert first.path_hash == later.path_hash == fresh.path_hash
    assert first.operand_hash == later.operand_hash == fresh.operand_hash
