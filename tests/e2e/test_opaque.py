"""Opaque code: what it computes is concretized, what it changes is noticed, and the summary says what was lost."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from exploring import record
from runner import BOARDS, explore, score_embed

from score_embed.board.profile import find_board
from score_embed.campaign import folder as campaign_folder
from score_embed.contract.outcome import Run
from score_embed.errors import NothingToExplore
from score_embed.explore.concolic import Explorer
from score_embed.explore.prf import grow
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import DepthFirst
from score_embed.image.image import Image, build_image
from score_embed.solve.chain import default_chain
from score_embed.trace.trail import Trail

CHANGED = "symbolic memory changed by an opaque call"
GIVEN = "symbolic data given to an opaque call"
FOUND = "symbolic data that an opaque call can find"
ASSEMBLY = "inline assembly"

LECTURE = """
#include "score.h"
int foo(int v);
int main(void)
{
    int x, y, z;
    SYM_INT(x);
    SYM_INT(y);
    z = foo(y);
    if (z == x)
        if (x > y + 10)
            SCORE_ASSERT(!"ERROR");
    return 0;
}
"""
FOO = "int foo(int v) { return v * v % 50; }\n"


def test_flipping_a_comparison_with_an_opaque_abs_gives_a_path_or_a_misprediction(tmp_path: Path) -> None:
    program = """
        #include <inttypes.h>
        #include <stdlib.h>
        #include <stdio.h>
        #include "score.h"
        int main(void)
        {
            int x;
            SYM_INT(x);
            if (x == imaxabs(x))
                exit(0);
            else
                printf("negative\\n");
            return 0;
        }
    """
    found = explore(tmp_path, {"abs.c": program}, first={"x": 0})
    assert found.summary["runs"] == 2
    assert (found.summary["paths"], found.summary["mispredicted"]) in ((1, 1), (2, 0))
    assert found.summary["stopped"] == "drained"
    assert found.incomplete


@pytest.mark.parametrize("board", BOARDS)
def test_an_opaque_identity_gives_exactly_one_mispredicted_test(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        int identity(int v);
        int main(void)
        {
            int x;
            SYM_INT(x);
            if (x == identity(x))
                return 1;
            return x > 3;
        }
    """
    files = {"same.c": program, "identity.c": "int identity(int v) { return v; }\n"}
    found = explore(tmp_path, files, "--board", board, first={"x": 0}, native=("identity.c",))
    assert found.summary["runs"] == 2
    assert found.summary["mispredicted"] == 1
    assert found.summary["paths"] == 1
    assert found.summary["stopped"] == "drained"


def test_the_lecture_example_finds_the_error_from_its_seed(tmp_path: Path) -> None:
    found = explore(tmp_path, {"l.c": LECTURE, "foo.c": FOO}, first={"x": 22, "y": 7}, native=("foo.c",))
    assert found.bug_kinds == ["assertion"]
    assert found.summary["bugs"][0]["inputs"] == {"x": 49, "y": 7}
    assert found.summary["bugs"][0]["confirmed"]
    assert found.code == 1


def test_the_lecture_example_pins_the_argument_of_the_opaque_call(tmp_path: Path) -> None:
    found = explore(tmp_path, {"l.c": LECTURE, "foo.c": FOO}, first={"x": 0, "y": 8}, native=("foo.c",))
    assert found.summary["paths"] >= 2
    assert found.summary["stopped"] == "drained"
    assert found.incomplete


@pytest.mark.parametrize("x", [0, 22, -5])
def test_the_lecture_example_is_solved_from_every_seed_when_foo_is_instrumented(tmp_path: Path, x: int) -> None:
    found = explore(tmp_path, {"l.c": LECTURE, "foo.c": FOO}, first={"x": x, "y": 8})
    assert found.bug_kinds == ["assertion"]
    assert found.summary["stopped"] == "exhausted"


