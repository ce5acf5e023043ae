"""Random programs of nested tables, pointers to tables, dispatch by function pointers, and stores at symbolic indices.

Two symbolic bytes; as in generator.py the plain build reports each decision itself, so brute force needs no blocks.
Which function is called by pointer is one, too: entries are in the path hash. Every index is masked, every pointer
stays in its object.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from generator import COMPARISONS, HEADER

TABLES = {"t0": 8, "t1": 16, "t2": 8, "made": 16}  # what is read only, and its entries
STORED = {"w": 8, "p": 16}
FIXED = r"""
#ifdef PLAIN
#define ENTERED(number) plain_decision(number);
#else
#define ENTERED(number)
#endif
struct cell { unsigned char key; signed char cost; const unsigned char *row; };
static unsigned char made[16], p[16];
static short w[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static unsigned char x0, x1, x2, x3, *const outs[4] = { &x0, &x1, &x2, &x3 };
static struct cell kept[4];
static void make(void)
{
    int i;
    for (i = 0; i < 16; i++) {
        made[i] = (unsigned char)(i * STEP + 5);
        p[i] = (unsigned char)(i * 5 & 15);
    }
}
"""
OPERATIONS = {
    "plus": "return x + y;",
    "less": "if (B(x < y)) return 1; return y - x;",
    "look": "return t1[(x ^ y) & 15];",
    "far": "if (B(t0[x & 7] == y)) return 7; return t2[y & 7];",
    "keep": "w[x & 7] = (short)y; return w[y & 7];",
    "none": "(void)y; return x;",
}
VARIABLES = ("v0", "v1", "v2")
MOST_DECISIONS = 5


class TableProgram:
    """One program; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"tables {seed}")
        self.decisions = 0

    def text(self) -> str:
        body: list[str] = []
        for _ in range(self.rng.randint(4, 7)):
            body += self.statement(2)
        lines = [
            HEADER.partition("struct rec")[0],
            *self.tables(),
            FIXED.replace("STEP", str(self.rng.choice((3, 7, 11, 37)))),
            *self.functions(),
            "int main(void)",
            "{",
            "    unsigned char a, b;",
            "    int v0 = 1, v1 = 2, v2 = 0, m;",
            "    const unsigned char *q = t0;",
            "    SYM_U8(a); SYM_U8(b);",
            "    make();",
            *body,
            f"    if (B({self.value(2)} {self.comparison()})) return 1;",
            f"    if (B(v0 + w[{self.index(8, 1)}] > x1 + kept[1].cost)) return 2;",
            "    return 0;",
            "}",
        ]
        return "\n".join(lines) + "\n"

    # -- what stands before main ----------------------------------------------------------------------------------
    def tables(self) -> list[str]:
        rng = self.rng
        numbers = {
            name: [rng.randrange(rng.choice((4, 16, 256))) for _ in range(TABLES[name])] for name in ("t0", "t1", "t2")
        }
        lines = [
            f"static const unsigned char {name}[{len(row)}] = {{ {_list(row)} }};" for name, row in numbers.items()
        ]
        square = ", ".join(f"{{ {_list(rng.randrange(16) for _ in range(4))} }}" for _ in range(4))
        rows = rng.choices(("t0", "t1", "t2", "t1 + 8"), k=4)
        cells = [f"{{ {rng.randrange(8)}, {rng.randint(-9, 9)}, {rng.choice(rows)} }}" for _ in range(4)]
        return [
            *lines,
            f"static const signed char square[4][4] = {{ {square} }};",
            f"static const unsigned char *const rows[4] = {{ {_list(rows)} }};",
            f'static const char *const names[4] = {{ "abcdefg", "{rng.choice(("zyxwvut", "abcdxfg"))}", "01234567", "        " }};',
            f"#define CELLS {{ {', '.join(cells)} }}",
        ]

    def functions(self) -> list[str]:
        lines = ["static const struct cell cells[4] = CELLS;"]
        lines += [
            f"static int {name}(int x, int y) {{ ENTERED({number}) {text} }}"
            for number, (name, text) in enumerate(OPERATIONS.items(), 100)
        ]
        chosen = [self.rng.choices(list(OPERATIONS), k=4) for _ in range(2)]
        lines.append("typedef int (*operation)(int, int);")
        lines.append(f"static const operation ops[4] = {{ {_list(chosen[0])} }};")
        lines.append(
            f"static operation table[2][2] = {{ {{ {_list(chosen[1][:2])} }}, {{ {_list(chosen[1][2:])} }} }};"
        )
        return lines

    # -- expressions ----------------------------------------------------------------------------------------------
    def index(self, count: int, depth: int) -> str:
        return f"({self.value(depth)}) & {count - 1}"

    def value(self, depth: int) -> str:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.1:
            return rng.choice(("a", "b", "a", "b", "(a >> 4)", "(b >> 6)", *VARIABLES))
        inner = depth - 1
        match rng.randrange(10):
            case 0 | 1:
                name = rng.choice(list(TABLES))
                return f"{name}[{self.index(TABLES[name], inner)}]"
            case 2:
                return f"square[{self.index(4, inner)}][{self.index(4, inner)}]"
            case 3:
                return f"rows[{self.index(4, inner)}][{self.index(8, inner)}]"
            case 4:
                name = rng.choice(list(STORED))
                return f"{name}[{self.index(STORED[name], inner)}]"
            case 5:
                return f"cells[{self.index(4, inner)}].{rng.choice(('key', 'cost', f'row[{self.index(8, inner)}]'))}"
            case 6:
                return f"names[{self.index(4, inner)}][{self.index(4, inner)}]"
            case 7:
                return rng.choice((f"p[p[{self.index(16, inner)}]]", f"kept[{self.index(4, inner)}].cost", "*q"))
            case _:
                return f"({self.value(inner)} {rng.choice('+-^&')} {self.value(inner)})"

    def comparison(self) -> str:
        return f"{self.rng.choice(COMPARISONS)} {self.rng.choice(('1', '3', '5', '7', '16', '100', 'a', 'v0'))}"

    # -- statements -----------------------------------------------------------------------------------------------
    def may_decide(self) -> bool:
        self.decisions += 1
        return self.decisions <= MOST_DECISIONS

    def statement(self, depth: int) -> list[str]:
        rng, target = self.rng, self.rng.choice(VARIABLES)
        match rng.randrange(14 if depth else 9):
            case 0:
                return [f"    {target} = {self.value(3)};"]
            case 1:
                name = rng.choice(list(STORED))
                mask = " & 15" if name == "p" else " & 127"
                return [f"    {name}[{self.index(STORED[name], 1)}] = ({self.value(1)}){mask};"]
            case 2:
                return [f"    *outs[{self.index(4, 1)}] = {self.value(1)}; {target} = x1;"]
            case 3:
                return [f"    kept[{self.index(4, 1)}] = cells[{self.index(4, 1)}];"]
            case 4 if self.may_decide():
                return [f"    {target} = ops[{self.index(4, 1)}]({self.value(1)}, {self.value(0)});"]
            case 5 if self.may_decide():
                return [
                    f"    {target} = table[{self.index(2, 1)}][{self.index(2, 0)}]({self.value(0)}, {self.value(0)});"
                ]
            case 6:
                return [f"    q = rows[{self.index(4, 1)}] + ({self.index(4, 0)}); {target} = *q;"]
            case 7:
                return [f"    table[{self.index(2, 0)}][{self.index(2, 0)}] = ops[{rng.randrange(4)}];"]
            case 8:
                return [
                    f"    {{ struct cell c = cells[{self.index(4, 1)}]; {target} = c.cost + c.row[{self.index(8, 0)}]; }}"
                ]
            case 9 | 10 | 11 if self.may_decide():
                lines = [f"    if (B({self.value(2)} {self.comparison()})) {{", *self.statement(depth - 1)]
                return [*lines, "    } else {", *self.statement(depth - 1), "    }"]
            case 12 if self.may_decide():
                head = f"    for (m = 0; B(m < ({self.value(1)} & 3)); m++) {{"
                return [head, *self.statement(0), "    }"]
            case 13 if self.may_decide():
                labels = rng.sample(range(8), 2)
                lines = [f"    switch (S(({self.value(2)}) & 7, {_list(labels)})) {{"]
                for label in labels:
                    lines += [f"    case {label}:", *self.statement(0), "        break;"]
                return [*lines, "    }"]
        return [f"    {target} = {self.value(2)};"]


def _list(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def program(seed: int) -> str:
    return TableProgram(seed).text()
