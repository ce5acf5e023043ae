"""Random C functions as generator.py makes them, that read and write through pointers at addresses that the input
decides.

Arrays on the stack and of static storage, records that are linked and in tables of pointers, constant texts, cursors.
Every pointer stays in its object: indices are masked.
"""

from __future__ import annotations

import random

from generator import TYPES, Function, file_of

PRELUDE = r"""
struct node { unsigned char key; short value; struct node *next; };
static int at(const signed char *p, unsigned i) { return p[i & 3]; }
static void put(short *p, unsigned i, int v) { p[i & 3] = (short)v; }
static void mark(unsigned char *p, unsigned char c) { *p++ = c; *p ^= 1; }
static int hop(struct node *n, int times) { while (times--) n = n->next; return n->value; }
static int over(const unsigned char *p, const unsigned char *end)
{
    int sum = 0;
    while (B(p < end)) { sum = sum * 2 + *p; p += 1 + (*p & 3); }
    return sum;
}
"""
INDICES = ("a & 3", "b & 3", "(a + b) & 3", "(a >> 6)", "(a ^ 1) & 3")


class PointerFunction(Function):
    """As many decisions as its base, fewer in the choice of addresses: every object is a run of its own."""

    def declarations(self) -> list[str]:
        pick = self.rng.choice
        self.scalars = ["a", "b", "v3"]
        self.places = ["v0", "v3", "t[1]", "r.s", "*p", "q->s", "g", *self._stored()]
        return [
            *super().declarations(),
            f"    static signed char s[4] = {{ 3, {pick(['-1', '7'])}, 100, -128 }};",
            "    short w[4] = { b, 2, a, 4 };",
            "    unsigned char u[6] = { a, 2, b, 7, 1, 0 };",
            "    static struct node ring[3] = { { 1, 10, &ring[1] }, { 2, -20, &ring[2] }, { 3, 30, ring } };",
            "    struct node own = { a, b, ring }, *l[4] = { &own, ring, &ring[2], &ring[1] };",
            f'    const char *names[4] = {{ "abc", "{pick(["xyzz", "abd"])}", "0123", "    " }};',
            f"    {pick(TYPES)} c[4] = {{ 1, 2, b }}, *cp = c;",
            "    signed char *sp = s; unsigned char *up = u; short *wp = w;",
        ]

    def _stored(self) -> list[str]:
        i = self.rng.choice(INDICES)
        return [f"wp[{i}]", f"up[{i}]", "l[a & 1]->value", f"cp[{self.rng.choice(INDICES)}]", "w[b & 3]"]

    def leaf(self) -> str:
        if self.rng.random() < 0.6:
            return super().leaf()
        i, j = self.rng.choice(INDICES), self.rng.choice(INDICES)
        return self.rng.choice(
            [
                *(f"sp[{i}]", f"wp[{i}]", f"up[({i}) + 1]", f"cp[{j}]", f"at(sp, {i})", f"at(s, {j})"),
                *(f"l[{i}]->key", f"l[{i}]->next->value", f"names[{j}][1]", f"names[1][{i}]", f"hop(l[{j}], 2)"),
            ]
        )

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        match rng.randrange(8):
            case 0:
                return [f"    put(w, {rng.choice(INDICES)}, {self.expression(1)});"]
            case 1:
                return [f"    mark(u + ({rng.choice(INDICES)}), {rng.choice('ab')});"]
            case 2 if self.may_decide():
                self.decisions += 2
                return [f"    v3 += over(u + ({rng.choice(INDICES)}), u + 6);"]
            case 3:
                return [f"    up = u + ({rng.choice(INDICES)}) / 2; v2 = up[1];"]
        return super().statement(depth)

    def result(self) -> str:
        return (
            f"{super().result()} + s[1] + w[0] + w[1] * 3 + w[3] + u[1] + u[3] * 5 + ring[0].value + own.value + c[2]"
        )


def program(seed: int, count: int) -> str:
    rng = random.Random(seed)
    text = file_of([PointerFunction(rng, f"case_{i}").text() for i in range(count)], count)
    head, rest = text.split("static int helper", 1)
    return f"{head}{PRELUDE}static int helper{rest}"