@pytest.mark.parametrize("board", BOARDS)
def test_a_write_through_a_pointer_by_opaque_code_is_noticed(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        void set(unsigned char *p);
        int main(void)
        {
            unsigned char buf[2];
            SYM_BYTES(buf, sizeof buf);
            set(buf);
            if (buf[0] == 3 && buf[1] == 4)
                return 1;
            return 0;
        }
    """
    files = {"p.c": program, "set.c": "void set(unsigned char *p) { p[0] = 3; }\n"}
    found = explore(tmp_path, files, "--board", board, "--verify", first={"buf": "0000"}, native=("set.c",))
    assert found.summary["paths"] == 2
    assert found.summary["divergences"] == 0
    assert found.summary["stopped"] == "drained"


@pytest.mark.parametrize("board", BOARDS)
def test_a_callback_through_opaque_code_turns_exhausted_into_drained(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        int apply(int (*f)(int), int v);
        static int is_three(int v) { return v == 3 ? 1 : 0; }
        int main(void)
        {
            int x;
            SYM_INT(x);
            return apply(is_three, x);
        }
    """
    files = {"c.c": program, "apply.c": "int apply(int (*f)(int), int v) { return f(v); }\n"}
    found = explore(tmp_path, files, "--board", board, first={"x": 0}, native=("apply.c",))
    assert found.summary["stopped"] == "drained"
    assert found.incomplete


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ('__asm__ volatile("nop" : "=r"(y) : "0"(x));', [ASSEMBLY]),
        ('__asm__ volatile("nop" : "+r"(x));', [ASSEMBLY]),
        ('__asm__ volatile("nop" : "+m"(kept));', [ASSEMBLY]),
        ('__asm__ volatile("nop" : "=r"(y) : "m"(kept), "0"(1));', [ASSEMBLY]),
        ('__asm__ volatile("nop" : "=m"(kept));', []),  # overwritten: nobody loses anything
        ('__asm__ volatile("" : : "r"(x));', []),  # goes nowhere
        ('__asm__ volatile("nop" : : "r"(x));', [ASSEMBLY]),  # a register may keep it
        ('__asm__ volatile("movl $3, (%0)" : : "r"(&kept) : "memory");', [FOUND, CHANGED]),
        ('__asm__ volatile("movl (%1), %0" : "=r"(y) : "r"(&kept));', [FOUND]),  # although no clobber says so
        ('__asm__ volatile("movl kept, %0" : "=r"(y));', [FOUND]),  # by its name
        ('__asm__ volatile("pushq %rax\\n movl kept, %eax\\n popq %rax");', [FOUND]),
    ],
)
def test_what_inline_assembly_does_with_symbolic_data_is_reported(
    tmp_path: Path, statement: str, lost: list[str]
) -> None:
    program = f"""
        #include "score.h"
        static int kept;
        int main(void)
        {{
            int x, y = 0;
            char dummy;
            SYM_INT(x);
            kept = x;
            {statement}
            if (y == 77) return 1;
            if (kept == 78) return 2;
            return x == 79;
        }}
    """
    found = explore(tmp_path, {"p.c": program}, "--verify", first={"x": 0})
    assert found.summary["divergences"] == 0
    assert sorted(row["what"] for row in found.summary["incomplete"] if row["count"]) == sorted(lost)
    assert all(row["line"] == 10 for row in found.summary["incomplete"])


@pytest.mark.parametrize(("value", "lost"), [("x", ["value of longjmp"]), ("x > 3 ? 2 : 1", [])])
def test_a_symbolic_value_that_a_long_jump_brings_is_reported(tmp_path: Path, value: str, lost: list[str]) -> None:
    program = f"""
        #include <setjmp.h>
        #include "score.h"
        static int kept;
        static jmp_buf back;
        static int around;
        int main(void)
        {{
            int x;
            SYM_INT(x);
            kept = around = x;
            switch (setjmp(back)) {{
            case 0: longjmp(back, {value});
            case 1: return 1;
            default: return kept == 99;
            }}
        }}
    """
    found = explore(tmp_path, {"p.c": program}, "--verify", first={"x": 5})
    assert found.summary["divergences"] == 0
    assert found.incomplete == lost
    assert found.summary["stopped"] == ("drained" if lost else "exhausted")


