"""What one test costs the target: its round trip, its processor time, its system calls.

    .venv/bin/python bench/target.py [--update] [BOARD…]

The frames that a campaign sends (depth first) are recorded, and sent again to a fresh target by a host that does
nothing else. In turn with it the same host does bare round trips over two pipes: 82 bytes there, 400 back. All
processes are pinned to one core, so a round trip is what both sides compute and two changes of process; unpinned, it
measures how processors wake. Times are the least of several portions, for on a shared machine they come long.
`--update` writes the table into docs/performance.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from explored import explored, one_by_one
from page import write_table
from probes import cpu

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign.folder import start_target
from score_embed.contract.wire import Type
from score_embed.device import native, qemu
from score_embed.image.image import build_image
from score_embed.link.transport import Channel

HERE = Path(__file__).resolve().parent
TESTS, PORTION, TRACED = 4000, 250, 200
THERE, BACK = 82, 400
ECHO = f"""
#include <unistd.h>
int main(void)
{{
    static char there[{THERE}], back[{BACK}];
    while (read(0, there, sizeof there) > 0)
        if (write(1, back, sizeof back) < 0) return 1;
    return 0;
}}
"""
HEAD = """| program | board | a round trip, of bare ones | processor time of the target | system calls a test |
|---|---|---:|---:|---|
"""


@dataclass(frozen=True)
class Subject:
    name: str
    source: str
    flags: tuple[str, ...] = ()


SUBJECTS = (
    Subject("tokenizer, 82 bytes", "tokenizer.c"),
    Subject("tokenizer, 20 bytes", "tokenizer.c", ("-DSIZE=20",)),
    Subject("packet parser, 32 bytes", "packet.c"),
    Subject("bubble sort", "sort.c"),
)


class Recording(Channel):
    """Keeps what was sent, by the line it was sent on."""

    lines: list[list[bytes]] = []  # noqa: RUF012

    def __init__(self, read_fd: int, write_fd: int) -> None:
        super().__init__(read_fd, write_fd)
        self._sent: list[bytes] = []
        Recording.lines.append(self._sent)

    def send(self, data: bytes, deadline: float) -> bool:
        self._sent.append(bytes(data))
        return super().send(data, deadline)


def recorded(subject: Subject, board: str) -> list[bytes]:
    """What a campaign sends to its target: HELLO, and a RUN for each test."""
    Recording.lines = []
    settings = config.Settings(
        board=board,
        sources=(HERE / subject.source,),
        cflags=subject.flags,
        strategy="dfs",
        max_tests=TESTS,
        seed=1,
        no_witness=True,
    )
    with one_by_one(), patch.object(native, "Channel", Recording), patch.object(qemu, "Channel", Recording):
        explored(settings)
    return max(Recording.lines, key=len)


class Line:
    """A host that only sends and waits for the end of the answer."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._in, self._out = read_fd, write_fd
        os.set_blocking(read_fd, True)
        os.set_blocking(write_fd, True)

    def bare(self, frame: bytes) -> None:
        os.write(self._out, frame)
        left = BACK
        while left:
            left -= len(os.read(self._in, 65536))

    def test(self, frame: bytes) -> None:
        """Until the frame that ends a test has come: the byte after its COBS code is its type."""
        os.write(self._out, frame)
        answer = os.read(self._in, 65536)
        while answer[-1] or answer[answer.rfind(b"\0", 0, -1) + 2] & 15 not in (Type.END, Type.READY):
            answer += os.read(self._in, 65536)


@contextmanager
def echo(folder: Path) -> Iterator[Line]:
    """A process that does nothing but answer."""
    program = folder / "echo"
    program.with_suffix(".c").write_text(ECHO)
    subprocess.run(["gcc", "-O2", program.with_suffix(".c"), "-o", program], check=True)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Line(process.stdout.fileno(), process.stdin.fileno())
        process.stdin.close()


def system_calls(pid: int, line: Line, frames: Sequence[bytes]) -> str:
    """How many a test makes, and which; empty where nobody can say."""
    if not shutil.which("strace"):
        return "–"
    with tempfile.NamedTemporaryFile("r") as report:
        words = ["strace", "-f", "-c", "-U", "calls,name", "-o", report.name, "-p", str(pid)]
        tracer = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        assert tracer.stderr is not None
        if "attached" not in tracer.stderr.readline():
            return "–"
        for frame in frames:
            line.test(frame)
        tracer.send_signal(2)
        tracer.wait(10)
        counted = {
            name: int(calls) / len(frames) for calls, name in re.findall(r"^ *(\d+) (\w+)$", report.read(), re.M)
        }
    total = counted.pop("total", 0.0)
    most = sorted(counted.items(), key=lambda item: -item[1])
    return f"{total:.1f}: " + ", ".join(f"{name} {count:.1f}" for name, count in most if count >= 0.1)


def measured(subject: Subject, board_name: str, folder: Path) -> str:
    """A row of the table."""
    board = find_board(board_name)
    frames = recorded(subject, board_name)
    image = build_image(board, [HERE / subject.source], cflags=subject.flags)
    trips: list[float] = []
    bare: list[float] = []
    with closing(start_target(board, image.elf, image.build_id)) as target, echo(folder) as other:
        _ = target.info
        line = Line(target._channel._read_fd, target._channel._write_fd)  # type: ignore[attr-defined]
        pid: int = target._process.pid  # type: ignore[attr-defined]
        for frame in frames[: PORTION + 1]:  # the first of them: HELLO
            line.test(frame)
        last = len(frames) - TRACED
        took, at = [], PORTION + 1
        while at < last:
            part = frames[at : min(at + PORTION, last)]
            at += PORTION
            before = cpu(pid)
            trips.append(_seconds(line.test, part))
            took.append((cpu(pid) - before) / len(part))
            bare.append(_seconds(other.bare, [bytes(THERE)] * PORTION))
        calls = system_calls(pid, line, frames[last : last + TRACED]) if board_name == "native" else ""
    trip, least = min(trips), min(bare)
    return (
        f"| {subject.name} | {board_name} | {trip / least:.2f} × ({trip * 1e6:.1f} : {least * 1e6:.1f} µs) |"
        f" {min(took) * 1e6:.1f} µs | {calls} |\n"
    )


def _seconds(step: object, frames: Sequence[bytes]) -> float:
    """Of one."""
    begun = time.perf_counter()
    for frame in frames:
        step(frame)  # type: ignore[operator]
    return (time.perf_counter() - begun) / len(frames)


def main() -> None:
    update, boards = "--update" in sys.argv, [word for word in sys.argv[1:] if not word.startswith("-")] or ["native"]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for board in boards:
            for subject in SUBJECTS:
                rows.append(measured(subject, board, Path(work)))
                print(rows[-1], end="", flush=True)
    if update:
        write_table("performance.md", "bench/target.py", HEAD + "".join(rows))


if __name__ == "__main__":
    main()
