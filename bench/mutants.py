"""What no test would notice: small changes (mutants) of the rooms without input and output, and the share that tests
find.

    .venv/bin/python bench/mutants.py [--sample N] [--seed N] [--keep DIR] [ROOM…]

Each night takes other mutants: the seed is the day's number if none is given. mutmut makes the mutants, and runs with
each one those unit and property tests of its room that call the changed function. Prints a score for each room and the
mutants that live: kill each with a test of behaviour, or say why it changes none.
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
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TOOLKIT = ROOT / "toolkit"
ROOMS = ("trace", "explore", "solve", "fleet")
OTHERS = ("process", "transport")  # of the fleet: sockets and processes, which the end-to-end tests have
# Tests of a room import it, or a helper that does.
HELPERS = {
    "trace": ("events", "exploring"),
    "explore": ("exploring", "decision_tree"),
    "solve": ("exploring",),
    "fleet": ("fleets", "recorded"),
}
WITH_PROCESSES = re.compile(r"score_embed\.(?:fleet\.process|fleet\.transport|campaign(?!\.criteria\b))\b")
COPIED = ("bench", "runtime", "boards", "simulators", "docs")  # beside the tests, which read them
SETTINGS = """
[tool.pytest.ini_options]
pythonpath = ["tests/support", "tests/unit", "bench"]
addopts = "-q --strict-markers"
filterwarnings = [{warnings}]

[tool.mutmut]
source_paths = ["src"]
only_mutate = [{mutated}]
do_not_mutate_patterns = ['^\\s*raise ', '^\\s*hint = ']  # texts for people
also_copy = [{copied}]
process_isolation = "forkserver"  # Z3 has threads
timeout_multiplier = 4.0
timeout_constant = 10.0
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "unit_first", "--share", "{share}"]
pytest_add_cli_args_test_selection = [{tests}]
"""
KILLED = ("killed", "timeout", "segfault", "suspicious")  # suspicious: pytest itself failed


class Lives(NamedTuple):
    name: str
    why: str  # "survived" or "no tests"
    change: str


class Score(NamedTuple):
    room: str
    made: int
    tried: int
    living: list[Lives]

    def __str__(self) -> str:
        killed = self.tried - len(self.living)
        return f"| `{self.room}` | {self.made} | {self.tried} | {killed} | {100 * killed / self.tried:.0f} % |"


def main() -> None:
    options = parsed()
    again = f"bench/mutants.py --sample {options.sample} --seed {options.seed} {' '.join(options.rooms)}"
    print(f"to repeat: {again}\n\n| room | mutants | tried | killed | score |\n|---|---|---|---|---|", flush=True)
    living = []
    for room in options.rooms:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(options.keep, room).resolve() if options.keep else Path(made)
            score = scored(folder, room, options.sample, options.seed)
        print(score, flush=True)
        living += score.living
    for one in living:
        print(f"\n{one.why}: {one.name}\n{one.change}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}; all if none is given")
    parser.add_argument("--sample", type=int, default=100, help="mutants of each room (100)")
    parser.add_argument("--seed", type=int, default=datetime.date.today().toordinal(), help="which ones (the day's)")
    parser.add_argument("--keep", metavar="DIR", help="work here and leave everything in place, for a look afterwards")
    options = parser.parse_args()
    if unknown := set(options.rooms) - set(ROOMS):
        parser.error(f"there is no room {unknown.pop()}: take some of {', '.join(ROOMS)}")
    options.rooms = options.rooms or list(ROOMS)
    return options


def scored(folder: Path, room: str, size: int, seed: int) -> Score:
    lay_out(folder, room, seed)
    mutmut(folder, "run", "none has this name", expected="nothing matches")  # makes them, and finds out what calls what
    known = sorted(results(folder))
    chosen = random.Random(seed).sample(known, min(size, len(known)))
    mutmut(folder, "run", *chosen)
    found = results(folder)
    living = [name for name in sorted(chosen) if found[name] not in KILLED]
    changes = [changed(mutmut(folder, "show", name)) for name in living]
    return Score(
        room,
        len(known),
        len(chosen),
        [Lives(name, found[name], change) for name, change in zip(living, changes, strict=True)],
    )


def lay_out(folder: Path, room: str, share: int) -> None:
    """A copy of what the tests need, and mutmut's settings."""
    shutil.copytree(TOOLKIT / "score_embed", folder / "src" / "score_embed", dirs_exist_ok=True)
    for name in (*COPIED, "tests"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    modules = sorted((TOOLKIT / "score_embed" / room).rglob("*.py"))
    mutated = [f"src/{path.relative_to(TOOLKIT)}" for path in modules if path.parent.name not in OTHERS]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    words = {
        "mutated": listed(mutated),
        "copied": listed(COPIED),
        "tests": listed(tests_of(room)),
        "share": share,
        "warnings": listed(project["tool"]["pytest"]["ini_options"]["filterwarnings"]),
    }
    (folder / "pyproject.toml").write_text(SETTINGS.format(**words), encoding="utf-8")


def tests_of(room: str) -> list[str]:
    of_room = re.compile(rf"score_embed\.{room}\b|from (?:{'|'.join(HELPERS[room])}) ")
    found = []
    for kind in ("unit", "property"):
        for path in sorted((ROOT / "tests" / kind).glob("test_*.py")):
            text = path.read_text(encoding="utf-8")
            if of_room.search(text) and not WITH_PROCESSES.search(text):
                found.append(str(path.relative_to(ROOT)))
    return found


def listed(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def results(folder: Path) -> dict[str, str]:
    """What is known of each mutant."""
    lines = mutmut(folder, "results", "--all", "true").splitlines()
    return dict(line.strip().split(": ") for line in lines if "__mutmut_" in line)


def mutmut(folder: Path, *words: str, expected: str = "") -> str:
    """Its output. Ends this command where mutmut fails (but as expected), or the tests do without any change."""
    command = [sys.executable, "-m", "mutmut", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bench")}
    log = folder / "mutmut.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False)
    spinner = r"[\u2800-\u28ff] [A-Z][^\r\n\u2800-\u28ff]*"
    text = re.sub(spinner, "", log.read_text(encoding="utf-8", errors="replace"))
    if done.returncode and not (expected and expected in text):
        raise SystemExit(
            f"mutmut {words[0]} failed; with debug = true in {folder}/pyproject.toml it says more:\n{text}"
        )
    return text


def changed(shown: str) -> str:
    """The lines of a difference that differ, and where they are."""
    return "\n".join(line for line in shown.splitlines() if re.match(r"[-+@](?![-+])", line))


if __name__ == "__main__":
    main()
