"""GCC 14 as a judge of MC/DC, on a machine that has an older one: its compiler proper and its gcov, out of Debian 13's
packages (tools/setup-tests.sh), run with the C library of that Debian; what they make is assembled and linked by the
machine's own gcc."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# tools/setup-tests.sh fills it
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "score-embed"
ROOT = _CACHE / "gcc14" / "usr"
_TRIPLE = "x86_64-linux-gnu"
_LIBRARY = ROOT / "lib" / "gcc" / _TRIPLE / "14"
_LOADER = [str(ROOT / "lib64" / "ld-linux-x86-64.so.2"), "--library-path", str(ROOT / "lib" / _TRIPLE)]
# libgcov is built for a newer C library, which has another name for this one.
_NEWER = '#include <stdlib.h>\nlong __isoc23_strtol(const char *s, char **e, int b) { return strtol(s, e, b); }\n'


def built(source: Path, folder: Path, flags: Sequence[str]) -> Path:
    """The program, which counts its decisions' conditions when it runs."""
    cc1 = folder / "cc1"  # the driver starts it by this name
    cc1.write_text(f'#!/bin/sh\nexec {" ".join(_LOADER)} {ROOT}/libexec/gcc/{_TRIPLE}/14/cc1 "$@"\n')
    cc1.chmod(0o755)
    (folder / "newer.c").write_text(_NEWER)
    driver = [*_LOADER, str(ROOT / "bin" / f"{_TRIPLE}-gcc-14"), f"-B{folder}/", "-isystem", str(_LIBRARY / "include")]
    _run([*driver, "-O0", "--coverage", "-fcondition-coverage", *flags, "-S", str(source), "-o", "judged.s"], folder)
    _run(["gcc", "judged.s", "newer.c", "-o", "judged", f"-L{_LIBRARY}", "-lgcov", "-lm"], folder)
    return folder / "judged"


def conditions(folder: Path, source: Path) -> list[tuple[int, dict[str, Any]]]:
    """What gcov says of each decision, with its line, after the program ran."""
    gcov = [
        *_LOADER,
        str(ROOT / "bin" / f"{_TRIPLE}-gcov-14"),
        "--conditions",
        "--json-format",
        "--stdout",
        "judged.gcda",
    ]
    document = json.loads(_run(gcov, folder))
    return [
        (line["line_number"], decision)
        for file in document["files"]
        if folder / file["file"] == source
        for line in file["lines"]
        for decision in line["conditions"]
    ]


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
