"""Whole programs from Debian's source packages as they are: what they cost to build, and what a campaign does with
them.

    .venv/bin/python bench/programs.py [--seconds S] [--only NAME…] [--update]

Fetched, configured and made in a folder of their own; nothing of them is changed. `build`: processor seconds of the
front-end and of the compiler, with an empty cache. Then a campaign of S wall seconds (30) with the default order on
standard input or arguments: its tests a second, conditions of a path, branch directions, the share of its time that
SMT took, and its memory. `--update` writes the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page import write_table
from parsers import FETCHED

ROOT = Path(__file__).resolve().parents[1]
# The command line in this process, then what it and its children used.
MEASURED = """
import resource, sys
from score_embed.cli.main import main
code = main(sys.argv[1:])
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print("used", *(round(used.ru_utime + used.ru_stime, 1) for used in (own, others)), own.ru_maxrss >> 10, file=sys.stderr)
sys.exit(code)
"""


@dataclass(frozen=True)
class Program:
    """A package; how it is made; its sources, by globs (of objects: what they were made of), without these; its flags,
    and what is symbolic."""

    package: str
    make: tuple[str, ...]
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    symbolic: tuple[str, ...]
    without: str = "$^"
    folder: str = "."  # where the compiler is called


PROGRAMS = {
    "lua": Program(
        "lua5.4", (), ("src/*.c",), ("-Isrc", "-DLUA_COMPAT_5_3", "-lm"), ("--stdin-bytes", "20"), r"luac\.c"
    ),
    "mawk": Program(
        "mawk",
        ("./configure", "make"),
        ("*.c",),
        ("-I.", "-DHAVE_CONFIG_H", "-DLOCAL_REGEXP", "-D_DEFAULT_SOURCE", "-D_XOPEN_SOURCE=500", "-lm"),
        ("--argv", "8"),
        r"makescan|regexp_system|rexp\w*\.c|fpe_check|trace\.c",
    ),
    "bc": Program(
        "bc",
        ("./configure", "make MAKEINFO=true"),
        ("bc/*.c", "lib/getopt*.c", "lib/number.c", "lib/vfprintf.c"),
        ("-I.", "-Ih", "-Ibc", "-DHAVE_CONFIG_H"),
        ("--stdin-bytes", "8"),
    ),
    "dash": Program(
        "dash",
        ("./configure", "make"),
        ("*.c", "bltin/*.c"),
        ("-I.", "-I..", "-include", "../config.h", "-DBSD=1", "-DSHELL"),
        ("--stdin-bytes", "8"),
        r"/mk\w+\.c",
        "src",
    ),
    "sed": Program(
        "sed",
        ("./configure --disable-nls", "make"),
        ("sed/*.c", "lib/**/*.o"),
        ("-I.", "-Ilib", "-Ised", "-DHAVE_CONFIG_H", '-DLOCALEDIR="/none"'),
        ("--argv", "6", "--stdin-bytes", "6"),
        r"gnulib-tests",
    ),
}


def made(program: Program, scratch: Path) -> Path:
    """The package's folder, configured and made. Files keep their times: else make wants the authors' tools."""
    if not (FETCHED / program.package).is_dir():
        subprocess.run([ROOT / "tools" / "fetch-parsers.sh", program.package], check=True, timeout=600)
    folder = scratch / program.package
    subprocess.run(["cp", "-a", FETCHED / program.package, folder], check=True, timeout=60)
    for command in program.make:
        subprocess.run(command.split(), cwd=folder, check=True, timeout=600, capture_output=True)
    return folder / program.folder


def _source(path: Path) -> Path:
    """automake puts the library's name before those of its objects."""
    return path.with_name(re.sub(r"^lib\w+_a-", "", path.stem) + ".c") if path.suffix == ".o" else path


def explored(program: Program, folder: Path, scratch: Path, *words: str) -> tuple[dict[str, Any], list[float]]:
    """summary.json, and processor seconds of its own and of its children's, and MiB."""
    named = [_source(path) for glob in program.sources for path in sorted(folder.glob(glob))]
    sources = [str(path.relative_to(folder)) for path in named if not re.search(program.without, str(path))]
    command = [
        sys.executable,
        "-c",
        MEASURED,
        "run",
        "--json",
        *words,
        *program.symbolic,
        *sources,
        "--",
        *program.flags,
    ]
    environment = {**os.environ, "XDG_CACHE_HOME": str(scratch / "cache")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800, check=False
    )
    if not done.stdout:
        sys.exit(done.stderr)
    used = done.stderr.rpartition("used ")[2].split()
    return json.loads(done.stdout), list(map(float, used))


def row(name: str, seconds: float) -> str:
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        folder = made(program, scratch)
        _, (front_end, compiler, _) = explored(program, folder, scratch, "--max-tests", "1", "--out", "first")
        found, (_, _, memory) = explored(program, folder, scratch, "--time", str(seconds), "--out", "then")
    solver, coverage = found["solver"], found["coverage"]
    by_smt = sum(solver["seconds_by"][layer] for layer in ("smt", "bitwuzla", "cut"))
    return (
        f"| {name} {' '.join(program.symbolic)} | {front_end:.0f} + {compiler:.0f} s | {found['runs'] / found['seconds']:.1f} "
        f"| {found['conditions']['mean']:.0f} | {coverage['branches_covered']}/{coverage['branches_total']} "
        f"| {100 * by_smt / found['seconds']:.0f} % | {memory:.0f} MiB |"
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args(words)
    lines = [
        "| program | build: front-end + compiler | tests a second | conditions a path | branch directions | Z3 | memory |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in arguments.only:
        lines.append(row(name, arguments.seconds))
        print(lines[-1], flush=True)
    if arguments.update:
        write_table("performance.md", "bench/programs.py", "".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
