"""Table-driven programs: reads nested in addresses, dispatch by function pointers, stores at symbolic indices, structs
copied.

The programs of bench/tables at their small size, on boards, in every order, with and without elision, and in other ways
(support/ways.py); and generated ones. The judge is the plain program over all 65,536 inputs: where a campaign says
`exhausted`, its recorded paths are exactly those. Where a pointer from a table leads to separate variables, that costs
no test.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import apart_generator
import pytest
import table_generator
from one_by_one import send_all
from runner import explore_files
from table_programs import BruteForce, programs
from ways import WAYS, explored

from score_embed import config
from score_embed.campaign import campaign

AVR = "arduino-mega2560"
BOARDS = ("native", "mps2-an385", AVR)
PROGRAMS = programs()
SECONDS = 240.0  # on a busy machine: five processor seconds are enough where it ends
GENERATED = 200
ON_BOARDS = 24  # of these


CASES = [
    pytest.param(name, board, strategy, elided, id="-".join((name, board, strategy, "elided" if elided else "whole")))
    for name, board, strategy, elided in itertools.product(PROGRAMS, BOARDS, config.STRATEGIES, (True, False))
]


@functools.cache
def judge(name: str) -> BruteForce:
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        return BruteForce(program.source, program.small, Path(folder), program.flags(program.small))


@pytest.mark.parts(60)
@pytest.mark.parametrize(("name", "board", "strategy", "elided"), CASES)
def test_programs(
    name: str, board: str, strategy: str, elided: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not elided:
        send_all(monkeypatch)
    program = PROGRAMS[name]
    settings = config.Settings(
        sources=(program.source,),
        cflags=program.flags(program.small),
        board=board,
        strategy=strategy,
        time=SECONDS,
        out=tmp_path / "out",
        no_witness=True,
    )
    with redirect_stderr(StringIO()):
        found = campaign.run(settings).summary
    assert found.divergences == 0
    assert (found.stopped, judge(name).difference(tmp_path / "out")) == ("exhausted", "")


@pytest.mark.parts(len(PROGRAMS) * len(WAYS) // 2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("board", BOARDS[:2])
def test_programs_in_other_ways(name: str, board: str, way: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    options = ("--board", board, "--time", f"{SECONDS:.0f}s")
    found = explored(program.source, way, tmp_path, *options, cflags=program.flags(program.small))
    assert found["divergences"] == 0
    assert (found["stopped"], judge(name).difference(tmp_path / "out")) == ("exhausted", "")


@pytest.mark.parts(GENERATED // 4)
@pytest.mark.parametrize("seed", range(GENERATED))
def test_generated(seed: int, tmp_path: Path) -> None:
    check("native", table_generator.program(seed), tmp_path)


@pytest.mark.parts(GENERATED // 4)
@pytest.mark.parametrize("seed", range(GENERATED))
def test_separate_variables(seed: int, tmp_path: Path) -> None:
    check("native", apart_generator.program(seed), tmp_path)


@pytest.mark.parts(ON_BOARDS // 2)
@pytest.mark.parametrize("seed", range(ON_BOARDS))
@pytest.mark.parametrize("board", ["mps2-an385", AVR])
def test_generated_on_boards(board: str, seed: int, tmp_path: Path) -> None:
    check(board, table_generator.program(seed), tmp_path)


@pytest.mark.parts(ON_BOARDS // 2)
@pytest.mark.parametrize("seed", range(GENERATED, GENERATED + ON_BOARDS))
def test_separate_variables_on_a_board(seed: int, tmp_path: Path) -> None:
    # where int has 16 bits the programs mean something else
    check("mps2-an385", apart_generator.program(seed), tmp_path)


STORES = """
#include "score.h"
static unsigned char x0, x1, x2, x3, *const outs[4] = { &x0, &x1, &x2, &x3 };
static struct { short kept; unsigned char *out; } ports[2] = { { 1, &x2 }, { 2, &x3 } };
int main(void)
{
    unsigned char a, b, *p;
    SYM_U8(a); SYM_U8(b);
    *outs[a & 3] = b;
    p = ports[b & 1].out;
    *p = *p + *outs[b >> 6];
    if (x1 == 5) return 1;
    if (x2 > 7) return 2;
    if (*outs[(a ^ b) & 3] == 9) return 3;
    return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_a_store_to_one_of_several_variables_is_no_fork(board: str, tmp_path: Path) -> None:
    found = check(board, STORES, tmp_path)
    assert (found["stopped"], found["forks"]) == ("exhausted", [])
    if board != AVR:  # whose flash is for other things
        assert found["runs"] == found["paths"]


FIELDS = """
#include "score.h"
struct entry {
    unsigned char final : 1;
    int height : 12;
    unsigned next : 5;
    _Bool marked : 1;
    long long far : 40;
};
static const struct entry first[8] = {
    { 0, -300, 3, 1, -14000000000LL }, { 1, 2047, 7, 0, 5 }, { 0, -1, 31, 1, 0 }, { 1, 12, 0, 0, 1 },
    { 0, -2048, 8, 0, 549755813887LL }, { 1, 9, 9, 1, -1 }, { 0, 7, 16, 0, 7 }, { 0, 33, 5, 1, 33 },
};
struct flags { unsigned char low : 3; _Bool on : 1; unsigned char high : 4; };
static struct entry held[4] = { { 1, 1365, 21, 1, 45 }, { 1, 1365, 21, 1, 45 }, { 1, -1, 31, 1, -1 }, { 0, 0, 0, 0, 0 } };
static struct flags flags[4] = { { 7, 1, 15 }, { 5, 0, 9 }, { 2, 1, 6 }, { 0, 0, 0 } };
static struct flags *const some[2] = { &flags[1], &flags[3] };
int main(void)
{
    unsigned char a, b;
    SYM_U8(a); SYM_U8(b);
    const struct entry *p = &first[a & 7];
    flags[a >> 6].on = a & 32;
    flags[b & 3].high = b >> 4;
    some[b & 1]->low = a >> 5;
    if (flags[1].on && flags[a & 3].low == 6) return 8;
    if (flags[3].high == 9 && !flags[3].on) return 9;
    if (flags[1].high == 3 && flags[1].low == 5) return 10;
    held[a & 3].height = p->height;
    held[b & 3].marked = b & 32;
    held[b & 3].height += 5;
    held[b >> 6].far -= 3;
    if (p->final) return 1;
    if (p->height < -100) return p->marked ? 2 : 3;
    if (p->far == 7) return 4;
    if (held[1].height == 5 && held[b & 3].marked) return 5;
    if (held[p->next & 3].far < -2) return 6;
    return held[2].height == 38 ? 7 : 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_a_bit_field_at_a_symbolic_index_is_no_fork(board: str, tmp_path: Path) -> None:
    found = check(board, FIELDS, tmp_path, "--verify")
    assert (found["stopped"], found["forks"], found["incomplete"]) == ("exhausted", [], [])
    assert found["runs"] == found["paths"] > 12


def wide_tables() -> str:
    """A scanner whose states have a row of 256 entries each, and a table in two stages, as Unicode's are kept:
    more than 4,096 entries in all, but the path knows which part it is."""
    rows = [[(state * 7 + (c >> 4) * 3) % 40 for c in range(256)] for state in range(40)]
    first = [n * 5 % 15 * 256 for n in range(256)]
    second = [(n >> 8) * (n & 15) % 9 for n in range(16 * 256)]
    table = ", ".join(f"{{ {', '.join(map(str, row))} }}" for row in rows)
    return f"""
#include "score.h"
static const unsigned char next[40][256] = {{ {table} }};
static const unsigned short first[5000] = {{ {", ".join(map(str, first))} }};
static const unsigned char second[{16 * 256}] = {{ {", ".join(map(str, second))} }};
int main(void)
{{
    unsigned char a, b;
    int state = 3, other = 7, c;
    SYM_U8(a); SYM_U8(b);
    state = next[state][a];
    if (state == 11) return next[other][b] == 20 ? 1 : 2;
    c = (b & 0x7f) << 8 | a;
    if (second[first[c >> 8] + (c & 0xff)] == 5) return 3;
    return 0;
}}
"""


@pytest.mark.parametrize("board", BOARDS[:2])
def test_the_part_of_a_large_table_that_the_path_knows_is_no_fork(board: str, tmp_path: Path) -> None:
    found = check(board, wide_tables(), tmp_path)
    assert (found["stopped"], found["forks"], found["incomplete"]) == ("exhausted", [], [])
    assert found["runs"] == found["paths"]


BEHIND = """
#include <stdlib.h>
#include <string.h>
#include "score.h"
struct entry { unsigned char bits; unsigned short value; };
struct state {
    struct { unsigned char pad; struct entry table[16]; } first;
    unsigned short counts[8];
    unsigned char window[20000];  /* so the block is too large to be told as a whole */
};
static struct state *states[2], *chosen;
static unsigned walk(struct state *s, unsigned char a, unsigned char b)
{
    s->counts[a & 7]++;
    s->counts[b & 7] += 2;
    if (s->counts[3] == 3) return 1;
    if (s->first.table[a >> 4].bits == 5) {
        if (s->first.table[b >> 4].value > 9000) return 2;
        return 3;
    }
    return s->counts[(b >> 3) & 7] == 2 ? 4 : 5;
}
int main(void)
{
    unsigned char a, b;
    unsigned i, end;
    SYM_U8(a); SYM_U8(b);
    for (i = 0; i < 2; i++) {
        states[i] = calloc(1, sizeof *states[i]);
        if (!states[i]) return 99;
        for (end = 0; end < 16; end++) {
            states[i]->first.table[end].bits = (unsigned char)(end * 7 % 9 + i);
            states[i]->first.table[end].value = (unsigned short)(end * 1009);
        }
    }
    chosen = states[0];
    end = walk(chosen, a, b);
#if SYMBOLIC_TOO
    if (end == 5) end += walk(states[(a ^ b) & 1], b, a);
#endif
    free(states[0]); free(states[1]);
    return (int)end;
}
"""


@pytest.mark.parametrize("board", BOARDS[:2])
@pytest.mark.parametrize("symbolic_too", [0, 1])
def test_an_array_behind_a_pointer_is_no_fork(board: str, symbolic_too: int, tmp_path: Path) -> None:
    """Even if the compiler cannot tell whether the pointer is the input's: the run can."""
    found = check(board, BEHIND.replace("SYMBOLIC_TOO", str(symbolic_too)), tmp_path, "--verify")
    if not symbolic_too:
        assert (found["stopped"], found["forks"], found["incomplete"]) == ("exhausted", [], [])
        assert found["runs"] == found["paths"] == 5


PROPERTIES = """
#include "score.h"
#define TIMES4(f, n) f(n), f((n) + 1), f((n) + 2), f((n) + 3)
#define TIMES16(f, n) TIMES4(f, n), TIMES4(f, (n) + 4), TIMES4(f, (n) + 8), TIMES4(f, (n) + 12)
#define TIMES64(f, n) TIMES16(f, n), TIMES16(f, (n) + 16), TIMES16(f, (n) + 32), TIMES16(f, (n) + 48)
#define TIMES256(f, n) TIMES64(f, n), TIMES64(f, (n) + 64), TIMES64(f, (n) + 128), TIMES64(f, (n) + 192)
#define TIMES1K(f, n) TIMES256(f, n), TIMES256(f, (n) + 256), TIMES256(f, (n) + 512), TIMES256(f, (n) + 768)
#define TIMES4K(f, n) TIMES1K(f, n), TIMES1K(f, (n) + 1024), TIMES1K(f, (n) + 2048), TIMES1K(f, (n) + 3072)
#define PLACE(n) (n) * 7 % 640 * 8
#define WHICH(n) (n) * (n) % 4100
#define PROPERTY(n) { (n) % 9, (n) * 5 % 4001, (n) >> 3, (n) % 29 }
struct property { unsigned char group; unsigned short other; unsigned letter : 1; unsigned digit : 5; };
static const unsigned short first[] = { TIMES4K(PLACE, 0), TIMES4K(PLACE, 4096) };
static const unsigned short second[] = { TIMES4K(WHICH, 0), TIMES1K(WHICH, 4096) };
static const struct property properties[] = { TIMES4K(PROPERTY, 0), TIMES16(PROPERTY, 4096) };
int main(void)
{
    unsigned char a, b;
    const struct property *p;
    unsigned c;
    SYM_U8(a); SYM_U8(b);
    c = a << 8 | b;
    p = &properties[second[first[c >> 3] + (c & 7)]];
    switch (p->group) {
    case 1: return 1;
    case 5: return p->other > c ? 2 : 3;
    case 7: return p->digit == 28 ? 4 : 5;
    default: break;
    }
    if (p->letter && p->other == 33) return 6;
    return c == p->other ? 7 : 0;
}
"""


@pytest.mark.parametrize("board", BOARDS[:2])
def test_tables_in_stages_as_unicode_has_them_are_no_fork(board: str, tmp_path: Path) -> None:
    """Each has more than 4,096 entries, and none of the indices is known."""
    found = check(board, PROPERTIES, tmp_path)
    assert (found["stopped"], found["forks"], found["incomplete"]) == ("exhausted", [], [])
    assert found["runs"] == found["paths"]


def check(board: str, text: str, folder: Path, *options: str) -> dict[str, Any]:
    """`exhausted` implies the exact set; that it is said is not asked for."""
    source = folder / "generated.c"
    source.write_text(text)
    # A program that reports its decisions itself needs no blocks.
    blocks = "plain_decision" not in text
    truth = BruteForce(source, 2, folder, () if blocks else ("-DPLAIN",), blocks=blocks)
    found = explore_files(folder, [source], "--board", board, "--no-witness", "--time", f"{SECONDS:.0f}s", *options)
    assert (found.summary["divergences"], found.summary["bugs"]) == (0, [])
    if found.summary["stopped"] == "exhausted":
        difference = truth.difference(found.folder)
        assert not difference, f"{difference}\n{text}"
    return found.summary
