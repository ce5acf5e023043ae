"""Declarations that no instrumented function can have: they stay as written, and only what uses them is left alone."""

from __future__ import annotations

from pathlib import Path

import corpus
import pytest

from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.image.image import Image

PROGRAM = r"""
#include <stdio.h>
#include <string.h>

_Atomic int counter;
typedef _Atomic unsigned atomic_t;
struct ring { _Atomic unsigned head; int size; };
static struct ring ring = { 1, 2 };
__typeof__(counter) other;
int main(void);
static int (*const entries[])(void) = { main };
int printed(int n, int m, int a[n][m]);
int vectors(int x);

static void leaving(int *p) { printf("cleanup %d\n", *p); }
static int cleaned(int x) { int v __attribute__((cleanup(leaving))) = x; return v + 1; }
static int counted(int x) { counter += x; return counter; }
static unsigned moved(void) { return ring.head++ + ring.size; }
static int typed(int x) { atomic_t t = x; return (int) t; }
static int parameter(_Atomic int *p) { return *p; }
int sum(int n, int m, int a[n][m]) { return a[n - 1][m - 1]; }
static int sized(int n) { int a[3][4] = { { 0 }, { 0, 0, 7 } }; int (*p)[n] = (void *) a, (**q)[n] = &p; return (*q)[1][2]; }
static int hidden(void) { int r = 0; { extern int one(void); r = one(); } return r; }
typedef int vector __attribute__((vector_size(16)));
int vectors(int x) { vector v = { x, 2, 3, 4 }; v += v; return v[0] + v[3]; }
static int lowered(int n, int a[n]) { int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; return sum(2, 3, m) + a[n - 1]; }
int one(void) { return 1; }
struct __attribute__((scalar_storage_order("big-endian"))) swapped { int x; };
static int turned(void) { struct swapped s = { 258 }; return s.x + ((unsigned char *) &s)[3]; }

int main(void)
{
    static int times;
    int n = 3, a[n];
    if (times++)
        return 0;
    a[n - 1] = 5;
    printf("%s %s %d %d\n", __func__, __FUNCTION__, (int) sizeof __func__, entries[0]() + strcmp(__func__, "main"));
    printf("%d %d %u %d\n", cleaned(4), counted(5), moved(), typed(6));
    printf("%d %d %d %d %d\n", parameter(&counter), lowered(n, a), sized(4), hidden(), vectors(3));
    printf("%d\n", turned());
    return 0;
}
"""
OUTPUT = b"main main 5 0\ncleanup 4\n5 5 3 6\n5 11 7 1 14\n260\n"
LEFT_ALONE = {
    "sized": "a pointer to a variable length array in memory",
    "vectors": "a scalar or vector with other than one initialiser",
    "turned": "struct swapped has a byte order of its own",
}


def ran(board: str, folder: Path, text: str, *cflags: str) -> tuple[Image, Finished]:
    """The instrumented program, and what it did."""
    source = folder / "program.c"
    source.write_text(text)
    image = corpus.build(board, [source], cflags=cflags)
    with corpus.target_of(board, image) as target:
        return image, target.run(Run(1, b""))


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_only_the_users_of_a_declaration_are_left_alone(board: str, tmp_path: Path) -> None:
    image, done = ran(board, tmp_path, PROGRAM, "-w")
    assert (done.verdict, done.output) == (Verdict.RETURN, OUTPUT)
    assert sorted(what for what, _, _ in image.notes) == sorted(
        f"function '{name}' is not instrumented: {why}" for name, why in LEFT_ALONE.items()
    )
    lines = PROGRAM.splitlines()
    assert all(what.split("'")[1] in "".join(lines[line - 4 : line]) for what, _, line in image.notes)


