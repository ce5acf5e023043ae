"""MC/DC: what campaigns show of decisions, what they stop at, and that clang says the same of the exported tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import gcc14
import pytest
from runner import explore, explore_files, score_embed

from score_embed.campaign.ending import OPEN

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
INCLUDE = ROOT / "runtime" / "include"
CLANG = "clang-19"
JUDGED = (
    *(
        PROGRAMS / f"{name}.c"
        for name in (
            "bit_fields",
            "bits",
            "block_sites",
            "cleanup",
            "comma",
            "compound_assign",
            "decisions",
            "float_values",
            "formats",
            "function_pointers",
            "heap",
            "library",
            "long_jumps",
            "loops",
            "parser",
            "pointer_conditionals",
            "short_circuit",
            "structs",
        )
    ),
    PROGRAMS / "statics.c",
    PROGRAMS / "unsigned_ops.c",
    ROOT / "examples" / "checksum.c",
)
ABC = """#include <score.h>
int main(void) {
    int a, b, c;
    SYM_INT(a); SYM_INT(b); SYM_INT(c);
    return a > 3 && (b == 7 || c < 0);
}
"""


def rows(summary: dict[str, Any], reading: str) -> dict[str, list[str]]:
    """By decision, what it says of each condition."""
    return {
        row["decision"]: [condition[reading] for condition in row["conditions"]] for row in summary["mcdc"]["table"]
    }


def test_a_function_that_nobody_calls_has_no_decisions(tmp_path: Path) -> None:
    """A compiler leaves it out, with its sites."""
    unused = "static int unused(int a, int b) { return a > 3 && b == 7; }\n"
    found = explore(tmp_path, {"abc.c": ABC.replace("int main", f"{unused}int main")}, "--goal", "mcdc")
    assert [row["function"] for row in found.summary["mcdc"]["table"]] == ["main"]


def test_what_was_shown_is_told_by_condition(tmp_path: Path) -> None:
    found = explore(tmp_path, {"abc.c": ABC}, "--goal", "mcdc")
    (row,) = found.summary["mcdc"]["table"]
    assert (row["line"], row["function"], row["decision"]) == (5, "main", "a > 3 && (b == 7 || c < 0)")
    assert [condition["masking"] for condition in row["conditions"]] == ["shown"] * 3
    assert [condition["unique_cause"] for condition in row["conditions"]] == ["shown"] * 3
    assert found.summary["goal"] == {"criterion": "mcdc", "reached": True, "proved": False, "missing": 0}
    assert found.summary["stopped"] in ("goal", "exhausted")
    chosen = found.summary["mcdc"]["fewest"]
    assert chosen["exact"]
    assert len(chosen["tests"]) == 4
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "goal MC/DC: reached" in said
    assert "    b == 7: masking shown; unique cause shown (TFF and TT-)" in said


def test_functions_of_the_library_have_their_names(tmp_path: Path) -> None:
    """Of those with models, too."""
    text = """#include <stdlib.h>
    #include "score.h"
    static void *(*take)(size_t) = malloc;
    int main(void) { int a; SYM_INT(a); return take == malloc && a > 3; }
    """
    found = explore(tmp_path, {"m.c": text}, "--goal", "mcdc")
    assert set(rows(found.summary, "masking")) == {"take == malloc && a > 3"}


def test_infeasible_is_said_where_it_is_proved(tmp_path: Path) -> None:
    text = ABC.replace("a > 3 &&", "a == 3 && (a != 3 || 0) &&")
    found = explore(tmp_path, {"abc.c": text}, "--goal", "mcdc")
    assert found.summary["stopped"] == "exhausted"
    assert rows(found.summary, "masking") == {
        "a == 3 && (a != 3 || 0) && (b == 7 || c < 0)": [
            "infeasible",
            "infeasible",
            "constant",
            "infeasible",
            "infeasible",
        ]
    }
    goal = found.summary["goal"]
    assert (goal["reached"], goal["proved"]) == (False, True)
    open_ = explore(tmp_path, {"abc.c": text}, "--goal", "mcdc", "--max-tests", "1", "--out", "first")
    assert set(rows(open_.summary, "masking").popitem()[1]) == {"open", "constant"}
    assert open_.summary["goal"]["proved"] is False
    missing = f"{open_.summary['goal']['missing']} branch directions and truths of conditions missing"
    assert f"goal MC/DC: not reached, {missing}" in score_embed("report", "first", cwd=tmp_path).stdout
    assert (found.code, open_.code) == (0, OPEN)


def test_infeasible_holds_within_bounds(tmp_path: Path) -> None:
    text = """#include <stdio.h>
    int main(void) { int n = 0; while (getchar() != EOF) n++; return n > 1 && n < 3; }
    """
    found = explore(tmp_path, {"n.c": text}, "--goal", "mcdc", "--stdin-bytes", "1")
    assert found.summary["goal"]["proved"]
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "are proved to be infeasible within standard input = 1 bytes" in said
    assert "  infeasible: within standard input = 1 bytes" in said


def test_conditions_that_are_not_symbolic_count(tmp_path: Path) -> None:
    """The target says nothing of them in an ordinary run."""
    text = """#include <score.h>
    int main(void) {
        unsigned char a, mode = 0, on = 0;
        SYM_U8(a);
        if (a == 1) mode = 1;
        if (a == 2) on = mode = 1;
        return mode && on;
    }
    """
    found = explore(tmp_path, {"mode.c": text}, "--goal", "mcdc")
    assert rows(found.summary, "unique_cause") == {"mode && on": ["shown", "shown"]}


def test_each_activation_has_its_own_vector(tmp_path: Path) -> None:
    """A function that calls itself in the midst of a decision, also where its caller's is left by a jump."""
    text = """#include <score.h>
    #include <setjmp.h>
    static jmp_buf out;
    static int down(unsigned n) { if (n > 20) longjmp(out, 1); return n > 0 && down(n - 1) && n != 3; }
    static int up(unsigned n) { return n < 3 && (up(n + 1) || n == 1); }
    int main(void) {
        unsigned char a;
        SYM_U8(a);
        if (setjmp(out) == 0 && up(a & 3)) return down(a);
        return 9;
    }
    """
    found = explore(tmp_path, {"deep.c": text}, "--goal", "mcdc")
    vectors = {row["decision"]: row["vectors"] for row in found.summary["mcdc"]["table"]}
    assert vectors["n > 0 && down(n - 1) && n != 3"] == ["F--", "TF-"]
    assert vectors["n < 3 && (up(n + 1) || n == 1)"] == ["F--", "TFF", "TFT", "TT-"]


