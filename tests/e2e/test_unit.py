"""`score-embed unit`: each function of a project in turn, one build for all of them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from runner import BOARDS, explore, score_embed

HEADER = "int limit(int x);\nint read_sensor(int channel);\nstruct pair { int a; unsigned char b; };\n"
FIRST = """
#include "p.h"
#include SETTINGS
static int helper(struct pair p) { if (p.a == 7) return p.b > 3 ? 1 : 2; return 0; }
int limit(int x) { if (x > MOST) return MOST; return x < -MOST ? -MOST : helper((struct pair) { x, 4 }); }
int main(void) { return limit(3); }
"""
SECOND = """
#include "p.h"
static int helper(const char *s) { return s[0] == 'o' && s[1] == 'k' ? 1 : 0; }
int sum(const unsigned char *data, unsigned len) { return len < 2 ? limit(len) : 100 / (data[0] - 37); }
int sensor(int channel) { if (channel < 0) return -1; return read_sensor(channel) == 5 ? helper("ok") : helper("no"); }
static int never(void) { return 3; }
int use(void) { return never(); }
"""


def project(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "p.h").write_text(HEADER)
    (folder / "settings.h").write_text("#define MOST 20\n")
    (folder / "src/first.c").write_text(FIRST)
    (folder / "src/second.c").write_text(SECOND)
    common = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-Wall", "-I..", "-std=gnu11"]
    entries = [
        {"directory": str(folder / "src"), "file": name, "arguments": [*common, *own, "-o", "x.o", "-c", name]}
        for name, own in (("first.c", ['-DSETTINGS="settings.h"']), ("second.c", []), ("gone.c", []))
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    state = json.loads((folder / "unit.json").read_text())
    return {f"{Path(row['file']).stem}.{row['function']}": row for row in state["rows"]}


def cells(text: str) -> list[list[str]]:
    """The first two of each line of a table: in a pipe no line is broken."""
    return [[cell.strip() for cell in line.strip("│").split("│")][:2] for line in text.splitlines()]


def test_whole_paths_leave_room_for_the_rest(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.c").write_text(f"int {name}(int x) {{ return x > 3; }}\n")
    found = score_embed("unit", str(tmp_path / "one/f.c"), str(tmp_path / "two/f.c"), "--out", "out", cwd=tmp_path)
    assert ["one", "one/f.c:1"] in cells(found.stdout)
    assert ["two", "two/f.c:1"] in cells(found.stdout)
    assert f"files are in {tmp_path}" in found.stdout.splitlines()


def test_every_function_of_a_project(tmp_path: Path) -> None:
    project(tmp_path)
    words = ["unit", "--compile-commands", "compile_commands.json", "--out", "out", "--time", "20"]
    done = score_embed(*words, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = rows(tmp_path / "out")
    assert set(found) == {
        "first.helper",
        "first.limit",
        "second.helper",
        "second.sum",
        "second.sensor",
        "second.never",
        "second.use",
    }
    ends = {name: row["stopped"] for name, row in found.items()}
    assert ends.pop("second.never") == ends.pop("second.use") == "no input"
    assert set(ends.values()) == {"exhausted"}
    assert {name for name, row in found.items() if row["bugs"]} == {"second.sum"}
    assert found["first.helper"]["paths"] == 3
    assert found["first.limit"]["paths"] == 4  # helper is its callee, and true code
    assert [found["first.limit"][key] for key in ("covered", "branches")] == [4, 4]
    assert "a stub of read_sensor" in found["second.sensor"]["within"]
    assert not any("stub" in text for text in found["second.sum"]["within"])
    assert "flags of the build that are left out" in done.stdout
    assert "-mcpu=cortex-m4 -Wall" in done.stdout
    assert ["sum", "src/second.c:4"] in cells(done.stdout)
    tests = {path.name for path in (tmp_path / "out/tests").iterdir() if path.suffix == ".c"}
    assert len(tests) == 5
    page = (tmp_path / "out/report.html").read_text()
    assert 'href="functions/limit/report.html"' in page
    assert (tmp_path / "out/functions/limit/report.html").is_file()
    assert re.search(r"<h1>5 campaigns ", page)
    assert "4/4" in page  # of limit's own directions, not of all that the build has
    all_ = [str(path.relative_to(tmp_path)) for path in sorted((tmp_path / "out/functions").iterdir())]
    known = score_embed("report", *all_, "--write-baseline", "known.txt", cwd=tmp_path)
    assert known.returncode == 0, known.stderr
    assert known.stderr.count("left out: no test was run") == 2  # never, use; and the logs are no folders
    assert score_embed("report", *all_, "--baseline", "known.txt", cwd=tmp_path).returncode == 0
    beside = [str(path.relative_to(tmp_path)) for path in sorted((tmp_path / "out").iterdir())]  # what a shell's * names
    for words in (["out"], ["out/functions"], beside):
        again = score_embed("report", *words, "--baseline", "known.txt", "--html", "all.html", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert again.stdout.splitlines()[-1] == "bugs that are new: 0; that the baseline knows: 1"
        assert "<h1>5 campaigns " in (tmp_path / "all.html").read_text()
    assert "out/tests: left out: it holds no campaign" in again.stderr
    told = score_embed("report", "out", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert told.stdout == done.stdout
    assert json.loads(score_embed("report", "out", "--json", cwd=tmp_path).stdout)["rows"]


def test_a_function_here_has_the_paths_that_run_finds(tmp_path: Path) -> None:
    text = """
        struct node { struct node *next; int v; };
        int length(const struct node *n) { int i = 0; for (; n; n = n->next) if (n->v == 3) i++; return i; }
        int parse(const char *s) { if (!s) return -1; while (*s == ' ') s++; return *s == '-' ? 1 : 0; }
        int both(const struct node *n, const char *s, int (*f)(int)) { return length(n) + (f ? f(parse(s)) : 0) == 4 ? 1 : 0; }
    """
    (tmp_path / "p.c").write_text(text)
    score_embed("unit", "p.c", "--out", "all", "--time", "30", cwd=tmp_path)
    for row in rows(tmp_path / "all").values():
        (tmp_path / row["function"]).mkdir()
        alone = explore(tmp_path / row["function"], {"p.c": text}, "--entry", row["function"], "--no-witness")
        assert row["paths"] == alone.summary["paths"]
        assert row["stopped"] == alone.summary["stopped"] == "exhausted"
        assert row["within"] == alone.summary["within"]


@pytest.mark.parametrize("board", BOARDS[1:])
def test_on_a_board(tmp_path: Path, board: str) -> None:
    project(tmp_path)
    words = ["--compile-commands", "compile_commands.json", "--board", board, "--function", "[ls]*"]
    done = score_embed("unit", *words, "--out", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = rows(tmp_path / "out")
    assert {name: row["paths"] for name, row in found.items() if name != "second.sum"} == {
        "first.limit": 4,
        "second.sensor": 3,
    }


def test_one_function_that_cannot_be_built_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text('#include "missing.h"\nint bad(int x) { return x; }\n')
    (tmp_path / "one.c").write_text("int same(int x) { return x > 3 ? 1 : 2; }\nint main(void) { return 0; }\n")
    (tmp_path / "two.c").write_text("int same(int x) { return x > 4 ? 1 : 2; }\nint main(void) { return 1; }\n")
    done = score_embed("unit", "bad.c", "one.c", "two.c", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: row["stopped"] for name, row in rows(tmp_path / "out").items()} == {
        "one.same": "exhausted",
        "two.same": "exhausted",
    }
    assert "left out: bad.c:1" in done.stdout
    assert "two.c and one.c both define 'same': the former is explored apart, with the files that it needs" in done.stdout


def test_several_programs_of_a_project(tmp_path: Path) -> None:
    """A library with programs, as its build has them: all call its true functions, and no main is in the way."""
    (tmp_path / "lib.c").write_text("int twice(int x) { return 2 * x; }\n")
    for file, name, condition in (("one", "first", "== 6"), ("two", "other", "== 8"), ("three", "first", "> 8")):
        function = f"int {name}(int x) {{ return twice(x) {condition} ? 1 : 2; }}\n"
        main = f"int main(int argc, char **argv) {{ (void) argv; return {name}(argc); }}\n"
        (tmp_path / f"{file}.c").write_text(f"int twice(int x);\n{function}{main}")
    done = score_embed("unit", "lib.c", "one.c", "two.c", "three.c", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "out")
    assert {name: (row["paths"], row["within"]) for name, row in found.items()} == {
        "lib.twice": (1, []),
        "one.first": (2, []),
        "two.other": (2, []),
        "three.first": (2, []),
    }
    assert "three.c and one.c both define 'first'" in done.stdout
    assert "each file is explored alone" not in done.stdout
    alone = score_embed("run", "--entry", "other", "lib.c", "one.c", "two.c", cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert "exhausted after" in alone.stdout


def test_functions_of_a_library_that_is_a_header(tmp_path: Path) -> None:
    """Each once, in whatever file it is included, and its branches once; of what is inline there only what somebody
    calls, or who is named; of the system's headers nothing."""
    (tmp_path / "lib.h").write_text(
        "static inline int in(int x) { return x > 1 ? x : 7; }\nstatic inline int out(int x) { return x > 1; }\n"
        "static int f(int x) { return in(x) > 3 ? 1 : 0; }\nstatic inline int second(int x) { return x > 9 ? 3 : 4; }\n"
    )
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys/sys.h").write_text("static int theirs(int x) { if (x == 3) return 4; return 5; }\n")
    for name, last in (("a", "f(x)"), ("b", "f(x) * second(x)")):
        head = '#include <sys.h>\n#include "lib.h"\n'
        (tmp_path / f"{name}.c").write_text(f"{head}int {name}(int x) {{ return {last} + theirs(x) > 5 ? 2 : 1; }}\n")
    done = score_embed("unit", "a.c", "b.c", "--out", "out", "--", "-isystem", "sys", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: (row["covered"], row["branches"]) for name, row in rows(tmp_path / "out").items()} == {
        "lib.in": (2, 2),
        "lib.f": (2, 2),
        "lib.second": (2, 2),
        "a.a": (2, 2),
        "b.b": (2, 2),
    }
    summary = json.loads((tmp_path / "out/functions/in/summary.json").read_text())
    assert summary["coverage"]["branches_total"] == 10
    named = score_embed("unit", "a.c", "b.c", "--out", "own", "--function", "o*", "--", "-isystem", "sys", cwd=tmp_path)
    assert named.returncode == 0, named.stderr
    assert list(rows(tmp_path / "own")) == ["lib.out"]


