"""How many functions of libraries get arguments that could be real: `python bench/harnesses.py FILE.c… [-- CFLAGS…]`.

For each function that a file defines the harness is made that `--entry` uses, and compiled. The table says how many
there are, how many are refused, how many do not compile, and of how many some argument is left null because nobody can
make it here. `--list` names them. Nothing is run; `--explore 10` explores each function for so many seconds and lists
the bugs with what they rest on.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast

from score_embed.board.profile import find_board
from score_embed.contract.program import Source
from score_embed.errors import ScoreError
from score_embed.frontend.c import own_names
from score_embed.frontend.c.parse import parse, system_files
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.harness.entry import harness_of
from score_embed.image.toolchain import Toolchain


@dataclass
class Seen:
    """What became of the functions of one file."""

    counts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)


def functions_of(text: str, path: Path) -> list[str]:
    """The user's functions of a file."""
    system = system_files(text)
    tree = parse(text, str(path))
    found = [e.decl for e in tree.ext if isinstance(e, c_ast.FuncDef) and str(e.decl.coord.file) not in system]
    return [decl.name for decl in found if decl.name != "main"]


def look(path: Path, cflags: list[str]) -> Seen:
    """Make and compile the harness of each function."""
    board = find_board("native", None, None)
    toolchain = Toolchain(board)
    seen = Seen()
    try:
        text = own_names.set_apart(preprocess(board.cc, toolchain.preprocessor_flags(cflags), path))
        names = functions_of(text, path)
    except ScoreError as error:
        seen.said.append(f"{path}: {error}")
        return seen
    model = toolchain.data_model(tuple(cflags))
    source = Source(path, text)
    for name in names:
        seen.counts["functions"] += 1
        try:
            made = harness_of([source], name, model)
        except ScoreError as error:
            seen.counts["refused"] += 1
            seen.said.append(f"{path}: {name}: {error}")
            continue
        complaint = _compiled(made.added([source])[0].text)
        if complaint:
            seen.counts["do not compile"] += 1
            seen.said.append(f"{path}: {name}: {complaint}")
        elif made.losses:
            seen.counts["something null"] += 1
            seen.said += [f"{path}: {name}: {note.what}" for note in made.losses]
        else:
            seen.counts["all made"] += 1
    return seen


def _compiled(text: str) -> str:
    """What gcc has against a preprocessed text; "" if nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".i", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            ["gcc", "-w", "-fsyntax-only", file.name], capture_output=True, text=True, timeout=60, check=False
        )
    return next((line for line in done.stderr.splitlines() if "error" in line), "")


def explored(path: Path, name: str, seconds: int, others: list[str], cflags: list[str]) -> Iterator[str]:
    """Explore one function, and say what was found."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["score-embed", "run", "--entry", name, "--time", f"{seconds}s", "--json", "--out", f"{folder}/o"]
        command += ["--no-witness", str(path), *others, "--", *cflags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120, check=False)
    try:
        summary = json.loads(done.stdout)
    except ValueError:
        yield f"{name}: {done.stderr.strip().splitlines()[:2]}"
        return
    coverage = summary["coverage"]
    yield f"{name}: {summary['stopped']}, {summary['paths']} paths, {coverage['branches_covered']} branch directions"
    for bug in summary["bugs"]:
        inputs = ", ".join(f"{key} = {value}" for key, value in bug["inputs"].items())
        rests = "; ".join(bug.get("rests_on", ()))
        yield f"    {bug['file']}:{bug['line']}: {bug['kind']} in {bug['function']}: {re.sub('[0-9a-f]{40,}', '…', inputs)}"
        if rests:
            yield f"      rests on: {rests}"


def main() -> int:
    sub = argparse.ArgumentParser(description=__doc__)
    sub.add_argument("--list", action="store_true")
    sub.add_argument("--explore", type=int, default=0, metavar="SECONDS")
    sub.add_argument("--only", default="", metavar="REGEX", help="explore these functions only")
    sub.add_argument("files", nargs="+", type=Path)
    words = sys.argv[1:]
    cflags = words[words.index("--") + 1 :] if "--" in words else []
    values = sub.parse_args(words[: words.index("--")] if "--" in words else words)
    total: Counter[str] = Counter()
    for path in values.files:
        if values.explore:
            text = own_names.set_apart(preprocess("gcc", cflags, path))
            for name in functions_of(text, path):
                if re.fullmatch(values.only or ".*", name):
                    others = [str(other) for other in values.files if other != path]
                    print("\n".join(explored(path, name, values.explore, others, cflags)), flush=True)
            continue
        seen = look(path, cflags)
        total += seen.counts
        if values.list:
            print("\n".join(seen.said))
    if not values.explore:
        rows = ("functions", "all made", "something null", "refused", "do not compile")
        print(", ".join(f"{total[row]} {row}" for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
