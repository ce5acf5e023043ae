"""One client against several on this machine: paths a second, by the clock and by the CPU second.

    .venv/bin/python bench/clients.py [seconds] [rounds]

The best of some rounds, taken by turns: other work on the machine only ever makes one slower. The start of the clients
(Python, Z3, the image) counts.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from performance import ROOT, SUBJECTS, Subject, processor_time

CLIENTS = (1, 2, 3)
CHOSEN = (
    ("tokenizer, 82 bytes", "native"),
    ("packet parser with checksum, 32 bytes", "native"),
    ("tokenizer, 82 bytes", "mps2-an385"),
)


def explored(subject: Subject, board: str, clients: int, seconds: int) -> tuple[float, float]:
    """Paths a second, and a CPU second of all processes together."""
    before = processor_time()
    with tempfile.TemporaryDirectory() as work:
        words = [
            "run",
            "--json",
            "--no-witness",
            "--board",
            board,
            "--time",
            f"{seconds}s",
            "--clients",
            str(clients),
            "--seed",
            "1",
        ]
        command = [sys.executable, "-m", "score_embed.cli.main", *words, "--out", f"{work}/o", *subject.options]
        command += [str(subject.source), "--", *subject.cflags]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=300)
        with closing(sqlite3.connect(Path(work) / "o" / "campaign.db")) as db:
            (paths,) = db.execute("SELECT count(*) FROM tests WHERE is_new").fetchone()
    return paths / seconds, paths / (processor_time() - before)


def main() -> None:
    seconds, rounds = (int(word) for word in (*sys.argv[1:], *("10", "3")[len(sys.argv) - 1 :]))
    print("| program | board | clients | paths a second | times one | paths a CPU second |")
    print("|---|---|---|---|---|---|")
    for name, board in CHOSEN:
        subject = next(one for one in SUBJECTS if one.name == name)
        best = dict.fromkeys(CLIENTS, (0.0, 0.0))
        for _ in range(rounds):
            for clients in CLIENTS:
                found = explored(subject, board, clients, seconds)
                best[clients] = (max(best[clients][0], found[0]), max(best[clients][1], found[1]))
        for clients, (rate, each) in best.items():
            times = rate / best[1][0]
            print(f"| {name} | {board} | {clients} | {rate:,.0f} | {times:.2f} | {each:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
