"""Tests that go on from a snapshot of the one before (runtime/snapshot.c) against tests that begin at the beginning.

The same image runs the same inputs twice: once as they come, with a snapshot after each condition, and once so that
each input is sent as a whole, which no snapshot outlives. No run may show a difference, in its events neither.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import corpus
import pytest
from generator import program

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign import campaign
from score_embed.campaign.folder import start_target
from score_embed.contract.outcome import Finished, Run
from score_embed.device.native import NativeTarget
from score_embed.image.image import Image
from score_embed.results.store import Store

ROOT = Path(__file__).parents[2]
RUNS = 200
HEAD = """
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"
static volatile unsigned y;
static unsigned char in[SIZE], more[4];
static void look(const unsigned char *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (p[i] == 'a') y += i;
        else if (p[i] > 200) y ^= 1u << i;
    }
}
"""
# What a program may do with its input while snapshots are made. `SIZE` bytes are asked for in all.
WAYS = {
    "in order": "SYM_BYTES(in, SIZE); look(in, SIZE);",
    "backwards": "SYM_BYTES(in, SIZE); for (unsigned i = SIZE; i--;) look(in + i, 1);",
    "twice": "SYM_BYTES(in, SIZE); look(in, SIZE); look(in, SIZE);",
    "in two parts": "SYM_BYTES(in, 4); look(in, 4); SYM_BYTES(in + 4, SIZE - 4); look(in, SIZE);",
    "in many parts": "for (unsigned i = 0; i < SIZE; i++) SYM_BYTES(in + i, 1);"
    " for (unsigned i = SIZE; i--;) look(in + i, 1);",
    "looked at before it is given": "SYM_BYTES(in, 4); look(in, 9); SYM_BYTES(in + 4, SIZE - 4); look(in, SIZE);",
    "where another was": "SYM_BYTES(in, 6); look(in, 3); SYM_BYTES(in + 2, 6); look(in, 8);",
    "in registers": "unsigned char a, b; SYM_U8(a); SYM_U8(b); look(&a, 1); if (b > a) y++; look(&b, 1);",
    "as numbers": "unsigned n; SYM_BYTES(in, SIZE); memcpy(&n, in + 4, 4); look(in, 4); if (n > 9) y++;"
    " look(in, SIZE);",
    "written before it is read": "SYM_BYTES(in, SIZE); look(in, 2); in[5] = 7; look(in + 6, 2); look(in, SIZE);",
    "cleared": "SYM_BYTES(in, SIZE); look(in, 2); memset(in + 4, 0, 4); look(in + 8, 2); look(in, SIZE);",
    "stored at its own index": "SYM_BYTES(in, SIZE); look(in, 1); in[in[0] & 7] = 1; look(in, SIZE);",
    "a table": 'SYM_BYTES(in, SIZE); look(in, 3); if ("hello, world"[in[3] & 7] == 108) y++; look(in, SIZE);',
    "moved": "unsigned char c[SIZE]; SYM_BYTES(in, SIZE); look(in, 2); memcpy(c, in + 1, 5); look(in, 4); look(c, 5);",
    "on the heap": "unsigned char *p = malloc(6); SYM_BYTES(p, 6); look(p, 3); free(p); p = malloc(9); look(p, 0);"
    " memset(p, 3, 9); SYM_BYTES(in, 6); look(in, 6); look(p, 9);",
    "blocks that grow": "char *p = 0; SYM_BYTES(in, SIZE); for (int i = 0; i < SIZE; i++)"
    ' if (in[i] > 99) { p = realloc(p, i + 2); p[i] = 1; look(in + i, 1); } puts(p ? "some" : "none");',
    "output": "SYM_BYTES(in, SIZE); for (int i = 0; i < SIZE; i++)"
    ' { look(in + i, 1); printf("%d:%u;", i, y); if (i % 8 == 5) fflush(stdout); }',
    "output of the input": 'SYM_BYTES(in, SIZE); look(in, 4); printf("%s %d", (char *)in + 4, in[40]); look(in, SIZE);',
    "random numbers": "SYM_BYTES(in, SIZE); for (int i = 0; i < SIZE; i++) { look(in + i, 1); y += rand() % 9; }"
    ' printf("%u", y);',
    "floating point": "double d = 1; SYM_BYTES(in, SIZE); for (int i = 0; i < SIZE; i++)"
    ' { look(in + i, 1); d = sqrt(d + i); } printf("%f", d);',
    "a structure by value": "struct s s; SYM_BYTES((unsigned char *)&s, sizeof s); look(s.a, 2); s = swap(s);"
    " look(s.a, 4); look(s.b, 4);",
    "longjmp": "if (!setjmp(back)) { SYM_BYTES(in, SIZE); look(in, 3); jump(in + 3); } look(in, SIZE);",
    "at the end": "atexit(last); SYM_BYTES(in, SIZE); look(in, 4);",
    "restricted pointers": "SYM_BYTES(in, SIZE); y += sum(in, more); look(in, SIZE);",
    "objects on the stack": "SYM_BYTES(in, SIZE); y += holds(in); y += holds_less(in + 20);",
    "pointers that were moved": "static char a[8], b[8]; SYM_BYTES(in, SIZE); at = a; at += 12; look(in, SIZE); at -= 6;"
    " look(in, 2); *at = *b;",
    "around another": "SYM_BYTES(in + 4, 4); look(in + 4, 2); SYM_BYTES(in, 12); look(in + 6, 2); look(in, 12);",
    "a long path": "SYM_BYTES(in, SIZE); for (int k = 0; k < 40; k++) look(in, SIZE);",
    "large memory": "SYM_BYTES(in, SIZE); for (int i = 0; i < SIZE; i++) { look(in + i, 1); big[i * 5000] = (char)y; }"
    " for (int i = 0; i < SIZE; i++) if (big[i * 5000] & 1) y++;",
    "a deep stack": "SYM_BYTES(in, SIZE); y += deep(in, 0);",
    # The place of an input on the stack ends before all of its bytes were looked at, and others lie there.
    "an activation that has ended": "unsigned char k; first(); SYM_U8(k); y += second(in, k); look(&k, 1);",
    "an activation before another": "SYM_BYTES(in, 4); first(); y += nest(in, 6); look(in, 4);",
    "an activation in the place of a probe": "SYM_BYTES(in, 4); first(); IF(0) IF(1) IF(2) IF(3)",
    "an activation that was left": "if (!setjmp(back)) left(); y += second(in, 3); look(in, 4);",
    "arrays of variable length": "for (unsigned n = 120; n < 121; n -= 116) { unsigned char b[n]; SYM_BYTES(b, 4);"
    " look(b, 1); y += second(in, n); }",
    "memory of alloca": "for (unsigned n = 0; n < 3; n++) { unsigned char *p = __builtin_alloca(4); SYM_BYTES(p, 4);"
    " look(p, 1 + n); y += second(in, n); }",
}
PARTS = """
static jmp_buf back;
static char big[SIZE * 5000];
struct s { unsigned char a[11], b[11]; };
static char *volatile moved;
static char *at;
static unsigned __attribute__((noinline)) sum(const unsigned char *restrict p, unsigned char *restrict to)
{
    unsigned n = 0;
    for (int i = 0; i < 12; i++) { /* a compiler might read p[30] before the loop */
        if (p[i] == 'a') *to = (unsigned char)i;
        n += p[30];
    }
    return n;
}
static unsigned __attribute__((noinline)) holds(const unsigned char *p)
{
    char a[24] = { 1 };
    moved = a;
    look(p, 20);
    moved[y & 15]++;
    look(p, 3);
    return (unsigned)a[3];
}
static unsigned __attribute__((noinline)) holds_less(const unsigned char *p)
{
    char a[4] = { 1 };
    moved = a;
    look(p, 12);
    moved[y & 3]++;
    return (unsigned)a[3];
}
static struct s swap(struct s from)
{
    struct s to;
    memcpy(to.a, from.b, 11);
    look(from.a, 4);
    memcpy(to.b, from.a, 11);
    return to;
}
static void jump(const unsigned char *p) { look(p, 2); if (p[2] != 'a') longjmp(back, 1); y++; }
#define IF(i) if (in[i] == 'a') y += i; else if (in[i] > 200) y ^= 1u << i;
static void last(void) { look(in + 2, 5); }
static unsigned deep(const unsigned char *p, unsigned n)
{
    volatile char room[3000];
    room[n] = 1;
    look(p + n, 1);
    return n + 1 < SIZE ? deep(p, n + 1) + (unsigned)room[n] : 0;
}
static void __attribute__((noinline)) first(void)
{
    unsigned char b[SIZE - 4];
    SYM_BYTES(b, SIZE - 4);
    if (b[0] == 9) y++;
}
static void left(void) { unsigned char b[SIZE - 4]; SYM_BYTES(b, SIZE - 4); look(b, 1); longjmp(back, 1); }
/* Many numbers that a compiler has to keep somewhere while other functions run, wherever the input's place was. */
static unsigned __attribute__((noinline)) nest(const unsigned char *p, unsigned n)
{
    unsigned a = n * 3, b = n ^ 7, c = n + 11, d = n * n, e = n | 64, f = n - 1, g = ~n, h = n << 2;
    look(more, 1);
    if (n) a += nest(p, n - 1);
    look(p, 1);
    a += b, c ^= d, e += f, g ^= h;
    look(more + 1, 1);
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}
static unsigned second(const unsigned char *p, unsigned n)
{
    SYM_BYTES(more, 2);
    look(more, 2);
    return nest(p, 5) + n;
}
"""
SIZE = 44
# Too short; a function is given to the C library; an array of variable length, after which there are none; events that
# leave the chunk that a snapshot's are in.
NEVER = {"in registers", "at the end", "arrays of variable length", "memory of alloca", "a long path"}


@pytest.fixture
def each(tmp_path: Path) -> str:
    """A board with a snapshot after each condition."""
    path = tmp_path / "each.yaml"
    path.write_text("extends: native\ncflags: [-DSC_SNAPSHOT_EACH]\n")
    return str(path)


def inputs_of(size: int, seed: int) -> Iterator[bytes]:
    """Each differs a little from the one before, and oftener at its end."""
    choose = random.Random(seed)
    data = bytearray(choose.randbytes(size))
    for _ in range(RUNS):
        yield bytes(data)
        for _ in range(choose.choice((1, 1, 1, 2, 3))):
            at = size - 1 - int(choose.expovariate(0.5)) % size if choose.random() < 0.7 else choose.randrange(size)
            data[at] = choose.choice((choose.randrange(256), data[at] ^ 1, 0, 255, ord("a"), ord("a")))


def number_at(target: NativeTarget, image: Image, symbol: str) -> int:
    """A number in the target's memory."""
    lines = subprocess.run(["nm", image.elf], capture_output=True, text=True, check=True).stdout.splitlines()
    at = next(int(line.split()[0], 16) for line in lines if line.endswith(f" {symbol}"))
    assert target._process is not None
    with open(f"/proc/{target._process.pid}/mem", "rb") as memory:
        memory.seek(at)
        return int.from_bytes(memory.read(4), "little")


