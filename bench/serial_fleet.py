"""Many boards on one machine: tests a second of fleets of simulated boards at 115,200 baud, and what the host needs.

    .venv/bin/python bench/serial_fleet.py [--time 30s] 1,8,32

The 82-byte tokenizer, depth first; tests a second of the time in which the clients are there. Each board is a rig behind a
pseudo-terminal whose line is limited to that rate. The boards' processor time (the rigs) is this machine's too, which it
is not with real boards: so it is counted apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BAUD = 115_200
CLI = (sys.executable, "-m", "score_embed.cli.main")
TICKS = os.sysconf("SC_CLK_TCK")
PROFILE = f"""extends: native
run: serial
serial: {{baud: {BAUD}, flash: [cp, "{{elf}}", "{{probe}}"], boot-seconds: 30}}
"""


@contextmanager
def rig(folder: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    words = ["simulate", "serial", str(folder / f"{name}.elf"), "--link", str(folder / name), "--baud", str(BAUD)]
    process = subprocess.Popen([*CLI, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # the port is there
        yield process
    finally:
        process.terminate()
        process.communicate()


def processor_seconds(process: int) -> float:
    """Of a process and its children so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / TICKS
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return own + sum(processor_seconds(int(child)) for child in below)


def measured(boards: int, limit: str) -> tuple[dict[str, Any], float, float]:
    """summary.json, and the processor seconds of the rigs and of score-embed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        names = [f"b{number}" for number in range(boards)]
        rigs = [stack.enter_context(rig(folder, name)) for name in names]
        (folder / "desk.yaml").write_text(PROFILE)
        rows = [f"  {n}: {{port: {folder / n}, board: desk, probe: {folder / n}.elf}}\n" for n in names]
        (folder / "score-embed-lab.yaml").write_text("devices:\n" + "".join(rows))
        words = ["run", "--json", "--board", "desk.yaml", "--clients", str(boards), "--time", limit, "--seed", "1"]
        before = os.times()
        done = subprocess.run(
            [*CLI, *words, str(HERE / "tokenizer.c")], cwd=folder, capture_output=True, text=True, check=False
        )
        after = os.times()
        if done.returncode != 0 or "ended with" in done.stderr:  # a board that was lost spoils the figures
            raise SystemExit(done.stderr)
        host = after.children_user + after.children_system - before.children_user - before.children_system
        return json.loads(done.stdout), sum(processor_seconds(rig.pid) for rig in rigs), host


def main() -> None:
    words = sys.argv[1:]
    limit = words.pop(1) if words[0] == "--time" else "30s"
    print("| boards | tests a second | times one | waiting | processor: boards | host | host, a test |")
    print("|---|---|---|---|---|---|---|")
    first = 0.0
    for boards in map(int, words[-1].split(",")):
        began = time.monotonic()
        found, rigs, host = measured(boards, limit)
        took = time.monotonic() - began
        clients = found["fleet"].get("clients") or [{"tests": found["runs"], "seconds": found["seconds"]}]
        rate = sum(client["tests"] / client["seconds"] for client in clients)  # once they are there
        first = first or rate
        waiting = f"{100 * found['fleet']['waiting']:.1f} %" if found["fleet"] else "–"
        print(
            f"| {boards} | {rate:.0f} | {rate / first:.1f} | {waiting} | {rigs / took:.2f} | {host / took:.2f} "
            f"| {1000 * host / found['runs']:.2f} ms |",
            flush=True,
        )


if __name__ == "__main__":
    main()
