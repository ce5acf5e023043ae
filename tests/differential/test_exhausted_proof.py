"""`exhausted` implies that no path is missing: random small programs in which something may escape, against brute force.

A program has one symbolic byte, so its paths are counted by running it, built plainly, with all 256. Beside plain statements
it calls functions without probes (of another file, or left as written) and interrupt handlers, which read and write
variables of its own, whether symbolic or not, by name, through a pointer, or as they kept them. Two programs of each kind
in every test run, 150 with SCORE_PROOF=full.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from runner import explore

PROGRAMS = 150 if os.environ.get("SCORE_PROOF") == "full" else 2
SHARED = ("s0", "s1", "s2")  # variables that other files know
OWN = ("o0", "o1")
GLOBALS = (*SHARED, *OWN)
BOARDS = {"opaque": "native", "opaque on a board": "mps2-an385", "left": "native", "handler": "mps2-an385"}

HEAD = f"""
#include "score.h"
extern int {", ".join(SHARED)}, *way;
#ifdef PLAIN
extern unsigned char plain_input;
void plain_decision(int);
#undef SYM_U8
#define SYM_U8(v) ((v) = plain_input)
#define B(c) ({{ int b_ = !!(c); plain_decision(b_); b_; }})
#else
#define B(c) (c)
#endif
"""
DRIVER = f"""
#include <stdio.h>
#include <string.h>
unsigned char plain_input;
static char path[256];
void plain_decision(int taken) {{ size_t n = strlen(path); if (n < 255) path[n] = '0' + taken; }}
int program(void);
void forget(void);
extern int {", ".join(SHARED)}, *way;
int main(void)
{{
    for (int i = 0; i < 256; i++) {{
        plain_input = (unsigned char) i;
        memset(path, 0, sizeof path);
        {" = ".join(SHARED)} = 0;
        way = 0;
        forget();
        program();
        puts(path);
    }}
    return 0;
}}
"""
# How a handler is called: the pending interrupt is taken at once; plainly, it is a function.
TRIGGER = """
static void trigger(void)
{
#ifdef PLAIN
    SysTick_Handler();
#else
    static void (*vectors[64])(void) __attribute__((aligned(256)));
    int i;
    for (i = 1; i < 64; i++) vectors[i] = SysTick_Handler;
    *(void *volatile *)0xE000ED08 = vectors;
    *(volatile unsigned *)0xE000ED04 = 1u << 26;
    __asm__ volatile("dsb; isb");
#endif
}
"""


class Writer:
    """The texts of one program. What is without probes stands in `other`, or in functions of `program` that cannot have any."""

    def __init__(self, kind: str, rng: random.Random) -> None:
        self.rng, self.kind = rng, kind
        known = SHARED if kind.startswith("opaque") else GLOBALS
        first, second, kept = (self._body(known) for _ in range(3))
        label = "__label__ l; goto l; l: ;" if kind == "left" else ""
        functions = (
            f"static int kept;\nint first(void) {{ {label} {first} return {self._value(known)} > {self._number()}; }}\n"
            f"int second(void) {{ {label} {second} return kept > {self._number()}; }}\n"
            f"void keep(void) {{ {label} {kept} kept = {self._value(known)}; }}\n"
        )
        if kind == "handler":
            functions += f"void SysTick_Handler(void) {{ {self._body(known)} }}\n{TRIGGER}"
        declared = f"static int {', '.join(OWN)};\n"
        other = f"extern int {', '.join(SHARED)}, *way;\n{functions}void forget(void) {{ kept = 0; }}\n"
        calls = "int first(void), second(void);\nvoid keep(void), forget(void);\n"
        defined = f"int {', '.join(SHARED)}, *way;\n"
        inside = kind in ("left", "handler")
        here = f"{functions}void forget(void) {{ kept = {' = '.join(OWN)} = 0; }}\n" if inside else calls
        start = "#ifdef PLAIN\nint program(void)\n#else\nint main(void)\n#endif\n"
        begin = rng.choice([f"{rng.choice(GLOBALS)} = x;", "way = &o0; o0 = x;", "v = x;"])
        body = f"    {begin}\n" + "".join(f"    {self._statement(2)}\n" for _ in range(rng.randint(3, 6)))
        forget = "" if inside else f"    {' = '.join(OWN)} = 0;\n"
        self.program = (
            f"{HEAD}{defined}{declared}{here}{start}{{\n    unsigned char x;\n    int v = 0;\n{forget}    SYM_U8(x);\n{body}"
            f"    if (B(v > {self._number()})) return 1;\n    if (B({rng.choice(GLOBALS)} > 40)) return 2;\n    return 0;\n}}\n"
        )
        self.other = "" if inside else other

    def _number(self) -> int:
        return self.rng.choice((0, 1, 7, 40, 100, 200))

    def _value(self, known: tuple[str, ...]) -> str:
        pick = self.rng.random()
        if pick < 0.2:
            return "(way ? *way : 0)"
        return str(self._number()) if pick < 0.3 else self.rng.choice(known)

    def _body(self, known: tuple[str, ...]) -> str:
        """Of a function without probes."""
        target = self.rng.choice(known)
        return self.rng.choice(
            [
                "",
                f"{target} = {self._value(known)};",
                f"if ({self._value(known)} > {self._number()}) {target} = {self._number()};",
                f"{target} += {self._number()};",
            ]
        )

    def _statement(self, depth: int) -> str:
        rng, target = self.rng, self.rng.choice((*GLOBALS, "v"))
        kinds = ["x", "number", "copy", "way", "call", "call", "call"] + ["if", "if"] * bool(depth)
        kind = rng.choice(kinds)
        if kind == "x":
            return f"{target} = x;"
        if kind == "number":
            return f"{target} = {self._number()};"
        if kind == "copy":
            return f"{target} = {rng.choice(GLOBALS)};"
        if kind == "way":
            return f"way = &{rng.choice(GLOBALS)};"
        if kind == "if":
            value = rng.choice((*GLOBALS, "x", "v"))
            then = " ".join(self._statement(depth - 1) for _ in range(rng.randint(1, 2)))
            return f"if (B({value} > {self._number()})) {{ {then} }}"
        if self.kind == "handler":
            return "trigger();"
        return rng.choice(("v = first();", "v = second();", "keep();", "if (B(first())) v = 9;"))


def brute_force(folder: Path, files: dict[str, str]) -> int:
    """How many paths there are."""
    (folder / "driver.c").write_text(DRIVER)
    for name, text in files.items():
        (folder / name).write_text(text)
    include = Path(__file__).parents[2] / "runtime" / "include"
    command = ["gcc", "-w", "-O1", "-DPLAIN", f"-I{include}", "driver.c", *files, "-o", "plain"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    done = subprocess.run(["./plain"], cwd=folder, check=True, capture_output=True, text=True, timeout=60)
    return len(set(done.stdout.splitlines()))


@pytest.mark.parametrize("kind", BOARDS)
def test_exhausted_means_that_no_path_is_missing(tmp_path: Path, kind: str) -> None:
    said: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = Writer(kind, random.Random(f"{kind} {seed}"))
        files = {"p.c": made.program, **({"other.c": made.other} if made.other else {})}
        paths = brute_force(folder, files)
        native = ("other.c",) if made.other else ()
        found = explore(folder, files, "--board", BOARDS[kind], "--seed", str(seed), native=native)
        word = found.summary["stopped"]
        said[word] += 1
        assert word in ("exhausted", "drained"), made.program
        if word == "exhausted":
            assert found.summary["paths"] == paths, f"{found.folder}\n{made.program}\n{made.other}"
    if PROGRAMS > 100:  # neither word is said always
        assert min(said["exhausted"], said["drained"]) > PROGRAMS // 20, said
