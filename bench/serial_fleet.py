"""Many boards on one machine: tests a second of fleets of simulated boards at 115,200 baud, and what the host needs.

    .venv/bin/python bench/serial_fleet.py [--time 30s] 1,8,32

The 82-byte tokenizer, depth first; tests a second of the time in which the clients are there. Each board is a rig
behind a pseudo-terminal whose line is limited to that rate. The boards' processor time (the rigs) is this machine's
too, which it is not with real boards: so it is counted apart.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "tokenizer.c"
BAUD = 115_200
CLI = (sys.executable, "-m", "score_embed.cli.main")
TICKS = os.sysconf("SC_CLK_TCK")
PROFILE = f"""extends: native
run: serial
serial: {{baud: {BAUD}, flash: [cp, "{{elf}}", "{{probe}}"], boot-seconds: SECONDS}}
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


@contextmanager
def desk(folder: Path, boards: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many boards with the program in their flash, and a lab file. Gives the rigs."""
    with ExitStack() as stack:
        names = [f"b{number}" for number in range(boards)]
        rigs = [stack.enter_context(rig(folder, names[0]))]
        rows = [f"  {n}: {{port: {folder / n}, board: desk, probe: {folder / n}.elf}}\n" for n in names]
        (folder / "score-embed-lab.yaml").write_text("devices:\n" + "".join(rows))
        (folder / "desk.yaml").write_text(PROFILE.replace("SECONDS", "1"))
        explored(folder, "--port", names[0], "--max-tests", "1")  # flashes it, which the line is not measured for
        (folder / "desk.yaml").write_text(PROFILE.replace("SECONDS", "30"))  # many processes start at once on few cores
        for name in names[1:]:
            shutil.copy(folder / f"{names[0]}.elf", folder / f"{name}.elf")
            rigs.append(stack.enter_context(rig(folder, name)))
        yield rigs


def explored(folder: Path, *words: str) -> dict[str, Any]:
    """summary.json of a campaign."""
    command = [*CLI, "run", "--json", "--board", "desk.yaml", "--seed", "1", *words, str(PROGRAM)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode or "ended with" in done.stderr:  # a board that was lost spoils the figures
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(boards: int, limit: str) -> tuple[dict[str, Any], float, float]:
    """summary.json, and the processor seconds of the rigs and of score-embed."""
    with tempfile.TemporaryDirectory() as name, desk(Path(name), boards) as rigs:
        which = ("--clients", str(boards)) if boards > 1 else ("--port", "b0")
        before, own = sum(processor_seconds(rig.pid) for rig in rigs), os.times()
        found = explored(Path(name), *which, "--time", limit)
        after = os.times()
        host = after.children_user + after.children_system - own.children_user - own.children_system
        return found, sum(processor_seconds(rig.pid) for rig in rigs) - before, host


def main() -> None:
    words = sys.argv[1:]
    limit = words.pop(1) if words[0] == "--time" else "30s"
    print("| boards | tests a second | times one | waiting | processor: boards | host | host, a test |")
    print("|---|---|---|---|---|---|---|")
    first = 0.0
    for boards in map(int, words[-1].split(",")):
        found, rigs, host = measured(boards, limit)
        took = found["seconds"]
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
