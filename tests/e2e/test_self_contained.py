"""Programs that cannot change their process: it is set up once, and even so a test finds nothing of the one before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corpus import build, target_of
from runner import LINUX

from score_embed.board.profile import find_board
from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.device.wired import WiredTarget
from score_embed.image.image import Image, build_image

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"
static volatile unsigned turns;
static int deep(unsigned kilobytes, int value)
{
    volatile char frame[1024];
    int found = 0;
    unsigned i;
    for (i = 0; i < sizeof frame; i += 16) {
        found += frame[i] == 90; /* probes have their frames there, too */
        frame[i] = (char)value;
    }
    if (kilobytes) found += deep(kilobytes - 1, value);
    return found + 0 * frame[0];
}
static void give_up(unsigned bytes)
{
    volatile char frame[bytes];
    frame[bytes - 1] = 1;
    abort();
}
static void much(unsigned lines)
{
    while (lines--) puts("0123456789012345678901234567890123456789012345678901234567890");
}
int main(void)
{
    unsigned char x, y;
    char *block;
    SYM_U8(x);
    SYM_U8(y);
    switch (x) {
    case 0:
        block = malloc(100000);
        printf("%d %d", deep(300, 0), block[99999]);
        fprintf(stderr, " and %u", turns);
        break;
    case 1:
        block = malloc(100000);
        memset(block, 7, 100000);
        turns = 3;
        return deep(400u * y, 90);
    case 2: give_up(4000u * y + 1u);
    case 3:
        for (;;) turns++;
    case 4: much(2000); break;
    }
    return 0;
}
"""
# Two bytes of input, how the test ends, and how much it puts out.
BEFORE = [
    (1, 0, Verdict.RETURN, 0),
    (1, 1, Verdict.RETURN, 0),
    (2, 0, Verdict.ABORT, 0),
    (3, 0, Verdict.WATCHDOG, 0),
    (4, 0, Verdict.RETURN, 65536),
    (1, 1, Verdict.RETURN, 0),
    (1, 255, Verdict.STACK_OVERFLOW, 0),
]


def _mark(image: Image) -> bool:
    nm = subprocess.run(["nm", image.elf], capture_output=True, text=True, check=True, timeout=60)
    return " A sc_self_contained" in nm.stdout


@pytest.mark.parametrize("board", ["native", *LINUX])
def test_nothing_is_left_of_the_test_before(board: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    image = build(board, [tmp_path / "p.c"])
    assert _mark(image)
    with target_of(board, image) as target:
        assert isinstance(target, WiredTarget)
        target._watchdog = 0.4

        def run(x: int, y: int = 0) -> Finished:
            return target.run(Run(1, bytes([x, y]), max_branches=4_000_000_000))

        clean = run(0)
        assert (clean.verdict, len(clean.output) < 20) == (Verdict.RETURN, True)
        for x, y, verdict, size in BEFORE:
            ended = run(x, y)
            fresh = run(0)
            assert (fresh.verdict, fresh.output) == (Verdict.RETURN, clean.output), (x, y)
            assert (ended.verdict, len(ended.output)) == (verdict, size), (x, y)


def test_a_program_aborts_at_any_depth(tmp_path: Path) -> None:
    """The library asks the kernel to write to a stack that no test has used yet."""
    (tmp_path / "p.c").write_text(PROGRAM)
    image = build("native", [tmp_path / "p.c"])
    with target_of("native", image) as target:
        for y in range(256):
            assert target.run(Run(y, bytes([2, y]))).verdict is Verdict.ABORT, y


UNKNOWN = {
    "function pointer": "int (*f)(int) = c > 3 ? twice : once; return f(c);",
    "assembly": '__asm__ volatile("" : : : "memory"); return c;',
    "computed goto": "void *l = c > 3 ? &&one : &&two; goto *l; one: return 1; two: return 2;",
    "signals": "signal(SIGUSR1, SIG_IGN); return c;",
    "files": "close(1); return c;",
    "sleep": "usleep(1); return c;",
    "address": "void (*g)(int) = 0; return c > 3 && (void *)g == (void *)exit_group;",
}
KNOWN = {
    "calls": 'printf("%d", twice(c) + abs(c)); return toupper(c);',
    "heap": "char *p = malloc(3); p[1] = c; free(p); return 0;",
    "assertion": "assert(c != 7); return memcmp(&c, text, 1) + (int)strlen(text);",
}
AROUND = """
#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "score.h"
extern char exit_group[] __attribute__((weak));
static const char *text = "text";
int once(int c) { return c; }
int twice(int c) { return 2 * c; }
int main(void) { char c; SYM_CHAR(c); %s }
"""


@pytest.mark.parametrize("what", [*UNKNOWN, *KNOWN])
def test_which_programs_are(what: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(AROUND % {**UNKNOWN, **KNOWN}[what])
    assert _mark(build_image(find_board("native"), [tmp_path / "p.c"])) == (what in KNOWN)


def test_code_without_probes_counts_as_harmful(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(AROUND % "return once(c);")
    (tmp_path / "q.c").write_text("int unused(int c)\n{\n    return c;\n}\n")
    sources, board = [tmp_path / "p.c"], find_board("native")
    assert _mark(build_image(board, [*sources, tmp_path / "q.c"]))
    assert not _mark(build_image(board, sources, native=[tmp_path / "q.c"]))
    (tmp_path / "p.c").write_text('__asm__(".globl here; here:");\n' + AROUND % "return once(c);")
    assert not _mark(build_image(board, sources))
