"""Random programs that read and store through tables of pointers to separate variables.

Scalars, arrays, structures, variables on the stack and blocks of the heap; tables of constants and such as change, also
at places that the input decides; entries that are null, lead into the middle of an object, or into one that another
entry leads to, too. Two symbolic bytes; the plain build reports each decision itself (generator.py).
"""

from __future__ import annotations

import random

from generator import COMPARISONS, HEADER

FIXED = r"""
#include <stdlib.h>
struct pair { unsigned char c; unsigned short s; unsigned char *p; struct pair *next; };
static unsigned char x0, x1 = 7, x2 = 9, array[3] = { 1, 2, 3 };
static unsigned short y0 = 5, y1, wide = 0x1234;
static int i0 = -3, i1, i2 = 70000;
static struct pair one = { 1, 2, &x0, 0 }, two = { 3, 4, &x1, &one }, many[3] = { { 5, 6, &x2, &two }, { 7, 8, array, many } };
static unsigned char *const outs[4] = { &x0, &x1, &array[1], (unsigned char *)&wide };
static unsigned char *const few[2] = { &x2, array };
static unsigned char *maybe[4] = { &x1, 0, &x2, &array[2] };
static unsigned short *shorts[4] = { &y0, &y1, &wide, &one.s };
static int *const ints[3] = { &i0, &i1, &i2 };
static struct pair *const pairs[4] = { &one, &two, &many[1], &many[0] };
static void put(unsigned char *p, int v) { if (B(p != 0)) *p = (unsigned char)v; }
static int get(const unsigned char *p) { if (B(p != 0)) return *p; return -1; }
"""
VARIABLES = ("v0", "v1")
MOST_DECISIONS = 5


class ApartProgram:
    """One program; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"apart {seed}")
        self.decisions = 0

    def text(self) -> str:
        body: list[str] = []
        for _ in range(self.rng.randint(4, 7)):
            body += self.statement(2)
        return "\n".join(
            [
                HEADER.partition("struct rec")[0],
                FIXED,
                "int main(void)",
                "{",
                "    unsigned char a, b, l0 = 4, l1 = 250, *locals[3] = { &l0, &l1, &l0 }, *q = &x0;",
                "    unsigned char *h0 = calloc(1, 2), *h1 = calloc(1, 1), *blocks[2];",
                "    struct pair kept = { 0 };",
                "    int v0 = 1, v1 = 2, m;",
                "    blocks[0] = h0; blocks[1] = h1;",
                "    SYM_U8(a); SYM_U8(b);",
                *body,
                f"    if (B({self.read()} {self.comparison()})) return 1;",
                f"    if (B(x0 + x1 + {self.place()} > v0 + l1)) return 2;",
                "    if (B(kept.s + one.s + h1[0] == v1)) return 3;",
                "    return q == 0;",
                "}",
                "",
            ]
        )

    # -- expressions ----------------------------------------------------------------------------------------------
    def index(self, count: int) -> str:
        value = self.rng.choice(("a", "b", "a >> 4", "b >> 6", "a + b", "a ^ b", "v0", "x1"))
        if count == 3:
            return f"(unsigned char)({value}) % 3"
        return f"({value}) & {count - 1}"

    def pointer(self) -> str:
        """To an unsigned char; never null."""
        rng = self.rng
        return rng.choice(
            [
                *(
                    f"outs[{self.index(4)}]",
                    f"few[{self.index(2)}]",
                    f"locals[{self.index(3)}]",
                    f"blocks[{self.index(2)}]",
                ),
                *(f"&{self.pair()}->c", f"{self.pair()}->p", "q", f"&array[{self.index(2)}]"),
            ]
        )

    def pair(self) -> str:
        return self.rng.choice(
            (f"pairs[{self.index(4)}]", f"pairs[{self.index(4)}]", f"(&many[{self.index(2)}])", "(&two)")
        )

    def place(self) -> str:
        """What lies there without any pointer."""
        return self.rng.choice(("x0", "x2", "array[1]", "y0", "wide", "i1", "two.c", "many[1].s", "l0", "h0[0]"))

    def read(self) -> str:
        return self.rng.choice(
            [
                *(
                    f"*{self.pointer()}",
                    f"get({self.pointer()})",
                    f"*shorts[{self.index(4)}]",
                    f"*ints[{self.index(3)}]",
                ),
                *(f"{self.pair()}->s", f"get(maybe[{self.index(4)}])", self.place(), f"many[{self.index(2)}].next->c"),
            ]
        )

    def value(self) -> str:
        rng = self.rng
        return rng.choice(
            (
                "a",
                "b",
                "a + b",
                "3",
                "200",
                *VARIABLES,
                self.read(),
                f"{self.read()} {rng.choice('+-^&')} {self.read()}",
            )
        )

    def comparison(self) -> str:
        return f"{self.rng.choice(COMPARISONS)} {self.rng.choice(('1', '3', '5', '7', '100', 'a', 'v0'))}"

    # -- statements -----------------------------------------------------------------------------------------------
    def may_decide(self) -> bool:
        self.decisions += 1
        return self.decisions <= MOST_DECISIONS

    def statement(self, depth: int) -> list[str]:
        rng, target = self.rng, self.rng.choice(VARIABLES)
        match rng.randrange(16 if depth else 12):
            case 0 | 1:
                return [f"    *{self.pointer()} = {self.value()};"]
            case 2:
                return [f"    *shorts[{self.index(4)}] = {self.value()};"]
            case 3:
                return [f"    *ints[{self.index(3)}] = {self.value()};"]
            case 4:
                return [f"    put({rng.choice((self.pointer(), f'maybe[{self.index(4)}]'))}, {self.value()});"]
            case 5:
                return [f"    {self.pair()}->{rng.choice('cs')} {rng.choice(('=', '+=', '^='))} {self.value()};"]
            case 6:
                return [f"    q = {self.pointer()};"]
            case 7:
                return [f"    {self.pair()}->p = {self.pointer()};"]
            case 8:
                at = rng.choice((str(rng.randrange(4)), str(rng.randrange(4)), self.index(4)))
                return [f"    {rng.choice(('shorts[%s] = &y1;', 'maybe[%s] = &x0;', 'maybe[%s] = &l1;')) % at}"]
            case 9:
                return [f"    kept = *{self.pair()};"]
            case 10 if self.may_decide():
                i = self.index(4)
                return [f"    if (B(maybe[{i}] != 0)) *maybe[{i}] = {self.value()};"]
            case 12 | 13 | 14 if self.may_decide():
                lines = [f"    if (B({self.read()} {self.comparison()})) {{", *self.statement(depth - 1)]
                return [*lines, "    } else {", *self.statement(depth - 1), "    }"]
            case 15 if self.may_decide():
                head = f"    for (m = 0; B(m < ({self.read()} & 3)); m++) {{"
                return [head, *self.statement(0), "    }"]
        return [f"    {target} = {self.value()};"]


def program(seed: int) -> str:
    return ApartProgram(seed).text()
