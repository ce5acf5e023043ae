"""Opaque code that is given symbolic numbers: with `--fork-arguments` it is asked for all of their values, within a
bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import explore

BOARDS = ["native", "mps2-an385"]
GIVEN = "symbolic data given to an opaque call"
RESULT = "opaque result in a condition"
PROGRAM = """
#include "score.h"
int far(int x, int y);
int keep(int x);
int kept(void);
int main(void)
{
    unsigned char a, b;
    SYM_U8(a);
    SYM_U8(b);
    if (far(a & 7, 3) > 20) return 1;
    keep(a & 1);
    if (kept() == (b & 3)) return 2;
    return 0;
}
"""
NATIVE = """
static int k;
int far(int x, int y) { return x * x - y; }
int keep(int x) { k = x * 2; return k; }
int kept(void) { return k; }
"""
FAR, KEEP = 11, 12  # lines


def lost(found: object) -> list[tuple[str, int]]:
    assert isinstance(found, list)
    return sorted((note["what"], note["line"]) for note in found)


@pytest.mark.parametrize("board", BOARDS)
def test_all_values_of_numbers_are_asked_for(board: str, tmp_path: Path) -> None:
    files = {"m.c": PROGRAM, "native.c": NATIVE}
    run = explore(tmp_path, files, "--board", board, "--fork-arguments", native=("native.c",))
    assert (run.summary["stopped"], run.summary["paths"], run.summary["incomplete"]) == ("exhausted", 3, [])
    assert run.summary["divergences"] == 0


@pytest.mark.parametrize("board", BOARDS)
def test_beyond_the_bound_it_is_said_which_were_not(board: str, tmp_path: Path) -> None:
    files = {"m.c": PROGRAM, "native.c": NATIVE}
    bound = ("--fork-arguments", "--fork-values", "4")
    run = explore(tmp_path, files, "--board", board, *bound, native=("native.c",))
    assert run.summary["stopped"] == "drained"
    assert lost(run.summary["incomplete"]) == [(RESULT, FAR), (GIVEN, FAR)]


def test_without_the_option_numbers_are_used_as_they_are(tmp_path: Path) -> None:
    run = explore(tmp_path, {"m.c": PROGRAM, "native.c": NATIVE}, native=("native.c",))
    assert run.summary["stopped"] == "drained"
    assert lost(run.summary["incomplete"]) == [(RESULT, FAR), (GIVEN, FAR), (GIVEN, KEEP)]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("unsigned char t[2]; t[0] = a & 1; if (sum(t, 1) == 1) return 1; return 0;", GIVEN),  # memory
        ("unsigned char t[2]; int y; t[0] = a & 1; y = sum(t, 1); if (twice(y) == 2) return 1; return 0;", RESULT),
        ("if (real((a & 3) * 0.5) == 1.0) return 1; return 0;", GIVEN),  # no number that could be counted
    ],
    ids=["memory", "an opaque result", "floating point"],
)
def test_what_has_no_values_to_ask_for_stays_lost(body: str, what: str, tmp_path: Path) -> None:
    text = '#include "score.h"\nint sum(unsigned char *p, int n); int twice(int x); double real(double x);\n'
    text += f"int main(void) {{ unsigned char a; SYM_U8(a); {body} }}\n"
    native = "int sum(unsigned char *p, int n) { return p[0] * n; }\nint twice(int x) { return 2 * x; }\n"
    native += "double real(double x) { return x; }\n"
    run = explore(tmp_path, {"m.c": text, "native.c": native}, "--fork-arguments", native=("native.c",))
    assert run.summary["stopped"] == "drained"
    assert what in {note["what"] for note in run.summary["incomplete"]}


THROUGH = """
#include <stdlib.h>
#include "score.h"
int twice(int x, unsigned char *p);
int asks(int x, unsigned char *p);
int ends(int x, unsigned char *p);
int own(int x, unsigned char *p) { return x == 2 && *p == 0; }
int answer(int x) { return x > 2; }
int (*functions[])(int, unsigned char *) = {twice, own, asks, ends};
unsigned char memory[2];
int main(void)
{
    unsigned char a, b;
    SYM_U8(a);
    SYM_U8(b);
    %s
    return 0;
}
"""
BEHIND = """
#include <stdlib.h>
int answer(int x);
int twice(int x, unsigned char *p) { return 2 * x + *p; }
int asks(int x, unsigned char *p) { return answer(x + *p); }
int ends(int x, unsigned char *p) { if (x == 3) _Exit(*p); return x; }
"""


def through(tmp_path: Path, body: str, *options: str) -> tuple[str, int, list[tuple[str, int]]]:
    run = explore(tmp_path, {"m.c": THROUGH % body, "behind.c": BEHIND}, *options, native=("behind.c",))
    assert run.summary["divergences"] == 0
    paths = run.summary["paths"]
    assert isinstance(paths, int)
    return str(run.summary["stopped"]), paths, lost(run.summary["incomplete"])


CALL = 16  # line


@pytest.mark.parametrize("board", BOARDS)
def test_through_pointers_too(board: str, tmp_path: Path) -> None:
    body = "if (functions[b & 1](a & 7, memory) == 6) return 1; if ((a & 7) == 3) return 2;"
    found = through(tmp_path, body, "--board", board, "--fork-arguments")
    # of twice's values 3 alone is 6, so that `return 2` is not reached there; own has 2, 3, and others
    assert found == ("exhausted", 5, [])


def test_a_result_that_takes_the_arguments_place(tmp_path: Path) -> None:
    body = "int x = a & 3; x = functions[0](x, memory); if (x == 6) return 1; if (x == 2) return 2;"
    assert through(tmp_path, body, "--fork-arguments") == ("exhausted", 3, [])


@pytest.mark.parametrize(
    ("function", "said"), [(2, [(RESULT, CALL), (GIVEN, CALL)]), (3, [(GIVEN, CALL)])], ids=["calls back", "ends"]
)
def test_what_is_decided_before_the_call_is_over_stays_lost(
    function: int, said: list[tuple[str, int]], tmp_path: Path
) -> None:
    body = f"if (functions[{function}](a & 3, memory)) return 1;"
    stopped, _, notes = through(tmp_path, body, "--fork-arguments")
    assert (stopped, notes) == ("drained", said)


def test_memory_given_through_a_pointer_stays_lost(tmp_path: Path) -> None:
    body = "memory[0] = b & 1; if (functions[0](a & 3, memory) == 3) return 1;"
    stopped, _, notes = through(tmp_path, body, "--fork-arguments")
    assert stopped == "drained"
    assert (GIVEN, CALL) in notes


def test_through_a_pointer_beyond_the_bound(tmp_path: Path) -> None:
    body = "if (functions[0](a & 7, memory) == 6) return 1;"
    stopped, _, notes = through(tmp_path, body, "--fork-arguments", "--fork-values", "4")
    assert stopped == "drained"
    assert (GIVEN, CALL) in notes
