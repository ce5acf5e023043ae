"""`exhausted` is said only where it is a proof: a program with something that escapes is `drained`, and says what and
where; what a harness bounds is exhausted within these bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner import Campaign, explore, score_embed


def lost(found: Campaign) -> list[tuple[str, int]]:
    """What could not be followed, and its line."""
    return [(row["what"], row["line"]) for row in found.summary["incomplete"] if row["count"]]


COUNTING = """
#include <stdio.h>
#include "score.h"
int main(void)
{
    unsigned char x;
    FILE *file = fopen("%s", "a");
    long runs;
    fseek(file, 0, SEEK_END);
    runs = ftell(file);
    fputc('r', file);
    fclose(file);
    SYM_U8(x);
    if (runs == 3) return 5;
    return x == 3;
}
"""


@pytest.mark.parametrize("clients", ["1", "2"])
@pytest.mark.parametrize("silent", [False, True])
def test_a_first_test_that_differs_is_not_forgotten(tmp_path: Path, clients: str, silent: bool) -> None:
    """Only one of the runs before the first test differs: nobody sees it later. `silent`: it ends before the first
    event."""
    text = COUNTING % (tmp_path / "runs")
    if silent:
        ask, leave = "    SYM_U8(x);\n", "    if (runs == 3) return 5;\n"
        assert ask + leave in text
        text = text.replace(ask + leave, leave + ask)
    found = explore(tmp_path, {"p.c": text}, "--unconfined", "--clients", clients)
    assert [what for what, _ in lost(found)] == ["the first test took different paths when run again"]
    assert found.summary["stopped"] == "drained"


@pytest.mark.parametrize(
    ("signature", "within", "what"),
    [
        ("const unsigned char *p, int n", ["p ≤ 16 bytes"], None),
        ("const short *p, unsigned n", ["p ≤ 16 elements"], None),
        ("const char *s", ["s ≤ 15 characters", "not null: s"], None),
        ("const struct point *p", ["p = 1 struct", "not null: p"], None),
        ("struct point *p, int n", ["p ≤ 3 structs"], None),
        ("struct unknown *p, int a", [], "p (struct unknown *) is null: nobody says here what it is to"),
        ("struct point *p, short limit", ["p = 1 struct", "not null: p"], None),
        ("int a, char b", [], None),
    ],
)
def test_what_the_harness_of_an_entry_bounds(
    tmp_path: Path, signature: str, within: list[str], what: str | None
) -> None:
    text = f"struct point {{ int x, y; }};\nint f({signature})\n{{\n    return 1;\n}}\n"
    found = explore(tmp_path, {"p.c": text}, "--entry", "f")
    assert found.summary["within"] == within
    assert found.summary["stopped"] == ("drained" if what else "exhausted")
    assert lost(found) == ([(f"--entry f: {what}", 2)] if what else [])
    said = score_embed("report", "out", cwd=tmp_path).stdout
    bounds = f"exhausted within {', '.join(within)} after" if within else "exhausted after"
    assert (bounds if not what else "drained after") in said
    assert (f"  within: {', '.join(within)}; what lies beyond was not tried" in said) == bool(within)
    score_embed("report", "out", "--junit", "j.xml", "--sarif", "s.json", cwd=tmp_path)
    assert all(bound in (tmp_path / "j.xml").read_text() for bound in within)
    assert json.loads((tmp_path / "s.json").read_text())["runs"][0]["properties"]["within"] == within


def test_what_a_whole_program_is_given_is_a_bound(tmp_path: Path) -> None:
    text = "#include <stdio.h>\nint main(int argc, char **argv) { return getchar() == argv[1][0]; }\n"
    found = explore(tmp_path, {"p.c": text}, "--argv", "2", "--stdin-bytes", "1")
    assert found.summary["within"] == ["argument 1 ≤ 2 bytes", "standard input = 1 bytes"]
    assert found.summary["stopped"] == "exhausted"


REGISTER = {"mps2-an385": "0x40011000", "arduino-mega2560": "0xc8"}  # of a UART that nobody drives: nothing arrives


@pytest.mark.parametrize("board", REGISTER)
def test_a_poll_on_a_register_that_nobody_models_is_no_hang(tmp_path: Path, board: str) -> None:
    text = f"""
        #include "score.h"
        typedef struct {{ volatile unsigned char SR; }} uart;
        #define USART1 ((uart *) {REGISTER[board]})
        int main(void)
        {{
            unsigned char x;
            unsigned n = 0;
            SYM_U8(x);
            if (x == 7)
                while (!(USART1->SR & 0x80)) continue;
            if (x == 8)
                while (x) n++; /* a hang, although a register was read before */
            return 0;
        }}
    """
    found = explore(tmp_path, {"p.c": text}, "--board", board, "--max-branches", "20000")
    assert lost(found) == [(f"waits for a device register at {REGISTER[board]}", 11)]
    assert [(bug["kind"], bug["line"]) for bug in found.summary["bugs"]] == [("hang", 13)]
    assert (found.summary["stopped"], found.summary["paths"], found.code) == ("drained", 3, 1)


WAITING = {
    "a handler": ("static volatile int ready;\nvoid SysTick_Handler(void) { ready = 1; }", "!ready", True),
    "in a struct": (
        "static struct { int n; volatile char done; } job;\nvoid SysTick_Handler(void) { job.done = 1; }",
        "!job.done",
        True,
    ),
    "behind a pointer": (
        "static volatile int ready, *at = &ready;\nvoid SysTick_Handler(void) { ready = 1; }",
        "!*at",
        True,
    ),
    "a callback": (
        "static volatile int ready;\nvoid on_timer(void) { ready = 1; }\nvoid (*hook)(void) = on_timer;",
        "!ready",
        True,
    ),
    "nobody": ("static volatile int ready;", "!ready", False),
    "the program only": (
        "static volatile int ready;\nstatic void step(void) { ready = 0; }",
        "(step(), !ready)",
        False,
    ),
    "no volatile": ("static int ready;\nvoid SysTick_Handler(void) { ready = 1; }", "!ready", False),
}


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
@pytest.mark.parametrize("how", WAITING)
def test_waiting_for_what_may_change_by_itself_is_no_hang(tmp_path: Path, board: str, how: str) -> None:
    defined, waits, may_end = WAITING[how]
    text = f"""
        #include "score.h"
        {defined}
        int main(void)
        {{
            unsigned char x;
            SYM_U8(x);
            if (x == 7)
                while ({waits}) continue;
            return 0;
        }}
    """
    found = explore(tmp_path, {"p.c": text}, "--board", board, "--max-branches", "20000", "--no-witness")
    whats = [what.partition(" at 0x")[0] for what, _ in lost(found)]
    assert whats == (["waits for a volatile variable"] if may_end else [])
    assert (found.summary["stopped"], found.bug_kinds) == (("drained", []) if may_end else ("exhausted", ["hang"]))
