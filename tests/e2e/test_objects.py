"""Objects, archives and assembly among the sources; and what is said when files do not go together."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from runner import explore, message, score_embed

COMPILERS = {"native": "gcc", "mps2-an385": "arm-none-eabi-gcc"}
FLAGS = {"native": (), "mps2-an385": ("-mcpu=cortex-m3", "-mthumb")}
BOARDS = tuple(COMPILERS)

MAIN = """
#include "score.h"
int limit(void);
int twice(int x);
extern int base;
int main(void)
{
    int x;
    SYM_INT(x);
    if (x == limit() + base) return 1;
    if (x == 100) return twice(7);
    return 0;
}
"""
LIMIT = {
    "native": '.globl limit\nlimit:\n mov $40, %eax\n ret\n.section .note.GNU-stack,"",@progbits\n',
    "mps2-an385": ".syntax unified\n.thumb\n.globl limit\n.thumb_func\nlimit:\n movs r0, #40\n bx lr\n",
}


def make(folder: Path, board: str, *commands: str) -> None:
    """Run `cc …` and `ar …` of the board's tools."""
    compiler = COMPILERS[board]
    for command in commands:
        tool, *words = command.split()
        words = [compiler, *FLAGS[board], *words] if tool == "cc" else [compiler.replace("gcc", "ar"), *words]
        subprocess.run(words, cwd=folder, check=True, timeout=60)


