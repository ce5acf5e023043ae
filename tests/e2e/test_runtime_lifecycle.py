"""Targets that die, lie, fall silent or belong to someone else; a host that is killed; a link that is damaged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from images import BUILD_ID, LINKS, SUPPORT, hand_image, target_of

from score_embed.board.profile import QemuRun
from score_embed.contract.outcome import Run, Verdict
from score_embed.device.native import NativeTarget
from score_embed.device.patience import Patience
from score_embed.device.qemu import QemuTarget
from score_embed.errors import TargetError, UsageError
from score_embed.link.transport import Channel


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {board: hand_image(board, tmp_path_factory.mktemp(board)) for board in LINKS}


def children_of(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(folder.name))
    return found


def wait_until(condition: object, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("board", LINKS)
@pytest.mark.parametrize("what", [0, 9, 18])
def test_killed_host_leaves_no_process(images: dict[str, Path], tmp_path: Path, board: str, what: int) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "from pathlib import Path\nfrom images import target_of\nfrom score_embed.contract.outcome import Run\n"
        f"target = target_of({board!r}, Path({str(images[board])!r}), watchdog=60)\n"
        f"target.info\nprint('ready', flush=True)\nwhile True: target.run(Run(1, bytes([{what}])))\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        targets = children_of(host.pid)
        assert len(targets) == 1
        host.kill()
        host.wait(10)
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in targets))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("board", LINKS)
def test_close_leaves_nothing_behind(images: dict[str, Path], board: str) -> None:
    descriptors, children = len(os.listdir("/proc/self/fd")), set(children_of(os.getpid()))
    for _ in range(3):
        target = target_of(board, images[board])
        target.run(Run(1, b"\0"))
        target.restart()
        target.close()
        target.close()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert set(children_of(os.getpid())) == children


@pytest.mark.parametrize("board", LINKS)
def test_a_target_killed_between_tests_is_replaced(images: dict[str, Path], board: str) -> None:
    target = target_of(board, images[board])
    before = set(children_of(os.getpid()))
    good = target.run(Run(1, b"\0"))
    (pid,) = set(children_of(os.getpid())) - before
    os.kill(pid, signal.SIGKILL)
    lost = target.run(Run(2, b"\0"))
    again = target.run(Run(3, b"\0"))
    target.close()
    killed = (
        (Verdict.LOST, -9) if board.startswith("mps2") else (Verdict.SIGNAL, 9)
    )  # an emulator gets no signal of its guest's
    assert (lost.verdict, lost.code) == killed
    assert lost.partial
    assert again == good or again.path_hash == good.path_hash


@pytest.mark.parametrize("board", LINKS)
def test_another_image_is_refused(images: dict[str, Path], board: str) -> None:
    target = target_of(board, images[board], build_id=b"\xff" * 16)
    with pytest.raises(TargetError) as caught:
        target.run(Run(1, b""))
    target.close()
    assert BUILD_ID.hex() in caught.value.what
    assert "ff" * 16 in caught.value.what
    assert "load the image" in caught.value.hint


def script(folder: Path, text: str) -> Path:
    path = folder / "target"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("exec cat /dev/urandom > /proc/self/fd/$2", "READY"),
        ("exec sleep 60", "sent nothing"),
        ("exit 3", "exit status 3"),
    ],
)
def test_a_target_that_is_none(tmp_path: Path, text: str, says: str) -> None:
    target = NativeTarget(script(tmp_path, text), BUILD_ID, confined=False)  # a shell that starts others
    target.ready_within, target.patience = 1.0, Patience(0.1, 2.0, 0.3)
    started = time.monotonic()
    with pytest.raises(TargetError, match=says):
        target.run(Run(1, b""))
    target.close()
    assert time.monotonic() - started < 5


def test_what_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be started"):
        NativeTarget(tmp_path / "missing", BUILD_ID).run(Run(1, b""))
    with pytest.raises(UsageError) as caught:
        QemuTarget(tmp_path / "x", BUILD_ID, QemuRun(str(tmp_path / "qemu-system-arm"), "mps2-an385")).run(Run(1, b""))
    assert "apt-get install qemu-system-arm" in caught.value.hint


def test_qemu_says_why_it_does_not_start(images: dict[str, Path]) -> None:
    target = QemuTarget(images["mps2-an385-uart"], BUILD_ID, QemuRun("qemu-system-arm", "no-such-board"))
    with pytest.raises(TargetError, match="unsupported machine type"):
        target.run(Run(1, b""))


def test_input_beyond_the_buffer(images: dict[str, Path]) -> None:
    target = target_of("mps2-an385-uart", images["mps2-an385-uart"])
    with pytest.raises(TargetError, match="buffer"):
        target.run(Run(1, bytes(target.info.input_capacity + 1)))
    most = target.run(Run(1, bytes(target.info.input_capacity)))
    target.close()
    assert most.verdict is Verdict.RETURN


class NoisyChannel(Channel):
    """Damages about one in 3,000 bytes of what passes."""

    noise: random.Random | None = None

    def _spoil(self, data: bytes) -> bytes:
        if self.noise is None:
            return data
        out = bytearray(data)
        for i in range(len(out)):
            if self.noise.random() < 1 / 3000:
                out[i] ^= 1 << self.noise.randrange(8)
        return bytes(out)

    def send(self, data: bytes, deadline: float) -> bool:
        return super().send(self._spoil(data), deadline)

    def receive(self, deadline: float) -> bytes:
        return self._spoil(super().receive(deadline))


@pytest.mark.parametrize("board", LINKS)
def test_damage_on_the_link_changes_no_result(
    images: dict[str, Path], board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "qemu" if board.startswith("mps2") else "native"
    monkeypatch.setattr(f"score_embed.device.{module}.Channel", NoisyChannel)
    target = target_of(board, images[board])
    target.patience = Patience(0.1, 2.0, 0.1)
    tests = [Run(i, bytes([what, 7, 0, 0, i])) for i, what in enumerate([100, 105, 102, 13, 101] * 8)]
    clean = [target.run(test) for test in tests]
    monkeypatch.setattr(NoisyChannel, "noise", random.Random(7))
    noisy = [target.run(test) for test in tests]
    counters = target.counters
    target.close()
    for a, b in zip(clean, noisy, strict=True):
        assert (a.verdict, a.events, a.path_hash, a.operand_hash) == (b.verdict, b.events, b.path_hash, b.operand_hash)
    assert counters.crc_errors > 0
    assert counters.reruns > 0


@pytest.mark.parametrize("board", LINKS)
def test_a_restarted_target_runs_the_next_test(images: dict[str, Path], board: str) -> None:
    """Also when nobody has read what the instance before said, and when it was restarted twice."""
    target = target_of(board, images[board])
    for i in range(30):
        assert target.run(Run(i, bytes([6]))).verdict is Verdict.ILLEGAL_INSTRUCTION
        for _ in range(i % 3):
            target.restart()
        assert target.run(Run(i, bytes([12]))).output == b"some output\n"
    target.close()
