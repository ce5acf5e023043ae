"""Floating point in whole campaigns: inputs, what is concretized and said to be, boards with hardware for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from runner import explore

ROOT = Path(__file__).parents[2]
HARD = """extends: mps2-an386
about: a Cortex-M4 that passes floating-point numbers in registers
cpu: [-mcpu=cortex-m4, -mthumb, -mfpu=fpv4-sp-d16, -mfloat-abi=hard]
"""
MIX = """
float mix(float x, double y, float z) { return x + (float) y * z; }
"""
THRESHOLDS = """
#include "score.h"
float mix(float x, double y, float z);
static float state[2];
static int regulate(float measured, double limit)
{
    float error = 21.5f - measured;
    state[0] += error * 0.5f;
    if (state[0] > 10) state[0] = 10;
    if (error * 2.5f + state[0] * 0.125f > limit) return 1;
    return measured < -273.15f ? -1 : 0;
}
int main(void)
{
    float x;
    double d;
    int n;
    SYM_FLOAT(x);
    SYM_DOUBLE(d);
    if (d > 100.5 || d < 100.25) return 2;
    n = regulate(x, 100);
    if (x > 1.5f && x * 3.0f < 5.0f) {
        SCORE_ASSERT(n == 1 || d != 100.5);
        n += 8;
    }
    return n + (mix(1.5f, 2.5, 2) == 6.5f ? 16 : 0);
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385", "hard.yaml"])
def test_thresholds(board: str, tmp_path: Path) -> None:
    """Found on all boards, by the same input; a plain build fails with it, too. Concrete numbers pass opaque calls."""
    (tmp_path / "hard.yaml").write_text(HARD)
    files = {"t.c": THRESHOLDS, "mix.c": MIX}
    found = explore(tmp_path, files, "--board", board, "--verify", native=("mix.c",))
    summary = found.summary
    assert (summary["stopped"], summary["divergences"], summary["mispredicted"]) == ("exhausted", 0, 0), summary
    assert found.bug_kinds == ["assertion"]
    (bug,) = summary["bugs"]
    assert 1.5 < bug["inputs"]["x"] < 5 / 3
    assert bug["inputs"]["d"] == 100.5
    assert summary["solver"]["by"]["range"] > summary["solver"]["by"]["smt"]
    if board == "native":
        data = next((found.folder / "bugs").glob("*.bin"))
        include = f"-I{ROOT / 'runtime' / 'include'}"
        subprocess.run(["gcc", include, "t.c", "mix.c", "-o", "plain"], cwd=tmp_path, check=True, timeout=60)
        env = {**os.environ, "SCORE_INPUT": str(data)}
        plain = subprocess.run(["./plain"], cwd=tmp_path, env=env, capture_output=True, timeout=60, check=False)
        assert b"SCORE_ASSERT failed" in plain.stderr


LOSSES = """
#include <string.h>
#include "score.h"
float mix(float x, double y, float z);
int main(void)
{
    float x, y;
    long double wide;
    unsigned bits;
    int n = 0;
    SYM_FLOAT(x);
    if ((int) x == 3) n = 1;
    if ((unsigned char) x == 200) n += 2;
    y = x * 2;
    memcpy(&bits, &y, sizeof bits);
    if (bits >> 20 == 0x7fc) n += 4;
    if (mix(x, 0.5, 1) > 2) n += 8;
    wide = x;
    if (wide == 0.25L) n += 16;
    return n;
}
"""


def test_what_has_no_formula_is_said_and_never_wrong(tmp_path: Path) -> None:
    found = explore(
        tmp_path, {"l.c": LOSSES, "mix.c": MIX}, "--verify", "--max-tests", "200", native=("mix.c",), first={"x": 1e30}
    )
    assert found.summary["stopped"] == "drained"
    assert found.summary["divergences"] == 0
    lines = {(item["what"], item["line"]) for item in found.summary["incomplete"]}
    assert {
        ("conversion to an integer out of range", 12),
        ("conversion to an integer out of range", 13),
        ("pattern of a floating-point result", 16),
        ("opaque result in a condition", 17),
        ("long double", 18),
    } <= lines
    # The first test is out of both ranges, and where it is not all of n's bits but the opaque one's are found.
    taken = {item["line"] for item in found.summary["unflipped"] if item["direction"] == "true"}
    assert not taken & {12, 13}


WIDE = """
#include "score.h"
int main(void)
{
    unsigned __int128 product;
    unsigned long x;
    SYM_BYTES(&x, sizeof x);
    product = (unsigned __int128) x * x;
    if (product >> 64 == 4) return 1;
    return (__int128) x == 9;
}
"""


def test_integers_of_128_bits_are_no_floating_point(tmp_path: Path) -> None:
    found = explore(tmp_path, {"w.c": WIDE}, "--verify", "--max-tests", "20")
    assert found.summary["divergences"] == 0
    assert {(item["what"], item["line"]) for item in found.summary["incomplete"]} == {("128 bits", 8), ("128 bits", 10)}


def test_entry_with_floating_point_arguments(tmp_path: Path) -> None:
    entry = """
    struct point { float x, y; };
    int far(float from, double limit, const struct point *to, const float *gains, int count)
    {
        float distance = (to->x - from) * (count > 1 ? gains[1] : 1);
        if (distance != distance) return 3;
        if (distance > 1e30f) return 1;
        return from == 2.5f && limit == -0.75;
    }
    """
    found = explore(tmp_path, {"e.c": entry}, "--entry", "far", "--verify")
    assert (found.summary["stopped"], found.summary["divergences"]) == ("exhausted", 0)
    assert found.summary["coverage"]["branches_covered"] == found.summary["coverage"]["branches_total"]


def test_a_single_precision_constant_is_what_the_compiler_makes_of_it(tmp_path: Path) -> None:
    program = """
    #include "score.h"
    int main(void)
    {
        float x;
        SYM_FLOAT(x);
        if (x == 0.1) return sizeof 0.1;
        return 0;
    }
    """
    paths = []
    for flags in ((), ("-fsingle-precision-constant", "-ffast-math")):
        found = explore(
            tmp_path, {"c.c": program}, "--verify", "--out", str(tmp_path / f"out{len(flags)}"), cflags=flags
        )
        assert (found.summary["stopped"], found.summary["divergences"]) == ("exhausted", 0)
        paths.append(found.summary["paths"])
    assert paths == [1, 2]  # no float is 0.1


def test_an_old_style_parameter_of_type_float_is_passed_as_a_double(tmp_path: Path) -> None:
    program = """
    #include "score.h"
    int f(x) float x; { if (x > 2) return 1; return 0; }
    int main(void) { signed char c; SYM_I8(c); return c > 1 ? f((float) c) : 5; }
    """
    found = explore(tmp_path, {"k.c": program})
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 3)
