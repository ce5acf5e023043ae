"""Statement coverage: what campaigns reach, what they prove, where they end, and that gcov says the same of their
tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from runner import explore, explore_files, score_embed

from score_embed.campaign.ending import OPEN
from score_embed.results.store import Store

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
INCLUDE = ROOT / "runtime" / "include"
NAMES = (
    *(
        "bit_fields",
        "bits",
        "block_sites",
        "cleanup",
        "comma",
        "compound_assign",
        "decisions",
        "float_values",
        "formats",
    ),
    *("function_pointers", "heap", "library", "long_jumps", "loops", "parser", "pointer_conditionals", "short_circuit"),
    *("statics", "structs", "unsigned_ops"),
)
LABEL = re.compile(r"\s*(case\b[^:]*|\w+)\s*:[;{\s]*")  # gcov counts the line of a label; it is no statement
# by line: ours and gcov's; None: there is nothing to count
EXPLAINED: dict[str, dict[int, tuple[bool | None, bool | None]]] = {
    "bit_fields": {153: (True, None)},  # gcc lays the constant out where it is not run
    "pointer_conditionals": {34: (True, None), 37: (True, None), 38: (True, None)},  # gcc decides `if (-1 < 0u)` itself
}
# A test that a signal ends leaves no counts behind.
DUMPING = """#include <signal.h>
#include <unistd.h>
void __gcov_dump(void);
static void end(int number) { (void) number; __gcov_dump(); _exit(1); }
__attribute__((constructor)) static void begin(void) {
    int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], end);
}
"""
JUDGED = (*(PROGRAMS / f"{name}.c" for name in NAMES), ROOT / "examples" / "checksum.c")
ENDS = """#include <score.h>
#include <stdlib.h>
static void stop(int code)
{
    code++;
    exit(code);
}
static int twice(int x)
{
    return 2 * x;
}
int main(void)
{
    unsigned char a;
    int (*f)(int) = twice;
    SYM_U8(a);
    if (a == 3) {
        stop(a);
        a = 1;
    }
    a = f(a);
    if (a == 5)
        a = 2;
    return a;
}
"""


def missing(summary: dict[str, Any]) -> list[tuple[int, str]]:
    return [(row["line"], row["why"]) for row in summary["statements"]["missing"]]


def test_what_no_test_comes_to_is_proved_unreachable(tmp_path: Path) -> None:
    """Behind a call that never comes back, and where the solver says so; a call through a pointer is none of these."""
    found = explore(tmp_path, {"p.c": ENDS}, "--goal", "statement")
    assert found.summary["stopped"] == "exhausted"
    assert missing(found.summary) == [(19, "unreachable"), (23, "unreachable")]
    assert found.summary["statements"]["total"] == 12
    assert found.summary["goal"] == {"criterion": "statement", "reached": False, "proved": True, "missing": 2}
    assert found.code == 0
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "  statements: 10/12 reached; 2 unreachable" in said
    assert "  p.c:19, 23 in main: proved to be unreachable" in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "10 of 12" in page


def test_what_is_not_tried_is_open(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": ENDS}, "--goal", "statement", "--max-tests", "1")
    assert (5, "open") in missing(found.summary)
    assert not found.summary["goal"]["proved"]
    assert found.code == OPEN


def test_a_campaign_ends_where_all_statements_are_reached(tmp_path: Path) -> None:
    """Of 64 paths only those are run that it takes."""
    text = """#include <score.h>
    int main(void) {
        unsigned char data[6];
        int n = 0;
        SYM_BYTES(data, sizeof data);
        for (int i = 0; i < 6; i++)
            if (data[i] != 7)
                n++;
        return n;
    }
    """
    found = explore(tmp_path, {"p.c": text}, "--goal", "statement")
    assert found.summary["stopped"] == "goal"
    assert found.summary["goal"] == {"criterion": "statement", "reached": True, "proved": False, "missing": 0}
    assert found.summary["paths"] < 10
    assert "goal statement: reached" in score_embed("report", "out", cwd=tmp_path).stdout


def test_a_statement_that_a_test_dies_before_is_not_reached(tmp_path: Path) -> None:
    """The fault is in the midst of statements that no branch parts."""
    text = """#include <score.h>
    int main(void) {
        unsigned char a;
        int *p = 0;
        int n = 1;
        SYM_U8(a);
        if (a == 3) {
            n = 2;
            *p = n;
            n = 4;
            n = 5;
        }
        return n;
    }
    """
    found = explore(tmp_path, {"p.c": text}, "--goal", "statement", "--no-witness")
    assert len(found.summary["bugs"]) == 1
    assert missing(found.summary) == [(10, "uncertain"), (11, "uncertain")]
    assert not found.summary["goal"]["proved"]


def test_an_assertion_that_holds_misses_nothing(tmp_path: Path) -> None:
    text = """#include <assert.h>
    #include <score.h>
    int main(void) {
        unsigned char a;
        SYM_U8(a);
        SCORE_ASSUME(a < 100);
        assert(a < 200);
        SCORE_ASSERT(a != 150);
        return a;
    }
    """
    found = explore(tmp_path, {"p.c": text}, "--goal", "statement")
    assert found.summary["goal"]["reached"]


def test_others_tell_nothing_of_statements(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": ENDS}, "--goal", "branch")
    assert found.summary["statements"] == {}
    assert "statement" not in score_embed("report", "out", cwd=tmp_path).stdout


def test_paths_and_vectors_are_the_same_with_marks(tmp_path: Path) -> None:
    """A mark is nothing that a path depends on, and no condition."""
    source = [PROGRAMS / "parser.c"]
    both = [
        explore_files(
            tmp_path, source, "--out", goal, "--goal", goal, "--strategy", "mcdc", "--max-tests", "60"
        ).summary
        for goal in ("statement", "mcdc")
    ]
    marked, plain = both
    assert marked["mcdc"]["unknown_tests"] == 0
    assert marked["coverage"]["branches_total"] == plain["coverage"]["branches_total"]


# The judge -------------------------------------------------------------------------------------------------------------


@pytest.mark.parts(4)
@pytest.mark.parametrize("source", JUDGED, ids=lambda path: path.stem)
def test_gcov_says_the_same(source: Path, tmp_path: Path) -> None:
    """Of the exported tests, about each line on which a statement begins."""
    found = explore_files(tmp_path, [source], "--goal", "statement", "--no-witness", "--max-tests", "300")
    assert score_embed("export", "out", "--corpus", "corpus", "--tests", "paths", cwd=tmp_path).returncode == 0
    ours = _lines(found.folder)
    theirs = _judged(source, sorted((tmp_path / "corpus").iterdir()), tmp_path, set(ours))
    known = EXPLAINED.get(source.stem, {})
    differing = {
        line: (ours.get(line), theirs.get(line))
        for line in sorted(ours.keys() | theirs.keys())
        if ours.get(line) is not theirs.get(line)
    }
    text = source.read_text().splitlines()
    labels = {line for line in differing if line not in ours and LABEL.fullmatch(text[line - 1])}
    assert {line: both for line, both in differing.items() if line not in labels} == known


def _lines(folder: Path) -> dict[int, bool]:
    """The lines on which statements begin, and whether one of them was reached."""
    found: dict[int, bool] = {}
    with Store.read(folder) as record:
        sources, covered = record.sources(), frozenset(record.coverage())
    for one in sources.stretches:
        reached = one.reached(covered)
        for number, (_, line) in enumerate(one.lines):
            found[line] = found.get(line, False) or number < reached
    return found


def _judged(source: Path, inputs: list[Path], folder: Path, mine: set[int]) -> dict[int, bool]:
    """The lines that gcov has counts of, and whether they ran, but for those where functions begin and end."""
    flags = ["-O0", "--coverage", f"-I{INCLUDE}"]
    (folder / "dumping.c").write_text(DUMPING)
    subprocess.run(["gcc", "-c", "dumping.c"], cwd=folder, check=True, timeout=120)
    subprocess.run(
        ["gcc", *flags, str(source), "dumping.o", "-o", "judged", "-lm"], cwd=folder, check=True, timeout=120
    )
    for data in inputs:
        environ = {**os.environ, "SCORE_INPUT": str(data)}
        subprocess.run(["./judged"], cwd=folder, env=environ, capture_output=True, timeout=60, check=False)
    (notes,) = folder.glob("*.gcno")
    told = subprocess.run(
        ["gcov", "--json-format", "--stdout", notes], cwd=folder, check=True, capture_output=True, timeout=120
    )
    (file,) = [one for one in json.loads(told.stdout)["files"] if Path(one["file"]) == source]
    ends = {line for function in file["functions"] for line in (function["start_line"], function["end_line"])}
    return {row["line_number"]: row["count"] > 0 for row in file["lines"] if row["line_number"] not in ends - mine}