def refused(folder: Path, board: str, code: int, *words: str, sources: tuple[str, ...] = ("p.c",)) -> str:
    """The one message that `run` ends with; it has all of `words`."""
    done = score_embed("run", "--board", board, *sources, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr.count("error:") == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert len(message(done.stderr)) == 2, "what and where; then what to do"
    for word in words:
        assert word in done.stderr, done.stderr
    return done.stderr


@pytest.mark.parametrize("board", BOARDS)
def test_objects_archives_and_assembly_are_linked_as_they_are(board: str, tmp_path: Path) -> None:
    (tmp_path / "twice.c").write_text("extern int base;\nint twice(int x) { return x * 2 + base; }\n")
    (tmp_path / "base.c").write_text("int base = 2;\n")
    (tmp_path / "limit.s").write_text(LIMIT[board])
    make(tmp_path, board, "cc -c twice.c base.c", "ar rcs libtwice.a twice.o")
    found = explore(tmp_path, {"p.c": MAIN}, "--board", board, "libtwice.a", "base.o", "limit.s")
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 3)
    (tmp_path / "score-embed.yaml").write_text("sources: [p.c, limit.s, base.o, libtwice.a]\n")
    again = score_embed("run", "--board", board, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "p on " + board in again.stdout
    assert "3 paths" in again.stdout


def test_files_that_cannot_be_linked(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(MAIN)
    (tmp_path / "b.c").write_text("int base; int twice(int x) { return x; } int limit(void) { return 1; }\n")
    make(tmp_path, "native", "cc -c b.c", "ar rcs x.a b.o")
    refused(tmp_path, "mps2-an385", 2, "b.o", "x86 (64 bits", "ARM (32 bits", "gcc", sources=("p.c", "b.o"))
    refused(tmp_path, "mps2-an385", 2, "x.a(b.o)", "another machine", sources=("p.c", "x.a"))
    (tmp_path / "bad.o").write_text("nothing\n")
    refused(tmp_path, "native", 2, "bad.o", "neither an object", sources=("p.c", "bad.o"))
    (tmp_path / "bad.a").write_bytes(b"!<arch>\nhalf a head")
    (tmp_path / "worse.a").write_bytes(b"!<arch>\n" + bytes(60))
    refused(tmp_path, "native", 2, "worse.a", "damaged", sources=("p.c", "worse.a"))
    refused(tmp_path, "native", 2, "none.a", "no such file", sources=("p.c", "none.a"))
    refused(tmp_path, "native", 2, "no C file", sources=("b.o",))
    refused(tmp_path, "native", 2, "p.cpp", "neither a C source", sources=("p.cpp",))
    (tmp_path / "hard.c").write_text("float base; int twice(int x) { return x; } int limit(void) { return 1; }\n")
    subprocess.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-c", "hard.c"],
        cwd=tmp_path,
        check=True,
        timeout=60,
    )
    refused(tmp_path, "mps2-an386", 3, "hard.o", "floating point", "-mfloat-abi", sources=("p.c", "hard.o"))


@pytest.mark.parametrize("board", BOARDS)
def test_a_symbol_with_two_definitions(board: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nint f(void) { return 1; }\nint main(void) { int x; SYM_INT(x); return x > f(); }\n'
    )
    (tmp_path / "q.c").write_text("\n\nint f(void) { return 2; }\n")
    refused(tmp_path, board, 3, "q.c:3", "p.c:2", "`f'", "twice", sources=("p.c", "q.c"))
    make(tmp_path, board, "cc -c q.c")
    refused(tmp_path, board, 3, "q.o", "p.c:2", "`f'", sources=("p.c", "q.o"))
    make(tmp_path, board, "cc -g -c q.c", "ar rcs q.a q.o")
    (tmp_path / "r.c").write_text("int g(void);\nint (*pointer)(void) = g;\n")
    (tmp_path / "s.c").write_text("int g(void) { return 3; }\nint f(void) { return 4; }\n")
    make(tmp_path, board, "cc -g -c s.c", "ar rcs q.a s.o")
    refused(tmp_path, board, 3, "s.c:2", "p.c:2", "`f'", sources=("p.c", "r.c", "q.a"))


def test_a_symbol_that_is_nowhere(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nint f(int);\nint main(void)\n{\n int x;\n SYM_INT(x);\n return f(x);\n}\n'
    )
    (tmp_path / "n.c").write_text("int n(int x) { return x > 1; }\n")
    for board in BOARDS:
        refused(tmp_path, board, 3, "p.c:7", "undefined reference", "`f'")
        refused(tmp_path, board, 3, "`main'", "--entry", sources=("n.c",))
    (tmp_path / "q.c").write_text("int g(void);\nint f(int x) { return x + g(); }\n")
    make(tmp_path, "mps2-an385", "cc -c q.c")
    refused(tmp_path, "mps2-an385", 3, "q.o", "`g'", sources=("p.c", "q.o"))


@pytest.mark.parametrize("board", [*BOARDS, "riscv32-virt", "arduino-mega2560"])
def test_all_that_is_missing_is_one_message(board: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nint f(int);\nextern int level;\nint q(void), sc_more(int);\n'
        "int main(void)\n{\n int x;\n SYM_INT(x);\n if (x == level) return sc_more(x);\n return f(x) + q();\n}\n"
    )
    (tmp_path / "q.c").write_text("int f(int);\nint start(void);\nint q(void) { return f(1) + start(); }\n")
    done = score_embed("run", "--board", board, "p.c", "q.c", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("error:")) == (3, 1), done.stderr
    found = dict(re.findall(r"^  `(\w+)': (.*)$", done.stderr, re.MULTILINE))
    files = {name: set(re.findall(r"(\w\.c):\d", text)) for name, text in found.items()}
    assert files == {"f": {"p.c", "q.c"}, "level": {"p.c"}, "sc_more": {"p.c"}, "start": {"q.c"}}
    if board == "native":  # others compute addresses on an earlier line, or know the function's only
        assert found == {"f": "p.c:10, q.c:3", "level": "p.c:9", "sc_more": "p.c:9", "start": "q.c:3"}
    for word in ("--native", "stub", "-lNAME"):
        assert word in done.stderr


@pytest.mark.parametrize("board", [*BOARDS, "arduino-mega2560"])
def test_all_clashes_are_one_message(board: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        "int f(void) { return 1; }\nint g(void) { return 1; }\nint main(void) { return 0; }\n"
    )
    (tmp_path / "q.c").write_text("\nint f(void) { return 1; }\nint g(void) { return 1; }\n")
    done = score_embed("run", "--board", board, "p.c", "q.c", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("error:")) == (3, 1), done.stderr
    for word in ("`f' is defined twice", "`g' at", "p.c:", "q.c:"):
        assert word in done.stderr


SYSTEM_CALLS = """
#include <errno.h>
#include <stdlib.h>
extern char _end; /* of a linker script that is not there */
void *_sbrk(int n) { static char *at; if (!at) at = &_end; at += n; errno = ENOMEM; return at; }
int _write(int file, char *from, int n) { (void)file, (void)from; return n; }
void _exit(int status) { (void)status; for (;;) {} }
int _kill(int process, int signal) { (void)process, (void)signal; return -1; }
int _getpid(void) { return 1; }
void __assert_func(const char *f, int l, const char *g, const char *e) { (void)f, (void)l, (void)g, (void)e; for (;;) {} }
"""
PRINTS = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "score.h"
int main(void)
{
    unsigned char x;
    char *p = malloc(100);
    SYM_U8(x);
    if (!p) return 9;
    if (x == 1) printf("one\\n");
    assert(x != 2);
    if (x == 3) exit(3);
    return 0;
}
"""


@pytest.mark.parametrize("how", ["instrumented", "native", "object", "archive"])
def test_the_programs_own_system_calls_make_way(how: str, tmp_path: Path) -> None:
    (tmp_path / "calls.c").write_text(SYSTEM_CALLS)
    make(tmp_path, "mps2-an385", "cc -c calls.c", "ar rcs calls.a calls.o")
    extra = {"instrumented": ["calls.c"], "native": ["--native", "calls.c"], "object": ["calls.o"]}
    found = explore(tmp_path, {"p.c": PRINTS}, "--board", "mps2-an385", *extra.get(how, ["calls.a"]))
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 4)
    assert found.bug_kinds == ["assertion"]
    with closing(sqlite3.connect(found.folder / "campaign.db")) as record:
        assert {row[0] for row in record.execute("SELECT output FROM tests WHERE verdict = 'return'")} == {"", "one"}


def test_a_section_that_no_restore_knows(tmp_path: Path) -> None:
    program = """
        #include "score.h"
        __attribute__((section(".noinit"))) static int kept;
        SECTION static int fast = 5;
        int main(void)
        {
            int x;
            SCORE_ASSERT(kept++ == 0 && fast++ == 5);
            SYM_INT(x);
            if (x == 7) return 1;
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", "mps2-an385", cflags=("-DSECTION=",))
    assert (found.summary["stopped"], found.summary["paths"], found.bug_kinds) == ("exhausted", 2, [])
    for board in ("mps2-an385", "riscv32-virt"):
        words = ("--board", board, "--out", board, "p.c", "--", '-DSECTION=__attribute__((section(".fast")))')
        done = score_embed("run", *words, cwd=tmp_path)
        assert done.returncode == 3, done.stdout + done.stderr
        assert "the section .fast is writable and would not be restored: fast" in done.stderr
        assert "docs/firmware.md" in done.stderr
