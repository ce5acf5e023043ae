"""The second witness: faults that only gcc's sanitizers see are found, and it harms no campaign."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from runner import Campaign, explore, score_embed

from score_embed.results.store import Store
from score_embed.witness.witness import KEPT_SECONDS

HEAD = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"
"""
# Each with what it may be called: it depends on which witness sees it.
FAULTS = {
    "stack": ("volatile char *p = local; for (int i = 0; i < n; i++) sink = p[i]; /* stack */", {"out-of-bounds"}),
    "global": ("copy(rx, text, n * 2);", {"out-of-bounds"}),
    "heap": ("char *p = malloc(4); for (int i = 0; i < n; i++) p[i] = 1; /* heap */", {"out-of-bounds"}),
    "member": ("strcpy(fixed.name, text + (6 - n)); /* member */", {"out-of-bounds"}),
    "caller": ("past(table, n);", {"out-of-bounds"}),
    "memcpy": ("memcpy(wide, local, n); /* memcpy */", {"out-of-bounds"}),
    "strcpy": ("strcpy(rx, text); /* strcpy */", {"out-of-bounds"}),
    "memset": ("memset(rx, 0, n * 2); /* memset */", {"out-of-bounds"}),
    "before": ("volatile char *p = rx; sink = p[4 - n]; /* before */", {"out-of-bounds"}),
    "scope": ("int *q; if (n) { int inner = n; q = &inner; use(q); } sink = *q; /* scope */", {"use-after-scope"}),
    "return": (
        "sink = *dangling(n); /* return */",
        {"use-after-return", "use-after-scope"},
    ),  # the same, once gcc has inlined it
    "misaligned": ("volatile uint32_t *q = (uint32_t *) (wide + n - 5); sink = *q; /* misaligned */", {"misaligned"}),
    "overlap": ("memcpy(wide + 1, wide, n); /* overlap */", {"overlapping-copy"}),
    "overflow": ("sink = big + n; /* overflow */", {"overflow"}),
    "freed": ("char *p = malloc(8); free(p); sink = p[n]; /* freed */", {"use-after-free"}),
}
ELSEWHERE = {"global": "to[i] = from[i];", "caller": "sum += *p++;"}  # the line, where it is in another function
PROGRAM = (
    HEAD
    + """
static char rx[8], wide[16] __attribute__((aligned(8)));
static int table[5], big = 0x7ffffffa;
static const char text[] = "0123456789abcdef";
static volatile int sink;
static struct message { int id; char name[8]; } fixed;

static void copy(char *to, const char *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

static void past(int *p, int count)
{
    int sum = 0;
    while (count--)
        sum += *p++;
    sink = sum;
}

static int *volatile kept;
static void use(int *p) { kept = p; }
static int *dangling(int n) { int local = n; use(&local); return kept; }

int main(void)
{
    unsigned char which, n;
    char local[4] = {1, 2, 3, 4};
    SYM_U8(which);
    SYM_U8(n);
    SCORE_ASSUME(n == 6);
    use(&sink);
    switch (which) {
    CASES
    }
    return 0;
}
"""
)
CASES = "\n    ".join(f"case {i}: {{ {body} break; }}" for i, (body, _) in enumerate(FAULTS.values()))
SOURCE = PROGRAM.replace("CASES", CASES).replace("use(&sink);", "")


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Campaign]:
    """One program with all faults, explored on both boards."""
    found: dict[str, Campaign] = {}
    for board in ("native", "native32"):
        folder = tmp_path_factory.mktemp(board)
        found[board] = explore(folder, {"p.c": SOURCE}, "--board", board, "--check", "all")
    return found


@pytest.mark.parametrize("board", ["native", "native32"])
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found_by_one_witness_or_the_other(
    campaigns: dict[str, Campaign], board: str, fault: str
) -> None:
    kinds = FAULTS[fault][1]
    text = ELSEWHERE.get(fault, f"/* {fault} */")
    (line,) = (number for number, code in enumerate(SOURCE.splitlines(), 1) if text in code)
    (bug,) = (bug for bug in campaigns[board].summary["bugs"] if bug["line"] == line and bug["kind"] in kinds)
    assert Path(bug["file"]).name == "p.c"
    assert bug["confirmed"]
    assert bug["stack"][-1] == "main"
    assert bug["inputs"]["n"] == 6
    assert bug["inputs"]["which"] == list(FAULTS).index(fault)


