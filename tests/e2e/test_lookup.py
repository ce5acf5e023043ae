"""Reads at symbolic addresses in whole campaigns: tables of files without probes, ends of tables, and what is
concretized."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import corpus
import pytest
from runner import explore

from score_embed.image.constants import Constants

INCLUDES = '#include <stdint.h>\n#include <stdio.h>\n#include "score.h"\n'
TABLES = """
const unsigned char weights[64] = { [0] = 9, [5] = 77, [63] = 5 };
unsigned char learned[32] = { [7] = 8, [30] = 3 };
const short unsized[16] = { [3] = -300, [12] = 12 };
static const short inner[4] = { 4, 5, 6, 7 };
const short *const pointer = inner;
void learn(unsigned char at, unsigned char value) { learned[at] = value; }
"""
READS = """
struct context {
    uint8_t used;
    uint8_t slots[8];
    int32_t sums[4];
};

static int behind(struct context *c, uint8_t x)
{
    int i;
    for (i = 0; i < 8; i++)
        c->slots[i] = (uint8_t)(8 - i);
    c->sums[2] = -1000;
    i = x & 7;
    i = c->slots[i]; /* the slot that the address is made of */
    if (i == 3)
        return 1;
    if (c->sums[x >> 6] == -1000)
        return 2;
    return 0;
}

