"""Shifts by too much: C leaves open what they give, each processor gives something, and formulas give the same. Stored
values are compared with their formulas on the target, so a wrong formula makes the campaign `drained`."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import explore

PROGRAM = """
typedef unsigned long long u64;
struct bits { unsigned short buf; int valid; };
int merged(struct bits *s, unsigned short v) { s->buf |= v << s->valid; if (s->buf == 12) return 1; return 0; }
int rest(struct bits *s, unsigned short v) { s->buf = v >> (16 - s->valid); if (s->buf == 12) return 1; return 0; }
int wide(u64 v, unsigned n) { if (v << n == 0x500) return 1; if (v >> (n + 1) == 0x77) return 2; return 0; }
int far(unsigned v, unsigned char n) { if (!n) return 0; if (v << (n * 256u + 1) == 6) return 1; return 0; }
int known(unsigned v) { if (v << 33 == 6) return 1; return 0; }
int sign(int v, unsigned char n) { if (v >> n == -3) return 1; if (v << (n ^ 200) == 64) return 2; return 0; }
"""


@pytest.mark.parametrize("board", ["native", "native32", "aarch64-linux", "riscv32-virt", "mps2-an385", "microbit"])
@pytest.mark.parametrize(("function", "paths"), [("merged", 2), ("rest", 2), ("wide", 3), ("sign", 3), ("far", 3), ("known", 1)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_formulas_give_what_the_processor_gives(
    tmp_path: Path, board: str, function: str, paths: int, seed: int
) -> None:
    if (function, board) == ("wide", "riscv32-virt"):
        pytest.skip("a pair of registers is shifted by code, which looks at the count's sign (docs/limitations.md)")
    options = ["--entry", function, "--board", board, "--verify", "--no-witness", "--seed", str(seed)]
    summary = explore(tmp_path, {"p.c": PROGRAM}, *options).summary
    found = summary["stopped"], summary["paths"], summary["mispredicted"], summary["divergences"]
    assert found == ("exhausted", paths, 0, 0)
