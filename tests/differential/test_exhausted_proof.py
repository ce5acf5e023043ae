"""`exhausted` implies that no path is missing: random small programs in which something may escape, against brute
force.

A program has one symbolic byte, so its paths are found by running it, built plainly, with all 256: what it does is one
sequence of decisions for each. Beside plain statements it gives values to a channel of tests/support/escapes.py and
takes some out. Where the campaign says `exhausted`, its tests, run plainly, must take all these sequences. A few
programs in every test run, each channel several times with --all.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from escapes import KINDS, Escape
from proof import FULL
from runner import explore

GLOBALS = ("o0", "o1")

HEAD = """
#ifdef PLAIN
extern unsigned char plain_input;
int decision(int);
void end(void);
#define SYM_U8(v) ((v) = plain_input)
#define B(c) decision(!!(c))
#else
#include "score.h"
#define B(c) (c)
#endif
"""
# The program for brute force: a process for each input, so that nothing is left of the one before.
DRIVER = """
#include <stdlib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { MOST = 200 };
unsigned char plain_input;
static char (*paths)[MOST + 2];
static int length;
int program(void);
int decision(int taken)
{
    if (length == MOST) _exit(0);
    paths[plain_input][length++] = "01"[taken];
    return taken;
}
void end(void) { _exit(0); }
int main(void)
{
    int i, status, out = dup(1);
    paths = mmap(0, 256 * sizeof *paths, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (i = 0; i < 256; i++) {
        plain_input = (unsigned char) i;
        if (!fork()) {
            if (!freopen("/dev/null", "w", stdout)) _exit(1);
            alarm(5);
            exit(program());
        }
        wait(&status);
        if (WIFSIGNALED(status)) dprintf(2, "%d: signal %d\\n", i, WTERMSIG(status));
    }
    for (i = 0; i < 256; i++) dprintf(out, "%s\\n", paths[i]);
    return 0;
}
"""


class Writer:
    """The text of one program around an escape."""

    def __init__(self, escape: Escape, rng: random.Random) -> None:
        self.rng, self.escape = rng, escape
        body = [self._statement(2) for _ in range(rng.randint(1, 4))]
        values = ["x", "v", *GLOBALS, "x"]
        body.insert(rng.randint(0, len(body)), self._give(rng.choice(values)))
        body.insert(rng.randint(body.index(body[0]), len(body)), f"v = {escape.take};")
        body.append(f"v = {escape.take};")
        lines = "".join(f"    {line}\n" for line in body)
        self.text = (
            f"{escape.text.split('#include', 1)[0] if escape.text.startswith('#define') else ''}{HEAD}{escape.text}"
            f"static int {', '.join(GLOBALS)};\n"
            f"#ifdef PLAIN\nint program(void)\n#else\nint main(void)\n#endif\n{{\n    unsigned char x;\n    int v = 0;\n"
            f"    {escape.begin}\n    SYM_U8(x);\n    {rng.choice(GLOBALS)} = x;\n{lines}"
            f"    if (B(v > {self._number()})) return 1;\n    if (B({rng.choice(GLOBALS)} > 40)) return 2;\n    return 0;\n}}\n"
        )

    def _number(self) -> int:
        return self.rng.choice((0, 1, 2, 7, 40, 99, 100, 200))

    def _give(self, value: str) -> str:
        return self.escape.give.replace("{{", "{").replace("}}", "}").replace("{}", f"({value} & 255)")

    def _statement(self, depth: int) -> str:
        rng, target = self.rng, self.rng.choice((*GLOBALS, "v"))
        kind = rng.choice(["x", "number", "copy", "give", "take", *["if", "if"] * bool(depth)])
        if kind == "x":
            return f"{target} = x;"
        if kind == "number":
            return f"{target} = {self._number()};"
        if kind == "copy":
            return f"{target} = {rng.choice(GLOBALS)};"
        if kind == "give":
            return self._give(rng.choice((*GLOBALS, "x", "v", str(self._number()))))
        if kind == "take":
            return f"{target} = {self.escape.take};"
        value = rng.choice((*GLOBALS, "x", "v"))
        then = " ".join(self._statement(depth - 1) for _ in range(rng.randint(1, 2)))
        return f"if (B({value} > {self._number()})) {{ {then} }}"


def brute_force(folder: Path, files: dict[str, str]) -> list[str]:
    """The decisions of each input."""
    (folder / "driver.c").write_text(DRIVER)
    for name, text in files.items():
        (folder / name).write_text(text)
    command = ["gcc", "-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-no-pie", "-DPLAIN", "driver.c", *files]
    subprocess.run([*command, "-o", "plain", "-lm"], cwd=folder, check=True, timeout=60)
    done = subprocess.run(["./plain"], cwd=folder, check=True, capture_output=True, text=True, timeout=120)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def kept_inputs(campaign: Path) -> list[int]:
    """The symbolic byte of each test that is kept for its path."""
    with sqlite3.connect(f"file:{campaign / 'campaign.db'}?mode=ro", uri=True) as record:
        rows = record.execute("select input from tests where is_new").fetchall()
    return [row[0][0] if row[0] else 0 for row in rows]


def check(folder: Path, escape: Escape, board: str, seed: str) -> str:
    """Explore one program; the word that was said of it."""
    made = Writer(escape, random.Random(seed))
    files = {"p.c": made.text, **({"other.c": escape.other} if escape.other else {})}
    paths = brute_force(folder, files)
    native = ("other.c",) if escape.other else ()
    # Some write files, as the plain program does, which is not confined.
    options = ("--board", board, "--seed", str(len(made.text)), "--no-witness", "--unconfined")
    found = explore(folder, files, *options, native=native, cflags=("-lm",))
    word = str(found.summary["stopped"])
    if word == "exhausted":
        missed = set(paths) - {paths[value] for value in kept_inputs(found.folder)}
        assert not missed, f"{found.folder}: {missed}\n{made.text}\n{escape.other}"
    assert word in ("exhausted", "drained"), word
    return word


# Each was said to be exhausted once although paths were missing.
FOUND_SO = [
    ("opaque", "far behind a pointer", "native", 0),
    ("opaque", "a pointer kept", "mps2-an385", 0),
    ("opaque", "a pointer given back", "native", 0),
    ("assembly", "by address, with a clobber", "native", 0),
    ("assembly", "copied by name without operands", "native", 0),
    ("assembly", "by address on a Cortex-M", "mps2-an385", 0),
    ("library", "a stream in memory", "native", 0),
    ("library", "a file, formatted", "native", 0),
    ("library", "what exit was given", "native", 0),
    ("opaque", "a pointer in a packed struct", "native", 2),
    ("opaque", "a pointer to the end", "native", 3),
    ("opaque", "a pointer to the end", "mps2-an385", 3),
    ("opaque", "a pointer in a struct, by pointer", "mps2-an385", 0),
    ("left", "called by a pointer", "native", 0),
]


@pytest.mark.parametrize(("kind", "name", "board", "seed"), FOUND_SO)
def test_exhausted_means_that_no_path_is_missing(tmp_path: Path, kind: str, name: str, board: str, seed: int) -> None:
    assert check(tmp_path, KINDS[kind][name], board, f"{kind} {name} {seed}") == "drained"


ALL = [(kind, name, board) for kind in KINDS for name, escape in KINDS[kind].items() for board in escape.boards]


@pytest.mark.skipif(FULL, reason="the next test has them all")
@pytest.mark.parts(len(ALL) // 2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("kind", "name", "board"), ALL)
def test_a_share_of_what_may_escape(tmp_path: Path, kind: str, name: str, board: str, seed: int) -> None:
    check(tmp_path, KINDS[kind][name], board, f"{kind} {name} {seed}")


@pytest.mark.skipif(not FULL, reason="hundreds of campaigns: --all")
@pytest.mark.parametrize("kind", KINDS)
def test_exhausted_means_that_no_path_is_missing_whatever_may_escape(tmp_path: Path, kind: str) -> None:
    said: Counter[str] = Counter()
    for name, escape in KINDS[kind].items():
        for board in escape.boards:
            for seed in range(3):
                folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
                folder.mkdir()
                said[check(folder, escape, board, f"{kind} {name} {seed}")] += 1
    assert min(said["exhausted"], said["drained"]) > 3, said  # neither word is said always
