"""Ctrl-C at any moment of a command's first second: one word, exit code 130, and nothing is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from proof import FULL
from runner import score_embed

DEADLINE = 60  # seconds
MOMENTS = (0, 20, 50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000)  # milliseconds
PROGRAM = """#include "score.h"
int main(void)
{
    unsigned char b[40];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (int i = 0; i < 40; i++)
        if (b[i] == 'a' + i)
            n++;
    return n;
}
"""
COMMANDS = {
    "run": ("run", "--out", "o", "p.c"),
    "resume": ("run", "--resume", "r"),
    "clients": ("run", "--clients", "2", "--out", "o", "p.c"),
    "report": ("report", "r"),
    "export": ("export", "--corpus", "c.tar", "r"),
    "replay": ("replay", "r"),
    "boards": ("boards",),
    "doctor": ("doctor",),
    "server": ("server", "--out", "o", "p.c"),
    "simulate": ("fleet", "simulate", "--clients", "64"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ctrl-c")
    (folder / "p.c").write_text(PROGRAM)
    done = score_embed("run", "--max-tests", "300", "--out", "r", "p.c", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parts(1 if FULL else 25)
@pytest.mark.parametrize("alone", [False, True], ids=["all", "alone"])  # as a terminal does, or to score-embed only
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c(command: str, moment: int, alone: bool, place: Path, tmp_path: Path) -> None:
    work, temporary = tmp_path / "work", tmp_path / "tmp"
    temporary.mkdir()
    subprocess.run(["cp", "-r", str(place), str(work)], check=True, timeout=60)
    environ = {**os.environ, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    # Whoever runs the tests may have them ignore Ctrl-C, as scripts do with what they put behind.
    heard = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.executable, sys.argv[1:])"
    )
    words = [sys.executable, "-m", "score_embed.cli.main", *COMMANDS[command]]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        words = [sys.executable, "-c", heard, *words]
    process = subprocess.Popen(
        words,
        cwd=work,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until_heard(process.pid)
    time.sleep(moment / 1000)
    if alone:
        process.send_signal(signal.SIGINT)
    else:
        os.killpg(process.pid, signal.SIGINT)
    try:
        _, said = process.communicate(timeout=DEADLINE)
    finally:
        left = members(process.pid)
        for number in left:
            os.kill(number, signal.SIGKILL)
    before = not said or said.rstrip().endswith("KeyboardInterrupt")  # `site` ends with an empty line
    # (`site` has a function main, too.)
    if (
        process.returncode in (-signal.SIGINT, 1)
        and before
        and not re.search(r'cli/main\.py", line \d+, in main', said)
    ):
        return  # Python had not come to our first line
    # A command that has said all it had to say ends by the signal itself: a shell calls that 130, too.
    is_over = process.returncode == -signal.SIGINT and "interrupted" not in said
    assert process.returncode in (0, 130) or is_over, said
    assert not re.search("Traceback|Exception ignored|internal error|^error:", said, re.M), said
    assert not left, said
    assert not list(temporary.iterdir()), said
    if command == "resume" or (work / "o" / "campaign.db").exists():
        again = score_embed("run", "--max-tests", "1", "--resume", "r" if command == "resume" else "o", cwd=work)
        never_began = "never began" in again.stderr or "has run no test" in again.stderr
        assert again.returncode == 0 or never_began, again.stderr


def until_heard(process: int) -> None:
    """Until it does not ignore Ctrl-C any more."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        found = re.search(r"^SigIgn:\s*(\w+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
        if found is None or not int(found[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.001)


def members(session: int) -> list[int]:
    """The processes of a session that still live."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state != "Z":
            found.append(int(folder.name))
    return found


HALF_MADE = """
import signal, sys
from score_embed.cli import commands, main

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have it ignored

class Half:
    def __init__(self):
        signal.raise_signal(signal.SIGINT)
        self.whole = True

    def __del__(self):
        assert self.whole

Half.__del__.__module__ = "{module}"

def run(arguments, begin):
    begin()
    try:
        Half()
    except KeyboardInterrupt:
        return 130

commands.run = run
sys.exit(main.main())
"""


@pytest.mark.parametrize("module", ["z3.z3", "ours"])
def test_an_object_of_z3_that_is_half_made_when_ctrl_c_comes_is_unmade_in_silence(module: str) -> None:
    words = [sys.executable, "-c", HALF_MADE.format(module=module)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 130
    assert ("AttributeError" in done.stderr) == (module == "ours"), done.stderr
