"""Nothing lost, whatever is killed: campaigns under attack, for as long as one likes.

    .venv/bin/python bench/nemesis.py --seconds 3600 --seed 1

Each campaign has a program of its own, an independent model of it, and attacks on hosts, clients, targets, disk and
network (tests/support/attacks.py). Prints what was attacked how often and how sessions ended; every deviation with its
seed (`--only SEED` repeats it, as far as the machine's timing is the same). Exit code 1 if there is one. As root in a
machine of its own all kinds of attacks are possible; what is left out is said.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import attacks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first campaign; the next ones count up")
    parser.add_argument("--only", type=int, metavar="SEED", help="this campaign only")
    parser.add_argument("--modes", default=",".join(attacks.MODES), help="how programs are explored")
    parser.add_argument("--boards", default=",".join(attacks.BOARDS))
    parser.add_argument("--attacked", type=float, default=attacks.ATTACKS, help="seconds of each campaign, at most")
    options = parser.parse_args()
    modes, boards = options.modes.split(","), options.boards.split(",")
    if "server" in modes and not attacks.Network.is_possible():
        modes.remove("server")
        print("left out: no network namespaces here (they need root and `ip`), so no servers with clients elsewhere")
    if "mps2-an385" in boards and shutil.which("qemu-system-arm") is None:
        boards = [board for board in boards if board != "mps2-an385"]
        print("left out: QEMU is not installed")
    attacks.adopt_orphans()
    figures = attacks.Figures()
    began, seed = time.monotonic(), options.seed if options.only is None else options.only
    while True:
        before = len(figures.deviations)
        attacks.attack(seed, figures, modes, boards, options.attacked)
        for deviation in figures.deviations[before:]:
            print(f"DEVIATION {deviation}", flush=True)
        seed += 1
        done = sum(figures.campaigns.values()), sum(figures.attacks.values()), len(figures.deviations)
        print("{} campaigns, {} attacks, {} deviations".format(*done), file=sys.stderr, flush=True)
        if options.only is not None or time.monotonic() - began >= options.seconds:
            break
    tell(figures, time.monotonic() - began)
    return 1 if figures.deviations else 0


def tell(figures: attacks.Figures, seconds: float) -> None:
    print(f"\n{sum(figures.campaigns.values())} campaigns in {seconds:.0f} s, {figures.paths} paths compared")
    for title, counts in (
        ("campaigns", figures.campaigns),
        ("attacks", figures.attacks),
        ("ends of sessions, by exit code", figures.ends),
    ):
        print(f"{title}: " + ", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    print(f"tests whose target died once and that ended on another: {figures.retried}")
    print(f"tests that were set aside, and repeated: {figures.set_aside}")
    print(f"deviations: {len(figures.deviations)}")


if __name__ == "__main__":
    sys.exit(main())
