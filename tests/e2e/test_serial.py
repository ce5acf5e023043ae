"""`run: serial` against a simulated rig behind a pseudo-terminal: whatever happens to line and board, the same set of
paths, or one clear message. Native images stand in for boards, so that time goes into what is tested."""

from __future__ import annotations

import fcntl
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from proof import FULL
from rig import BAUD, bridge, opened, rig, write_profile
from runner import Campaign, explore, explore_files, score_embed

from score_embed.device.port import PortLock
from score_embed.results.store import Store

SIZE = 6
Reference = Callable[[int], set[int]]
PROGRAM = """
#include <stdio.h>
#include "score.h"
int main(void)
{
    unsigned char b[COUNT];
    unsigned n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] > 100 + i) n++;
    for (unsigned i = 0; i < 10; i++) puts("whatever is said must come");
    return n >= sizeof b;
}
"""


def sources(folder: Path, size: int = SIZE) -> str:
    """A program with 2^size paths."""
    (folder / "p.c").write_text(PROGRAM.replace("COUNT", str(size)))
    return "p.c"


def paths(campaign: Campaign) -> set[int]:
    with Store.read(campaign.folder) as record:
        return set(record.path_hashes())


def on_the_desk(folder: Path, *options: str) -> Campaign:
    return explore_files(folder, [Path("p.c")], "--board", "desk.yaml", *options)


def failed(folder: Path, *options: str) -> str:
    """What is said when a run ends with exit code 4."""
    done = score_embed("run", "--board", "desk.yaml", "--out", "out", *options, "p.c", cwd=folder)
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """The paths of the program of that size, found natively."""

    @functools.cache
    def found(size: int) -> set[int]:
        return paths(explore(tmp_path_factory.mktemp("reference"), {"p.c": PROGRAM.replace("COUNT", str(size))}))

    return found


@pytest.mark.parametrize(
    ("options", "times"),
    [
        (("--baud", "4000000", "--latency", "0.001"), 0),
        (("--reset-after", "20", "--reset-times", "2", "--chatter", "U-Boot 2023.01\r\n", "--boot-seconds", "0.1"), 2),
        (("--unplug-after", "20", "--unplug-times", "2", "--unplug-seconds", "0.5"), 2),
    ],
    ids=["in good order", "resets itself", "unplugged"],
)
def test_line_and_board_may_fail(options: tuple[str, ...], times: int, tmp_path: Path, reference: Reference) -> None:
    sources(tmp_path)
    write_profile(tmp_path)
    with rig(tmp_path, *options):
        found = on_the_desk(tmp_path)
    assert (found.summary["stopped"], found.summary["redundant"], found.summary["mispredicted"]) == ("exhausted", 0, 0)
    assert paths(found) == reference(SIZE)
    assert found.stderr.count("the test is run again") == times
    assert found.summary["coverage"]["branches_covered"] == found.summary["coverage"]["branches_total"]


# A board, the bytes of the program's input, and seconds that a noisy board is given to be greeted.
NOISY = [("native", 9, 2)] + ([("native", 13, 2), ("stm32", 9, 5)] if FULL else [])


@pytest.mark.parametrize(("board", "size", "boot"), NOISY)
def test_one_byte_of_a_hundred_is_damaged(
    board: str, size: int, boot: int, tmp_path: Path, reference: Reference
) -> None:
    """With --all: a longer campaign, and one of a board in QEMU."""
    sources(tmp_path, size)
    write_profile(tmp_path, board, line={"boot-seconds": boot})
    noise = ("--bit-errors", "0.8%", "--dropped", "0.1%", "--inserted", "0.1%", "--fifo", "64")
    with rig(tmp_path, "--board", board, *noise):
        found = on_the_desk(tmp_path)
    assert (found.summary["stopped"], found.summary["paths"], found.summary["redundant"]) == ("exhausted", 1 << size, 0)
    assert found.summary["link"]["crc_errors"] > 1000
    if board == "native":  # another compiler gives another number to each branch
        assert paths(found) == reference(size)