def run_all(board: str, image: Image, runs: Iterable[Run]) -> tuple[list[Finished], int]:
    """What each came to, and how many went on at a snapshot."""
    target = start_target(find_board(board), image.elf, image.build_id)
    assert isinstance(target, NativeTarget)
    try:
        found = [target.run(run)._replace(coverage=()) for run in runs]  # that depends on what the host has got
        assert target.counters.reruns == 0
        return found, number_at(target, image, "sc_snapshots_used")
    finally:
        target.close()


def whole(inputs: Sequence[bytes]) -> Iterator[Run]:
    """Each is sent as a whole, since limits change."""
    for number, data in enumerate(inputs, 1):
        yield Run(number, data, max_branches=50_000 + number % 2)


def as_they_come(inputs: Sequence[bytes], expected: Sequence[Finished]) -> Iterator[Run]:
    """Of events some are not sent again that a run has in common with the one before."""
    before, choose = b"", random.Random(1)
    for number, (data, run) in enumerate(zip(inputs, expected, strict=True), 1):
        same = next((i for i, (a, b) in enumerate(zip(before, run.events, strict=False)) if a != b), 0)
        yield Run(number, data, max_branches=50_000, prefix=run.events[: choose.choice((0, same // 2, same))])
        before = run.events


def check(board: str, sources: tuple[Path, ...], size: int, seed: int = 1, given: int = 0) -> int:
    """Returns how many went on at a snapshot. `given`: bytes of input, if not as many as are asked for."""
    image = corpus.build(board, sources, cflags=[f"-DSIZE={size}"])
    inputs = list(inputs_of(given or size, seed))
    expected, used_by_whole = run_all(board, image, whole(inputs))
    found, used = run_all(board, image, as_they_come(inputs, expected))
    assert used_by_whole == 0
    assert found == expected
    return used


@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
@pytest.mark.parametrize("way", WAYS)
def test_ways_to_read_an_input(each: str, way: str, optimise: str, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(f"{HEAD}{PARTS}int main(void)\n{{\n    {WAYS[way]}\n    return (int)(y ^ y >> 8) & 63;\n}}\n")
    Path(each).write_text(f"extends: native\ncflags: [-DSC_SNAPSHOT_EACH, {optimise}]\n")
    used = check(each, (source,), SIZE)
    assert used > RUNS // 8 or way in NEVER


def test_a_new_host_hears_what_a_test_covers(each: str) -> None:
    """All of it, with what is before a snapshot."""
    image = corpus.build(each, (ROOT / "bench" / "tokenizer.c",), cflags=["-DSIZE=20"])
    target = start_target(find_board(each), image.elf, image.build_id)
    told = []
    try:
        for number in range(1, 5):
            target.forget_coverage()
            told.append(sorted(target.run(Run(number, bytes(19) + bytes([number % 2]), max_branches=50_000)).coverage))
    finally:
        target.close()
    assert len(told[0]) > 3
    assert told[0] == told[2]
    assert told[1] == told[3]


def test_an_input_that_is_too_short(each: str) -> None:
    """Events are asked for with the longer one."""
    check(each, (ROOT / "bench" / "match.c",), 29, given=16)


def test_events_that_the_host_has_not(each: str) -> None:
    """They are asked for, also where they come from a snapshot."""
    image = corpus.build(each, (ROOT / "bench" / "tokenizer.c",), cflags=["-DSIZE=20"])
    inputs = list(inputs_of(20, 1))[:20]
    expected, _ = run_all(each, image, whole(inputs))
    target = start_target(find_board(each), image.elf, image.build_id)
    try:
        for number, (data, run) in enumerate(zip(inputs, expected, strict=True), 1):
            prefix = bytes(len(run.events) // 2) if number % 2 else b""
            found = target.run(Run(number, data, max_branches=50_000, prefix=prefix))
            assert found._replace(coverage=()) == run
            assert target.counters.reruns == (number + 1) // 2
    finally:
        target.close()


@pytest.mark.parts(24)
@pytest.mark.parametrize("found", corpus.programs(), ids=lambda found: found.name)
def test_programs(each: str, found: corpus.TestProgram) -> None:
    check(each, found.sources, found.size)


@pytest.mark.parametrize("name", ["tokenizer", "sort", "match", "replace"])
def test_programs_of_the_bench(each: str, name: str) -> None:
    sizes = {"tokenizer": 20, "sort": 24, "match": 29, "replace": 24}
    assert check(each, (ROOT / "bench" / f"{name}.c",), sizes[name]) > RUNS // 5


@pytest.mark.parts(80)
@pytest.mark.parametrize("seed", range(80))
def test_generated_programs(each: str, seed: int, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(program(seed, 10))
    check(each, (source,), 3, seed)


@pytest.mark.parametrize("strategy", ["dfs", "mixed", "random"])
def test_a_campaign_is_the_same_without(strategy: str, tmp_path: Path) -> None:
    """With snapshots where campaigns make them, and after each condition."""
    rows: list[object] = []
    for flags in ("[]", "[-DSC_NO_SNAPSHOTS]", "[-DSC_SNAPSHOT_EACH]"):
        board = tmp_path / "b.yaml"
        board.write_text(f"extends: native\ncflags: {flags}\n")
        settings = config.Settings(
            board=str(board),
            sources=(ROOT / "bench" / "tokenizer.c",),
            out=tmp_path / f"o{len(rows)}",
            cflags=("-DSIZE=20",),
            strategy=strategy,
            max_tests=3000,
            seed=1,
            no_witness=True,
        )
        found = campaign.run(settings)
        assert (found.summary.divergences, found.summary.mispredicted, found.summary.link.reruns) == (0, 0, 0)
        with Store.read(found.folder) as record:
            rows.append((list(record.tests()), record.coverage(), record.coverage_by_test()))
    assert rows[0] == rows[1] == rows[2]
