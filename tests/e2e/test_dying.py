"""A test may end its target: each way is a verdict with its input and place, and the campaign goes on.

The program has ten paths, which a model of it in Python lists: those before and beside the end must all be found.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from runner import Campaign, explore, score_embed

from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow

PROGRAM = """
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include "score.h"

static volatile int y;
static void wild(char *at, unsigned n)
{{
    for (unsigned i = 0; i < n; i++)
        at[i] = 0x5a;
}}
static void jump(void (*to)(void))
{{
    to();
}}
static void work(unsigned char x, unsigned char z)
{{
    unsigned char local = z;
    if (z > 100)
        y++;
    if (x == 7) {{
        {body} /* BUG */
    }}
    if (local == 3)
        y += 2;
    if (x > 200)
        y += 3;
}}
int main(void)
{{
    unsigned char x, z;
    SYM_U8(x);
    SYM_U8(z);
    work(x, z);
    return 0;
}}
"""
RESET = "*(volatile unsigned *)0xE000ED0Cu = 0x05FA0004u; for (;;) {}"
LOCK_UP = '__asm__ volatile("cpsid f"); *(volatile int *)0xE8000000u = 1;'
SEMIHOSTING = '__asm__ volatile("movs r0, #0x18\\n\\tldr r1, =0x20026\\n\\tbkpt 0xab" ::: "r0", "r1", "memory");'
RISCV_RESET = "*(volatile unsigned *)0x100000u = 0x7777u; for (;;) {}"
BODIES = {
    ("native", "signal-10"): "raise(SIGUSR1);",
    ("native", "signal-9"): "kill(getpid(), SIGKILL);",
    ("native", "signal-19"): "raise(SIGSTOP);",
    ("native32", "signal-15"): "raise(SIGTERM);",
    ("arm-linux", "signal-9"): "kill(getpid(), SIGKILL);",
    ("native", "corrupted"): "extern char __start_sc_data[]; wild(__start_sc_data, 4096);",
    ("mps2-an385", "reset"): RESET,
    ("mps2-an386", "reset"): RESET,
    ("riscv32-virt", "reset"): RISCV_RESET,
    ("mps2-an385", "lock-up"): LOCK_UP,
    (
        "mps2-an385",
        "corrupted",
    ): "extern char __sc_data_start[], __sc_data_end[]; unsigned n = (unsigned)(__sc_data_end - __sc_data_start) / 2;"
    " wild(__sc_data_end - n, n);",  # with the taint map
    ("riscv32-virt", "corrupted"): "extern char __sc_data_start[]; wild(__sc_data_start, 8);",
}


def path_of(x: int, z: int) -> tuple[bool, ...]:
    """The decisions of the program with these inputs: after the end there are none."""
    before = (z > 100, x == 7)
    return before if x == 7 else (*before, z == 3, x > 200)


ALL = {path_of(x, z) for x, z in itertools.product(range(256), repeat=2)}


def rows(found: Campaign) -> list[TestRow]:
    with Store.read(found.folder) as record:
        return list(record.tests())


def paths(found: Campaign) -> set[tuple[bool, ...]]:
    return {path_of(*test.input[:2]) for test in rows(found)}


def the_line(program: str) -> int:
    return next(i for i, text in enumerate(program.splitlines(), 1) if "BUG" in text)


def run(folder: Path, body: str, *options: str) -> tuple[Campaign, str]:
    program = PROGRAM.format(body=body)
    return explore(folder, {"p.c": program}, *options), program


@pytest.mark.parametrize(("board", "kind"), BODIES)
def test_each_end_is_a_verdict_with_its_input_and_place(tmp_path: Path, board: str, kind: str) -> None:
    found, program = run(tmp_path, BODIES[board, kind], "--board", board)
    (bug,) = found.summary["bugs"]
    assert (bug["kind"], bug["inputs"]["x"], bug["confirmed"]) == (kind, 7, True)
    if kind not in ("reset", "lock-up", "corrupted"):  # between the last probe and these there is none
        assert (bug["file"], bug["line"], bug["function"]) == ("p.c", the_line(program), "work")
    assert paths(found) == ALL
    assert (found.summary["stopped"], found.summary["lost"], found.summary["mispredicted"]) == ("exhausted", 0, 0)
    assert found.summary["coverage"]["branches_covered"] == found.summary["coverage"]["branches_total"]
    assert found.summary["unflipped"] == []
    if kind != "signal-19":  # it takes seconds to see that a process has stopped
        again = score_embed("replay", str(found.folder), cwd=tmp_path)
        assert again.returncode == 0, again.stdout + again.stderr


def test_a_program_that_ends_the_emulator_has_ended(tmp_path: Path) -> None:
    found, _ = run(tmp_path, SEMIHOSTING, "--board", "mps2-an385")
    assert {(test.verdict, test.code) for test in rows(found) if test.input[0] == 7} == {("exit", 0)}
    assert paths(found) == ALL
    assert (found.summary["stopped"], found.summary["bugs"], found.summary["unflipped"]) == ("exhausted", [], [])


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_read_where_the_image_has_nothing_is_out_of_bounds(tmp_path: Path, board: str) -> None:
    """It overwrites nothing, as "corrupted" said. Natively it is the gap between code and constants; below a text that
    others may end in nothing is checked on the target."""
    program = """
