"""Stubs: what nobody defines is written in C, what it gives is an input like others, and what is assumed is said."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest
from runner import BOARDS, explore, score_embed

HEADER = """
#include <stdint.h>
#include <stddef.h>
typedef enum { HAL_OK, HAL_BUSY = 2, HAL_ERROR } hal_status;
typedef struct { uint16_t temp; unsigned ready : 1; const char *label; } sample_t;
int i2c_read(uint8_t addr, uint8_t *data, size_t len);
hal_status hal_start(int);
hal_status hal_sample(sample_t *out);
const char *config_get(const char *key);
const sample_t *last_sample(void);
void fatal(const char *fmt, ...) __attribute__((noreturn));
extern volatile uint32_t ticks;
"""
POLL = """
#include "i2c.h"
int poll(uint8_t addr)
{
    uint8_t b[4] = {0};
    int tries = 0;
    while (i2c_read(addr, b, 2) < 0) if (++tries == 2) return -1;
    if (b[0] == 0x7e && b[1] == 3) return 2;
    switch (hal_start(1)) {
    case HAL_OK: return 0;
    case HAL_BUSY: return 5;
    case HAL_ERROR: return 6;
    default: return 7;
    }
}
int sample(void)
{
    sample_t s = {0};
    const sample_t *last;
    const char *c;
    if (hal_sample(&s) != HAL_OK) return -1;
    if (s.ready && s.temp > 1000) fatal("%d", s.temp);
    c = config_get("mode");
    if (c && c[0] == 'o' && c[1] == 'n' && !c[2]) return 3;
    last = last_sample();
    if (!last) return 9;
    if (last->temp == 77) return 10;
    return ticks ? 1 : 0;
}
"""


def poll_paths() -> set[tuple[object, ...]]:
    """The decisions of `poll`, by brute force: how often the read failed, the first byte, the second, the status."""
    found: set[tuple[object, ...]] = set()
    for failed, first, second, status in itertools.product((0, 1, 2), (False, True), (False, True), (0, 1, 2, 3)):
        if failed == 2:
            found.add((2,))
        elif first and second:
            found.add((failed, 2))
        else:
            found.add((failed, first, status))
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_all_paths_of_a_function_whose_hardware_is_missing(tmp_path: Path, board: str) -> None:
    found = explore(tmp_path, {"i2c.h": HEADER, "p.c": POLL}, "--entry", "poll", "--board", board)
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["paths"] == len(poll_paths())
    assert found.summary["bugs"] == []
    within = found.summary["within"]
    assert "i2c_read(*data) ≤ 16 bytes" in within
    assert "hal_start() from HAL_OK to HAL_ERROR" in within
    assert "stubs of hal_start, i2c_read" in within  # those of `sample` are linked, but not within reach


@pytest.mark.parametrize("board", BOARDS)
def test_results_out_parameters_and_objects_of_stubs(tmp_path: Path, board: str) -> None:
    found = explore(tmp_path, {"i2c.h": HEADER, "p.c": POLL}, "--entry", "sample", "--board", board)
    assert found.summary["stopped"] == "exhausted"
    assert found.summary["bugs"] == []
    missed = [row for row in found.summary["unflipped"] if row["function"] == "sample"]
    assert [row["reason"] for row in missed] == ["concrete"]  # `ticks` is zero
    within = found.summary["within"]
    for text in ("ticks = 0", "fatal ends the test", "hal_sample(out->label) as it was", "last_sample()->label = NULL"):
        assert text in within


def test_what_stubs_gave_is_told_and_replayed(tmp_path: Path) -> None:
    text = """
        int get(void);
        void put(int n, int *out);
        int f(void) { int x; put(3, &x); return get() == -1 && get() == 3 && x == 5 ? 1 / (x - 5) : 0; }
    """
    found = explore(tmp_path, {"p.c": text}, "--entry", "f", "--no-witness")
    assert found.bug_kinds == ["division-by-zero"]
    assert found.summary["bugs"][0]["inputs"] == {"put(*out)": 5, "get()": -1, "get()#2": 3}
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "an integer is divided by zero in f: put() set *out to 5; get() returned -1, then 3" in said
    done = score_embed("replay", "out", str(found.summary["bugs"][0]["test"]), cwd=tmp_path)
    assert done.returncode == 0
    assert "get() returned" in done.stdout
    stubs = (found.folder / "stubs.c").read_text()
    assert "/* p.c:2 declares it, no source defines it */\nint get(void)\n" in stubs
    again = explore(
        tmp_path / "out",
        {"q.c": text + stubs.partition('"score.h"')[2]},
        "--entry",
        "f",
        "--no-witness",
        cflags=("-DX",),
    )
    assert again.bug_kinds == ["division-by-zero"]  # taken over, a definition of the user's wins


def test_a_definition_wins_wherever_it_is(tmp_path: Path) -> None:
    """In a source, in a file without probes, in an object, in a library."""
    main = (
        "#include <stdlib.h>\nint a(int); int b(int); int c(int);\nint f(int x) { return a(x) + b(x) + c(x) + abs(x); }"
    )
    (tmp_path / "c.c").write_text("int c(int x) { return x; }")
    subprocess.run(["gcc", "-c", "c.c", "-o", "c.o"], cwd=tmp_path, check=True, timeout=60)
    (tmp_path / "c.c").unlink()
    files = {"p.c": main, "a.c": "int a(int x) { return x; }", "b.c": "int b(int x) { return x; }"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    words = ["run", "p.c", "a.c", "c.o", "--native", "b.c", "--entry", "f", "--out", "out", "--max-tests", "3"]
    done = score_embed(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "out" / "stubs.c").exists()


def test_functions_that_are_defined_are_replaced_by_request(tmp_path: Path) -> None:
    text = """
        static int crc(const unsigned char *p, unsigned n);
        int f(unsigned char x) { unsigned char b[2] = {x, 1}; return crc(b, 2) == 0x1234 ? 7 : 0; }
        static int crc(const unsigned char *p, unsigned n) { const char *s = "}{"; while (n--) if (*p++ == '}') return s[0]; return 0; }
        int last(void) { return crc(0, 0); }
    """
    found = explore(tmp_path, {"p.c": text}, "--entry", "f", "--stub", "crc")
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 2)
    assert found.summary["within"] == ["a stub of crc"]


def test_a_whole_program_gets_stubs_by_request_only(tmp_path: Path) -> None:
    text = '#include "score.h"\nint get(int);\nint main(void) { int x; SYM_INT(x); return get(x) == 4 ? 1 : 0; }\n'
    (tmp_path / "p.c").write_text(text)
    done = score_embed("run", "p.c", cwd=tmp_path)
    assert done.returncode == 3
    assert "--stubs undefined" in done.stderr
    found = explore(tmp_path, {"p.c": text}, "--stubs", "undefined")
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 2)
    done = score_embed("run", "p.c", "--entry", "get", "--stubs", "none", cwd=tmp_path)
    assert done.returncode == 2


def test_what_cannot_be_stubbed_is_said_with_its_place(tmp_path: Path) -> None:
    text = (
        "struct unknown;\nextern struct unknown it;\nvoid *use(void *);\nvoid *f(int x) { return x ? use(&it) : 0; }\n"
    )
    (tmp_path / "p.c").write_text(text)
    done = score_embed("run", "p.c", "--entry", "f", cwd=tmp_path)
    assert done.returncode == 3
    assert "p.c:2: error: no stub for 'it': its type is not known" in done.stderr


def test_what_is_guessed_is_said(tmp_path: Path) -> None:
    text = "int old();\nint f(int x) { return old(x) + undeclared(x) > 10; }\n"
    found = explore(tmp_path, {"p.c": text}, "--entry", "f", cflags=("-std=gnu89",))
    assert "undeclared, which nobody declares (p.c:2), returns an int" in found.summary["within"]
    assert "old without a prototype: its arguments are not looked at" in found.summary["within"]


def test_what_need_not_be_there_gets_no_stub(tmp_path: Path) -> None:
    text = "extern int hook(int) __attribute__((weak));\nint f(int x) { if (hook) return hook(x); return x == 3 ? 1 : 0; }\n"
    found = explore(tmp_path, {"p.c": text}, "--entry", "f")
    assert found.summary["within"] == []
    assert found.summary["paths"] == 2


LOGS = """
void log_event(int code);
void feed(void);
int step(int x)
{
    if (x == 3)
        log_event(x);
    if (x == 4)
        for (int i = 0; i < 1000; i++)
            feed();
    if (x == 5)
        return 1;
    return 0;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_stub_that_gives_nothing_leaves_its_call(board: str, tmp_path: Path) -> None:
    """In the inputs of the test that called it, and of no other; a loop does not fill the input with calls."""
    summary = explore(tmp_path, {"s.c": LOGS}, "--entry", "step", "--no-witness", "--board", board).summary
    assert (summary["stopped"], summary["paths"], summary["bugs"]) == ("exhausted", 4, [])
    tests = [json.loads(file.read_text())["inputs"] for file in (tmp_path / "out" / "tests").glob("*.json")]
    calls = {test["x"]: sorted(name for name in test if "called" in name) for test in tests}
    assert calls[3] == ["log_event() called"]
    assert calls[4] == ["feed() called", *(f"feed() called#{n}" for n in (2, 3, 4))]
    assert calls[5] == []
    shown = score_embed("replay", "out", str(_test_of(tmp_path / "out", 3)), cwd=tmp_path).stdout
    assert "log_event() called" in " ".join(shown.split())


def _test_of(folder: Path, x: int) -> int:
    """The number of the kept test with this x."""
    tests = (json.loads(file.read_text()) for file in (folder / "tests").glob("*.json"))
    return next(int(test["test"]) for test in tests if test["inputs"]["x"] == x)


BEGINNING = """static int got, done;
int adc(void);
static void begin(void) __attribute__((constructor));
static void begin(void) { got = adc(); }
int f(int c) { return got == 77 ? 5 : c > 3; }
"""


@pytest.mark.parametrize("command", ["run", "unit"])
def test_before_a_test_begins_a_stub_gives_nothing(command: str, tmp_path: Path) -> None:
    """A constructor asks it. What it might have said was not tried."""
    (tmp_path / "p.c").write_text(BEGINNING)
    options = ("--entry", "f") if command == "run" else ()
    done = score_embed(command, *options, "p.c", "--json", "--out", "o", cwd=tmp_path)
    found = json.loads(done.stdout)
    (row,) = [found] if command == "run" else [row for row in found["rows"] if row["function"] == "f"]
    assert row["stopped"] == "drained"
    assert "a stub of adc" in row["within"]
    why = row["why"] if command == "unit" else f"{row['incomplete']}"
    assert "what adc may give the constructor begin" in why
