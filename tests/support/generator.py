"""Random C functions over two symbolic bytes, many to a file, that report their own decisions in the plain build.

In the plain build `B(condition)` and `S(value, labels…)` tell plain_driver.c each decision; in the instrumented build
they vanish. So the number of paths is computed by the compiled program itself, by a way that shares nothing
with the front-end, and does not depend on which basic blocks the compiler keeps.
Undefined behaviour is avoided by construction: divisors are constants, shift counts are small, arrays are indexed by
constants, and no expression has two side effects.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

HEADER = r"""
#include <stdio.h>
#include "score.h"
#ifdef PLAIN
void plain_decision(unsigned long long);
#define B(c) ({ int b_ = !!(c); plain_decision(b_); b_; })
#define S(v, ...) ({ __typeof__((v) + 0) s_ = (v); long long l_[] = { __VA_ARGS__ }; unsigned i_ = 0; \
    while (i_ < sizeof l_ / sizeof *l_ && s_ != (__typeof__(s_))l_[i_]) i_++; \
    plain_decision(i_); s_; })
#else
#define B(c) (c)
#define S(v, ...) (v)
#endif
struct rec { signed char c; unsigned short s; int i; };
static int helper(int x, unsigned char y) { if (B(x > y)) return x - y; return x ^ y; }
static struct rec make(int v) { struct rec r; r.c = v; r.s = v * 3; r.i = -v; return r; }
static short weigh(struct rec r) { return r.c + r.s - r.i; }
"""

TYPES = (
    *("signed char", "unsigned char", "char", "short", "unsigned short", "int", "unsigned int"),
    *("long", "unsigned long", "long long", "unsigned long long"),
)
CONSTANTS = ("0", "1", "2", "3", "7", "10", "16", "31", "64", "100", "127", "128", "200", "255", "-1", "-5", "-100")
WIDE = ("300", "1000", "32767", "65535", "40000u", "0x7fffffff", "0x80000000u", "5000000000LL", "1ULL", "-7L")
DIVISORS = ("2", "3", "5", "7", "10", "16u", "-3", "100")
BINARY = ("+", "-", "&", "|", "^")
FACTORS = ("2", "3", "5u", "-7", "100L", "1000ULL")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Function:
    """One random function; the same generator state gives the same text."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.decisions = 0  # grows the number of paths exponentially, so it is bounded
        self.labels = 0
        self.scalars = ["a", "b", "v0", "v1", "v2", "v3"]
        self.places = ["v0", "v1", "v2", "v3", "t[0]", "t[1]", "t[2]", "r.c", "r.s", "r.i", "*p", "q->s", "g"]
        self.stepped = ["v0", "v1", "t[1]", "r.s", "(*p)", "q->i", "g"]
        self.narrow = ["r.c", "r.s", "q->s"]  # for the sake of the solver

    def text(self) -> str:
        lines = [f"static long long {self.name}(unsigned char a, signed char b)", "{", *self.declarations()]
        for _ in range(self.rng.randint(4, 8)):
            lines += self.statement(2)
        return "\n".join([*lines, f"    return {self.result()};", "}"])

    def declarations(self) -> list[str]:
        pick = self.rng.choice
        lines = []
        for i in range(4):
            lines.append(f"    {pick(TYPES)} v{i} = {pick(['a', 'b', 'a + b', 'a * 3', '-b', pick(CONSTANTS)])};")
        return [
            *lines,
            f"    {pick(TYPES)} t[3] = {{ b, {pick(CONSTANTS)} }};",
            "    struct rec r = { a, b, 5 }, *q = &r;",
            f"    static {pick(TYPES)} g = {pick(CONSTANTS)};",
            "    __typeof__(v3) *p = &v3;",
            "    int n = 0, m;  /* m: loops only, so that they end soon */",
        ]

    def result(self) -> str:
        return "(long long)v0 + v1 * 3 + v2 + v3 + t[0] + t[1] + t[2] + r.c + r.s + r.i + g + n"

    # -- expressions -----------------------------------------------------------------------------------------
    def leaf(self) -> str:
        kind = self.rng.random()
        if kind < 0.5:
            return self.rng.choice(self.scalars)
        if kind < 0.75:
            return self.rng.choice(self.places)
        return self.rng.choice(CONSTANTS if kind < 0.93 else WIDE)

    def expression(self, depth: int) -> str:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf()
        inner = self.expression(depth - 1)
        match rng.randrange(12):
            case 0 | 1 | 2:
                return f"({inner} {rng.choice(BINARY)} {self.expression(depth - 1)})"
            case 3:  # products of two 64-bit unknowns are hard for any solver, and say nothing more about C
                return rng.choice(["(a * b)", f"({inner} * {rng.choice(FACTORS)})"])
            case 4:
                narrow = rng.choice(["short", "unsigned short", "signed char", "unsigned char"])
                return f"(({narrow}){inner} {rng.choice('/%')} {rng.choice(DIVISORS)})"
            case 5:
                count = rng.choice([str(rng.randrange(7)), f"({rng.choice(self.scalars)} & 7)"])
                return f"({inner} {rng.choice(['<<', '>>'])} {count})"
            case 6:
                return f"(({rng.choice(TYPES)}){inner})"
            case 7:
                return f"({rng.choice('-~!+')} {inner})"  # the space: `--1` is no negation
            case 8:
                return f"({inner} {rng.choice(COMPARISONS)} {self.expression(depth - 1)})"
            case 9 if self.may_decide():
                return f"({self.condition(1)} ? {inner} : {self.leaf()})"
            case 10 if self.may_decide():
                return rng.choice([f"helper({inner}, {self.leaf()})", f"({self.condition(1)} ? 1 : 0)"])
            case _:
                return rng.choice([f"weigh(make({inner}))", f"weigh(r) + {inner}", f"make({inner}).s"])

    def may_decide(self) -> bool:
        self.decisions += 1
        return self.decisions <= 6

    def condition(self, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.3 and self.may_decide():
            operator = self.rng.choice(["&&", "||"])
            return f"({self.condition(depth - 1)} {operator} {self.condition(depth - 1)})"
        if self.rng.random() < 0.1:
            return f"!{self.condition(0)}"
        # Half of the comparisons are against the inputs directly: those have two feasible sides.
        left = self.rng.choice(["a", "b", "a", "b", "v0", "v1"]) if self.rng.random() < 0.5 else self.expression(2)
        if self.rng.random() < 0.15:
            return f"B({left})"
        return f"B({left} {self.rng.choice(COMPARISONS)} {self.rng.choice([self.leaf(), self.expression(1)])})"

    # -- statements ------------------------------------------------------------------------------------------
    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        kind = rng.randrange(14) if depth > 0 else rng.randrange(5)
        match kind:
            case 0 | 1:
                return [f"    {rng.choice(self.places)} = {self.expression(3)};"]
            case 2:
                return [f"    {rng.choice(self.places)} {rng.choice('+-&|^')}= {self.expression(2)};"]
            case 3:
                place = rng.choice(self.narrow)
                change = rng.choice(["/= 3", "%= 7", "/= -5", "*= 3", "<<= 3", ">>= 2"])
                return [f"    {place} {change};"]
            case 4:
                place = rng.choice(self.stepped)
                step = rng.choice(["++", "--"])
                return [f"    {rng.choice(['v2 = ', 'n += ', ''])}{rng.choice([place + step, step + place])};"]
            case 5 | 6 | 7 if self.may_decide():
                lines = [f"    if ({self.condition(1)}) {{", *self.statement(depth - 1), "    }"]
                if rng.random() < 0.5:
                    lines[-1] += " else {"
                    lines += [*self.statement(depth - 1), "    }"]
                return lines
            case 8 if self.may_decide():
                return self.switch(depth)
            case 9 if self.may_decide():
                body = self.statement(0)
                return [f"    for (m = 0; B(m < ({rng.choice('ab')} & 3)); m++) {{", *body, "    }"]
            case 10 if self.may_decide():
                end = f"    }} while (B(++m < {rng.randint(1, 2)}));"
                return ["    m = 0;", "    do {", *self.statement(0), "        n++;", end]
            case 11 if self.may_decide():
                self.labels += 1
                skip = f"skip{self.labels}"
                return [f"    if ({self.condition(0)}) goto {skip};", *self.statement(0), f"{skip}: ;"]
            case 12 if self.may_decide():
                return [f"    if ({self.condition(0)}) return {self.expression(1)};"]
            case _:
                return [f"    r = make({self.expression(1)}), {rng.choice(self.places)} = weigh(r);"]

    def switch(self, depth: int) -> list[str]:
        value = self.rng.choice(["a & 7", "b", "(a ^ b) & 15", "(signed char)(a + b)", "a % 5u"])
        labels = self.rng.sample(range(-2, 10), self.rng.randint(2, 4))
        lines = [f"    switch (S({value}, {', '.join(map(str, labels))})) {{"]
        for label in labels:
            lines += [f"    case {label}:", *self.statement(0)]
            if self.rng.random() < 0.7:
                lines.append("        break;")
        if self.rng.random() < 0.6:
            lines += ["    default:", *self.statement(0)]
        return [*lines, "    }"]


def program(seed: int, count: int) -> str:
    """A file of `count` functions; the third input byte chooses one of them."""
    rng = random.Random(seed)
    return file_of([Function(rng, f"case_{i}").text() for i in range(count)], count)


def file_of(functions: Sequence[str], count: int) -> str:
    """The functions case_0, case_1, … with a main that calls one of them."""
    chain = "\n".join(f"    {'else ' if i else ''}if (k == {i}) r = case_{i}(a, b);" for i in range(count))
    main = (
        "int main(void)\n{\n    unsigned char a, k;\n    signed char b;\n    long long r;\n"
        "    SYM_U8(a); SYM_I8(b); SYM_U8(k);\n" + chain + "\n    else r = -1;\n"
        # In halves: not every C library of boards prints %lld.
        '    printf("%x %x\\n", (unsigned)(r >> 32), (unsigned)r);\n    return 0;\n}\n'
    )
    return "\n".join([HEADER, *functions, main])
