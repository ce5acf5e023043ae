"""Which pair is in work, and who has died of which: a note that a SIGKILL leaves behind, and damage does not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from score_embed.errors import StorageError, UsageError
from score_embed.results.work import DEATHS, FILE, SLOTS, WorkNotes

ONE, TWO = b"1" * 16, b"2" * 16


def test_what_was_in_work_when_a_process_was_killed_is_known(tmp_path: Path) -> None:
    """After the second death it must not be run; other pairs may."""
    script = f"""
import os, signal
from pathlib import Path
from score_embed.results.work import WorkNotes
notes = WorkNotes(Path({str(tmp_path)!r}))
assert notes.begin({TWO!r}) and notes.begin({ONE!r})
os.kill(os.getpid(), signal.SIGKILL)
"""
    for deaths in range(1, DEATHS + 1):
        assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == -9
        with WorkNotes(tmp_path) as notes:
            assert notes.count() == [ONE]
            assert notes.count() == []  # each death once
            assert (notes.deaths(ONE), notes.deaths(TWO)) == (deaths, 0)
            assert notes.begin(TWO)
            assert notes.begin(ONE) == (deaths < DEATHS)


@pytest.mark.parametrize("error", [None, UsageError, KeyboardInterrupt])
def test_an_end_in_good_order_is_no_death(tmp_path: Path, error: type[BaseException] | None) -> None:
    try:
        with WorkNotes(tmp_path) as notes:
            notes.begin(ONE)
            if error is not None:
                raise error("it")
    except (UsageError, KeyboardInterrupt):
        pass
    with WorkNotes(tmp_path) as notes:
        assert notes.count() == []


def test_an_error_of_ours_is_one(tmp_path: Path) -> None:
    """Memory that the test took, say."""
    notes = WorkNotes(tmp_path)
    notes.begin(ONE)
    notes.__exit__(MemoryError)
    with WorkNotes(tmp_path) as notes:
        assert notes.count() == [ONE]


def test_each_process_of_a_fleet_has_a_slot_and_sees_what_is_counted(tmp_path: Path) -> None:
    with WorkNotes(tmp_path) as server:
        other = WorkNotes(tmp_path, SLOTS - 1)
        for _ in range(DEATHS):
            client = WorkNotes(tmp_path, 1)
            assert client.begin(ONE)
            client.close(in_good_order=False)
            assert server.count(range(1, 2)) == [ONE]
        assert not other.begin(ONE)
        assert other.begin(TWO)
        other.close(in_good_order=False)
        assert server.forget() == [TWO]  # it was killed because it did not leave
        assert server.deaths(TWO) == 0


def test_what_died_may_be_tried_again(tmp_path: Path) -> None:
    with WorkNotes(tmp_path) as notes:
        for _ in range(DEATHS):
            notes.begin(ONE)
            notes.count()
        assert not notes.begin(ONE)
        notes.pardon()
        assert (notes.deaths(ONE), notes.begin(ONE)) == (0, True)
        assert notes.count() == [ONE]
        assert notes.deaths(ONE) == 1


def test_nobody_dies_of_damage(tmp_path: Path) -> None:
    with WorkNotes(tmp_path) as notes:
        notes.begin(ONE)
        notes.close(in_good_order=False)
    whole = (tmp_path / FILE).read_bytes()
    for at in (0, whole.index(ONE), whole.index(ONE) + 17, whole.index(ONE) + 21):
        (tmp_path / FILE).write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        with WorkNotes(tmp_path) as notes:
            assert notes.count() == []
    (tmp_path / FILE).write_bytes(whole[:100])
    with WorkNotes(tmp_path) as notes:
        assert notes.count() == []
        assert notes.begin(TWO)


def test_the_last_ones_are_remembered_however_many_there_are(tmp_path: Path) -> None:
    with WorkNotes(tmp_path) as notes:
        idents = [number.to_bytes(16, "little") for number in range(1, 300)]
        for ident in idents:
            notes.begin(ident)
            notes.count()
        assert [notes.deaths(ident) for ident in (idents[0], idents[-1], idents[-256])] == [0, 1, 1]


def test_what_is_long_in_work_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr(os, "fdatasync", kept.append)
    with WorkNotes(tmp_path) as notes:
        notes.begin(ONE)
        for _ in range(100):
            time.sleep(0.05)
            if kept:
                break
        assert len(kept) == 1
        time.sleep(0.6)
        assert len(kept) == 1  # once is enough


def test_where_it_cannot_be_written_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        WorkNotes(tmp_path / "nowhere")