extern const unsigned char weights[64];
extern unsigned char learned[32];
extern const short unsized[];
extern const short *const pointer;
void learn(unsigned char at, unsigned char value);
int main(void)
{
    static struct context context;
    unsigned char x;
    int found;
    SYM_U8(x);
    found = 32 * behind(&context, x);
    if (weights[x & 63] == 77) found += 1;
    if (learned[x & 31] == 3) found += 2;
    learn(9, 200);
    if (learned[x & 31] == 200) found += 4;
    if (unsized[x & 15] < -256) found += 8;
    if (pointer[x >> 6] == 6) found += 16;
    printf("%d\\n", found);
    return 0;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_tables_of_a_file_without_probes(board: str, tmp_path: Path) -> None:
    """Of its constants the image says size and content; what can change the target sends, again when it has changed."""
    files = {"reads.c": INCLUDES + READS, "tables.c": TABLES}
    found = explore(tmp_path, files, "--board", board, native=("tables.c",)).summary

    def path(x: int) -> tuple[bool, ...]:
        return x & 63 == 5, x & 31 == 30, x & 31 == 9, x & 15 == 3, x >> 6 == 2, x & 7 == 5

    assert (found["stopped"], found["incomplete"]) == ("exhausted", [])
    assert (found["paths"], found["redundant"]) == (len({path(x) for x in range(256)}), 0)


def test_what_is_no_select_is_concretized_and_says_where(tmp_path: Path) -> None:
    """A volatile object, stores to one, to a large one and of a large struct, where nothing forks; else all is found.
    (Scalars have their extent.)"""
    text = """
static int byte(const uint8_t *p, uint8_t x) { return p[x & 3] == 7; }
static uint8_t large[5000];
static struct { int16_t a[9]; } pair = { { 1, 2 } }, pairs[4];
int main(void)
{
    static volatile uint8_t device[4] = { 1, 2, 3, 4 };
    uint8_t x, local[4] = { 5, 6, 7, 8 };
    uint32_t word = 7;
    SYM_U8(x);
    if (byte((const uint8_t *)&word, x)) printf("a");
    if (device[x & 3] == 3) printf("b"); /* here */
    local[x & 3] = 9;
    if (local[0] == 9) printf("c");
    device[x >> 6] = 9; /* here */
    large[x] = 9; /* here */
    pairs[x & 3] = pair; /* here */
    return 0;
}
"""
    found = explore(tmp_path, {"a.c": INCLUDES + text}, "--fork-values", "0").summary
    lines = {number for number, line in enumerate((INCLUDES + text).splitlines(), 1) if "/* here */" in line}
    assert found["stopped"] == "drained"
    assert {(item["what"], item["line"]) for item in found["incomplete"]} == {("symbolic address", n) for n in lines}
    (tmp_path / "forks").mkdir()
    found = explore(tmp_path / "forks", {"a.c": INCLUDES + text}).summary
    assert (found["stopped"], found["incomplete"]) == ("exhausted", [])
    assert {fork["line"] for fork in found["forks"]} <= lines


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_an_address_of_which_the_path_leaves_one_is_none_of_the_inputs(board: str, tmp_path: Path) -> None:
    """A length that was compared with a constant: what comes after it lies where it lies."""
    text = """
static volatile uint8_t registers[8];
int main(void)
{
    uint8_t message[8];
    SYM_BYTES(message, sizeof message);
    if (message[0] < 3 || message[0] > 3)
        return 1;
    if (message[message[0] + 1] == message[7])
        return 2;
    if (registers[message[0]] == message[1])
        return 3;
    message[message[0]] = 'x';
    if (message[3] == 'y') /* concrete */
        return 4;
    if (message[0] == 4) /* unsat */
        return 5;
    return 0;
}
"""
    found = explore(tmp_path, {"a.c": INCLUDES + text}, "--board", board).summary
    assert (found["stopped"], found["paths"], found["incomplete"]) == ("exhausted", 5, [])
    assert found["solver"]["by"]["smt"] == 0, "no question had an address in it"
    lines = (INCLUDES + text).splitlines()
    why = {re.findall(r"/\* (.*) \*/", lines[item["line"] - 1])[0]: item["reason"] for item in found["unflipped"]}
    assert why == {"concrete": "concrete", "unsat": "unsat"}


def test_what_has_no_formula_is_found_at_an_address_that_has_one(tmp_path: Path) -> None:
    """Objects of types without formulas, volatile bit-fields and _Atomic objects: pinned where they lie, and
    checked."""
    text = """
static long double wide[4];
static volatile struct { unsigned f : 3; } registers[4];
static _Atomic int counters[4];
static int taken(uint8_t x, ...)
{
    __builtin_va_list lists[2];
    int n;
    __builtin_va_start(lists[x & 1], x); /* here */
    n = __builtin_va_arg(lists[x & 1], int); /* here */
    __builtin_va_end(lists[x & 1]); /* here */
    return n;
}
int main(void)
{
    uint8_t x, y, z, u;
    int r = 0;
    SYM_U8(x);
    SYM_U8(y);
    SYM_U8(z);
    SYM_U8(u);
    if (x < 5) {
        wide[x] = 5; /* here, bug */
        if (wide[2] == 5) r |= 1;
    } else if (x == 5) {
        registers[y & 3].f = 5; /* here */
        if (registers[2].f == 5) r |= 2;
        if (registers[y & 1].f == 4) r |= 4; /* here */
    } else if (x == 6) {
        counters[z & 3] += u; /* here, step */
        counters[z & 3]--; /* the same one */
        if (counters[z & 3]++ == 3) r |= 8;
    } else if (x == 7) {
        r = taken(y, 16);
    }
    return r;
}
"""
    text = INCLUDES + text
    found = explore(tmp_path, {"a.c": text}, "--verify", "--fork-values", "0").summary
    lines = {
        mark: {n for n, line in enumerate(text.splitlines(), 1) if mark in line} for mark in ("here", "bug", "step")
    }
    expected = {("symbolic address", n) for n in lines["here"]} | {("_Atomic", n) for n in lines["step"]}
    assert (found["stopped"], found["divergences"]) == ("drained", 0)
    assert {(item["what"], item["line"]) for item in found["incomplete"]} == expected
    assert {(bug["kind"], bug["line"]) for bug in found["bugs"]} == {("out-of-bounds", n) for n in lines["bug"]}


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_the_end_of_a_table_is_a_condition(board: str, tmp_path: Path) -> None:
    """An index that may leave its table is led there: to a bug, or, unchecked, to what nobody knows."""
    text = """
static uint8_t table[8];
int main(void)
{
    uint8_t x;
    int i;
    SYM_U8(x);
    for (i = 0; i < 8; i++) table[i] = (uint8_t)(i * 3);
    if (x < GUARD && table[x] == 21) printf("found\\n");
    return 0;
}
"""
    for name in ("inside", "checked", "beyond"):
        (tmp_path / name).mkdir()
    inside = explore(tmp_path / "inside", {"a.c": INCLUDES + text}, "--board", board, cflags=("-DGUARD=8",)).summary
    assert (inside["stopped"], inside["paths"], inside["incomplete"]) == ("exhausted", 3, [])
    checked = explore(tmp_path / "checked", {"a.c": INCLUDES + text}, "--board", board, cflags=("-DGUARD=9",)).summary
    assert (checked["stopped"], [(bug["kind"], bug["inputs"]) for bug in checked["bugs"]]) == (
        "exhausted",
        [("out-of-bounds", {"x": 8})],
    )
    options = ("--board", board, "--check", "none", "--fork-values", "0")
    beyond = explore(tmp_path / "beyond", {"a.c": INCLUDES + text}, *options, cflags=("-DGUARD=9",)).summary
    assert (beyond["stopped"], beyond["divergences"], beyond["mispredicted"]) == ("drained", 0, 0)
    assert [re.sub(r"\W", " ", item["what"]) for item in beyond["incomplete"]] == [
        "symbolic address outside of its object"
    ]


@pytest.mark.parametrize("board", ["native", "mps2-an385", "arduino-mega2560"])
def test_no_two_constants_overlap(board: str) -> None:
    """All runs of a path must agree on the object that an address is in, also where a text is the end of another."""
    program = next(program for program in corpus.programs() if program.name == "pointed_objects")
    constants = Constants(corpus.build(board, program.sources).elf)
    address, end = 0, 0x100000 if board == "arduino-mega2560" else 0x2000000
    found: dict[int, int] = {}
    while address < end:
        known = constants.object_at(address)
        if known is not None:
            start, size = known
            assert start <= address < start + size
            assert found.setdefault(start, size) == size
        address += 3 if known else 16
    bounds = sorted(found.items())
    assert len(bounds) > 2
    assert all(start + size <= behind for (start, size), (behind, _) in itertools.pairwise(bounds))


TAIL = """
static const char blanks[16] = "               ";
int main(void)
{
    uint8_t a, b;
    const char *names[8] = { "abc", blanks, blanks, blanks, blanks, blanks, blanks, "xyz" };
    SYM_U8(a); SYM_U8(b);
    a &= 7;
    if (names[a][1] == b) {
        if (a == 0) return 1;
        if (a == 7) return 2;
        return 3;
    }
    if (a == 0) return 4;
    if (a == 7) return 5;
    return 6;
}
"""


def test_a_text_may_lie_in_another_constant(tmp_path: Path) -> None:
    """As texts do that the linker merged."""
    found = explore(tmp_path, {"a.c": INCLUDES + TAIL}).summary
    assert (found["stopped"], found["paths"]) == ("exhausted", 6)


SHARED = """
#include "score.h"
enum { NAMES = 3 };
struct pair { short key, value; };
extern const unsigned char table[], unknown[], weak[], begin[];
extern struct pair pairs[];
extern const char *const names[NAMES][2];
extern int sums[];
int main(void)
{
    unsigned char x, y;
    SYM_U8(x);
    SYM_U8(y);
    if (y < 20)
        return table[x] == 77; /* 6 elements */
    if (y < 40)
        return pairs[x].value == 5; /* 2 elements */
    if (y < 60)
        return sums[x] == 3; /* 4 elements */
    if (y < 80 && x < 6)
        return unknown[x] == 8;
    if (y < 100 && x < 5)
        return weak[x] == 7 || begin[x] == 4;
    return x < 3 && names[x][1][0] == 'b';
}
int sums[4] = { 1, 2, 3 };
"""
SHARING = """
struct pair { short key, value; };
extern const unsigned char begin[1]; /* of something longer */
__attribute__((weak)) const unsigned char weak[] = { 1 };
int first(void) { return begin[0]; }
const unsigned char table[] = { [2] = 77, [5] = 1 };
struct pair pairs[] = { { 1, 2 }, { 3, 5 } };
const char *const names[][2] = { { "a", "b" }, { "c", "d" }, { "e", "f" } };
static int sums[] = { 1 };
int other(void) { return sums[0]; }
"""
OPAQUE = "const unsigned char unknown[] = { 4, 8 }, weak[5] = { [3] = 7 }, begin[5] = { [4] = 4 };\n"


def test_arrays_are_as_long_as_the_file_that_defines_them_says(tmp_path: Path) -> None:
    files = {"p.c": SHARED, "shared.c": SHARING, "opaque.c": OPAQUE}
    found = explore(tmp_path, files, "--verify", native=("opaque.c",)).summary
    assert (found["stopped"], found["divergences"]) == ("exhausted", 0)
    missed = {bug["line"]: bug["kind"] for bug in found["bugs"]}
    lines = [n for n, line in enumerate(SHARED.splitlines(), 1) if "elements" in line]
    assert missed == dict.fromkeys(lines, "out-of-bounds")
    assert found["coverage"]["branches_covered"] == found["coverage"]["branches_total"]


TABLES_OF_TABLES = """
#include "score.h"
static unsigned char a, b;
static unsigned char *const t0[2] = { &a, &b }, *const t1[2] = { &a, &a };
static unsigned char *const *const tables[2] = { t0, t1 };
int main(void)
{
    unsigned char i, j;
    SYM_U8(i);
    SYM_U8(j);
    *tables[i & 1][j & 1] = 1;
    if (i & 1)
        return j == 9 ? 1 : 2;
    return b ? 3 : 4;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_runs_of_a_path_agree_on_what_tables_of_tables_lead_to(board: str, tmp_path: Path) -> None:
    """The inner table that a run came to is not the path's: another run reads another."""
    found = explore(tmp_path, {"p.c": TABLES_OF_TABLES}, "--board", board, first={"i": 0, "j": 0}).summary
    assert (found["stopped"], found["mispredicted"], found["paths"]) == ("exhausted", 0, 4)


APART = """
#include "score.h"
#include <string.h>
static unsigned char {variables};
static unsigned char *const outs[4] = {{ a, b, c, pair }};
int main(void)
{{
    unsigned char i, *p;
    SYM_U8(i);
    p = outs[i & 3];
    {access}
    return 0;
}}
"""


@pytest.mark.parametrize("access", ["p[1] = 1;", "return p[1];", "p++; *p = 1;", "memset(p, 1, 2);"])
@pytest.mark.parametrize("variables", ["pair[2], c[1], b[1], a[1]", "a[1], b[1], c[1], pair[2]"])
def test_beyond_one_variable_is_not_within_the_next(variables: str, access: str, tmp_path: Path) -> None:
    """All of them belong together, but bounds are those of the one that the pointer leads to."""
    files = {"p.c": APART.format(variables=variables, access=access)}
    found = explore(tmp_path, files, first={"i": 3}).summary
    assert [(bug["kind"], bug["function"]) for bug in found["bugs"]] == [("out-of-bounds", "main")]


NAMES = """
#include "score.h"
static const char *const names[] = {{ "abcdefgh", "xy", "pqrstuvw", "z" }};
static const unsigned char lengths[] = {{ 8, 2, 8, 1 }};
int main(void)
{{
    unsigned char i, k;
    SYM_U8(i);
    SYM_U8(k);
    i &= 3;
    k &= 7;
    {guard}
    return names[i][{k}] == 'f' ? 1 : 2;
}}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
@pytest.mark.parametrize("k", ["5", "k", "k + 1"])
def test_beyond_one_text_is_not_within_the_next(k: str, board: str, tmp_path: Path) -> None:
    files = {"p.c": NAMES.format(k=k, guard="")}
    found = explore(tmp_path, files, "--board", board, first={"i": 0, "k": 2}).summary
    assert [(bug["kind"], bug["inputs"]["i"] % 4 in (1, 3)) for bug in found["bugs"]] == [("out-of-bounds", True)]


def test_a_text_has_all_of_its_bytes(tmp_path: Path) -> None:
    files = {"p.c": NAMES.format(k="k", guard="if (k > lengths[i]) return 0;")}
    found = explore(tmp_path, files).summary
    assert (found["stopped"], found["bugs"], found["mispredicted"]) == ("exhausted", [], 0)
    assert (found["paths"], found["runs"]) == (3, 3)


BESIDE = """
#include "score.h"
{outside}
int main(void)
{{
    {inside}
    unsigned char i, k;
    SYM_U8(i);
    SYM_U8(k);
    i &= 3;
    k &= 1;
    {guard}
    outs[i][k] = 7;
    return 0;
}}
"""
SEVERAL = ["d[2], c[2], b[2], a[1]", "a[1], b[2], c[2], d[2]"]


@pytest.mark.parametrize("place", ["inside", "outside"])
@pytest.mark.parametrize("variables", SEVERAL)
def test_the_pointer_is_in_the_object_that_the_access_is_in(variables: str, place: str, tmp_path: Path) -> None:
    """a[1] is where another variable begins, perhaps, and there it is within bounds."""
    texts = {"inside": "", "outside": "", "guard": ""}
    texts[place] = f"static unsigned char {variables}; static unsigned char *outs[4] = {{ a, b, c, d }};"
    if place == "inside":
        texts[place] = texts[place].replace("static ", "").replace("[2]", "[2] = { 0 }").replace("[1]", "[1] = { 0 }")
    found = explore(tmp_path, {"p.c": BESIDE.format(**texts)}, first={"i": 1}).summary
    assert [(bug["kind"], bug["inputs"]["i"] % 4) for bug in found["bugs"]] == [("out-of-bounds", 0)]
    texts["guard"] = "if (!i) k = 0;"
    (tmp_path / "guarded").mkdir()
    found = explore(tmp_path / "guarded", {"p.c": BESIDE.format(**texts)}, first={"i": 1}).summary
    assert (found["stopped"], found["bugs"], found["mispredicted"]) == ("exhausted", [], 0)
