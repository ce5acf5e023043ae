"""What no test would notice: small changes (mutants) of the rooms without input and output, and the share that tests find.

    .venv/bin/python bench/mutants.py [--sample N] [--seed N] [--keep DIR] [ROOM…]

Each night takes other mutants: the seed is the day's number if none is given. mutmut makes the mutants, and runs with each
one the unit and property tests that call the changed function. Prints a score for each room, then the mutants that live: kill
each with a test of behaviour, or say why it changes none. Exit code 1: a room's score is below `--least` percent.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("trace", "explore", "solve", "fleet")
OTHERS = ("fleet/process", "fleet/transport")  # sockets and processes: the end-to-end tests have them
# Tests of a room import it, or a helper that does.
OF_A_ROOM = re.compile(
    r"score_embed\.(?:trace|explore|solve|fleet)\b|from (?:decision_tree|events|exploring|fleets|recorded) "
)
WITH_PROCESSES = re.compile(r"score_embed\.(?:fleet\.process|fleet\.transport|campaign)|runner import")
FIRST = "score_embed.trace.undo.*"  # a module with few mutants: mutmut names none before it has run some
SETTINGS = """
[tool.pytest.ini_options]
pythonpath = ["tests/support", "bench"]
addopts = "-q --strict-markers"
filterwarnings = ["error"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = [{mutated}]
do_not_mutate_patterns = ['^\\s*raise ', '^\\s*hint = ']  # texts for people
also_copy = [{copied}]
process_isolation = "forkserver"  # Z3 has threads
timeout_multiplier = 2.0
timeout_constant = 10.0
pytest_add_cli_args = ["-p", "no:cacheprovider", "--share", "{share}"]
pytest_add_cli_args_test_selection = [{tests}]
"""
COPIED = ("bench", "runtime", "boards", "simulators", "docs")  # beside the tests, which read them
KILLED = ("killed", "timeout", "segfault", "suspicious")


def main() -> int:
    options = parsed()
    print(
        f"seed {options.seed}; to repeat: bench/mutants.py --sample {options.sample} --seed {options.seed}", flush=True
    )
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made).resolve()
        lay_out(folder, options.rooms, options.seed)
        mutmut(folder, "run", FIRST)
        known = {
            line.split()[-1] for line in mutmut(folder, "print-time-estimates").splitlines() if "__mutmut_" in line
        }
        chosen = sample(known, options.rooms, options.sample, options.seed)
        mutmut(folder, "run", *chosen)
        lines = mutmut(folder, "results", "--all", "true").splitlines()
        results = dict(line.strip().split(": ") for line in lines if "__mutmut_" in line)
        living = [name for name in chosen if results[name] not in KILLED]
        scores = table(chosen, living)
        for name in living:
            print(f"\n{results[name]}: {name}\n{changed(mutmut(folder, 'show', name))}")
    return int(min(scores) < options.least)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}; all if none is given")
    parser.add_argument("--sample", type=int, default=100, help="mutants of each room (100)")
    parser.add_argument("--seed", type=int, default=datetime.date.today().toordinal(), help="which ones (the day's)")
    parser.add_argument("--keep", metavar="DIR", help="work here and leave everything in place, for a look afterwards")
    parser.add_argument("--least", type=int, default=0, help="percent that a room must reach (0)")
    options = parser.parse_args()
    if unknown := set(options.rooms) - set(ROOMS):
        parser.error(f"there is no room {unknown.pop()}: take some of {', '.join(ROOMS)}")
    options.rooms = options.rooms or ROOMS
    return options


def lay_out(folder: Path, rooms: Iterable[str], share: int) -> None:
    """A copy of what the tests need, and mutmut's settings."""
    shutil.copytree(ROOT / "toolkit" / "score_embed", folder / "src" / "score_embed", dirs_exist_ok=True)
    for name in (*COPIED, "tests"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    rooms_ = [ROOT / "toolkit" / "score_embed" / room for room in rooms]
    others = [ROOT / "toolkit" / "score_embed" / other for other in OTHERS]
    modules = [path for room in rooms_ for path in room.rglob("*.py") if not set(others) & set(path.parents)]
    undo = ROOT / "toolkit" / "score_embed" / "trace" / "undo.py"
    mutated = [f"src/{path.relative_to(ROOT / 'toolkit')}" for path in sorted({*modules, undo})]
    settings = SETTINGS.format(
        mutated=listed(mutated), copied=listed(COPIED), share=share, tests=listed(tests_of_rooms())
    )
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")


def tests_of_rooms() -> list[str]:
    found = []
    for kind in ("unit", "property"):
        for path in sorted((ROOT / "tests" / kind).glob("test_*.py")):
            text = path.read_text(encoding="utf-8")
            if OF_A_ROOM.search(text) and not WITH_PROCESSES.search(text):
                found.append(str(path.relative_to(ROOT)))
    return found


def listed(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def mutmut(folder: Path, *words: str) -> str:
    """Its output. Ends this command where mutmut fails, or the tests do without any change."""
    command = [sys.executable, "-m", "mutmut", *words]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    log = folder / "mutmut.log"
    with log.open("w", encoding="utf-8") as file:  # it draws a spinner
        done = subprocess.run(command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False)
    text = re.sub(r"[\u2800-\u28ff] [A-Z][^\r\n\u2800-\u28ff]*", "", log.read_text(encoding="utf-8", errors="replace"))
    if done.returncode:
        raise SystemExit(
            f"mutmut {words[0]} failed; with debug = true in {folder}/pyproject.toml it says more:\n{text}"
        )
    return text


def room_of(name: str) -> str:
    return name.split(".")[1]


def sample(known: Iterable[str], rooms: Iterable[str], size: int, seed: int) -> list[str]:
    """So many mutants of each room, or all it has."""
    by_room: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(known):
        by_room[room_of(name)].append(name)
    rng = random.Random(seed)
    chosen = []
    for room in rooms:
        names = by_room[room]
        print(f"{room}: {len(names)} mutants", flush=True)
        chosen += rng.sample(names, min(size, len(names)))
    return chosen


def table(chosen: Sequence[str], living: Sequence[str]) -> list[float]:
    """Prints the score of each room, in Markdown; returns them."""
    of, alive = Counter(map(room_of, chosen)), Counter(map(room_of, living))
    print("\n| room | mutants | killed | score |\n|---|---|---|---|")
    scores = []
    for room, count in of.items():
        scores.append(100 * (count - alive[room]) / count)
        print(f"| {room} | {count} | {count - alive[room]} | {scores[-1]:.0f} % |", flush=True)
    return scores


def changed(shown: str) -> str:
    """The lines of a difference that differ, and where they are."""
    return "\n".join(line for line in shown.splitlines() if re.match(r"[-+@](?![-+])", line))


if __name__ == "__main__":
    sys.exit(main())
