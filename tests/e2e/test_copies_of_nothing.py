"""A copy of no bytes is right wherever its pointers lead: to null, or one past the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore

CODE = """
#include <string.h>
struct bin { unsigned char *v; unsigned char len; };
static unsigned char out[16];
static int come(const struct bin *p) { return p->v ? out[0] == 7 : 2; }
int from(const struct bin *p) { memcpy(out, p->v, p->len); return come(p); }
int moved(const struct bin *p) { memmove(p->v, out, p->len); return come(p); }
int set(const struct bin *p) { memset(p->v, 0, p->len); return come(p); }
int compared(const struct bin *p) { return memcmp(p->v, out, p->len) ? 3 : come(p); }
int padded(const struct bin *p) { strncpy((char *) p->v, "", p->len); return come(p); }
int behind(const struct bin *p, int n) { unsigned char *q = p->v + p->len; return n ? 1 : (memset(q, 0, n), come(p)); }
"""
# The function, and how many ends there are: of null, of each length, and of what differs.
PATHS = {"from": 19, "moved": 18, "set": 18, "compared": None, "padded": None, "behind": 3}


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("function", PATHS)
def test_every_length_and_null_are_followed(tmp_path: Path, function: str, board: str) -> None:
    options = ("--entry", function, "--board", board, "--no-witness")
    found = explore(tmp_path, {"p.c": CODE}, *options).summary
    assert (found["stopped"], found["mispredicted"]) == ("exhausted", 0)
    assert PATHS[function] in (None, found["paths"])
    assert [bug["line"] for bug in found["bugs"]] == ([6] if function == "from" else [])  # 17 bytes into 16


OPAQUE = """
#include <string.h>
#include "score.h"
unsigned char room[9];
int main(void)
{
    unsigned char n;
    SYM_BYTES(&n, 1);
    memset(room, 1, n);
    return room[0];
}
"""
OWN = """
#include <stddef.h>
void *memset(void *to, int byte, size_t n) { volatile unsigned char *p = to; while (n--) *p++ = (unsigned char) byte; return to; }
"""


def test_beside_nothing_what_is_too_much_is_found(tmp_path: Path) -> None:
    """Where no model decides the number, and the first test has none."""
    (tmp_path / "zero.bin").write_bytes(b"\0")
    (tmp_path / "own.c").write_text(OWN)
    found = explore(tmp_path, {"p.c": OPAQUE}, "--native", "own.c", "--first", "zero.bin", "--no-witness").summary
    assert [bug["kind"] for bug in found["bugs"]] == ["out-of-bounds"]
    assert found["mispredicted"] == 0