OPAQUE_LIBRARY = """
    #include <stddef.h>
    extern int counter;
    char *copied(char *to, const char *from, size_t n)
    {
        size_t i;
        for (i = 0; i < n && from[i]; i++) to[i] = from[i];
        for (; i < n; i++) to[i] = 0;
        return to;
    }
    void increment(void) { counter++; }
    void sorted(unsigned char *p, int n)
    {
        for (int i = 1; i < n; i++)
            for (int k = i; k > 0 && p[k - 1] > p[k]; k--) { unsigned char t = p[k]; p[k] = p[k - 1]; p[k - 1] = t; }
    }
"""


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    ("body", "lost"),
    [
        # Where it copies to was symbolic, what it copies is: both are said, and nothing old is used.
        ("copied(text, name, 4); if (text[0] == 'x') return 1; if (name[0] == 'y') return 2;", {CHANGED, GIVEN}),
        ("counter = name[0]; increment(); if (counter == 9) return 1; if (name[0] == 80) return 2;", {CHANGED, FOUND}),
        (
            "sorted((unsigned char *) name, 4); if (name[0] == 5) return 1; if (name[3] == 6) return 2;",
            {CHANGED, GIVEN},
        ),
    ],
)
def test_nothing_old_is_used_after_opaque_code(tmp_path: Path, board: str, body: str, lost: set[str]) -> None:
    program = f"""
        #include <stddef.h>
        #include "score.h"
        int counter;
        char *copied(char *to, const char *from, size_t n);
        void increment(void);
        void sorted(unsigned char *p, int n);
        int main(void)
        {{
            char name[4], text[4];
            SYM_BYTES(name, 4);
            SYM_BYTES(text, 4);
            {body}
            return 0;
        }}
    """
    files = {"p.c": program, "library.c": OPAQUE_LIBRARY}
    first = {"name": "04030201", "text": "61626364"}
    found = explore(tmp_path, files, "--board", board, "--verify", first=first, native=("library.c",))
    assert found.summary["divergences"] == 0
    assert found.summary["stopped"] == "drained"
    rows = [row for row in found.summary["incomplete"] if row["count"]]
    assert {row["what"] for row in rows} == lost
    assert {row["line"] for row in rows} == {13}