@pytest.mark.parametrize(
    ("noise", "baud"),
    [
        (("--dropped", "1%"), BAUD),
        (("--inserted", "1%"), BAUD),
        (("--bit-errors", "0.5%", "--baud", "115200", "--latency", "0.002", "--fifo", "16"), 115200),
    ],
    ids=["dropped", "inserted", "damaged and slow"],
)
def test_a_bad_line(noise: tuple[str, ...], baud: int, tmp_path: Path, reference: Reference) -> None:
    sources(tmp_path)
    write_profile(tmp_path, line={"boot-seconds": 2, "baud": baud})
    with rig(tmp_path, *noise):
        found = on_the_desk(tmp_path)
    assert (found.summary["stopped"], found.summary["redundant"], paths(found)) == ("exhausted", 0, reference(SIZE))
    assert found.summary["link"]["crc_errors"] > 10


def test_an_adapter_that_delivers_in_bursts_is_waited_for(tmp_path: Path) -> None:
    """Its answers break off for longer than the host likes; after a few it no longer asks again for what will come."""
    sources(tmp_path, SIZE)
    write_profile(tmp_path, line={"baud": 115200})
    sizes = []
    for burst in ("0", "0.03"):
        with rig(tmp_path, "--baud", "115200", "--burst", burst):
            found = on_the_desk(tmp_path, "--out", f"out{burst}")
        # A busy machine stops the rig itself now and then in the middle of a frame: that answer comes once more.
        errors = found.summary["link"]["crc_errors"]
        assert errors < found.summary["runs"] / 8
        sizes.append(found.summary["link"]["bytes_in"] / (found.summary["runs"] + errors))
    assert sizes[1] < 1.1 * sizes[0]


def test_bytes_overrun_while_the_program_runs(tmp_path: Path) -> None:
    """Nobody takes the host's question out of a FIFO of 4 bytes while the program naps."""
    text = """
#include "score.h"
void nap(void);
int main(void) { unsigned char a, b; SYM_UCHAR(a); SYM_UCHAR(b); nap(); if (a > 5) return 1; if (b > 7) return 2; return 0; }
"""
    nap = """
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
void nap(void) { double end = now() + 0.25; while (now() < end) ; }
"""  # not of processor time, of which a busy machine gives it less than the watch-dog allows
    (tmp_path / "p.c").write_text(text)
    (tmp_path / "nap.c").write_text(nap)
    write_profile(tmp_path)
    with rig(tmp_path, "--fifo", "4"):
        found = on_the_desk(tmp_path, "--native", "nap.c")
    assert (found.summary["stopped"], found.summary["paths"], found.summary["redundant"]) == ("exhausted", 3, 0)
    assert int((tmp_path / "rig.log").read_text().split(" bytes overrun")[0].split()[-1]) > 10


def test_an_image_in_qemu_behind_its_uart(tmp_path: Path) -> None:
    sources(tmp_path, 3)
    write_profile(tmp_path, "stm32", line={"boot-seconds": 3})
    with rig(tmp_path, "--board", "stm32"):
        found = on_the_desk(tmp_path)
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 8)


def test_another_image_is_replaced_once(tmp_path: Path) -> None:
    sources(tmp_path)
    write_profile(tmp_path)
    with rig(tmp_path):
        blank = on_the_desk(tmp_path)
        assert "nothing came from the board within 1 s: flashing" in blank.stderr
        again = explore_files(tmp_path, [Path("p.c")], "--board", "desk.yaml", "--out", "again")
        assert "flashing" not in again.stderr
        assert again.summary["coverage"] == blank.summary["coverage"]
        sources(tmp_path, 5)
        other = explore_files(tmp_path, [Path("p.c")], "--board", "desk.yaml", "--out", "other")
        assert "runs another image: found build" in other.stderr
        assert (other.stderr.count("flashing"), other.summary["paths"]) == (1, 32)
        sources(tmp_path, 4)
        write_profile(tmp_path, line={"flash": []})
        said = failed(tmp_path, "--out", "refused")
        assert "runs another image: found build" in said
        write_profile(tmp_path, line={"flash": "true"})
        assert "It was flashed, but still runs that" in failed(tmp_path, "--out", "refused")
        write_profile(tmp_path, line={"flash": ["sh", "-c", "echo no probe found; exit 3"]})
        said = failed(tmp_path, "--out", "refused")
        assert "the flash command failed with exit status 3" in said
        assert "    no probe found" in said
    assert not (tmp_path / "refused").exists()


