"""Bugs that only arrays and texts of the size show that the code asks for, with every path within these bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore

CODE = """
#include <stdint.h>
#include <string.h>
struct hdr { uint8_t kind; uint8_t rest[27]; };
int set_name(const char *name) { char to[32]; strcpy(to, name); return to[0]; }
int frame(const uint8_t *p, size_t n) { uint8_t to[64]; memcpy(to, p, n); return to[0]; }
int header(const uint8_t *p, size_t n)
{
    if (n < sizeof(struct hdr)) return -1;
    return p[0] == 7 ? p[sizeof(struct hdr)] : p[27];
}
int loop(const char *s) { char to[24]; int i = 0; while (*s) to[i++] = *s++; to[i] = 0; return to[0]; }
int choose(const uint8_t *p, unsigned n)
{
    switch (n) { case 24: return p[23]; case 40: return p[39] ? p[40] : 2; }
    return 0;
}
int stated(const uint8_t *p, size_t n) { return p[0] == 1 && p[n - 1] == 2; }
int command(const char *s) { return !strcmp(s, "reboot-to-bootloader") ? 100 / (s[20] - s[20]) : 0; }
"""
# The function, options, the line of its bug, and how many paths there are.
CASES = {
    "set_name": ((), 5, 33),
    "frame": ((), 6, None),
    "header": ((), 10, 4),
    "loop": ((), 12, 25),
    "choose": ((), 15, 4),
    "stated": (("--assume", "n >= 40"), None, 3),
    "command": ((), 19, 22),
}


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("function", CASES)
def test_its_bug_is_found(tmp_path: Path, function: str, board: str) -> None:
    options, line, paths = CASES[function]
    found = explore(tmp_path, {"p.c": CODE}, "--entry", function, "--board", board, "--no-witness", *options).summary
    assert found["stopped"] == "exhausted"
    assert [bug["line"] for bug in found["bugs"]] == ([line] if line else [])
    assert paths is None or found["paths"] == paths