def test_printing_a_symbolic_value_loses_nothing(tmp_path: Path) -> None:
    program = """
        #include <stdio.h>
        #include "score.h"
        int main(void)
        {
            unsigned char c;
            SYM_U8(c);
            printf("%d\\n", c);
            if (c == 7)
                printf("seven\\n");
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program})
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == 2


@pytest.mark.parametrize(
    ("call", "header"),
    [
        ("write(1, &c, 1);", "unistd.h"),
        ('warnx("%d", c);', "err.h"),
        ('if (c == 5) err(c, "five");', "err.h"),
        ('syslog(3, "%d", c);', "syslog.h"),
    ],
)
def test_what_the_library_puts_out_loses_nothing(tmp_path: Path, call: str, header: str) -> None:
    text = f"""
        #include <{header}>
        #include "score.h"
        int main(void)
        {{
            unsigned char c;
            SYM_U8(c);
            {call}
            if (c == 7) return 1;
            return 0;
        }}
    """
    found = explore(tmp_path, {"p.c": text})
    assert (found.summary["stopped"], found.summary["incomplete"]) == ("exhausted", [])


def test_a_function_of_the_project_may_be_called_as_one_of_the_library(tmp_path: Path) -> None:
    text = """
        #include "score.h"
        int write(int to, const unsigned char *p, int n);
        int main(void)
        {
            unsigned char c;
            SYM_U8(c);
            if (write(1, &c, 1) == 2) return 1;
            return 0;
        }
    """
    native = "int write(int to, const unsigned char *p, int n) { return p[0] == 9 ? 2 : n; }\n"
    found = explore(tmp_path, {"p.c": text, "own.c": native}, "--board", "mps2-an385", native=("own.c",))
    assert found.summary["stopped"] == "drained"
    assert GIVEN in found.incomplete


KEPT = """
#include "score.h"
int opaque(int v);
int main(void)
{
    int x, a, b;
    SYM_INT(x);
    a = opaque(x);
    b = x + a;
    if (b == 9)
        return 1;
    if (b < a)
        return x > 100 ? 2 : 3;
    return 0;
}
"""
CHANGING = "int opaque(int v) { return (int)(v * 2654435761u >> 20) - 2000; }\n"


def kept(folder: Path, verify: bool) -> Image:
    (folder / "kept.c").write_text(KEPT)
    (folder / "opaque.c").write_text(CHANGING)
    return build_image(find_board("native"), [folder / "kept.c"], native=[folder / "opaque.c"], verify=verify)


@pytest.mark.parametrize("verify", [True, False])
def test_no_formula_is_wrong_where_an_opaque_result_flows_into_it(tmp_path: Path, verify: bool) -> None:
    """Every value that 1,000 campaigns stored is that of its formula; runs with a prefix left out give the same paths
    as whole ones, although the result in the prefix changes with the input."""
    image = kept(tmp_path, verify)
    tried: Counter[str] = Counter()
    with closing(campaign_folder.start_target(find_board("native"), image.elf, image.build_id)) as target:
        for seed in range(1000):
            explorer = Explorer(Trail(image.sites, verify), default_chain())
            search = Search(explorer, Queue(DepthFirst()), [grow(seed, b"", 4)])
            while pair := search.next():
                plain = Run(1, pair.input, pair.predicted, pair.condition_hash)
                whole = target.run(plain)
                found = target.run(plain._replace(prefix=explorer.expected(pair)))
                assert found._replace(coverage=()) == whole._replace(coverage=())
                outcome = record(search, pair, found, pair.input).outcome
                tried["tests"] += 1
                tried["mispredicted"] += outcome.mispredicted
                tried["elided"] += bool(explorer.expected(pair))
            assert explorer.divergences == 0
            assert "value differs from its formula" not in {what for what, _ in explorer.notes}
    assert tried["tests"] > 2500
    assert tried["mispredicted"] > 500
    assert bool(tried["elided"]) is not verify  # stored values change with the input


DECIDES = "opaque result in a condition"
FINDING = {
    "by name": ("shared = x;", "extern int shared; int find(void) { return shared > 100; }", True),
    "a member": (
        "all.last = x;",
        "extern struct { int first[9], last; } all; int find(void) { return all.last > 100; }",
        True,
    ),
    "a pointer": ("here = x; way = &here;", "extern int *way; int find(void) { return *way > 100; }", True),
    "its own": ("own = x;", "int own; int find(void) { return own > 100; }", True),
    "through another": (
        "shared = x;",
        "extern int shared; static int look(void) { return shared > 100; } int find(void) { return look(); }",
        True,
    ),
    "nothing symbolic": ("here = x;", "extern int shared; int find(void) { return shared > 100; }", False),
    "no longer symbolic": (
        "shared = x; shared = 1;",
        "extern int shared; int find(void) { return shared > 100; }",
        False,
    ),
}


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("how", FINDING)
def test_what_code_without_probes_finds_by_itself_is_noted(tmp_path: Path, board: str, how: str) -> None:
    """No argument leads to it: what the files without probes name does."""
    body, finding, lost = FINDING[how]
    program = f"""
        #include "score.h"
        int shared, *way;
        extern int own;
        struct {{ int first[9], last; }} all;
        static int here;
        int find(void);
        int main(void)
        {{
            unsigned char x;
            SYM_U8(x);
            {body}
            if (find()) return 1;
            return x == 7;
        }}
    """
    found = explore(tmp_path, {"p.c": program, "n.c": finding}, "--board", board, first={"x": 0}, native=("n.c",))
    rows = {(row["what"], row["line"]) for row in found.summary["incomplete"] if row["count"]}
    assert rows == ({(FOUND, 13), (DECIDES, 13)} if lost else set())
    assert found.summary["stopped"] == ("drained" if lost else "exhausted")


@pytest.mark.parametrize("board", BOARDS)
def test_what_a_function_that_is_left_as_written_finds_is_noted(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        static int shared;
        static int left(void) { __label__ end; if (shared > 100) goto end; return 0; end: return 1; }
        int main(void)
        {
            unsigned char x;
            SYM_U8(x);
            if (left()) return 2;
            shared = x;
            if (left()) return 1;
            return x == 7;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board, first={"x": 0})
    rows = {(row["what"], row["line"]) for row in found.summary["incomplete"] if row["count"]}
    assert rows == {(FOUND, 11), (DECIDES, 11)}
    assert found.summary["stopped"] == "drained"


def test_an_object_that_finds_symbolic_data_is_one_without_probes(tmp_path: Path) -> None:
    (tmp_path / "n.s").write_text(
        '.global find\nfind:\n movl shared(%rip), %eax\n ret\n.section .note.GNU-stack,""\n', encoding="ascii"
    )
    program = """
        #include "score.h"
        int shared, find(void);
        int main(void)
        {
            SYM_INT(shared);
            return find() > 100;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "n.s", first={"shared": 0})
    rows = {(row["what"], row["line"]) for row in found.summary["incomplete"] if row["count"]}
    assert (FOUND, 7) in rows


