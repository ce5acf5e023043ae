"""Whole campaigns through the command line: results, resume, Ctrl-C, replay, first tests, on both boards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from runner import explore

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
BOARDS = ("native", "mps2-an385")

KEYS = {
    "v", "program", "board", "strategy", "seed", "stopped", "seconds", "runs", "paths", "redundant", "mispredicted",
    "re_asked",
    "unchecked", "retried", "lost", "lost_tests", "within",
    "divergences", "concretized", "forks", "conditions", "solver", "coverage", "bugs", "unflipped", "incomplete", "link",
    "memory", "fleet", "witness", "confined", "refused", "mcdc", "goal", "statements", "judged", "judged_unmatched",
}  # fmt: skip

# 2^14 paths: short enough to finish.
MANY = """
#include "score.h"
int main(void)
{
    unsigned char b[14];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    return n == 20;
}
"""

ENDLESS = MANY.replace("b[14]", "b[40]")  # its 2^40 paths have no end, so that a busy machine does not come too late

# Some seconds on any machine: a record is committed each second, and at the end.
SLOWLY = MANY.replace("b[14]", "b[16]").replace("return n", "for (volatile int w = 0; w < 3000; w++) {}\n    return n")

# Half a minute of questions that Z3 gives up on, in the first paths.
HARD = """
#include "score.h"
int main(void)
{
    unsigned long long a, b;
    SYM_BYTES(&a, sizeof a);
    SYM_BYTES(&b, sizeof b);
    if (a < 2 || b < 2 || a >> 33 || b >> 33)
        return 0;
    for (unsigned i = 0; i < 8; i++)
        if (a * b == 0xd1ce5b4d3a291707u + 2 * i)
            return 1;
    return 2;
}
"""


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "score_embed.cli.main", *words]


def score_embed(*words: str, folder: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def summary(*words: str, folder: Path, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(score_embed("run", "--json", *words, folder=folder, code=code).stdout)
    return found


def paths_of(folder: Path) -> set[int]:
    with sqlite3.connect(folder / "campaign.db") as db:
        found = {row[0] for row in db.execute("SELECT path FROM tests WHERE is_new")}
    db.close()
    return found


def write(folder: Path, text: str) -> str:
    (folder / "p.c").write_text(text, encoding="utf-8")
    return "p.c"


@pytest.mark.parametrize("board", BOARDS)
def test_max3(board: str, tmp_path: Path) -> None:
    found = summary("--board", board, str(EXAMPLES / "max3.c"), folder=tmp_path)
    assert set(found) == KEYS
    assert found["stopped"] == "exhausted"
    assert (found["program"], found["board"], found["strategy"]) == ("max3", board, "mixed")
    assert found["runs"] == found["paths"] + found["redundant"] + found["mispredicted"]
    assert found["coverage"]["branches_total"] == found["coverage"]["branches_covered"] == 10
    assert (found["bugs"], found["unflipped"], found["incomplete"]) == ([], [], [])
    latest = tmp_path / "score-out" / "latest"
    assert json.loads((latest / "summary.json").read_text(encoding="utf-8")) == found
    assert found["paths"] == len(paths_of(latest)) == 6  # one for each return of the example's six leaves
    for file in (latest / "tests").glob("*.json"):
        test = json.loads(file.read_text(encoding="utf-8"))
        values = test["inputs"]
        assert test["output"] == f"largest: {max(values['x'], values['y'], values['z'])}\n"
        assert test["versions"]["score-embed"]
    assert "reproduced" in score_embed("replay", str(latest), folder=tmp_path).stdout


def test_the_table_shows_inputs_and_output(tmp_path: Path) -> None:
    done = score_embed("run", str(EXAMPLES / "max3.c"), folder=tmp_path)
    for word in ("x", "y", "z", "verdict", "largest:", "exhausted", "score-out/"):
        assert word in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("board", BOARDS)
def test_a_bug_with_its_place_and_replay(board: str, tmp_path: Path) -> None:
    source = EXAMPLES / "checksum.c"
    found = summary("--board", board, str(source), folder=tmp_path, code=1)
    (bug,) = found["bugs"]
    line = next(i for i, text in enumerate(source.read_text(encoding="utf-8").splitlines(), 1) if "sum /" in text)
    assert (bug["kind"], Path(bug["file"]).name, bug["line"]) == ("division-by-zero", "checksum.c", line)
    assert (bug["function"], bug["stack"], bug["confirmed"]) == (
        "average",
        ["average", "receive", "main"],
        True,
    )
    frame = bytes.fromhex(bug["inputs"]["frame"])
    assert frame[5] == sum(frame[:5]) & 0xFF
    assert set(frame[2 : 2 + frame[0]]) == {0xFF}
    latest = tmp_path / "score-out" / "latest"
    again = score_embed("replay", str(latest), str(bug["test"]), folder=tmp_path).stdout
    assert "division-by-zero" in again
    assert "1 of 1 tests reproduced" in again
    # The same file, built without score-embed, does the same.
    subprocess.run(
        ["gcc", "-I", ROOT / "runtime" / "include", source, "-o", tmp_path / "plain"],
        check=True,
        timeout=60,
        capture_output=True,
    )
    (data,) = (latest / "bugs").glob(f"{bug['test']:06d}-*.bin")
    died = subprocess.run([tmp_path / "plain"], env={"SCORE_INPUT": str(data)}, timeout=60, check=False)
    assert died.returncode == -signal.SIGFPE


def test_a_killed_campaign_ends_with_the_same_paths(tmp_path: Path) -> None:
    source = write(tmp_path, SLOWLY)
    whole = summary("--out", "whole", source, folder=tmp_path)
    for _ in range(10):  # on a busy machine a campaign may be at its end before its record has been seen
        shutil.rmtree(tmp_path / "o", ignore_errors=True)
        _kill_at_work(source, tmp_path)
        if _runs(tmp_path / "o") < whole["runs"]:
            break
    assert 0 < _runs(tmp_path / "o") < whole["runs"]
    resumed = summary("--resume", "o", folder=tmp_path)
    assert resumed["stopped"] == "exhausted"
    assert paths_of(tmp_path / "o") == paths_of(tmp_path / "whole")
    assert (resumed["paths"], resumed["runs"]) == (whole["paths"], whole["runs"])
    assert resumed["coverage"] == whole["coverage"]


def _kill_at_work(source: str, folder: Path) -> None:
    """SIGKILL to a campaign in `o` that has recorded tests; too late where it ends first."""
    with subprocess.Popen(command("run", "--out", "o", source), cwd=folder, stdout=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 120
        while running.poll() is None and time.monotonic() < deadline:
            if (folder / "o" / "campaign.db").exists() and _runs(folder / "o") > 0:
                running.kill()
            time.sleep(0.005)


def _runs(folder: Path) -> int:
    db = sqlite3.connect(f"file:{folder}/campaign.db?mode=ro", uri=True, timeout=10)
    try:
        (count,) = db.execute("SELECT count(*) FROM tests").fetchone()
        return int(count)
    except sqlite3.OperationalError:
        return 0  # not made yet
    finally:
        db.close()


@pytest.mark.parametrize("board", BOARDS)
def test_ctrl_c_saves_and_says_how_to_go_on(board: str, tmp_path: Path) -> None:
    source = write(tmp_path, ENDLESS)
    with subprocess.Popen(
        command("run", "--board", board, "--out", "o", source),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        deadline = time.monotonic() + 60
        while not ((tmp_path / "o" / "campaign.db").exists() and _runs(tmp_path / "o")):
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: all processes get it, the target too
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "score-embed run --resume o" in errors
    stopped = json.loads((tmp_path / "o" / "summary.json").read_text(encoding="utf-8"))
    assert stopped["stopped"] == "interrupted"
    assert stopped["runs"] == _runs(tmp_path / "o")
    assert stopped["incomplete"] == []  # no test was lost
    resumed = summary("--resume", "o", "--max-tests", "10", folder=tmp_path)
    assert resumed["runs"] == stopped["runs"] + 10


def test_limits(tmp_path: Path) -> None:
    source = write(tmp_path, MANY)
    found = summary("--max-tests", "5", source, "--out", "o", folder=tmp_path)
    assert (found["stopped"], found["runs"]) == ("max-tests", 5)
    found = summary("--resume", "o", "--max-tests", "7", folder=tmp_path)
    assert (found["stopped"], found["runs"]) == ("max-tests", 12)
    assert summary("--time", "0.2", write(tmp_path, ENDLESS), folder=tmp_path)["stopped"] == "time"


def test_the_time_is_kept_while_the_solver_works(tmp_path: Path) -> None:
    source = write(tmp_path, HARD)
    found = summary("--time", "4", "--out", "o", source, folder=tmp_path)
    assert found["stopped"] == "time"
    assert found["seconds"] < 12
    assert found["paths"] == found["runs"] > 0  # the test in work is in the books
    more = summary("--resume", "o", "--time", "1", folder=tmp_path)
    assert more["stopped"] == "time"
    assert more["seconds"] - found["seconds"] < 9
    # What was asked is not asked again, but the path of a hard question is run once more for it.
    assert more["runs"] + more["re_asked"] > found["runs"]


def test_ctrl_c_is_heard_while_the_solver_works(tmp_path: Path) -> None:
    source = write(tmp_path, HARD)
    with subprocess.Popen(
        command("run", "--out", "o", source), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        deadline = time.monotonic() + 60
        while not (tmp_path / "o" / "campaign.db").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        pressed = time.monotonic()
        _, errors = running.communicate(timeout=60)
    assert time.monotonic() - pressed < 10
    assert running.returncode == 130, errors
    assert "score-embed run --resume o" in errors
    stopped = json.loads((tmp_path / "o" / "summary.json").read_text(encoding="utf-8"))
    assert (stopped["stopped"], stopped["bugs"]) == ("interrupted", [])


def test_first_tests(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        '#include "score.h"\nint main(void) { int x; short y; SYM_INT(x); SYM_SHORT(y); return x == y; }\n',
    )
    (tmp_path / "first.json").write_text('{"inputs": {"x": -7, "y": -7}}', encoding="utf-8")
    summary("--first", "first.json", "--out", "a", "--max-tests", "1", source, folder=tmp_path)
    (first,) = (tmp_path / "a" / "tests").glob("000001-*.json")
    assert json.loads(first.read_text(encoding="utf-8"))["inputs"] == {"x": -7, "y": -7}
    for file in (first, first.with_suffix(".bin")):
        out = f"again{file.suffix}"
        summary("--first", str(file), "--out", out, "--max-tests", "1", source, folder=tmp_path)
        (again,) = (tmp_path / out / "tests").glob("000001-*.json")
        assert again.name == first.name


def test_the_seed_decides(tmp_path: Path) -> None:
    source = write(tmp_path, MANY)
    for out, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        summary("--seed", seed, "--max-tests", "20", "--out", out, source, folder=tmp_path)
    names = [sorted(f.read_bytes() for f in (tmp_path / out / "tests").glob("*.bin")) for out in "abc"]
    assert names[0] == names[1] != names[2]
    assert paths_of(tmp_path / "a") == paths_of(tmp_path / "b")


def test_keep_leaves_the_instrumented_c(tmp_path: Path) -> None:
    source = write(tmp_path, MANY)
    summary("--keep", "--max-tests", "1", "--out", "o", source, folder=tmp_path)
    (text,) = (tmp_path / "o" / "instrumented").glob("*.c")
    assert "sc_cond" in text.read_text(encoding="utf-8")


def test_a_program_that_is_not_deterministic_is_said_to_be(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        '#include <time.h>\n#include "score.h"\nint main(void)\n{\n    struct timespec t; int x; SYM_INT(x);\n'
        "    clock_gettime(CLOCK_MONOTONIC, &t);\n    for (long i = t.tv_nsec % 1009; i > 0; i--)\n"
        "        if (x == i) return 1;\n    return 0;\n}\n",
    )
    done = score_embed("run", "--json", "--max-tests", "3", source, folder=tmp_path)
    assert "does not always take the same path" in done.stderr
    assert any("different paths" in row["what"] for row in json.loads(done.stdout)["incomplete"])


def test_what_the_clock_says_is_no_proof(tmp_path: Path) -> None:
    """Nobody explored what it did not say. A stub makes it an input."""
    source = write(
        tmp_path,
        '#include <time.h>\n#include "score.h"\nint main(void)\n{\n    unsigned char c;\n    SYM_U8(c);\n'
        "    long t = (long)time(0);\n    return c > 3 ? t == 77 ? 1 / (t - 77) : 2 : 0;\n}\n",
    )
    found = summary(source, folder=tmp_path)
    assert (found["stopped"], found["within"], found["bugs"]) == ("exhausted", ["what time() said"], [])
    stubbed = summary("--stub", "time", source, folder=tmp_path, code=1)
    assert "what time() said" not in stubbed["within"]
    assert [bug["kind"] for bug in stubbed["bugs"]] == ["division-by-zero"]


@pytest.mark.parametrize(
    ("head", "body", "within"),
    [
        ("#include <time.h>", "time_t (*now)(time_t *) = time; r = now(0) == 77;", ["what time() said"]),
        (
            "static unsigned long long now(void) { return __builtin_ia32_rdtsc(); }",
            "r = now() == 77;",
            ["what __builtin_ia32_rdtsc() said"],
        ),
        (
            "static int now(int (*clock)(void)) { return clock(); } static int zero(void) { return 0; }",
            "r = now(zero);",
            [],
        ),
        ("struct t { int time; } t; int time(void *);", "r = (&t)->time;", []),
        ("#include <stdlib.h>", 'r = getenv("MODE") != 0;', ["what getenv() said"]),
        ("#include <stdio.h>", "r = getchar() == 'x';", ["an empty standard input (--stdin-bytes N)"]),
        ("#include <stdio.h>", "char t[9]; r = !fgets(t, 9, stdin);", ["an empty standard input (--stdin-bytes N)"]),
        ("#include <sys/mman.h>", "r = mlockall(MCL_CURRENT);", ["what a confined target may do (mlockall())"]),
    ],
    ids=["pointer", "builtin", "argument", "member", "environment", "input", "stream", "refused"],
)
def test_what_the_surroundings_said(tmp_path: Path, head: str, body: str, within: list[str]) -> None:
    text = f'{head}\n#include "score.h"\nint main(void)\n{{\n    int r = 0;\n    unsigned char c;\n    SYM_U8(c);\n    {body}\n    return c > 3 ? r : 0;\n}}\n'
    found = summary(write(tmp_path, text), folder=tmp_path)
    assert (found["stopped"], found["within"]) == ("exhausted", within)


@pytest.mark.parametrize(
    ("options", "within"),
    [
        ((), ["no arguments (--argv N,N)", "an empty standard input (--stdin-bytes N)"]),
        (("--argv", "1"), ["argument 1 ≤ 1 bytes", "an empty standard input (--stdin-bytes N)"]),
        (("--argv", "1", "--stdin-bytes", "1"), ["argument 1 ≤ 1 bytes", "standard input = 1 bytes"]),
    ],
)
def test_what_a_program_was_not_given(tmp_path: Path, options: tuple[str, ...], within: list[str]) -> None:
    text = (
        '#include <stdio.h>\n#include "score.h"\nint main(int argc, char **argv)\n{\n    unsigned char c;\n    SYM_U8(c);\n'
        "    return c > 1 && argc > 1 && argv[1][0] == getchar();\n}\n"
    )
    found = summary(*options, write(tmp_path, text), folder=tmp_path)
    assert (found["stopped"], found["within"]) == ("exhausted", within)


def test_every_result_survives_a_pipe_that_closes(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m score_embed.cli.main run {EXAMPLES / 'max3.c'} | true",
        shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=os.environ,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert (tmp_path / "score-out" / "latest" / "summary.json").exists()


GROWS = """
#include "score.h"
int main(void)
{
    unsigned char b;
    int x = 10;
    SYM_U8(b);
    while (x > 0) {
        x -= b & 7;
        if (x == 3) continue; /* for ever, if the step is nothing: a million branches over a formula that grows */
        x--;
    }
    return x;
}
"""


def test_the_time_ends_also_a_path_of_a_million_branches(tmp_path: Path) -> None:
    """Its verdict counts; what it leads to is found when there is time."""
    ended = explore(tmp_path, {"p.c": GROWS}, "--time", "2")
    assert (ended.summary["stopped"], ended.bug_kinds) == ("time", ["hang"])
    (tmp_path / "short").mkdir()
    whole = explore(tmp_path / "short", {"p.c": GROWS}, "--max-branches", "3000")
    assert (whole.summary["stopped"], whole.summary["paths"], whole.bug_kinds) == ("exhausted", 6, ["hang"])


@pytest.mark.parametrize("goal", ["branch", "statement"])
def test_a_goal_ends_the_campaign_as_soon_as_it_is_reached(goal: str, tmp_path: Path) -> None:
    """Of 4,096 paths two reach it; the test after that was begun when it was known."""
    text = MANY.replace("b[14]", "b[12]")
    found = explore(tmp_path, {"p.c": text}, "--goal", goal, "--strategy", "dfs", first={"b": "00" * 12})
    assert (found.summary["stopped"], found.summary["runs"]) == ("goal", 3)