def test_a_silent_board_is_found_in_seconds(tmp_path: Path) -> None:
    sources(tmp_path)
    write_profile(tmp_path, line={"flash": []})
    with rig(tmp_path):
        began = time.monotonic()
        said = failed(tmp_path)
    assert "./port: error: nothing came from the board within 1 s\n" in said
    assert time.monotonic() - began < 10
    assert not (tmp_path / "out").exists()


def test_what_is_no_frame_is_shown(tmp_path: Path) -> None:
    sources(tmp_path)
    write_profile(tmp_path)
    with rig(tmp_path, "--baud", "115200"):
        said = failed(tmp_path)
    assert "bytes came from the board within 1 s, but no frame: " in said
    assert "Is the baud rate 4000000?" in said
    with rig(tmp_path, "--stuck-after", "0", "--chatter", "bootloader 1.2") as process:
        write_profile(tmp_path, line={"flash": [], "reset": ["kill", "-USR1", process.pid]})
        assert "14 bytes came from the board within 1 s, but no frame: 'bootloader 1.2' …" in failed(tmp_path)


def test_a_board_that_dies_leaves_a_campaign_to_go_on_with(tmp_path: Path, reference: Reference) -> None:
    sources(tmp_path)
    write_profile(tmp_path)
    with rig(tmp_path, "--stuck-after", "30"):
        began = time.monotonic()
        said = failed(tmp_path)
        assert time.monotonic() - began < 20
    assert "nothing came from the board" in said
    assert "continue with: score-embed run --resume out" in said
    with rig(tmp_path):
        os.rename(tmp_path / "port", tmp_path / "elsewhere")
        done = score_embed("run", "--resume", "out", "--port", "./elsewhere", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Store.read(tmp_path / "out") as record:
        assert set(record.path_hashes()) == reference(SIZE)


def test_an_unplugged_board_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    sources(tmp_path)
    write_profile(tmp_path, line={"reconnect-seconds": 1})
    with rig(tmp_path, "--unplug-after", "30", "--unplug-seconds", "60"):
        said = failed(tmp_path)
    assert "the line is gone; waiting up to 1 s for it" in said
    assert "./port: error: there is no such port" in said
    assert "continue with: score-embed run --resume out" in said


def test_an_unplugged_port_is_nobodys(tmp_path: Path) -> None:
    """Its number may be given to another adapter, while its board is still waited for under a name of its own."""
    sources(tmp_path)
    write_profile(tmp_path, line={"reconnect-seconds": 20})
    with rig(tmp_path, "--unplug-after", "30", "--unplug-seconds", "60"):
        device = os.path.realpath(tmp_path / "port")
        words = [sys.executable, "-m", "score_embed.cli.main", "run", "--board", "desk.yaml", "p.c"]
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr is not None
            assert "the line is gone; waiting up to 20 s for it" in next(
                line for line in waiting.stderr if "gone" in line
            )
            try:
                PortLock(device).release()
                assert waiting.poll() is None
            finally:
                waiting.terminate()


def test_a_wedged_board_is_switched_off_and_on(tmp_path: Path, reference: Reference) -> None:
    sources(tmp_path)
    with rig(tmp_path, "--stuck-after", "30") as process:
        write_profile(tmp_path, power={"off": ["kill", "-USR1", process.pid], "on": "true"})
        found = on_the_desk(tmp_path)
    assert "switching the board off and on" in found.stderr
    assert (found.summary["stopped"], paths(found)) == ("exhausted", reference(SIZE))


def test_a_reset_command_and_a_safe_state(tmp_path: Path) -> None:
    sources(tmp_path, 4)
    with rig(tmp_path) as process:
        safe = {"command": ["sh", "-c", "echo safe >> safe.log"], "every": 5}
        write_profile(tmp_path, line={"reset": ["kill", "-USR1", process.pid]}, safe_state=safe)
        found = on_the_desk(tmp_path)
    assert found.summary["paths"] == 16
    runs = found.summary["runs"] + 4  # those before the first test of the campaign
    assert len((tmp_path / "safe.log").read_text().splitlines()) in range(runs // 5, runs // 5 + 4)


def test_somebody_else_has_the_port(tmp_path: Path) -> None:
    sources(tmp_path, 2)
    write_profile(tmp_path)
    with rig(tmp_path):
        lock = PortLock(str(tmp_path / "port"))
        assert f"the port is in use by score-embed, process {os.getpid()} of " in failed(tmp_path)
        lock.release()
        with opened(tmp_path / "port") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            assert f"(process {os.getpid()})" in failed(tmp_path)
        assert on_the_desk(tmp_path).summary["paths"] == 4


def test_there_is_no_port(tmp_path: Path) -> None:
    sources(tmp_path)
    write_profile(tmp_path)
    assert "./port: error: there is no such port" in failed(tmp_path)
    assert "/dev/ttyWrong: error: there is no such port" in failed(tmp_path, "--port", "/dev/ttyWrong")
    assert "/dev/null: error: this is no serial port" in failed(tmp_path, "--port", "/dev/null")
    assert "p.c: error: this is no serial port" in failed(tmp_path, "--port", "p.c")
    assert "cannot be opened" in failed(tmp_path, "--port", "socket://127.0.0.1:1")
    write_profile(tmp_path, line={"port": ""})
    done = score_embed("run", "--board", "desk.yaml", "p.c", cwd=tmp_path)
    assert (done.returncode, "Name it with --port" in done.stderr) == (2, True)


@pytest.mark.parametrize("scheme", ["socket", "rfc2217"])
def test_a_port_of_another_host(scheme: str, tmp_path: Path) -> None:
    sources(tmp_path, 4)
    write_profile(tmp_path, line={"pacing": {"bytes": 16, "seconds": 0.001}})
    with rig(tmp_path), bridge(tmp_path / "port", scheme) as url:
        found = on_the_desk(tmp_path, "--port", url)
        assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 16)


def test_a_program_leads_to_the_board(tmp_path: Path, reference: Reference) -> None:
    sources(tmp_path)
    write_profile(tmp_path, run="command", command=["{elf}", 0, 1])
    found = on_the_desk(tmp_path)
    assert (found.summary["stopped"], paths(found)) == ("exhausted", reference(SIZE))
    write_profile(tmp_path, run="command", command=["sh", "-c", "echo no route to board >&2"])
    assert "the program that leads to the board ended: no route to board" in failed(tmp_path, "--out", "broken")


def test_nothing_is_left_of_a_rig_whose_parent_died(tmp_path: Path) -> None:
    sources(tmp_path)
    write_profile(tmp_path)
    with rig(tmp_path):
        on_the_desk(tmp_path)  # its flash now holds an image
    script = "import subprocess, sys\nsubprocess.Popen(sys.argv[1:])\nimport time\ntime.sleep(60)\n"
    words = ["-m", "score_embed.cli.main", "simulate", "serial", "flash.elf", "--link", "port"]
    parent = subprocess.Popen(["python3", "-c", script, sys.executable, *words], cwd=tmp_path)
    deadline = time.monotonic() + 20
    while not (tmp_path / "port").is_symlink() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (tmp_path / "port").is_symlink()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while (tmp_path / "port").is_symlink() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not (tmp_path / "port").is_symlink()