@pytest.mark.parametrize("board", [*BOARDS, "arduino-mega2560"])
def test_what_a_dead_frame_held_is_no_longer_symbolic(tmp_path: Path, board: str) -> None:
    """The opaque call uses the stack where a function had symbolic data before: that is nothing it was told."""
    program = """
        #include "score.h"
        void fill(unsigned char *p);
        int use(void);
        static int deep(unsigned char x)
        {
            volatile unsigned char frame[60];
            int i;
            for (i = 0; i < 60; i++) frame[i] = x;
            return frame[9] > 40;
        }
        int main(void)
        {
            unsigned char x, alive[4];
            SYM_U8(x);
            alive[2] = x;
            if (deep(x)) return 1;
            if (use() != 3) return 5;
            if (alive[2] == 7) return 2; /* this is still symbolic */
            return 0;
        }
    """
    use = "int use(void) { volatile unsigned char f[90]; int i; for (i = 0; i < 90; i++) f[i] = 3; return f[7]; }\n"
    found = explore(tmp_path, {"p.c": program, "n.c": use}, "--board", board, first={"x": 0}, native=("n.c",))
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 3)


STRUCT_AT_THE_TOP = """
#include "score.h"
struct boxes { int v, w[9]; };
struct boxes clip(int v);
int main(void)
{
    unsigned char x;
    int v = 0;
    SYM_U8(x);
    v = clip(3).v;
    v = clip(x).v;
    return v > 100;
}
"""
CLIP = "struct boxes { int v, w[9]; };\nstruct boxes clip(int v) { struct boxes b = {v > 40 ? 200 : 1}; return b; }\n"


@pytest.mark.parametrize("board", BOARDS)
def test_what_opaque_code_knows_is_looked_for_no_further_than_memory_goes(board: str, tmp_path: Path) -> None:
    """A result without a name lies at the stack's top: what is 1,024 bytes behind it cannot be read."""
    found = explore(tmp_path, {"p.c": STRUCT_AT_THE_TOP, "o.c": CLIP}, "--board", board, native=("o.c",))
    assert found.summary["bugs"] == []
    assert "symbolic data given to an opaque call" in found.incomplete