def test_statements_and_pages_of_a_header(tmp_path: Path) -> None:
    """A header's function that two files have is one function to whoever reads what was reached."""
    (tmp_path / "lib.h").write_text("static inline int in(int x)\n{\n    if (x > 1)\n        return 3;\n    return 7;\n}\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.c").write_text(f'#include "lib.h"\nint {name}(int x)\n{{\n    return in(x);\n}}\n')
    done = score_embed(
        "run", "a.c", "b.c", "--entry", "in", "--goal", "statement", "--out", "out", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["coverage"]["branches_covered"], summary["coverage"]["branches_total"]) == (2, 2)
    assert (summary["statements"]["reached"], summary["statements"]["total"]) == (3, 5)
    lcov = score_embed("report", "out", "--lcov", "out.info", cwd=tmp_path)
    assert lcov.returncode == 0, lcov.stderr
    assert "BRF:2\nBRH:2\n" in (tmp_path / "out.info").read_text()


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """Nothing is done twice: what had ended keeps its campaign; what ran goes on with its own."""
    slow = "int {}(const unsigned char *p, unsigned n) {{ int s = 0; while (n--) s += *p++ > 100 ? 1 : *p > 7; return s; }}\n"
    (tmp_path / "p.c").write_text(
        "int quick(int x) { return x > 3 ? 1 : 0; }\n" + "".join(slow.format(f"slow{i}") for i in (1, 2))
    )
    words = ["unit", "p.c", "--out", "out", "--time", "6", "--clients", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "score_embed.cli.main", *words], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and not (tmp_path / "out/functions/slow1/campaign.db").exists():
            time.sleep(0.1)
        time.sleep(2)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    first = rows(tmp_path / "out")["p.quick"]
    assert first["stopped"] == "exhausted"
    before = (tmp_path / "out/functions/quick/campaign.db").stat().st_mtime_ns
    done = score_embed(*words, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    found = rows(tmp_path / "out")
    assert all(row["stopped"] for row in found.values())
    assert (tmp_path / "out/functions/quick/campaign.db").stat().st_mtime_ns == before
    assert "quick" not in done.stderr
    summary = json.loads((tmp_path / "out/functions/slow1/summary.json").read_text())
    assert 5.5 < summary["seconds"] < 9  # of both sessions
    other = score_embed(*words[:-1], "2", "--max-tests", "3", cwd=tmp_path)
    assert other.returncode == 2
    assert "another run" in other.stderr


CALLS = """
struct node { int key; struct node *next; };
static struct node last, first = {1, &last};
int second(const struct node *n) { return n->next->key; }
int divided(int by) { return 100 / by; }
int wrong(int x) { return x == 3 ? second(&last) : second(&first); }
int careful(int x) { return x != 0 ? divided(x) : 0; }
int passes(const struct node *p) { return p ? second(p) : 0; }
"""


def test_a_caller_confirms_a_bug(tmp_path: Path) -> None:
    """`wrong` shows what `second` does with a null, whatever its own arguments are; nobody shows what `divided`
    does."""
    (tmp_path / "c.c").write_text(CALLS)
    done = score_embed("unit", "c.c", "--out", "out", "--time", "20", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = rows(tmp_path / "out")
    (second,), (divided,) = found["c.second"]["found"], found["c.divided"]["found"]
    assert (set(second["context"]), second["firm"]) == ({"wrong", "passes"}, True)
    assert (divided["context"], divided["rests_on"]) == ([], [])
    assert found["c.careful"]["found"] == []
    assert found["c.passes"]["found"][0]["context"] == []
    lines = [line for line in done.stdout.splitlines() if line.endswith("]")]
    assert len(lines) == 2
    assert lines[0].startswith("c.c:4: error: a null pointer is used in second; confirmed in context: ")
    assert "rests on: n->next may be NULL" in lines[0]
    assert lines[0].endswith(" of second [null-dereference]")
    for page in ("report.html", "functions/second/report.html"):
        assert "Rests on: n-&gt;next may be NULL" in (tmp_path / "out" / page).read_text()
    assert lines[1].startswith("c.c:5: ")


def test_a_static_function_s_bug_that_no_caller_shows(tmp_path: Path) -> None:
    """It stands behind the others: its argument may be one that nobody passes."""
    (tmp_path / "t.c").write_text(
        "static const int of[4] = {1, 2, 3, 4};\n"
        "static int at(int i) { return of[i] > 2 ? 1 : 2; }\n"
        "int careful(int x) { return x >= 0 && x < 4 ? at(x) : 0; }\n"
        "static int through(int i) { return of[i] > 3 ? 1 : 2; }\n"
        "int passes(int x) { return x > 7 ? 0 : through(x); }\n"
    )
    done = score_embed("unit", "--time", "20", "--out", "out", "t.c", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = {row["function"]: row["found"] for row in rows(tmp_path / "out").values()}
    assert {name: [bug["not_from"] for bug in bugs] for name, bugs in found.items()} == {
        "at": [["careful"]],
        "careful": [],
        "through": [[]],
        "passes": [[]],
    }
    lines = [line for line in done.stdout.splitlines() if line.endswith("]")]
    assert [line.partition(":")[2][0] for line in lines] == ["4", "2"]
    assert "; not shown by its callers: careful; " in lines[1]


def test_bugs_of_a_baseline_do_not_count(tmp_path: Path) -> None:
    """Which is made of the functions' campaigns. With another one the same run is judged anew, and nothing is
    explored."""
    (tmp_path / "p.c").write_text(
        "int one(int x) { return 10 / (x - 3); }\nint two(int x) { if (x == 5) return 10 / (x - 5); return x; }\n"
    )
    words = ("unit", "--time", "20", "--out", "out", "p.c")
    assert score_embed(*words, cwd=tmp_path).returncode == 1
    campaigns = ["out/functions/one", "out/functions/two"]
    made = score_embed("report", *campaigns[:1], "--write-baseline", "some.txt", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert score_embed("report", *campaigns, "--write-baseline", "all.txt", cwd=tmp_path).returncode == 0
    some = score_embed(*words, "--baseline", "some.txt", cwd=tmp_path)
    assert some.returncode == 1
    assert "bugs 2, 1 of them known" in some.stdout
    listed = [line for line in some.stdout.splitlines() if line.startswith("p.c:")]
    assert [line.startswith("p.c:1: note: known: ") for line in listed] == [False, True]
    assert listed[0].startswith("p.c:2: error: ")
    assert all(line.endswith(" [division-by-zero]") for line in listed)
    known = score_embed(*words, "--baseline", "all.txt", cwd=tmp_path)
    assert known.returncode == 0, known.stdout
    assert "bugs 2, 2 of them known" in known.stdout
    fresh = score_embed("unit", "--time", "20", "--out", "o2", "p.c", "--baseline", "all.txt", cwd=tmp_path)
    assert fresh.returncode == 0, fresh.stdout + fresh.stderr
    for page in ("o2/report.html", "o2/functions/one/report.html", "o2/functions/two/report.html"):
        assert '<span class="tag">known to the baseline</span>' in (tmp_path / page).read_text(encoding="utf-8")
    gone = score_embed(*words, "--baseline", "gone.txt", cwd=tmp_path)
    assert gone.returncode == 2
    assert gone.stderr.startswith("gone.txt: error:")


WITNESSED = """
#include <stddef.h>
static int *keep(int x) { int t[2] = {x, 1}; int *volatile p = t; return p; }
int after(int x) { int *p = keep(x); return x == 5 ? *p : 0; }
int unaligned(const char *s, size_t n) { return n > 6 ? *(const int *)(s + 1) : 0; }
"""


def test_the_second_witness_looks_at_each_function(tmp_path: Path) -> None:
    """What only gcc's sanitizers see; the program is compiled once, and linked for each function."""
    (tmp_path / "p.c").write_text(WITNESSED)
    (tmp_path / "q.c").write_text("int other(int x) { return x > 3; }\n")
    words = ["unit", "--time", "20", "p.c", "q.c"]
    assert score_embed(*words, "--out", "with", cwd=tmp_path).returncode == 1
    with_ = rows(tmp_path / "with")
    found = {name: [bug["kind"] for bug in row["found"]] for name, row in with_.items()}
    kinds = {"p.after": ["use-after-scope"], "p.unaligned": ["misaligned"]}
    assert found == {"p.keep": [], "q.other": [], **kinds}
    assert score_embed(*words, "--no-witness", "--out", "without", cwd=tmp_path).returncode == 0
    without = rows(tmp_path / "without")
    assert all(not row["found"] for row in without.values())
    assert {name: row["paths"] for name, row in with_.items()} == {name: row["paths"] for name, row in without.items()}


def test_without_sanitizers_functions_are_explored_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int f(int x) { if (x > 3) return 1; return 0; }\n")
    wrapper = tmp_path / "gcc"
    wrapper.write_text('#!/bin/sh\ncase "$*" in *-fsanitize*) echo "no sanitizers" >&2; exit 1;; esac\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    (tmp_path / "bare.yaml").write_text(f"extends: native\ncompiler: {wrapper}\n")
    done = score_embed("unit", "--board", "bare.yaml", "--time", "20", "--out", "out", "p.c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "out")["p.f"]["paths"] == 2
    assert (done.stdout + done.stderr).count("no second witness: ") == 1
