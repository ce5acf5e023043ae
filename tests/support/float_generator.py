"""Random C functions as generator.py makes them, over floating-point numbers: values, conversions, comparisons.

Undefined behaviour is avoided by construction: what is stored stays small (`tame`), what becomes an integer even
smaller (`squash`). Infinities and what is no number come up in conditions only (`a / b` with any b), as no output may
depend on their bits.
"""

from __future__ import annotations

import random

from generator import file_of

PRELUDE = r"""
#include <math.h>
struct mix { char c; float f; double d; short s; };
static double squash(double x) { return x / (1 + fabs(x)) * 100; }
static float tame(double x) { return x / (1 + fabs(x) * 0.001); }
static float scale(float x, int by) { if (B(x < by)) return x * 0.75f; return x - by; }
static struct mix mixed(float v) { struct mix m; m.c = 1; m.f = v; m.d = v * 0.5; m.s = (short)squash(v); return m; }
static double heft(struct mix m) { return m.f * 2 - m.d + m.s; }
static unsigned pattern(float x) { union { float f; __UINT32_TYPE__ u; } p; p.f = x; return (unsigned)(p.u ^ p.u >> 16); }
"""
FLOATS = ("float", "double")
INTEGERS = (
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "long long",
    "unsigned long long",
)
CONSTANTS = ("0.5f", "1.5", "-2.25f", "0.1f", "0.1", "3.f", "1e-3", "100.0", "0x1.8p4f", "7", "-1", "16777217", "1e30f")
FACTORS = ("0.5f", "3", "-0.1", "1.1f", "a", "b", "0.25")
DIVISORS = ("3.0f", "7", "-0.3", "1e3f", "(a + 1)")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Function:
    """One random function; the same generator state gives the same text."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng, self.name = rng, name
        self.decisions = 0  # grows the number of paths exponentially, so it is bounded

    def text(self) -> str:
        pick = self.rng.choice
        lines = [f"static long long {self.name}(unsigned char a, signed char b)", "{"]
        lines += [
            f"    {pick(FLOATS)} {name} = {pick(['a', 'b', 'a * 0.1f', 'b / 3.0', *CONSTANTS[:9]])};" for name in "fgh"
        ]
        lines += [
            f"    {pick(FLOATS)} t[3] = {{ b, {pick(CONSTANTS[:9])}, a }};",
            "    static const float table[4] = { 1.5f, -20, 0.125f, 1e3f };",
            "    struct mix m = mixed(b), *q = &m;",
            f"    static {pick(FLOATS)} kept = 2.5;",
            "    __typeof__(h) *p = &h;",
            f"    {pick(INTEGERS)} v = a, n = 0;",
        ]
        for _ in range(self.rng.randint(3, 6)):
            lines += self.statement(2)
        result = "(long long)squash(kept) + pattern(tame(f)) + pattern(tame(g)) + (int)squash(h * 0.01) + v + n"
        return "\n".join([*lines, f"    return {result} + (int)squash(t[0] + t[2]) + (int)squash(heft(m));", "}"])

    # -- expressions -----------------------------------------------------------------------------------------
    def leaf(self) -> str:
        kind = self.rng.random()
        if kind < 0.35:
            return self.rng.choice(["a", "b", "v"])
        if kind < 0.75:
            return self.rng.choice(["f", "g", "h", "t[0]", "t[2]", "m.f", "m.d", "*p", "q->f", "kept", "table[a & 3]"])
        return self.rng.choice(CONSTANTS)

    def expression(self, depth: int) -> str:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf()
        inner = self.expression(depth - 1)
        match rng.randrange(12):
            case 0 | 1 | 2:
                return f"({inner} {rng.choice('+-')} {self.expression(depth - 1)})"
            case 3:
                return f"({inner} * {rng.choice(FACTORS)})"
            case 4:
                return f"({inner} / {rng.choice(DIVISORS)})"
            case 5:
                return f"(({rng.choice(FLOATS)}){inner})"
            case 6:
                to = rng.choice(INTEGERS)
                value = f"squash({inner}) + 101" if "unsigned" in to else f"squash({inner})"
                return f"(({to})({value}))"
            case 7:
                return f"({rng.choice('-+!')} {inner})"
            case 8:
                return rng.choice(
                    [f"fabs({inner})", f"floorf({inner})", f"ceil({inner})", f"trunc({inner})", f"sqrt(fabs({inner}))"]
                )
            case 9 if self.may_decide():
                return f"({self.condition(1)} ? {inner} : {self.leaf()})"
            case 10 if self.may_decide():
                return f"scale({inner}, {rng.choice(['a', 'b', '3'])})"
            case _:
                return rng.choice(
                    [f"heft(mixed({inner}))", f"mixed({inner}).f", f"(float)({rng.choice('ab')} * 16777259LL)"]
                )

    def may_decide(self) -> bool:
        self.decisions += 1
        return self.decisions <= 4

    def condition(self, depth: int) -> str:
        rng = self.rng
        if depth > 0 and rng.random() < 0.3 and self.may_decide():
            return f"({self.condition(depth - 1)} {rng.choice(['&&', '||'])} {self.condition(depth - 1)})"
        if rng.random() < 0.1:
            return f"!{self.condition(0)}"
        left = rng.choice(["f", "g", "h", "t[0]"]) if rng.random() < 0.5 else self.expression(2)
        if rng.random() < 0.2:  # infinite, or no number
            left = f"({left} / {rng.choice(['(b + 0.0f)', 'f', '(a - 3.0f)', '(g - g)'])})"
        if rng.random() < 0.1:
            return f"B({rng.choice(['isnan', 'isfinite', 'isinf'])}((double) {left}))" if "/" in left else f"B({left})"
        return f"B({left} {rng.choice(COMPARISONS)} {rng.choice([self.leaf(), self.expression(1)])})"

    # -- statements ------------------------------------------------------------------------------------------
    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        place = rng.choice(["f", "g", "h", "t[0]", "t[2]", "m.f", "m.d", "*p", "q->f", "kept", "t[a & 1]"])
        match rng.randrange(10) if depth > 0 else rng.randrange(6):
            case 0 | 1:
                return [f"    {place} = tame({self.expression(3)});"]
            case 2:
                return [f"    {place} {rng.choice('+-')}= {self.leaf()};"]
            case 3:
                return [f"    {place} {rng.choice(['*= 0.3f', '/= 3', '*= -1.5', '/= 0.7'])};"]
            case 4:
                step = rng.choice(["++", "--"])
                step = rng.choice([f"({place}){step}", f"{step}({place})"])
                return [f"    {rng.choice(['g = ', 'n += 0 < ', ''])}{step};"]
            case 5:
                return [f"    v = (signed char)(squash({self.expression(2)}) / 2 + 50);"]
            case 6 | 7 | 8 if self.may_decide():
                lines = [f"    if ({self.condition(1)}) {{", *self.statement(depth - 1), "    }"]
                if rng.random() < 0.5:
                    lines[-1] += " else {"
                    lines += [*self.statement(depth - 1), "    }"]
                return lines
            case 9 if self.may_decide():
                labels = rng.sample(range(8), 3)
                lines = [f"    switch (S((int)squash({place}) & 7, {', '.join(map(str, labels))})) {{"]
                for label in labels:
                    lines += [f"    case {label}:", *self.statement(0), "        break;"]
                return [*lines, "    }"]
            case _:
                return [f"    m = mixed(tame({self.expression(1)}));"]


def program(seed: int, count: int) -> str:
    """A file of `count` functions; the third input byte chooses one of them."""
    rng = random.Random(seed)
    return file_of([PRELUDE, *[Function(rng, f"case_{i}").text() for i in range(count)]], count)