char letter(signed char v)
{
    static const char *letters = "ABC";
    if (v > 2) return '=';
    return letters[v * STEP];
}
"""
    step = {"native": 1, "mps2-an385": -20000}[board]
    options = ("--board", board, "--entry", "letter", "--no-witness", "--check", "none")
    found = explore(tmp_path, {"p.c": program}, *options, cflags=(f"-DSTEP={step}",))
    (bug,) = found.summary["bugs"]
    assert (bug["kind"], bug["file"], bug["line"], bug["function"]) == ("out-of-bounds", "p.c", 6, "letter")
    assert bug["confirmed"]
    assert found.summary["lost"] == 0
    again = score_embed("replay", str(found.folder), cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_copy_over_the_stack_is_a_verdict(tmp_path: Path, board: str) -> None:
    """Over the return address, and over what the probes keep there: "the trace is damaged" was the campaign's end."""
    program = """
#include "score.h"
static char s[40];
static void copy(unsigned char n)
{
    volatile char name[6];
    for (unsigned char i = 0; i < n; i++)
        name[i] = s[i];
}
int main(void)
{
    unsigned char n;
    SYM_BYTES(s, sizeof s);
    SYM_U8(n);
    SCORE_ASSUME(n <= sizeof s);
    copy(n);
    return n == 3;
}
"""
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--check", "none")
    assert found.summary["bugs"]
    assert all(bug["confirmed"] and bug["inputs"]["n"] > 6 for bug in found.summary["bugs"])
    assert found.summary["lost"] == 0
    assert {test.input[40] for test in rows(found) if test.verdict == "return"} >= set(range(7))


# It leaves a mark, which only a program may that is not confined.
ONCE = 'if (open("MARK", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) kill(getpid(), SIGKILL);'


@pytest.mark.parametrize("options", [(), ("--clients", "2")], ids=["alone", "fleet"])
def test_an_end_that_does_not_come_again_is_not_the_program_s(tmp_path: Path, options: tuple[str, ...]) -> None:
    """The same as a kill from outside: the test is what it was on the next target, and that it was retried is said."""
    found, _ = run(tmp_path, ONCE.replace("MARK", str(tmp_path / "mark")), "--unconfined", *options)
    assert (found.summary["stopped"], found.summary["lost"], found.summary["bugs"]) == ("exhausted", 0, [])
    assert (found.summary["retried"], found.code) == (1, 0)
    assert paths(found) == ALL


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_many_clients_find_what_one_finds(tmp_path: Path, board: str) -> None:
    body = BODIES[board, "corrupted"] if board == "native" else RESET
    found, _ = run(tmp_path, body, "--board", board, "--clients", "2")
    assert [bug["inputs"]["x"] for bug in found.summary["bugs"]] == [7]
    assert (found.summary["stopped"], found.summary["lost"]) == ("exhausted", 0)
    assert paths(found) == ALL


@pytest.mark.parametrize(
    ("board", "body", "kind"), [("native", "raise(SIGUSR1);", "signal-10"), ("mps2-an385", RESET, "reset")]
)
def test_a_first_test_that_dies_is_a_bug_and_others_are_tried(tmp_path: Path, board: str, body: str, kind: str) -> None:
    """Nothing can be derived from it: no condition comes before the end."""
    program = """
#include <signal.h>
#include "score.h"
static volatile unsigned char plain;
int main(void)
{
    unsigned char x, y;
    SYM_U8(x);
    SYM_U8(y);
    __asm__ volatile("" : "=m"(plain) : "r"(x) : "memory");
    *(volatile unsigned char *)&plain = x;
    unsigned char seen;
    __asm__ volatile(LOAD : "=r"(seen) : "m"(plain));
    if (seen < 128) { BODY }
    if (y == 3)
        return 1;
    return 0;
}
"""
    load = '"movzbl %1, %k0"' if board == "native" else '"ldrb %0, %1"'
    found = explore(
        tmp_path, {"p.c": program.replace("LOAD", load).replace("BODY", body)}, "--board", board, first={"x": 0, "y": 0}
    )
    assert [(bug["kind"], bug["inputs"]["x"] < 128) for bug in found.summary["bugs"]] == [(kind, True)]
    assert {test.code for test in rows(found) if test.verdict == "return"} == {0, 1}


@pytest.mark.parametrize("board", ["native", "arduino-mega2560"])
def test_a_poll_without_end_is_a_hang_of_that_path(tmp_path: Path, board: str) -> None:
    program = """
#include "score.h"
static unsigned char next_byte(void)
{
    unsigned char c;
    SYM_BYTES(&c, 1);
    return c;
}
int main(void)
{
    while (next_byte() != 'x') {}
    if (next_byte() == 'y')
        return 1;
    return 0;
}
"""
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--max-branches", "20000", "--seed", "2")
    (bug,) = found.summary["bugs"]
    (longest,) = (len(test.input) for test in rows(found) if test.number == bug["test"])
    assert (bug["kind"], bug["function"], bug["confirmed"]) == ("hang", "next_byte", True)
    assert found.summary["stopped"] == "drained"
    hang = f"hang: it asks for more than {longest} bytes of input and does not end"
    beyond = {"lost: it needs more input than the target's buffer can hold"} if board != "native" else set()
    assert set(found.incomplete) == {hang} | beyond
    ends = {(test.input.find(b"x"), test.code) for test in rows(found) if test.verdict == "return"}
    assert ends >= {(at, code) for at in range(longest - 1) for code in (0, 1)}
    again = score_embed("replay", str(found.folder), str(bug["test"]), cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