ATOMIC = r"""
#include <stdint.h>
struct ring { _Atomic uint8_t head; uint8_t size; };
static struct ring rings[2] = { { 254, 2 }, { 7, 3 } };
static _Atomic long total;
static int *_Atomic at;
static int cells[4] = { 1, 2, 3, 4 };
static int evaluated;

static struct ring *chosen(void) { evaluated++; return &rings[1]; }

int main(void)
{
    static int times;
    uint8_t x = 200;
    if (times++)
        return 0;
    at = cells;
    total += x * 2;                            /* 400 */
    total -= 1L << 20;
    long old = total--;
    int first = rings[0].head++ + rings[0].head++; /* 254 + 255 */
    uint8_t second = rings[0].head += 300;     /* 44 */
    int third = (chosen()->head <<= 6) == 192; /* 448 */
    int fourth = *++at + *at++ + *at;          /* 2 + 2 + 3 */
    at += 1;
    int fifth = --chosen()->head;
    chosen()->head ^= 255;
    return (old != 400 - (1L << 20)) + 2 * (total != old - 1) + 4 * (first != 509) + 8 * (second != 44) + 16 * !third
        + 32 * (fourth != 7) + 64 * (at != cells + 3 || fifth != 191) + 128 * (evaluated != 3 || rings[1].head != 64);
}
"""


@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
def test_atomic_objects_change_in_one_step(board: str, tmp_path: Path) -> None:
    image, done = ran(board, tmp_path, ATOMIC, "-w")
    assert (done.verdict, done.code, image.notes) == (Verdict.RETURN, 0, ())


OLD_INLINE = r"""
#include <stdio.h>
inline int emitted(int x) { return x + 1; }
extern inline int replaced(int x) { return x + 2; }
int replaced(int x) { return x + 2; }
old(x) { return x; }
int main(void)
{
    int (*pointer)(int) = emitted;
    printf("%d %d %d\n", pointer(1), replaced(2), old(3));
    return 0;
}
"""


@pytest.mark.parametrize("dialect", ["-std=gnu89", "-ansi"])
def test_inline_before_c99_is_emitted_and_may_be_replaced(dialect: str, tmp_path: Path) -> None:
    text = OLD_INLINE if dialect != "-ansi" else OLD_INLINE.replace("inline", "__inline__")
    image, done = ran("native", tmp_path, text, "-w", dialect)
    assert (done.verdict, done.output) == (Verdict.RETURN, b"2 4 3\n")
    assert not image.notes


MODES = r"""
typedef unsigned __attribute__((mode(DI))) wide;
typedef int byte __attribute__((__mode__(__QI__)));
typedef unsigned word __attribute__((mode(word)));
typedef int like_pointer __attribute__((mode(pointer)));
typedef unsigned product __attribute__((mode(PRODUCT)));
typedef float number __attribute__((__mode__(__SF__)));
typedef enum { LOW, HIGH = 200 } __attribute__((mode(QI))) level;
enum order { FIRST, SECOND };
static enum order narrow __attribute__((mode(QI)));
static struct { int first __attribute__((mode(HI))); enum order second __attribute__((mode(QI))); } member;
static int passed(int x __attribute__((mode(QI)))) { return x; }

static unsigned long factor = -1;

int main(void)
{
    static int times;
    byte small = 300;
    product p = factor;
    like_pointer minus = -1;
    number third = 1.0f / 3;
    level of = (level)(256 + HIGH);
    if (times++)
        return 0;
    narrow = (enum order)(300 - times);
    member.first = (int)factor - times;
    member.second = (enum order)(258 + times);
    p = p * factor >> PRODUCT_BITS / 2;
    return (small != 44) + 2 * ((wide)1 << 33 >> 33 != 1) + 4 * (p != factor - 1)
        + 8 * (sizeof(minus) != sizeof(void *) || minus > 0) + 16 * ((word)-1 < 255) + 32 * (third * 3 > 2) + 64 * (of != HIGH || narrow != 43)
        + 128 * (member.first != -2 || member.second != 3 || passed(255 + 2 * times) != 1);
}
"""


@pytest.mark.parametrize(
    ("board", "mode", "bits"),
    [
        ("native", "TI", 128),
        ("native32", "DI", 64),
        ("mps2-an385", "DI", 64),
        ("arduino-mega2560", "DI", 64),
    ],
)
def test_a_mode_says_how_wide_a_type_is(board: str, mode: str, bits: int, tmp_path: Path) -> None:
    image, found = ran(board, tmp_path, MODES, f"-DPRODUCT={mode}", f"-DPRODUCT_BITS={bits}")
    assert not image.notes
    assert (found.verdict, found.code) == (Verdict.RETURN, 0)