LAST_BYTES = """
#include "score.h"
unsigned char *last_bytes(void);
void shut(int closed);
int use(const unsigned char *p, int v);
static unsigned char kept;
int main(void)
{
    unsigned char x, *p = last_bytes();
    int found;
    SYM_U8(x);
    kept = x;
    use(p, 1);
    shut(1);
    found = use(p, x) > 40;
    shut(0);
    return found;
}
"""
SHUT = """
#include <sys/mman.h>
#define PAGE 4096
static unsigned char area[2 * PAGE] __attribute__((aligned(PAGE)));
unsigned char *last_bytes(void) { return area + PAGE - 64; }
void shut(int closed) { mprotect(area + PAGE, PAGE, closed ? PROT_NONE : PROT_READ | PROT_WRITE); }
int use(const unsigned char *p, int v) { return p[63] + v; }
"""


def test_nor_beyond_the_page_of_memory_that_nobody_knows(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": LAST_BYTES, "o.c": SHUT}, first={"x": 0}, native=("o.c",))
    assert found.summary["bugs"] == []
    assert GIVEN in found.incomplete


EXITS = """
#include <stdlib.h>
#include "score.h"
static void quit(int code) { if (code > 2) exit(code); }
static int run(void) { int x; SYM_INT(x); if (x == 3) quit(4); if (x == 5) exit(0); return 0; }
int main(void)
{
    asm goto ("" : : : : out);
    run();
out:
    return 0;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_exit_below_a_main_without_probes_is_an_exit(board: str, tmp_path: Path) -> None:
    """There is no frame with probes above the function that ends the test: once that was said to be a null pointer."""
    summary = explore(tmp_path, {"e.c": EXITS}, "--board", board, "--no-witness").summary
    assert [row["what"] for row in summary["incomplete"]] == ["function 'main' is not instrumented: asm goto"]
    assert (summary["bugs"], summary["paths"]) == ([], 3)
    tests = [json.loads(file.read_text()) for file in (tmp_path / "out" / "tests").glob("*.json")]
    assert {(test["verdict"], test["code"]) for test in tests} == {("return", 0), ("exit", 0), ("exit", 4)}


BELOW = """
#include <score.h>
#include <stdlib.h>
struct pair {{ int a, b, c, d, e; }};
int shared;
int run(int x) {{ if (x == 3) exit(4); if (x == 5) exit(0); return x; }}
{code}
int main(void) {{ asm goto ("" : : : : out); {calls} out: return 0; }}
"""
INPUT = "static int input(void) { int x; SYM_INT(x); return x; }"
SHARED = "static void input(void) { SYM_INT(shared); }"
STRUCT = "static struct pair input(void) { struct pair x = {0}; SYM_INT(x.e); return x; }"
ENDED = "static void fill(int *p) { SYM_INT(*p); } static int input(void) { int x[3]; fill(x + 1); if (x[1] == 3) return 1; return 0; }"


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    ("code", "calls", "lost"),
    [
        (INPUT, "run(input());", {"symbolic result given to an opaque caller"}),
        (STRUCT, "run(input().e);", {"symbolic result given to an opaque caller"}),
        (SHARED, "input(); run(shared);", {FOUND}),
        (ENDED, "run(input());", set()),
    ],
    ids=["value", "struct", "variable", "ended"],
)
def test_a_main_without_probes_sees_what_it_is_given(
    tmp_path: Path, board: str, code: str, calls: str, lost: set[str]
) -> None:
    """What it does with symbolic data nobody follows: the program has three paths, or in the last case two."""
    found = explore(tmp_path, {"p.c": BELOW.format(code=code, calls=calls)}, "--board", board)
    assert {row["what"] for row in found.summary["incomplete"] if row["count"]} == lost
    assert found.summary["stopped"] == ("drained" if lost else "exhausted")
    if not lost:
        assert found.summary["paths"] == 2


VIEW = "struct view { const unsigned char *data; };\n"
CALLED = {
    "by name": "seven(&v)",
    "by a pointer": "table[1](&v)",
}


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("how", CALLED)
def test_a_pointer_beside_what_it_leads_to_does_not_hide_it(tmp_path: Path, board: str, how: str) -> None:
    """The callee gives the pointer up as well: what it found must be looked for before the call."""
    program = f"""
        #include "score.h"
        {VIEW}
        int seven(struct view *v);
        static int none(struct view *v) {{ return v == 0; }}
        int (*volatile table[2])(struct view *) = {{none, seven}};
        int main(void)
        {{
            unsigned char buf[2];
            struct view v = {{buf}};
            SYM_BYTES(buf, sizeof buf);
            return {CALLED[how]};
        }}
    """
    seven = VIEW + "int seven(struct view *v) { int r = v->data[0] == 200; v->data = 0; return r; }\n"
    found = explore(tmp_path, {"v.c": program, "seven.c": seven}, "--board", board, native=("seven.c",))
    assert found.summary["stopped"] == "drained"
    assert [note["what"] for note in found.summary["incomplete"]] == [FOUND]


@pytest.mark.parametrize("board", BOARDS)
def test_a_function_left_as_written_that_a_pointer_calls_finds_what_it_can(tmp_path: Path, board: str) -> None:
    program = f"""
        #include "score.h"
        {VIEW}
        static int seven(struct view *v)
        {{
            __label__ no; /* the front-end does not lower local labels */
            if (v->data[0] != 200) goto no;
            return 1;
        no:
            return 0;
        }}
        static int none(struct view *v) {{ return v == 0; }}
        static int (*volatile const table[2])(struct view *) = {{none, seven}};
        int main(void)
        {{
            unsigned char buf[2], which;
            struct view v = {{buf}};
            SYM_UCHAR(which);
            SYM_BYTES(buf, sizeof buf);
            return table[which & 1](&v);
        }}
    """
    found = explore(tmp_path, {"v.c": program}, "--board", board)
    assert found.summary["stopped"] == "drained"
    assert (FOUND, 1) in [(note["what"], note["count"]) for note in found.summary["incomplete"]]


@pytest.mark.parametrize("call", ["memset(buf, 1, n)", "put(buf, n + (y & 1) - 2u)"], ids=["a size", "an index"])
@pytest.mark.parametrize("first", [1, 200])
def test_bounds_that_an_opaque_result_has_a_say_in_are_noted(tmp_path: Path, call: str, first: int) -> None:
    """Whether the first run's access is within the object or beyond its end: that of another number may be the
    other."""
    program = f"""
        #include <stdio.h>
        #include <string.h>
        #include "score.h"
        static char buf[4];
        static void put(char *p, unsigned i) {{ p[i] = 1; }}
        int main(void)
        {{
            unsigned char x, y;
            unsigned n;
            SYM_U8(x);
            SYM_U8(y);
            n = printf("%d\\n", x) + 1;
            {call};
            return 0;
        }}
    """
    found = explore(tmp_path, {"p.c": program}, first={"x": first, "y": 0})
    assert found.summary["stopped"] == "drained"
    assert DECIDES in {note["what"] for note in found.summary["incomplete"]}


ENDS_WITHIN = """
#include <stdlib.h>
#include "score.h"
int far(unsigned char *p);
int back(int v) { if (v == 3) exit(4); return v; }
int main(void)
{
    unsigned char a[2];
    int (*volatile by)(unsigned char *) = far;
    SYM_BYTES(a, 2);
    if (CALL == 5) return 1;
    return a[1] == 7;
}
"""


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("call", ["far(a)", "by(a)"])
@pytest.mark.parametrize("end", ["exit(1)", "abort()", "back(3)"])
def test_what_opaque_code_was_given_is_said_where_it_never_comes_back(
    tmp_path: Path, board: str, call: str, end: str
) -> None:
    far = "#include <stdlib.h>\nint back(int v);\n"
    far += f"int far(unsigned char *p) {{ if (p[0] == 9) {end}; return p[0] & 1; }}\n"
    files = {"p.c": ENDS_WITHIN.replace("CALL", call), "far.c": far}
    found = explore(tmp_path, files, "--board", board, first={"a": "0900"}, native=("far.c",))
    assert (found.summary["stopped"], found.summary["runs"]) == ("drained", 1)
    assert [(row["what"], row["line"], row["count"]) for row in found.summary["incomplete"]] == [(GIVEN, 11, 1)]


@pytest.mark.parametrize("board", BOARDS)
def test_a_block_freed_through_a_pointer_was_given_to_nobody(tmp_path: Path, board: str) -> None:
    program = """
        #include <stdlib.h>
        #include "score.h"
        static void (*volatile release)(void *) = free;
        int main(void)
        {
            unsigned char *text = malloc(2);
            if (!text) return 9;
            SYM_BYTES(text, 2);
            release(text);
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board)
    assert (found.summary["stopped"], found.summary["incomplete"]) == ("exhausted", [])


LEFT_BY_JUMP = """
#include <setjmp.h>
#include "score.h"
static jmp_buf out;
int far(unsigned char *p, jmp_buf to);
int main(void)
{
    unsigned char a[2];
    int (*volatile by)(unsigned char *, jmp_buf) = far;
    SYM_BYTES(a, 2);
    if (!setjmp(out)) CALL(a, out);
    return a[1] == 7;
}
"""


@pytest.mark.parametrize("call", ["far", "by"])
def test_what_opaque_code_was_given_is_said_where_it_leaves_by_longjmp(tmp_path: Path, call: str) -> None:
    far = "#include <setjmp.h>\nint far(unsigned char *p, jmp_buf to) { if (p[0] == 9) longjmp(to, 1); return 0; }\n"
    files = {"p.c": LEFT_BY_JUMP.replace("CALL", call), "far.c": far}
    found = explore(tmp_path, files, first={"a": "0900"}, native=("far.c",))
    assert (found.summary["stopped"], found.summary["runs"]) == ("drained", 1)
    assert [(row["what"], row["line"], row["count"]) for row in found.summary["incomplete"]] == [(GIVEN, 11, 1)]


def test_opaque_code_that_never_ends_is_no_wrong_assumption(tmp_path: Path) -> None:
    far = "int far(unsigned char *p) { while (p[0] == 9) ; return 0; }\n"
    (tmp_path / "p.c").write_text(ENDS_WITHIN.replace("CALL", "far(a)"))
    (tmp_path / "far.c").write_text(far)
    (tmp_path / "first.json").write_text('{"inputs": {"a": "0900"}}')
    options = ("--native", "far.c", "--first", "first.json", "--out", "out")
    done = score_embed("run", *options, "p.c", cwd=tmp_path)
    assert done.returncode == NothingToExplore.exit_code, done.stderr
    assert "nothing explored, no test came to its end after" in done.stdout


SHIFTED = """
#include <stdlib.h>
#include "score.h"
void *scratch(unsigned char size);
int main(void)
{
    unsigned char x, *table;
    SYM_U8(x);
    scratch(x & 64);
    table = malloc(256); /* it lies where scratch lets it */
    for (int i = 0; i < 256; i++) table[i] = i * 7 >> 4;
    if (table[x] == 3) return 1;
    if (x == 77) return 2;
    return 0;
}
"""


def test_where_a_block_lies_is_no_decision_if_no_other_object_could_be_read(tmp_path: Path) -> None:
    """What opaque code allocates may depend on the input. Then each table behind it lies elsewhere in each test."""
    scratch = "#include <stdlib.h>\nvoid *scratch(unsigned char size) { return malloc(16 + size); }\n"
    found = explore(tmp_path, {"p.c": SHIFTED, "s.c": scratch}, first={"x": 0}, native=("s.c",))
    assert (found.summary["mispredicted"], found.summary["paths"]) == (0, 3)
