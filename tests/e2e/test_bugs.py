"""Every way a program can end badly, found from symbolic input, named, located and confirmed, on both targets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner import BOARDS, explore, score_embed

BODY = {
    "null-dereference": "int *p = x == 7 ? (int *)0 : &x; y = *p; /* BUG */",
    "division-by-zero": "if (x == 7) { y = 10 / (x - 7); /* BUG */ }",
    "assertion": "if (x == 7) { SCORE_ASSERT(x != 7); /* BUG */ }",
    "abort": "if (x == 7) { abort(); /* BUG */ }",
    "hang": "if (x == 7) { for (;;) { y++; } /* BUG */ }",
    "illegal-instruction": "if (x == 7) { __builtin_trap(); /* BUG */ }",
    "stack-overflow": "if (x == 7) { y = deep(x); /* BUG */ }",
    "invalid-memory-access": "if (x == 7) { *(volatile int *)0xE8000000u = 1; /* BUG */ }",
}
PROGRAM = """
#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include "score.h"
static volatile int y;
static int deep(int n) {{ volatile char big[256]; big[0] = (char)n; return deep(n + 1) + big[0]; }}
static void work(int x)
{{
    {body}
}}
int main(void)
{{
    int x;
    SYM_INT(x);
    work(x);
    return 0;
}}
"""


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("kind", BODY)
def test_a_bug_is_found_named_located_and_confirmed(tmp_path: Path, board: str, kind: str) -> None:
    program = PROGRAM.format(body=BODY[kind])
    line = next(i for i, text in enumerate(program.splitlines(), 1) if "BUG" in text)
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--max-branches", "100000", first={"x": 1})
    assert found.bug_kinds == [kind]
    bug = found.summary["bugs"][0]
    assert bug["inputs"] == {"x": 7}
    assert bug["confirmed"]
    assert bug["file"].endswith("p.c")
    if kind not in ("stack-overflow",):
        assert (bug["line"], bug["function"]) == (line, "work")
    else:
        assert bug["function"] == "deep"
    assert found.code == 1
    assert found.summary["stopped"] == "exhausted"


@pytest.mark.parametrize("board", BOARDS)
def test_the_plain_assert_of_the_library_is_a_bug(tmp_path: Path, board: str) -> None:
    program = '#include <assert.h>\n#include "score.h"\nint main(void)\n{\n    unsigned char c;\n    SYM_U8(c);\n    assert(c != 200);\n    return 0;\n}\n'
    found = explore(tmp_path, {"p.c": program}, "--board", board)
    assert found.bug_kinds == ["assertion"]
    assert found.summary["bugs"][0]["line"] == 7
    assert found.summary["bugs"][0]["inputs"] == {"c": 200}
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "p.c:7: error: an assertion is false in main: c = 200 [assertion]" in said
    assert "    assert(c != 200);" in said


@pytest.mark.parametrize("board", BOARDS)
def test_an_assumption_is_kept_and_is_no_path(tmp_path: Path, board: str) -> None:
    program = """
        #include "score.h"
        int main(void)
        {
            unsigned char c;
            SYM_U8(c);
            SCORE_ASSUME(c < 10 && c != 3);
            SCORE_ASSERT(c != 3 && c < 10);
            if (c == 5)
                return 1;
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board)
    assert found.summary["bugs"] == []
    assert found.summary["paths"] == 2
    assert found.summary["stopped"] == "exhausted"