def test_a_goal_ends_a_campaign_early(tmp_path: Path) -> None:
    loop = """#include <score.h>
    int main(void) {
        unsigned char t[40];
        int n = 0;
        SYM_BYTES(t, sizeof t);
        for (unsigned i = 0; i < sizeof t; i++) if (t[i] == 'a' || t[i] == 'b') n++;
        return n;
    }
    """
    for goal in ("branch", "mcdc"):
        found = explore(tmp_path, {"loop.c": loop}, "--goal", goal, "--strategy", "mcdc", "--out", goal)
        assert found.summary["stopped"] == "goal"
        assert found.summary["runs"] < 20
        assert found.summary["goal"]["reached"]


def test_what_the_user_has_runs_first(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for name, numbers in (("id:0", (4, 7, 0)), ("id:1", (3, 0, 0)), ("b", (4, 0, 5))):
        (own / name).write_bytes(b"".join(number.to_bytes(4, "little", signed=True) for number in numbers))
    found = explore(tmp_path, {"abc.c": ABC}, "--goal", "mcdc", "--have", "own")
    mcdc = found.summary["mcdc"]
    assert mcdc["own_tests"] == 3
    assert len(mcdc["fewest"]["tests"]) == 1  # only c < 0 is missing
    (number,) = mcdc["fewest"]["tests"]
    assert number > 3
    assert found.summary["goal"]["reached"]
    done = score_embed("export", "out", "--corpus", "more", "--tests", "fewest", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (added,) = (tmp_path / "more").iterdir()
    a, b, c = (int.from_bytes(added.read_bytes()[at : at + 4], "little", signed=True) for at in (0, 4, 8))
    assert a > 3
    assert b != 7
    assert c < 0


def test_a_campaign_that_was_stopped_goes_on_with_its_vectors(tmp_path: Path) -> None:
    explore(tmp_path, {"abc.c": ABC}, "--goal", "mcdc", "--max-tests", "2")
    done = score_embed("run", "--resume", "out", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert summary["goal"]["reached"]
    assert rows(summary, "masking").popitem()[1] == ["shown"] * 3


@pytest.mark.parametrize("name", ["decisions", "parser"])
def test_a_fleet_says_the_same(tmp_path: Path, name: str) -> None:
    """Its clients' vectors are one set, also over sessions of both kinds."""
    how = ("--strategy", "mcdc", "--no-witness")
    found = [
        explore_files(tmp_path, [PROGRAMS / f"{name}.c"], *how, "--out", out, *more).summary
        for out, more in (("one", ()), ("fleet", ("--clients", "3")), ("first", ("--clients", "2", "--max-tests", "3")))
    ]
    assert found[2]["stopped"] == "max-tests"
    found[2] = json.loads(score_embed("run", "--resume", "first", "--clients", "1", "--json", cwd=tmp_path).stdout)
    assert [one["stopped"] for one in found] == ["exhausted"] * 3
    for fleet in found[1:]:
        assert fleet["mcdc"]["unknown_tests"] == 0
        assert fleet["mcdc"]["tests"] == fleet["paths"]
        assert fleet["mcdc"]["table"] == found[0]["mcdc"]["table"]


@pytest.mark.parametrize("goal", ["statement", "branch", "mcdc"])
def test_a_goal_ends_a_fleet_early(tmp_path: Path, goal: str) -> None:
    loop = """#include <score.h>
    int main(void) {
        unsigned char t[40];
        int n = 0;
        SYM_BYTES(t, sizeof t);
        for (unsigned i = 0; i < sizeof t; i++) if (t[i] == 'a' || t[i] == 'b') n++;
        return n;
    }
    """
    found = explore(tmp_path, {"loop.c": loop}, "--goal", goal, "--clients", "2", "--time", "120")
    assert found.summary["stopped"] == "goal"
    assert found.summary["goal"] == {"criterion": goal, "reached": True, "proved": False, "missing": 0}


@pytest.mark.parametrize(
    "options",
    [("--have", ".", "--clients", "2"), ("--have", "x", "--first", "x"), ("--goal", "path"), ("--have", "none")],
)
def test_what_cannot_be_asked_for(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "abc.c").write_text(ABC)
    done = score_embed("run", *options, "abc.c", cwd=tmp_path)
    assert done.returncode == 2
    assert "error" in done.stderr


def test_a_board_says_the_same(tmp_path: Path) -> None:
    files = [PROGRAMS / "parser.c"]
    native, board = (
        explore_files(
            tmp_path, files, "--out", name, "--board", name, "--goal", "mcdc", "--no-witness", "--strategy", "dfs"
        )
        for name in ("native", "mps2-an385")
    )
    if native.summary["stopped"] == "exhausted":
        assert [row["vectors"] for row in native.summary["mcdc"]["table"]] == [
            row["vectors"] for row in board.summary["mcdc"]["table"]
        ]
    assert board.summary["mcdc"]["masking"] == native.summary["mcdc"]["masking"]
    assert board.summary["mcdc"]["unknown_tests"] == 0


# The judge -------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which(CLANG) is None, reason=f"{CLANG} is not installed")
@pytest.mark.parts(4)
@pytest.mark.parametrize("source", JUDGED, ids=lambda path: path.stem)
def test_clang_says_the_same(source: Path, tmp_path: Path) -> None:
    """Of the exported tests, about each condition of each decision. clang reads MC/DC as we do unique cause."""
    found = explore_files(
        tmp_path, [source], "--goal", "mcdc", "--strategy", "mcdc", "--no-witness", "--max-tests", "500"
    )
    assert found.summary["mcdc"]["unknown_tests"] == 0
    assert score_embed("export", "out", "--corpus", "corpus", "--tests", "paths", cwd=tmp_path).returncode == 0
    program, unsupported = _built(source, tmp_path)
    ours = Counter(
        (row["line"], tuple(condition["unique_cause"] == "shown" for condition in row["conditions"]))
        for row in found.summary["mcdc"]["table"]
        if row["line"] not in unsupported
    )
    assert ours == _judged(source, program, sorted((tmp_path / "corpus").iterdir()), tmp_path)


# Where GCC sees other decisions than the source has, by line.
OTHERS_OF_GCC = {
    "bit_fields": {191: "a ?: in an operand: its condition counts as one of the decision around it"},
    "decisions": {37: "0 || a == 7 || (0 && b): constants go, and what they leave is no decision"},
    "float_values": {80: "f && !(c + 1.5): GCC's second condition is the negated one, so true is false there"},
    "pointer_conditionals": {19: "as in bit_fields", 20: "as in bit_fields"},
}


@pytest.mark.skipif(not gcc14.ROOT.exists(), reason="no GCC 14: tools/setup-tests.sh could not fetch it")
@pytest.mark.parts(4)
@pytest.mark.parametrize("source", JUDGED, ids=lambda path: path.stem)
def test_gcc_says_the_same(source: Path, tmp_path: Path) -> None:
    """Of the exported tests, with which truths each condition of each decision has not decided: by masking."""
    how = ("--strategy", "mcdc", "--no-witness", "--max-tests", "100")
    found = explore_files(tmp_path, [source], "--goal", "mcdc", *how)
    assert score_embed("export", "out", "--corpus", "corpus", "--tests", "paths", cwd=tmp_path).returncode == 0
    program = gcc14.built(source, tmp_path, [f"-I{INCLUDE}"])
    for data in sorted((tmp_path / "corpus").iterdir()):
        environ = {**os.environ, "SCORE_INPUT": str(data)}
        subprocess.run([program], env=environ, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    theirs = Counter(
        (line, decision["count"] // 2, tuple(decision["not_covered_true"]), tuple(decision["not_covered_false"]))
        for line, decision in gcc14.conditions(tmp_path, source)
        if decision["count"] > 2  # of one condition branch coverage says all
    )
    table = [
        (row["line"], [one["missing"] for one in row["conditions"] if one["masking"] != "constant"])
        for row in found.summary["mcdc"]["table"]
    ]
    ours = Counter(
        (
            line,
            len(missing),
            *(tuple(i for i, truths in enumerate(missing) if sense in truths) for sense in (True, False)),
        )
        for line, missing in table
        if len(missing) > 1
    )
    differ = {line for line, *_ in (ours - theirs) + (theirs - ours)}
    assert differ == set(OTHERS_OF_GCC.get(source.stem, {})), (ours - theirs, theirs - ours)


def _built(source: Path, folder: Path) -> tuple[Path, set[int]]:
    """The program as clang builds it, and the lines of decisions that it leaves out: those with a `!` over several
    conditions, and those that contain another decision."""
    flags = ["-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc", f"-I{INCLUDE}"]
    command = [CLANG, *flags, str(source), "-o", str(folder / "judged"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "judged", {int(line) for line in re.findall(r":(\d+):\d+: warning: unsupported MC/DC", done.stderr)}


def _judged(source: Path, program: Path, inputs: list[Path], folder: Path) -> Counter[tuple[int, tuple[bool, ...]]]:
    """The line of each decision in the source, and of its conditions whether it was seen to decide alone."""
    raw = []
    for number, data in enumerate(inputs):
        raw.append(folder / f"{number}.profraw")
        environ = {**os.environ, "SCORE_INPUT": str(data), "LLVM_PROFILE_FILE": str(raw[-1])}
        subprocess.run([program], env=environ, capture_output=True, timeout=60, check=False)
    (folder / "files").write_text("\n".join(str(path) for path in raw if path.exists()))
    profile = folder / "profile"
    merge = ["llvm-profdata-19", "merge", "-o", str(profile), "-f", str(folder / "files")]
    subprocess.run(merge, check=True, timeout=120, capture_output=True)
    export = ["llvm-cov-19", "export", str(program), f"-instr-profile={profile}"]
    document = json.loads(subprocess.run(export, check=True, capture_output=True, timeout=120).stdout)
    return Counter(
        (record[0], tuple(record[-1]))
        for file in document["data"][0]["files"]
        if Path(file["filename"]) == source
        for record in file["mcdc_records"]
    )
