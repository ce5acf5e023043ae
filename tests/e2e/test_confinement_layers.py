"""Confinement layer by layer, at the place that starts all of them: what each keeps a process from when the others are
off."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from score_embed.board.profile import find_board
from score_embed.campaign import opening
from score_embed.confine import landlock, layers, start
from score_embed.confine.rights import Rights
from score_embed.device import desk
from score_embed.errors import UsageError
from score_embed.results.parts import CONFINED, Confined
from score_embed.results.store import Store


def attempt(rights: Rights, code: str, *arguments: str, same_addresses: bool = False) -> str:
    """What a confined Python says."""
    words = [sys.executable, "-I", "-S", "-c", code, *arguments]
    process = start.start(words, rights, stdout=-1, same_addresses=same_addresses)
    said, errors = process.communicate(timeout=60)
    return (said or errors.splitlines()[-1]).decode().strip()


UNLINK = "import os, sys; os.unlink(sys.argv[1]); print('done')"
WRITE = "import sys; open(sys.argv[1], 'a'); print('done')"
SIGNAL = "import os; os.kill(os.getppid(), 0); print('done')"
CONNECT = "import _socket; _socket.socket(1, 1); print('done')"
SPAWN = "import os; print('done' if os.waitstatus_to_exitcode(os.system('true')) == 0 else 'PermissionError')"
LOOK = "import os; open(f'/proc/{os.getppid()}/status'); print('done')"
DEVICE = "import os; os.open('/dev/ptmx', os.O_RDONLY); print('done')"


@pytest.mark.parametrize(
    ("code", "calls", "files"),
    [  # does the filter alone stop it, does the view alone?
        (UNLINK, True, True),
        (WRITE, True, True),
        (SIGNAL, True, landlock.version() >= landlock.WITH_SIGNALS),
        (CONNECT, True, False),
        (SPAWN, True, False),
        (LOOK, False, True),
        (DEVICE, False, True),
    ],
)
def test_each_layer_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, calls: bool, files: bool
) -> None:
    victim = tmp_path / "victim"
    for has_filter, has_view in ((True, True), (True, False), (False, True), (False, False)):
        if has_view and not landlock.version():
            continue
        victim.touch()
        with monkeypatch.context() as patch:
            if not has_filter:
                patch.setattr(start, "_filter_calls", lambda steps: None)
            if not has_view:
                patch.setattr(landlock, "version", lambda: 0)
            said = attempt(Rights(), code, str(victim))
        stopped = (has_filter and calls) or (has_view and files)
        assert ("PermissionError" in said) == stopped, (has_filter, has_view, said)
        assert (said == "done") != stopped


def test_the_program_that_leads_to_a_board_may_start_others_but_not_touch_files() -> None:
    bridge = desk._bridge()
    assert attempt(bridge, SPAWN) == "done"
    assert attempt(bridge, CONNECT) == "done"
    if landlock.version():
        assert "PermissionError" in attempt(bridge, WRITE, str(Path.home() / "never"))
        with tempfile.NamedTemporaryFile(dir=Path.home()) as file:
            assert "PermissionError" in attempt(bridge, WRITE, file.name)
    if landlock.version() >= landlock.WITH_SIGNALS:
        assert "PermissionError" in attempt(bridge, SIGNAL)


def test_what_a_shell_handed_on_is_undone() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    end = os.dup(0)
    os.set_inheritable(end, True)
    try:
        said = attempt(Rights(), "import os; print(open('/proc/self/status').read(), os.listdir('/proc/self/fd'))")
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.pthread_sigmask(signal.SIG_SETMASK, before[1])
        os.close(end)
    lines = dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)
    assert int(lines["SigBlk"], 16) == 0
    assert not int(lines["SigIgn"], 16) & 1 << signal.SIGHUP - 1
    assert lines["NoNewPrivs"] == "1"
    assert lines["Seccomp"] == "2"
    assert int(lines["CapEff"], 16) & ~4 == 0
    assert f"'{end}'" not in said.splitlines()[-1]


def test_addresses_are_the_same_and_root_has_its_powers_no_more() -> None:
    """To get powers back would be a gain, at which the kernel forgets about addresses and the end of the host."""
    said = attempt(
        Rights(), "print(open('/proc/self/personality').read(), open('/proc/self/status').read())", same_addresses=True
    )
    assert int(said.split()[0], 16) & 0x40000
    lines = dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)
    for powers in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
        assert int(lines[powers], 16) & ~4 == 0, powers


def test_without_the_least_layer_it_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "_without_filter", lambda: "the kernel has no filters")
    with pytest.raises(UsageError, match="cannot be confined") as caught:
        layers.require(Rights())
    assert "--unconfined" in caught.value.hint


def test_a_link_over_files_needs_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    layers.require(Rights())
    with pytest.raises(UsageError, match="Landlock") as caught:
        layers.require(Rights(writes=("/tmp/fifo",)))
    assert "link: uart" in caught.value.hint
    assert any("Landlock" in missing for missing in layers.layers().missing)


def test_a_campaign_says_which_layer_it_is_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    board = find_board("native")
    with Store.create(tmp_path) as record:
        opening.note_confinement(record, board, ("open", "puts"), confined=True)
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("warning: targets are confined without a view of files")
        monkeypatch.undo()
        # once more, elsewhere: what holds for both
        opening.note_confinement(record, board, ("open", "puts"), confined=True)
        found = record.get(CONFINED)
        assert found is not None
        assert found.active == ("no new privileges", "system calls")
        assert "Landlock" in found.missing[0]
        opening.note_confinement(record, board, ("open", "puts"), confined=False)
        assert record.get(CONFINED) == Confined(
            (), (*found.missing, "all: --unconfined"), ("what a confined target may do (open())",)
        )
