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
        ("int (*f)(int) = twice; if (f(a & 1) == 2) return 1; return 0;", GIVEN),  # nobody asked for its values
        ("unsigned char t[2]; int y; t[0] = a & 1; y = sum(t, 1); if (twice(y) == 2) return 1; return 0;", RESULT),
        ("if (real((a & 3) * 0.5) == 1.0) return 1; return 0;", GIVEN),  # no number that could be counted
    ],
    ids=["memory", "pointer", "an opaque result", "floating point"],
)
def test_what_has_no_values_to_ask_for_stays_lost(body: str, what: str, tmp_path: Path) -> None:
    text = '#include "score.h"\nint sum(unsigned char *p, int n); int twice(int x); double real(double x);\n'
    text += f"int main(void) {{ unsigned char a; SYM_U8(a); {body} }}\n"
    native = "int sum(unsigned char *p, int n) { return p[0] * n; }\nint twice(int x) { return 2 * x; }\n"
    native += "double real(double x) { return x; }\n"
    run = explore(tmp_path, {"m.c": text, "native.c": native}, "--fork-arguments", native=("native.c",))
    assert run.summary["stopped"] == "drained"
    assert what in {note["what"] for note in run.summary["incomplete"]}