def test_exit_status_and_atexit_output_are_kept(tmp_path: Path) -> None:
    program = """
        #include <stdio.h>
        #include <stdlib.h>
        #include "score.h"
        static void bye(void) { printf("bye\\n"); }
        int main(void)
        {
            unsigned char c;
            SYM_U8(c);
            atexit(bye);
            if (c == 9)
                exit(3);
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program})
    assert found.summary["paths"] == 2
    assert found.summary["bugs"] == []


@pytest.mark.parametrize("board", BOARDS)
def test_replay_reproduces_every_test(tmp_path: Path, board: str) -> None:
    program = PROGRAM.format(body=BODY["division-by-zero"])
    found = explore(tmp_path, {"p.c": program}, "--board", board, first={"x": 1})
    done = score_embed("replay", str(found.folder), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reproduced" in done.stdout


@pytest.mark.parametrize("board", BOARDS)
def test_an_entry_function_gets_symbolic_arguments(tmp_path: Path, board: str) -> None:
    program = """
        struct state { int mode; unsigned char key[2]; };
        int check(const unsigned char *data, unsigned len, struct state *s, short limit)
        {
            if (len < 2)
                return -1;
            if (data[0] == 0x55 && data[1] == s->key[1])
                return limit == -3 && s->mode == 4 ? 100 / (s->mode - 4) : 1;
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", board, "--entry", "check", "--seed", "3")
    assert found.bug_kinds == ["division-by-zero"]
    inputs = found.summary["bugs"][0]["inputs"]
    assert inputs["limit"] == -3
    assert found.summary["stopped"] == "exhausted"


def test_a_test_replays_in_a_plain_build(tmp_path: Path) -> None:
    import subprocess

    program = PROGRAM.format(body=BODY["assertion"])
    found = explore(tmp_path, {"p.c": program}, first={"x": 1})
    public = Path(__file__).resolve().parents[2] / "runtime" / "include"
    subprocess.run(["gcc", "-w", f"-I{public}", "p.c", "-o", "plain"], cwd=tmp_path, check=True, timeout=60)
    test = next((found.folder / "bugs").glob("*.bin"))
    assert json.loads(test.with_suffix(".json").read_text())
    done = subprocess.run(
        ["./plain"], cwd=tmp_path, env={"SCORE_INPUT": str(test)}, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == -6
    assert b"p.c" in done.stderr


def test_inputs_in_a_function_left_alone_are_explained(tmp_path: Path) -> None:
    program = '#include "score.h"\nint main(void)\n{\n    int x;\n    SYM_INT(x);\n    __asm__ goto ("" : : : : no);\n    no: return x == 3;\n}\n'
    (tmp_path / "p.c").write_text(program)
    done = score_embed("run", "p.c", cwd=tmp_path)
    assert done.returncode == 3
    assert "p.c:6: error: function 'main' is not instrumented: asm goto" in done.stderr


@pytest.mark.parametrize("board", BOARDS)
def test_assertions_side_by_side(board: str, tmp_path: Path) -> None:
    """A compiler for size merges the calls that report them; each keeps its line all the same."""
    text = """#include "score.h"
unsigned char a[3], b[3];
int main(void)
{
    SYM_BYTES(a, 3);
    for (int i = 0; i < 3; i++)
        b[i] = a[i] >> 4;
    for (int i = 0; i < 3; i++) {
        SCORE_ASSERT(a[i] != 0);
        SCORE_ASSERT(b[i] != 1);
    }
    return 0;
}
"""
    found = explore(tmp_path, {"p.c": text}, "--board", board)
    assert sorted(bug["line"] for bug in found.summary["bugs"]) == [9, 10]


LEFT_ALONE = """
#include "score.h"
/* Has a local label: no probes. */
static int opaque(int n)
{
    int array[4]; { __label__ here; here: array[1] = 0; }

    /* What stands between its lines
     * does not move them. */
    array[n] = n;

    if (n == 3)
        array[0] = *(volatile int *)0;
    return array[n];
}
int main(void)
{
    unsigned char x;
    SYM_U8(x);
    if (x == 3) return opaque(x);
    return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_a_fault_in_a_function_left_alone_is_on_its_line(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": LEFT_ALONE}, "--board", board)
    assert [(bug["kind"], bug["file"], bug["line"]) for bug in found.summary["bugs"]] == [
        ("null-dereference", "p.c", 13)
    ]