@pytest.mark.parametrize("board", ["native", "native32"])
def test_nothing_else_is_found(campaigns: dict[str, Campaign], board: str) -> None:
    summary = campaigns[board].summary
    assert len(summary["bugs"]) == len(FAULTS), [(bug["kind"], bug["line"], bug["witness"]) for bug in summary["bugs"]]
    assert summary["witness"]["not_witnessed"] == summary["witness"]["lost"] == 0
    assert summary["witness"]["missing"] == ""
    assert campaigns[board].code == 1


def test_reports_name_the_witness(campaigns: dict[str, Campaign]) -> None:
    folder = campaigns["native"].folder
    done = score_embed("report", str(folder), cwd=folder)
    assert re.search(
        r"error: .* in main: which = 9, n = 6 \(seen by gcc's address sanitizer\) \[use-after-scope\]", done.stdout
    )
    assert "second witness:" in done.stdout
    for name in ("junit", "sarif"):
        assert score_embed("report", str(folder), f"--{name}", "x", cwd=folder).returncode == 0
        assert "address sanitizer" in (folder / "x").read_text()
    (bug,) = (bug for bug in campaigns["native"].summary["bugs"] if bug["inputs"]["which"] == 9)
    assert list((folder / "bugs").glob(f"{bug['test']:06d}-*.json"))
    again = score_embed("replay", str(folder), str(bug["test"]), cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "stack-use-after-scope" in again.stdout


def recorded(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / "campaign.db") as db:
        return db.execute("SELECT number, input, verdict, path FROM tests ORDER BY number").fetchall()


def test_without_it_the_tests_are_the_same(campaigns: dict[str, Campaign], tmp_path: Path) -> None:
    alone = explore(tmp_path, {"p.c": SOURCE}, "--check", "all", "--no-witness")
    assert alone.summary["witness"] == {}
    assert not (alone.folder / "witness.elf").exists()
    assert all(bug["witness"] == "" for bug in alone.summary["bugs"])
    assert recorded(alone.folder) == recorded(campaigns["native"].folder)


def test_a_fleet_has_one_too(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": SOURCE}, "--check", "all", "--clients", "2")
    assert len(found.summary["bugs"]) == len(FAULTS)
    assert found.summary["witness"]["not_witnessed"] == 0


def test_what_is_left_is_witnessed_when_the_campaign_goes_on(tmp_path: Path) -> None:
    begun = explore(tmp_path, {"p.c": SOURCE}, "--check", "all", "--max-tests", "3")
    with Store.open(begun.folder) as record:  # as if it had been killed before the witness had its turn
        record._database._db.execute("DELETE FROM witnessed")
    done = score_embed("run", "--resume", str(begun.folder), "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    with Store.read(begun.folder) as record:
        counts = record.witness_counts(len(record.path_hashes()))
    assert (counts.kept_left, counts.paths_left) == (0, 0)
    report = score_embed("report", str(begun.folder), "--json", cwd=tmp_path)
    assert report.stdout == (begun.folder / "summary.json").read_text()
    assert report.stdout.count('"kind"') == len(FAULTS)


def test_boards_have_none(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": SOURCE}, "--board", "mps2-an385", "--max-tests", "2")
    assert found.summary["witness"] == {}


def test_a_missing_sanitizer_is_said_once_and_the_campaign_goes_on(tmp_path: Path) -> None:
    wrapper = tmp_path / "gcc"
    wrapper.write_text(
        '#!/bin/sh\ncase "$*" in *-fsanitize*) echo "ld: cannot find -lasan" >&2; exit 1;; esac\nexec gcc "$@"\n'
    )
    wrapper.chmod(0o755)
    (tmp_path / "bare.yaml").write_text(f"extends: native\ncompiler: {wrapper}\n")
    found = explore(tmp_path, {"p.c": SOURCE}, "--board", "bare.yaml")
    assert found.stderr.count("no second witness") == 1
    assert "-lasan" in found.stderr
    witness = found.summary["witness"]
    assert "-lasan" in witness["missing"]
    assert (witness["witnessed"], witness["not_witnessed"]) == (0, found.summary["runs"])
    report = score_embed("report", str(found.folder), cwd=tmp_path)
    assert "there was none: " in report.stdout


# Misbehaves in the second witness's program only: the files of --native have no probes, but they are linked with both.
ACT = (
    HEAD
    + """
#include <signal.h>
#include <unistd.h>
extern void __asan_init(void) __attribute__((weak));
static volatile unsigned char sink;
void act(int which)
{
    if (!__asan_init) return;
    if (which == 1) for (;;) sink++;
    if (which == 2) kill(getpid(), SIGKILL);
    if (which == 3) kill(getppid(), SIGKILL);
    if (which == 4) for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (which == 5) for (int i = 0; i < 300; i++) close(i);
    if (which == 6) kill(0, SIGKILL);
}
"""
)
MISBEHAVES = (
    HEAD
    + """
void act(int which);
static volatile int sink;
static char wide[16] __attribute__((aligned(8)));
int main(void)
{
    unsigned char which;
    SYM_U8(which);
    for (int i = 1; i < 9; i++)
        if (which == i)
            sink = i;
    act(which);
    if (which == 5 || which == 8)
        *(volatile uint16_t *) (wide + 1) = which; /* BUG */
    return 0;
}
"""
)


def test_a_test_that_hangs_or_kills_costs_itself_only(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": MISBEHAVES, "act.c": ACT}, native=("act.c",))
    summary = found.summary
    for _ in range(8):  # a session has little time for such tests
        if summary["witness"]["not_witnessed"]:
            done = score_embed("run", "--resume", str(found.folder), "--json", cwd=tmp_path)
            assert done.returncode == 1, done.stderr
            summary = json.loads(done.stdout)
    assert summary["witness"]["witnessed"] == summary["paths"] >= 9
    assert summary["witness"]["lost"] == 2, "the endless loop, the memory; nothing reaches the server"
    (bug,) = summary["bugs"]
    assert (bug["kind"], bug["count"], bug["confirmed"]) == ("misaligned", 2, True)


def test_it_has_a_tenth_of_the_time(tmp_path: Path) -> None:
    """Each test takes 50 ms of the second witness's time, and there are tests for an hour."""
    slow = "    if (which == 1) for (;;) sink++;"
    act = ACT.replace(slow, "    usleep(50000);")
    program = (
        HEAD
        + """
void act(int which);
int main(void)
{
    unsigned int bits, sum = 0;
    SYM_UINT(bits);
    for (int i = 0; i < 32; i++)
        if (bits >> i & 1)
            sum++;
    act(0);
    return (int) sum;
}
"""
    )
    found = explore(tmp_path, {"p.c": program, "act.c": act}, "--time", "4s", native=("act.c",))
    witness = found.summary["witness"]
    share, end, one = 0.1 * found.summary["seconds"], KEPT_SECONDS, 1.0
    assert 0.2 < witness["seconds"] < share + end + one
    assert witness["kept_not_witnessed"] == 0 or witness["seconds"] > 2
    assert witness["not_witnessed"] > 100
    assert found.summary["seconds"] < 6


CLEAN = (
    HEAD
    + """
#include <stddef.h>
struct node { struct node *next; };
struct item { int value; struct node link; };
struct packet { unsigned short length; unsigned char data[]; };
struct __attribute__((packed)) odd { char tag; unsigned int value; };
union both { int i; unsigned char bytes[4]; };
#define ITEM(n) ((struct item *) ((char *) (n) - offsetof(struct item, link)))
static char pool[64] __attribute__((aligned(8)));
static size_t used;
static void *take(size_t size) { void *p = pool + used; used += (size + 7) & ~(size_t) 7; return p; }
static int grid[3][4];
int main(void)
{
    unsigned char in[6];
    SYM_BYTES(in, sizeof in);
    struct item *first = take(sizeof *first), *second = take(sizeof *second);
    first->link.next = &second->link;
    second->link.next = 0;
    second->value = in[0];
    if (ITEM(first->link.next)->value == 7)
        used = 0;
    struct node *none = second->link.next;
    struct node **at = none ? &none->next : &first->link.next; /* an address that nobody follows */
    struct packet *p = malloc(sizeof *p + 3);
    p->length = 3;
    memcpy(p->data, in + 1, p->length);
    if (p->data[2] > 9)
        p->data[0] = 0;
    memset(grid[0], 0, sizeof grid);
    for (const unsigned char *end = in + sizeof in; end-- > in;)
        if (*end == 1)
            break;
    struct odd odd = {0, 0};
    memcpy(&odd, in, sizeof odd);
    union both both;
    both.i = 1;
    int sum = both.bytes[0] + (odd.value > 5) + (1 << 31 < 0);
    memcpy(in, in, sizeof in);
    unsigned hash = 2166136261u;
    for (int i = 0; i < 6; i++) hash = (hash ^ in[i]) * 16777619u;
    free(p);
    return sum + (at != 0) + (hash == 5);
}
"""
)


@pytest.mark.parametrize("board", ["native", "native32"])
def test_a_clean_program_stays_clean(tmp_path: Path, board: str) -> None:
    found = explore(tmp_path, {"p.c": CLEAN}, "--board", board)
    assert found.summary["bugs"] == []
    assert found.summary["witness"]["not_witnessed"] == found.summary["witness"]["lost"] == 0
    assert found.summary["paths"] > 5


WHOLE = (
    HEAD
    + """
#include <stdio.h>
int main(int argc, char **argv)
{
    char *line = malloc(5), name[8] __attribute__((aligned(8)));
    int c, n = 0;
    while ((c = getchar()) != EOF && c != 10)
        line[n++ & 7] = (char) c; /* stdin */
    if (argc > 1 && argv[1][0] == 'x')
        return (int) *(volatile uint32_t *) (name + strlen(argv[1])); /* argv */
    return 0;
}
"""
)


def test_whole_programs_get_their_input(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": WHOLE}, "--argv", "3", "--stdin-bytes", "6")
    lines = WHOLE.splitlines()
    seen = {(bug["kind"], lines[bug["line"] - 1].split()[-2]) for bug in found.summary["bugs"]}
    assert seen == {("out-of-bounds", "stdin"), ("misaligned", "argv")}


ENTRY = (
    HEAD
    + """
static int at(const char *s, int i) { return s[i]; }
int length(const char *text) { int n = 0; while (at(text, n)) n++; return n; }
int sum(const unsigned char *data, int n)
{
    int s = 0;
    for (int i = 0; i <= n; i++)
        s += at((const char *) data, i);
    return s;
}
"""
)


def test_a_function_s_harness_is_not_to_blame(tmp_path: Path) -> None:
    """The one byte that a lone pointer gets says nothing of the function; a buffer whose length is passed does."""
    for function, kinds in {"length": [], "sum": ["out-of-bounds"]}.items():
        folder = tmp_path / function
        folder.mkdir()
        found = explore(folder, {"p.c": ENTRY}, "--entry", function, "--check", "none")
        assert found.bug_kinds == kinds


INLINED = """
struct node { int key; struct node *next; };
int second(const struct node *n)
{
    return n->next->key; /* here */
}
"""


def test_an_inlined_function_s_fault_is_its_own(tmp_path: Path) -> None:
    """gcc had moved the access into the harness, where it was another bug; the other witness has it, too."""
    found = explore(tmp_path, {"p.c": INLINED}, "--entry", "second")
    (bug,) = found.summary["bugs"]
    assert (bug["kind"], bug["line"], bug["function"]) == ("null-dereference", 5, "second")


PRINT = "_ZNK11__sanitizer10StackTrace5PrintEv"  # of the call stack, after the report's first line
SLOW_TO_SAY = """
#include <unistd.h>
void __real_PRINT(const void *stack) __attribute__((weak));
void __wrap_PRINT(const void *stack)
{
    usleep(MILLISECONDS * 1000);
    if (__real_PRINT) __real_PRINT(stack);
}
""".replace("PRINT", PRINT)


@pytest.mark.parametrize(("milliseconds", "lost"), [(1500, 0), (7000, 1)])
def test_a_report_has_time_to_be_finished(tmp_path: Path, milliseconds: int, lost: int) -> None:
    """Cut off after the first line it named no place, and was a second bug without one."""
    program = HEAD + """
int second(const int *p, unsigned char which) { return which == 7 ? p[which] : 0; }
int main(void)
{
    unsigned char which;
    int one = 1;
    SYM_U8(which);
    return second(&one, which);
}
"""
    files = {"p.c": program, "slow.c": SLOW_TO_SAY.replace("MILLISECONDS", str(milliseconds))}
    found = explore(tmp_path, files, native=("slow.c",), cflags=(f"-Wl,--wrap={PRINT}",))
    (bug,) = found.summary["bugs"]
    assert (bug["kind"], bug["function"], bug["confirmed"]) == ("out-of-bounds", "second", True)
    assert found.summary["witness"]["lost"] == lost


LARGE = (
    HEAD
    + """
struct node { int key; struct node *next; };
static char wide[32] __attribute__((aligned(8)));
int take(const unsigned char *buf, unsigned len, const struct node *other, const char *name)
{
    if (len > 5 && buf[3] == 0x2a && name[0] == 'x')
        return (int) *(volatile uint32_t *) (wide + (buf[4] | 1)) + (other ? other->key : 1); /* misaligned */
    return 0;
}
"""
)


def test_inputs_of_what_only_it_saw_are_made_small(tmp_path: Path) -> None:
    options = ("--entry", "take", "--check", "none")
    found = explore(tmp_path, {"p.c": LARGE}, *options)
    (bug,) = found.summary["bugs"]
    inputs = bug["inputs"]
    assert (bug["kind"], bug["confirmed"], bug["rests_on"]) == ("misaligned", True, [])
    assert (inputs["len"], inputs["buf"], inputs["name"]) == (6, "0000002a" + "00" * 12, '"x"')
    assert inputs["other != NULL"] == 0
    small = next((found.folder / "bugs").glob("*-small.json"))
    assert json.loads(small.read_text())["inputs"] == inputs
    report = score_embed("report", str(found.folder), cwd=tmp_path).stdout
    assert f"{small.stem}.bin" in report
    assert (
        score_embed("report", str(found.folder), "--json", cwd=tmp_path).stdout
        == (found.folder / "summary.json").read_text()
    )
    again = explore(
        tmp_path, {"p.c": LARGE}, *options, "--first", str(small), "--max-tests", "1", "--out", "o2"
    ).summary
    assert [(bug["kind"], bug["line"]) for bug in again["bugs"]] == [(bug["kind"], bug["line"])]
    plain = explore(tmp_path, {"p.c": LARGE}, *options, "--no-minimise", "--out", "o3")
    assert plain.summary["bugs"][0]["inputs"] != inputs
    assert plain.summary["bugs"][0]["small"] == ""
    assert not list((tmp_path / "o3" / "bugs").glob("*-small.json"))


def test_a_smaller_input_goes_to_the_same_objects(tmp_path: Path) -> None:
    """With `more` 0 the same line is as wrong, but the input is then another object's."""
    program = (
        LARGE.replace("int take(", "int unused(")
        + """
int main(void)
{
    unsigned char more, first = 0, offset;
    SYM_U8(more);
    if (more > 3)
        SYM_U8(first);
    SYM_U8(offset);
    if (offset == 9)
        return (int) *(volatile uint32_t *) (wide + 1) + first;
    return 0;
}
"""
    )
    found = explore(tmp_path, {"p.c": program}, "--check", "none")
    for bug in found.summary["bugs"]:
        inputs = bug["inputs"]
        assert inputs["offset"] == 9
        assert ("first" in inputs) == (inputs["more"] > 3)
        assert inputs["more"] in (0, 4)
