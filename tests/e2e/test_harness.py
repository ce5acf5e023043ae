"""`--entry` and `new` as users see them: hints, preconditions, globals, what cannot be made, what a bug rests on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from runner import BOARDS, explore, score_embed

PUBLIC = Path(__file__).resolve().parents[2] / "runtime" / "include"
PARSER = """
#include <assert.h>
#include <stdio.h>
struct node { unsigned char key; struct node *next; };
struct config { char *name; unsigned char mode; struct node *first; };
static unsigned char limit;
static int seen(const struct node *n) { return n->next ? n->next->key : 0; }
int second(const struct node *n) { return n->next->key == 3; }
int header(const unsigned char *buf, unsigned len) { if (len > 3) return 1; return buf[2] == 7; }
int named(const struct config *c) { if (!c->name) return 0; return c->name[0] == 'x' && c->name[1] == 0; }
int mode(struct config *c) { assert(c->mode < 4); if (c->mode == 4) return 1; return c->mode == 2; }
int over(unsigned char x) { return x > limit ? 1 : 2; }
int file(FILE *f, int x) { if (!f) return x == 1; return fgetc(f); }
int copy(unsigned char *to, const unsigned char *from) { *to = 1; if (to == from) return 3; return *from == 2; }
int plain(const struct node *n) { if (n->key == 3) return 1; return 0; }
int main(void) { return seen(0) + over(3); }
"""


def entry(folder: Path, function: str, *options: str, hints: str = "") -> dict[str, Any]:
    files = {"p.c": PARSER} | ({"score-hints.yaml": hints} if hints else {})
    return explore(folder, files, "--entry", function, "--no-witness", *options).summary


def bugs(summary: dict[str, Any]) -> list[tuple[str, int, list[str]]]:
    return [(bug["kind"], bug["line"], bug["rests_on"]) for bug in summary["bugs"]]


def test_a_bug_says_what_it_rests_on(tmp_path: Path) -> None:
    summary = entry(tmp_path, "second")
    assert bugs(summary) == [("null-dereference", 8, ["n->next may be NULL"])]
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "n->next = NULL" in said
    assert "rests on: n->next may be NULL" in said


TWO_NULLS = """
struct node { int key; struct node *next; };
int looks(const struct node *other) { return other ? other->key : 0; }
int chain(int x, const struct node *n, const struct node *other)
{
    if (x == 3)
        return n->next->key;
    return looks(other);
}
int both(const struct node *n, const struct node *other)
{
    if (!other)
        return n->next->key;
    return looks(other);
}
"""


@pytest.mark.parametrize(
    ("function", "rests"), [("chain", ["n->next may be NULL"]), ("both", ["n->next may be NULL", "other may be NULL"])]
)
def test_a_bug_rests_on_what_its_path_asks_for(function: str, rests: list[str], tmp_path: Path) -> None:
    """What is asked last stands first. `other` is NULL in both, and on the way to the bug in `both` only."""
    first = json.dumps({"inputs": {"x": 0, "other != NULL": 0}})
    files = {"p.c": TWO_NULLS, "first.json": first if function == "chain" else json.dumps({"inputs": {}})}
    options = ("--first", str(tmp_path / "first.json"), "--no-witness")
    summary = explore(tmp_path, files, "--entry", function, *options).summary
    assert [bug["inputs"]["other != NULL"] for bug in summary["bugs"]] == [0]
    assert [bug["rests_on"] for bug in summary["bugs"]] == [rests]


def test_an_array_ends_where_its_count_says(tmp_path: Path) -> None:
    summary = entry(tmp_path, "header")
    assert bugs(summary) == [("out-of-bounds", 9, [])]
    assert summary["bugs"][0]["inputs"]["len"] <= 2
    assert summary["stopped"] == "exhausted"


COUNTED = """struct ring { unsigned char *items; unsigned char count, capacity; };
struct frame { unsigned char length; unsigned char data[4]; };
int last(const struct frame *f) { return f->length > 4 ? 1 / (f->length - 9) : f->length; }
int free_room(const struct ring *r) { return r->count > r->capacity ? 1 / (r->count - 9) : r->items[0]; }
"""


@pytest.mark.parametrize(("function", "bound"), [("last", "f->length ≤ 4"), ("free_room", "r->count ≤ r->capacity")])
def test_what_is_assumed_of_counts_is_said(tmp_path: Path, function: str, bound: str) -> None:
    """A count that lies is not tried. So it is a bound of the verdict: there is a bug beyond it."""
    (tmp_path / "p.c").write_text(COUNTED)
    done = score_embed("run", "--entry", function, "--json", "--no-witness", "--out", "o", "p.c", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert bound in summary["within"]
    assert not [bug for bug in summary["bugs"] if bug["kind"] == "division-by-zero"]


GUARDED = """
int guarded(const unsigned char *p, unsigned n)
{
    if (!p) return n ? 100 / (n - n) : 2;
    return n && p[n - 1] == 7 ? 3 : 4;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_a_buffer_is_null_only_where_it_is_empty(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"f.c": GUARDED}, "--entry", "guarded", "--board", board)
    assert found.summary["stopped"] == "exhausted"
    assert (found.summary["paths"], found.summary["bugs"]) == (4, [])


def test_a_hint_takes_the_null_away(tmp_path: Path) -> None:
    hints = "functions:\n  second:\n    n->next: {nullable: no}\n"
    assert bugs(entry(tmp_path, "second", hints=hints)) == []


def test_so_does_a_precondition(tmp_path: Path) -> None:
    summary = entry(tmp_path, "second", "--assume", "n->next != 0")
    assert bugs(summary) == []
    assert "n->next != 0" in summary["within"]


ASKING = """struct s { int n; };
int plain(struct s *p) { return p ? p->n > 10 : 7; }
int asserted(struct s *p, int n)
{
    if (!(n == 1 || (p && p->n > 3))) __builtin_trap();
    return !p && n != 1 ? 1 / (n - n) : 2;
}
int beside(struct s *p, int n) { return p ? p->n > 10 : 7 / n; }
"""


@pytest.mark.parametrize(
    ("function", "options", "nulls"),
    [
        ("plain", ("--assume", "p && p->n > 3"), set()),
        ("asserted", (), {1}),
        ("beside", ("--assume", "n == 2 && p->n > 3"), {2}),
    ],
)
def test_a_condition_that_asks_for_null_says_what_holds_there(
    tmp_path: Path, function: str, options: tuple[str, ...], nulls: set[int]
) -> None:
    """`nulls`: n where p is null."""
    summary = explore(tmp_path, {"p.c": ASKING}, "--entry", function, *options, "--no-witness").summary
    assert (summary["stopped"], bugs(summary)) == ("exhausted", [])
    tests = [json.loads(file.read_text())["inputs"] for file in (tmp_path / "out" / "tests").glob("*.json")]
    assert {test["n"] for test in tests if test.get("p != NULL") == 0} == nulls


def test_texts_are_shown_as_texts(tmp_path: Path) -> None:
    summary = entry(tmp_path, "named", hints="types:\n  config.name: {string: 3}\n")
    assert "c->name ≤ 3 characters" in summary["within"]
    assert summary["stopped"] == "exhausted"
    tests = [json.loads(file.read_text())["inputs"] for file in (tmp_path / "out" / "tests").glob("*.json")]
    assert '"x"' in [test.get("c->name") for test in tests]


def test_a_text_goes_back_in(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PARSER)
    first = tmp_path / "first.json"
    first.write_text(json.dumps({"inputs": {"c->name": '"x"', "c->name != NULL": 1}}))
    words = ("run", "--entry", "named", "--first", "first.json", "--max-tests", "1", "--json", "--no-witness", "p.c")
    assert json.loads(score_embed(*words, "--out", "o", cwd=tmp_path).stdout)["runs"] == 1
    (test,) = (tmp_path / "o" / "tests").glob("*.json")
    found = json.loads(test.read_text())
    assert (found["inputs"]["c->name"], found["code"]) == ('"x"', 1)


def test_an_assertion_at_the_beginning_is_a_precondition(tmp_path: Path) -> None:
    summary = entry(tmp_path, "mode")
    assert bugs(summary) == []
    assert "c->mode < 4" in summary["within"]


@pytest.mark.parametrize(("options", "covered"), [((), 1), (("--globals", "limit"), 2), (("--globals", "used"), 2)])
def test_globals_are_inputs_on_request(tmp_path: Path, options: tuple[str, ...], covered: int) -> None:
    """`limit` is 0 else: then only 0 is not above it."""
    summary = entry(tmp_path, "over", *options)
    assert summary["stopped"] == "exhausted"
    assert summary["paths"] == 2
    values = {
        json.loads(file.read_text())["inputs"].get("limit") for file in (tmp_path / "out" / "tests").glob("*.json")
    }
    assert (values != {None}) == (covered == 2)


def test_what_cannot_be_made_is_null_and_said(tmp_path: Path) -> None:
    summary = entry(tmp_path, "file")
    assert summary["stopped"] == "drained"
    assert [item["what"] for item in summary["incomplete"]] == [
        "--entry file: f (struct _IO_FILE *) is null: it is the library's to make"
    ]


OPAQUE = """
#include <stdlib.h>
struct hidden;
struct state { int mode; char *text; };
struct stream { struct hidden *state; struct hidden *unused; unsigned char buf[4]; unsigned char pos; };
int step(struct stream *s) { struct state *own = (struct state *) s->state; if (own->mode == 7) return 1; return s->buf[s->pos]; }
void drop(struct state *s) { if (s) free(s->text); free(s); }
"""


def test_an_opaque_member_is_what_it_is_cast_to(tmp_path: Path) -> None:
    """And a position is no more than its array has elements: one past the last is left to be found."""
    summary = explore(tmp_path, {"o.c": OPAQUE}, "--entry", "step", "--no-witness").summary
    assert (summary["stopped"], summary["incomplete"], summary["paths"]) == ("exhausted", [], 3)
    assert [(bug["kind"], bug["inputs"]["s->pos"]) for bug in summary["bugs"]] == [("out-of-bounds", 4)]


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_what_is_freed_is_a_block_of_the_heap(board: str, tmp_path: Path) -> None:
    summary = explore(tmp_path, {"o.c": OPAQUE}, "--entry", "drop", "--no-witness", "--board", board).summary
    assert (summary["stopped"], summary["bugs"], summary["paths"]) == ("exhausted", [], 2)


def test_objects_may_be_the_same_on_request(tmp_path: Path) -> None:
    assert entry(tmp_path, "copy")["paths"] == 1
    folder = tmp_path / "alias"
    folder.mkdir()
    hints = "functions:\n  copy:\n    from: {alias: to, nullable: no}\n"
    assert entry(folder, "copy", hints=hints)["paths"] == 2


def test_null_for_every_pointer(tmp_path: Path) -> None:
    summary = entry(tmp_path, "plain")
    assert (bugs(summary), "not null: n" in summary["within"]) == ([], True)
    folder = tmp_path / "all"
    folder.mkdir()
    assert bugs(entry(folder, "plain", "--nulls", "all")) == [("null-dereference", 15, ["n may be NULL"])]


@pytest.mark.parametrize(
    ("hints", "where", "what"),
    [
        ("functions:\n  second:\n    n: {nulable: no}\n", "score-hints.yaml:3", "unknown hint 'nulable'"),
        ("functions:\n  second:\n    n: {range: [1]}\n", "score-hints.yaml:3", "'range' has a first and a last value"),
        ("function:\n  second: {}\n", "score-hints.yaml:1", "unknown key 'function'"),
        ("functions:\n  second:\n    n: {size: 1000000}\n", "score-hints.yaml:3", "too many"),
    ],
)
def test_a_wrong_hint_is_an_error_with_its_line(tmp_path: Path, hints: str, where: str, what: str) -> None:
    (tmp_path / "p.c").write_text(PARSER)
    (tmp_path / "score-hints.yaml").write_text(hints)
    done = score_embed("run", "--entry", "second", "p.c", cwd=tmp_path)
    assert done.returncode == 2
    assert where in done.stderr
    assert what in done.stderr


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--entry", "main"), "main is the whole program"),
        (("--entry", "second", "--globals", "nothing"), "there is no variable 'nothing'"),
        (("--entry", "second", "--assume", "n; n"), "assume cannot be"),
        (("--assume", "1"), "there is no function that this is said of"),
        (("--entry", "second", "--nulls", "some"), "nulls cannot be"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: tuple[str, ...], what: str) -> None:
    (tmp_path / "p.c").write_text(PARSER)
    done = score_embed("run", *options, "p.c", cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr


def test_there_must_be_a_c_file_to_keep_a_harness_of(tmp_path: Path) -> None:
    (tmp_path / "p.o").write_bytes(b"")
    for name, what in (
        ("p.o", "there is no C file to explore"),
        ("/dev/full", "neither a C source"),
        ("q.c", "no such file"),
    ):
        done = score_embed("new", "second", name, cwd=tmp_path)
        assert (done.returncode, what in done.stderr) == (2, True), done.stderr


def test_a_harness_to_keep_is_the_same_program(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "p.c").write_text(PARSER)
    done = score_embed("new", "header", "src/p.c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "header_harness.c").read_text()
    assert '#include "src/p.c"' in text
    assert "SCORE_ASSUME((__SIZE_TYPE__) len <= 16);" in text
    kept = score_embed("run", "--json", "--no-witness", "header_harness.c", cwd=tmp_path)
    summary = json.loads(kept.stdout)
    assert (summary["stopped"], bugs(summary)) == ("exhausted", [("out-of-bounds", 9, [])])
    assert summary["paths"] == entry(tmp_path, "header")["paths"]
    command = ["gcc", "-Wall", "-Wextra", "-Werror", f"-I{PUBLIC}", "header_harness.c", "-o", "plain"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    again = score_embed("new", "header", "src/p.c", cwd=tmp_path)
    assert again.returncode == 2
    assert "this file is there already" in again.stderr


def test_a_strangers_harness_is_not_exported_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(tmp_path, "second")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    refused = score_embed("export", "out", "--unity", "t.c", cwd=tmp_path)
    assert refused.returncode == 2
    assert "not made by you" in refused.stderr
    assert score_embed("export", "out", "--unity", "t.c", "--trust", cwd=tmp_path).returncode == 0
    assert "score_harness" in (tmp_path / "t.c").read_text()


@pytest.mark.parametrize("heap", ["", "void free(void *); void done(void *p) { free(p); }\n"], ids=["static", "heap"])
@pytest.mark.parametrize("number", [0, 1, 5, 8, 16, 33])
def test_the_second_witness_has_all_that_a_harness_calls(tmp_path: Path, number: int, heap: str) -> None:
    """Texts, sized arrays, pointers: its plain program is built, and sees the same bug, however long the array is."""
    text = f"{heap}int f(const char *s, unsigned char *p, int n) {{ return s[0] == 'a' && n == {number} ? p[n] : 0; }}\n"
    found = explore(tmp_path, {"p.c": text}, "--entry", "f", "--check", "none")
    assert "no second witness" not in found.stderr
    assert found.bug_kinds == ["out-of-bounds"]


JUDGED = """
struct node { int key; struct node *next; };
struct list { struct node *first; unsigned char weight; };
int second(const struct list *l)
{
    if (!l || !l->first)
        return 0;
    return l->first->next->key;
}
int mean(const struct list *l)
{
    if (!l)
        return 0;
    return 100 / l->weight;
}
"""


def judged(folder: Path, function: str, hints: str) -> tuple[int, dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    (folder / "l.c").write_text(JUDGED)
    (folder / "score-hints.yaml").write_text(hints)
    done = score_embed("run", "--entry", function, "--no-witness", "--json", "--out", "out", "l.c", cwd=folder)
    return done.returncode, json.loads(done.stdout)


def test_a_bug_is_accepted_with_one_line(tmp_path: Path) -> None:
    """Listed apart, by its place or its id, and no error any more; what is said of no bug is said."""
    code, before = judged(tmp_path / "before", "mean", "")
    (bug,) = before["bugs"]
    assert (code, bug["kind"], bug["line"]) == (1, "division-by-zero", 14)
    for name, what in (("place", "l.c:14"), ("id", bug["id"])):
        lines = f"accept:\n  {what}: issue 7\n  l.c:99: long gone\n"
        code, summary = judged(tmp_path / name, "mean", lines)
        assert (code, summary["bugs"]) == (0, [])
        assert [(item["kind"], item["judged"], item["why"]) for item in summary["judged"]] == [
            ("division-by-zero", "accept", "issue 7")
        ]
        assert [item["as"] for item in summary["judged_unmatched"]] == ["l.c:99"]
        said = score_embed("report", "out", cwd=tmp_path / name).stdout
        assert "bugs 0 (1 accepted)" in said
        assert "l.c:14: accepted: an integer is divided by zero in mean: issue 7 [division-by-zero]" in said
        assert "score-hints.yaml:3: accept l.c:99" in said
        sarif = tmp_path / name / "s.sarif"
        score_embed("report", "out", "--sarif", str(sarif), cwd=tmp_path / name)
        (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
        assert result["suppressions"][0]["justification"] == "accept: issue 7"


def test_what_cannot_happen_is_not_explored(tmp_path: Path) -> None:
    """A null that never is, and a condition behind a pointer that may be null."""
    code, before = judged(tmp_path / "a", "second", "")
    assert (code, [bug["rests_on"] for bug in before["bugs"]]) == (1, [["l->first->next may be NULL"]])
    refused = "refuse:\n  second(l->first->next == NULL): two at least\n  mean(l->weight == 0): never empty\n"
    code, summary = judged(tmp_path / "b", "second", refused)
    assert (code, summary["bugs"], summary["judged"], summary["stopped"]) == (0, [], [], "exhausted")
    assert "l->first->next != NULL" in summary["within"]
    assert summary["paths"] == before["paths"] - 1
    code, summary = judged(tmp_path / "c", "mean", refused)
    assert (code, summary["bugs"], summary["paths"]) == (0, [], 2)
    assert "never: l->weight == 0" in summary["within"]


def test_a_condition_of_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "l.c").write_text(JUDGED)
    (tmp_path / "score-hints.yaml").write_text("refuse:\n  second(l->last == NULL): never\n")
    done = score_embed("run", "--entry", "second", "--no-witness", "l.c", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        "score-hints.yaml:2: error: refuse: second(l->last == NULL): the harness of second has no pointer l->last"
        in done.stderr
    )


COUNTED_ARRAYS = """
struct entry { char tag[4]; short level; };
int total(const short *values, unsigned n, const struct entry *entries, unsigned entries_count)
{
    if (n == 2 && values[0] == -3 && values[1] == 7)
        return 1;
    return entries_count == 1 && entries[0].tag[0] == 'o' && entries[0].tag[1] == 'k' && entries[0].tag[2] == 0;
}
"""


def test_arrays_are_shown_up_to_their_count(tmp_path: Path) -> None:
    """In tables and in the tests' files; what goes back in stays whole."""
    folder = explore(tmp_path, {"p.c": COUNTED_ARRAYS}, "--entry", "total", "--no-witness").folder
    tests = [json.loads(file.read_text()) for file in (folder / "tests").glob("*.json")]
    paths = [test for test in tests if test["verdict"] == "return"]
    assert "{-3, 7}" in [test["shown"]["values"] for test in paths]
    few = [test for test in paths if test["inputs"]["entries_count"] == 1]
    assert few
    assert all("entries[1].tag" in test["inputs"] and "entries[1].tag" not in test["shown"] for test in few)
    corpus = score_embed("export", str(folder), "--unity", "t.c", cwd=tmp_path)
    assert corpus.returncode == 0, corpus.stderr
    assert "values = {-3, 7}" in (tmp_path / "t.c").read_text()


BESIDE = """
struct node { int key; struct node *next; };
/* score: n in 1..3, first->next nullable no */
int pick(const struct node *first, int n)
{
    if (n < 1 || n > 3)
        return 9;
    return first->next->key;
}
"""


def test_hints_stand_beside_the_code(tmp_path: Path) -> None:
    """And a change of the comment alone is noticed, although the preprocessor leaves it out."""
    before = explore(tmp_path, {"p.c": BESIDE}, "--entry", "pick", "--no-witness").summary
    assert (bugs(before), before["paths"], "n from 1 to 3" in before["within"]) == ([], 1, True)
    wider = BESIDE.replace("1..3, first->next nullable no", "1..4")
    after = explore(tmp_path, {"p.c": wider}, "--entry", "pick", "--no-witness", "--out", "o2").summary
    assert (bugs(after), after["paths"]) == ([("null-dereference", 8, ["first->next may be NULL"])], 3)


@pytest.mark.parametrize(
    ("comment", "hints", "said"),
    [
        ("m in 1..3", "", "p.c:3: error: pick has no argument 'm'"),
        ("n inn 1..3", "", "p.c:3: error: unknown hint 'inn' for 'n'"),
        (
            "n in 1..3",
            "functions:\n  pick:\n    m->x: {size: 3}\n",
            "score-hints.yaml:3: error: pick has no argument 'm->x'",
        ),
    ],
)
def test_hints_of_what_is_not_there(comment: str, hints: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(BESIDE.replace("n in 1..3, first->next nullable no", comment))
    (tmp_path / "score-hints.yaml").write_text(hints)
    done = score_embed("run", "--entry", "pick", "--no-witness", "p.c", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


KEPT = """
struct queue { unsigned char *data; unsigned size; unsigned fill, mode; };
int put(struct queue *q, unsigned char c) { if (q->mode == 2) return 1; q->data[q->fill] = c; return 0; }
int set(struct queue *q, unsigned char c) { if (q->size == 4) q->data[q->fill] = c; return 0; }
int peek(const struct queue *q, int at) { return q->data[at]; }
int table(int x) { static const int of[4] = {1, 2, 3, 4}; return of[x]; }
"""


def test_a_bug_rests_on_what_the_program_keeps(tmp_path: Path) -> None:
    """A structure that a function may change is in order as its functions leave it: a number there that is out of range
    may be one that nobody writes. What is only read is an argument like others, and so is a parameter."""
    found = {}
    for function in ("put", "set", "peek", "table"):
        (tmp_path / function).mkdir()
        hints = "types:\n  queue.data: {size: 4}\n"
        files = {"p.c": KEPT, "score-hints.yaml": hints}
        summary = explore(tmp_path / function, files, "--entry", function, "--no-witness").summary
        found[function] = [(bug["kind"], bug["rests_on"], bug["inputs"]) for bug in summary["bugs"]]
    ((kind, rests, inputs),) = found["put"]
    assert (kind, rests, inputs["q->size"]) == ("out-of-bounds", [], 0)  # and not that q is one structure
    ((kind, rests, inputs),) = found["set"]
    assert (kind, rests) == ("out-of-bounds", [f"q->fill = {inputs['q->fill']}"])  # but not on the size
    assert [(kind, rests) for kind, rests, _ in found["peek"]] == [("out-of-bounds", [])]
    assert [(kind, rests) for kind, rests, _ in found["table"]] == [("out-of-bounds", [])]


LARGE = """
struct node { int key; struct node *next; };
int parse(const unsigned char *buf, unsigned len, const struct node *other, const char *name)
{
    if (len > 5 && buf[3] == 0x2a && name[0] == 'x') {
        int sum = other ? other->key : 1;
        return buf[len] + sum;
    }
    return 0;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_inputs_of_bugs_are_made_small(board: str, tmp_path: Path) -> None:
    """Zeros, the shortest text, NULL; but what may as well be no NULL is nothing that the bug rests on. The original is
    kept."""
    options = ("--entry", "parse", "--no-witness", "--board", board)
    summary = explore(tmp_path, {"p.c": LARGE}, *options).summary
    (bug,) = summary["bugs"]
    assert (bug["kind"], bug["rests_on"]) == ("out-of-bounds", [])
    assert (bug["inputs"]["len"], bug["inputs"]["buf"], bug["inputs"]["name"]) == (6, "0000002a" + "00" * 12, '"x"')
    assert bug["inputs"]["other != NULL"] == 0
    small, first = sorted((tmp_path / "out" / "bugs").glob("*.json"), key=lambda path: "small" not in path.name)
    assert json.loads(small.read_text())["inputs"] == bug["inputs"]
    assert json.loads(first.read_text())["inputs"] != bug["inputs"]
    again = explore(
        tmp_path, {"p.c": LARGE}, *options, "--first", str(small), "--max-tests", "1", "--out", "o2"
    ).summary
    assert [(bug["kind"], bug["line"]) for bug in again["bugs"]] == [("out-of-bounds", 7)]
    plain = explore(tmp_path, {"p.c": LARGE}, *options, "--no-minimise", "--out", "o3").summary
    assert plain["bugs"][0]["inputs"] == json.loads(first.read_text())["inputs"]
    assert (plain["paths"], plain["runs"]) == (summary["paths"], summary["runs"])


ENDLESS = """
struct node { int key; struct node *next; };
int skip(const unsigned char *buf, unsigned len, const struct node *other, const char *name)
{
    unsigned at = 0;
    int sum = other ? other->key : 1;
    if (name[0] != 'x')
        return 0;
    while (at < len) {
        if (buf[at] == 0x2a)
            sum++;
        else
            at++;
    }
    return sum;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_inputs_of_hangs_are_made_small(board: str, tmp_path: Path) -> None:
    options = ("--entry", "skip", "--no-witness", "--until-bug", "--board", board, "--max-branches", "50000")
    summary = explore(tmp_path, {"p.c": ENDLESS}, *options).summary
    (bug,) = summary["bugs"]
    inputs = bug["inputs"]
    assert (bug["kind"], bug["confirmed"], bug["rests_on"]) == ("hang", True, [])
    assert (inputs["len"], inputs["buf"], inputs["name"]) == (1, "2a" + "00" * 15, '"x"')
    assert inputs["other != NULL"] == 0
    small = next((tmp_path / "out" / "bugs").glob("*-small.json"))
    assert json.loads(small.read_text())["inputs"] == inputs
    again = explore(
        tmp_path, {"p.c": ENDLESS}, *options, "--first", str(small), "--max-tests", "1", "--out", "o2"
    ).summary
    assert [(bug["kind"], bug["function"]) for bug in again["bugs"]] == [("hang", "skip")]
    plain = explore(tmp_path, {"p.c": ENDLESS}, *options, "--no-minimise", "--out", "o3").summary
    assert plain["bugs"][0]["inputs"] != inputs
    assert (plain["paths"], plain["runs"]) == (summary["paths"], summary["runs"])
    assert not list((tmp_path / "o3" / "bugs").glob("*-small.json"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("n > ", "expression expected"),
        ("n > m", "undeclared"),
        ("(n > 3", "syntax error"),
        ("n > 3)", "syntax error"),
        ("p->x", "not a structure"),
        ("1 +* n", "unary"),
    ],
)
def test_wrong_c_in_a_hint_is_an_error_of_its_line(wrong: str, said: str, tmp_path: Path) -> None:
    """Wherever the hint stands; the harness is no file that anybody sees. Also from the build cache."""
    program = "int f(int n, const char *p)\n{\n    return n > 3 && p[0] == 2;\n}\n"
    yaml = "functions:\n  f:\n    assume:\n      - n > 1\n      - "
    for place, source, hints, options in (
        ("--assume", program, "", ("--assume", wrong)),
        ("score-hints.yaml:5", program, f'{yaml}"{wrong}"\n', ()),
        ("score-hints.yaml:2", program, f'refuse:\n  "f({wrong})": it never is\n', ()),
        ("p.c:3", f"/* score: n in -9..9\n *\n * assume {wrong} */\n{program}", "", ()),
    ):
        if place.endswith("yaml:2") and wrong.count("(") != wrong.count(")"):
            continue  # where the condition ends is not known then
        (tmp_path / "p.c").write_text(source)
        (tmp_path / "score-hints.yaml").write_text(hints)
        for _ in range(2):
            done = score_embed("run", "--entry", "f", "--no-witness", "p.c", *options, cwd=tmp_path)
            assert done.returncode == 2, done.stderr
            assert done.stderr.startswith(f"{place}: error: "), done.stderr
            assert said in done.stderr
            assert "<entry>" not in done.stderr


GUESSED = """
#include <stdlib.h>
struct point { int x, y; };
struct line { struct point *from; int kind; };
static char word[4];
int fill(char *s, int key) { for (int i = 0; i < 20; i++) s[i] = 'a'; return key; }
int second(const struct point *p) { return p[1].x; }
int behind(const struct line *l) { return l->kind == 5 ? l->from[1].y : 0; }
int own(char *s, int key) { s[0] = 0; return key == 7 ? word[key] : 0; }
int skip(const char *s) { while (*s != 'q') s++; return *s; }
int counted(const int *numbers, int count) { return count == 3 ? numbers[count] : 0; }
void release(char *s, int key) { if (key == 7) s[16] = 'x'; free(s); }
"""


@pytest.mark.parametrize(
    ("function", "rests"),
    [
        ("fill", ["s ≤ 15 characters"]),
        ("second", ["p = 1 struct"]),
        ("behind", ["l->from = 1 struct"]),
        ("own", []),
        ("skip", []),
        ("counted", []),
        ("release", ["s ≤ 15 characters"]),
    ],
)
def test_a_bug_rests_on_the_size_that_a_harness_guessed(function: str, rests: list[str], tmp_path: Path) -> None:
    """A caller may have more room. Not where the object is the program's own, a count says its size, or a text is
    read."""
    summary = explore(tmp_path, {"p.c": GUESSED}, "--entry", function, "--no-witness").summary
    assert [(bug["kind"], bug["rests_on"]) for bug in summary["bugs"]] == [("out-of-bounds", rests)]
    said = score_embed("report", "out", cwd=tmp_path).stdout
    assert "[out-of-bounds]" in said
    assert all(f"rests on: {what}" in said for what in rests)


@pytest.mark.parametrize("board", ["lm3s6965evb", "riscv32-virt"])
def test_so_it_does_on_a_board(board: str, tmp_path: Path) -> None:
    options = ("--entry", "release", "--board", board, "--no-witness")
    summary = explore(tmp_path, {"p.c": GUESSED}, *options).summary
    assert [(bug["kind"], bug["rests_on"]) for bug in summary["bugs"]] == [("out-of-bounds", ["s ≤ 15 characters"])]


def test_a_size_that_a_hint_says_is_no_guess(tmp_path: Path) -> None:
    hints = "functions:\n  fill:\n    s: {string: 10}\n  second:\n    p: {size: 1}\n"
    for function in ("fill", "second"):
        files = {"p.c": GUESSED, "score-hints.yaml": hints}
        (tmp_path / function).mkdir()
        summary = explore(tmp_path / function, files, "--entry", function, "--no-witness").summary
        assert [(bug["kind"], bug["rests_on"]) for bug in summary["bugs"]] == [("out-of-bounds", [])]


SEEN_AS = """
struct handle { int have; };
struct state { struct handle x; int mode; char name[8]; };
static int look(struct handle *file) { struct state *s = (struct state *) file; return s->mode == 3 ? 1 : 0; }
int again(struct handle *file) { if (file->have == 7) return look(file); return 0; }
int resize(struct handle *file, unsigned size) { struct state *s = (struct state *) file; return s->mode == size ? 1 : 0; }
struct log { char *path; unsigned size; };
int begins(const struct log *l) { return l->path[0] == '/' && l->path[1] == 0 && l->size > 3 ? 1 : 0; }
"""


def test_a_number_beside_a_handle_or_a_path_counts_something_else(tmp_path: Path) -> None:
    for function, paths in (("resize", 2), ("begins", 4)):
        (tmp_path / function).mkdir()
        summary = explore(tmp_path / function, {"p.c": SEEN_AS}, "--entry", function, "--no-witness").summary
        assert (summary["bugs"], summary["paths"]) == ([], paths)


@pytest.mark.parametrize("is_old", [False, True], ids=["prototype", "K&R"])
def test_an_argument_is_the_larger_structure_that_the_file_takes_it_for(is_old: bool, tmp_path: Path) -> None:
    """As zlib's gzFile, whose functions were all out of bounds. Branches of the harness are in no coverage."""
    text = SEEN_AS.replace("(struct handle *file) {", "(file) struct handle *file; {") if is_old else SEEN_AS
    summary = explore(tmp_path, {"p.c": text}, "--entry", "again", "--assume", "file->have > 2", "--no-witness").summary
    assert (summary["bugs"], summary["paths"]) == ([], 3)
    assert summary["coverage"] == {"branches_total": 12, "branches_covered": 4}


@pytest.mark.parametrize("called", ["state", "state_t", "state_tag"])
def test_a_type_has_hints_under_each_of_its_names(called: str, tmp_path: Path) -> None:
    """Under a name of the type that is not the tag they did nothing."""
    head = "typedef struct state_tag { int n; } state_t; typedef state_t state;\n"
    text = f"{head}int f(state *s) {{ return s->n == 300 ? 1 : 2; }}\n"
    files = {"p.c": text, "score-hints.yaml": f"types:\n  {called}.n: {{range: [0, 255]}}\n"}
    assert explore(tmp_path, files, "--entry", "f", "--no-witness").summary["paths"] == 1


INTO = """
struct stack { short *start, *end, *top; };
int push(struct stack *s, short x) { if (s->top == s->end) return 0; *s->top++ = x; return s->end - s->start == 16; }
int pop(struct stack *s) { return *--s->top; }
struct text { char *first; char *mark; };
int marked(struct text *t) { return t->mark[0] == 'x' || t->first[0] == 'y' ? 1 : 2; }
"""


def test_members_that_point_into_one_array(tmp_path: Path) -> None:
    """The file subtracts them. A pointer that nothing tells so of has an array of its own, unless a hint says it."""
    for function in ("push", "pop", "marked"):
        (tmp_path / function).mkdir()
    pushed = explore(tmp_path / "push", {"p.c": INTO.replace("s->end - s", "s->top - s")}, "--entry", "push").summary
    assert (pushed["bugs"], pushed["stopped"]) == ([], "exhausted")
    assert {"s->end = the end of s->start", "s->top within s->start"} <= set(pushed["within"])
    popped = explore(tmp_path / "pop", {"p.c": INTO.replace("s->end - s", "s->top - s")}, "--entry", "pop").summary
    assert {bug["kind"] for bug in popped["bugs"]} == {"out-of-bounds"}
    hints = "types:\n  text.mark: {into: first}\n  text.first: {size: 4}\n"
    files = {"p.c": INTO, "score-hints.yaml": hints}
    marked = explore(tmp_path / "marked", files, "--entry", "marked", "--no-witness").summary
    assert [(bug["kind"], bug["inputs"]["t->mark - t->first"]) for bug in marked["bugs"]] == [("out-of-bounds", 4)]
    hints = "functions:\n  marked:\n    t->mark: {into: t->other}\n"
    wrong = score_embed("run", "--entry", "marked", "--hints", "h.yaml", "p.c", cwd=_with(tmp_path, hints))
    assert wrong.returncode == 2
    assert "h.yaml:3: error: 'into' of 't->mark': no array 't->other' is made before it" in wrong.stderr


ELSEWHERE = {
    "s.h": "struct stack { short *start, *end, *top; };\nstruct chain { struct node *head, *tail; };\n"
    "struct node { struct node *next; int n; };\nvoid make(struct stack *s, short *room);\n",
    "make.c": '#include "s.h"\n'
    "void make(struct stack *s, short *room) { s->start = s->top = room; s->end = s->start + 8; }\n"
    "struct other { char *head, *tail; };\nint left(struct other *o) { return o->tail - o->head; }\n",
    "p.c": '#include "s.h"\n'
    "int push(struct stack *s, short x) { if (s->top == s->end) return 0; *s->top++ = x; return 1; }\n"
    "int last(struct chain *c) { return c->tail->n == 9 && c->head->n == 8 ? 1 : 2; }\n",
}


def test_another_file_shows_that_members_point_into_one_array(tmp_path: Path) -> None:
    """A stack is made in one file and used in another. Of nodes of a list that file says nothing."""
    for function in ("push", "last"):
        (tmp_path / function).mkdir()
    pushed = explore(tmp_path / "push", ELSEWHERE, "--entry", "push").summary
    assert (pushed["bugs"], pushed["stopped"]) == ([], "exhausted")
    assert {"s->end = the end of s->start", "s->top within s->start"} <= set(pushed["within"])
    linked = explore(tmp_path / "last", ELSEWHERE, "--entry", "last").summary
    assert not any("the end of" in bound or " within " in bound for bound in linked["within"])


RING = """
struct queue { short *start, *head, *tail, *end; };
void make(struct queue *q, short *room) { q->start = q->head = q->tail = room; q->end = q->start + 8; }
int sum(struct queue *q) { int n = 0; while (q->head != q->tail) n += *q->head++ == 7; return n > 1; }
int used(struct queue *q) { return q->head <= q->tail ? q->tail - q->head : q->head - q->tail; }
"""


@pytest.mark.parametrize("hints", ["", "functions: {sum: {q->tail: {into: start}}}"])
def test_members_are_in_the_order_that_the_program_shows(tmp_path: Path, hints: str) -> None:
    """A loop goes on from the head to the tail: so the head is not behind it, unless a hint says nothing of the kind,
    or the program has a ring."""
    files = {"p.c": RING.partition("int used")[0]} | ({"score-hints.yaml": hints} if hints else {})
    found = explore(tmp_path, files, "--entry", "sum", "--time", "5s", "--no-witness").summary
    assert ("q->head ≤ q->tail" in found["within"]) is (not hints)
    assert {bug["kind"] for bug in found["bugs"]} == ({"out-of-bounds"} if hints else set())


def test_members_of_a_ring_have_no_order(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": RING}, "--entry", "sum", "--time", "5s", "--no-witness").summary
    assert "q->tail within q->start" in found["within"]
    assert "q->head ≤ q->tail" not in found["within"]
    assert {bug["kind"] for bug in found["bugs"]} == {"out-of-bounds"}


MODE = """
struct node { struct node *next; int n; };
struct state { struct node *list; int mode; };
int use(struct state *s);
int first(struct state *s) { return s->list->n == 7; }
int set_mode(struct state *s, int mode) { s->mode = mode; return mode > 3 ? 1 : 2; }
int set_used(struct state *s, int mode) { return set_mode(s, mode) + use(s); }
"""


@pytest.mark.parametrize(
    ("function", "hints", "is_made"),
    [
        ("first", "", True),
        ("set_mode", "", False),
        ("set_mode", "functions: {set_mode: {s->list: {nullable: no}}}", True),
        ("set_mode", "functions: {set_mode: {assume: [s->list->n == 0]}}", True),
        ("set_mode", "functions: {set_mode: {call first: ['first(s)']}}", True),
        ("set_used", "", True),  # nobody knows what `use` looks at
    ],
)
def test_what_the_function_cannot_look_at_is_not_made(tmp_path: Path, function: str, hints: str, is_made: bool) -> None:
    files = {"p.c": MODE} | ({"score-hints.yaml": hints} if hints else {})
    within = explore(tmp_path, files, "--entry", function, "--no-witness").summary["within"]
    assert ("s->list = 1 struct" in within) is is_made


def _with(folder: Path, hints: str) -> Path:
    (folder / "p.c").write_text(INTO)
    (folder / "h.yaml").write_text(hints)
    return folder


MOVING = """
typedef unsigned long size;
static int byte(const unsigned char **buf, size *buflen) { if (!*buflen) return -1; (*buflen)--; return *(*buf)++; }
int pair(const unsigned char **buf, size *buflen)
{
    int a = byte(buf, buflen), b = byte(buf, buflen);
    return a < 0 || b < 0 ? 0 : a == 7 && b == 9 ? 2 : 1;
}
int careless(const unsigned char **buf, size *buflen) { if (*buflen == 3) return (*buf)[3] == 1; return 0; }
"""


def test_a_pointer_that_moves_has_what_is_left_as_its_count(tmp_path: Path) -> None:
    for function in ("pair", "careless"):
        (tmp_path / function).mkdir()
    exact = explore(tmp_path / "pair", {"p.c": MOVING}, "--entry", "pair", "--no-witness").summary
    assert (exact["bugs"], exact["stopped"], exact["paths"]) == ([], "exhausted", 5)
    assert "(*buf) ≤ 16 bytes" in exact["within"]
    beyond = explore(tmp_path / "careless", {"p.c": MOVING}, "--entry", "careless", "--no-witness").summary
    assert bugs(beyond) == [("out-of-bounds", 9, [])]


LARGE_ARGUMENT = """
struct large { unsigned char bytes[250]; int m[6], n; };
int spin(const struct large *l) { while (l->n == 3) {} return l->bytes[9] == 7 ? 1 : 2; }
"""


def test_a_hang_of_a_function_with_large_arguments_is_in_that(tmp_path: Path) -> None:
    """A program that asks for input and does not end gets a bounded number of bytes; these are beside the arguments."""
    summary = explore(tmp_path, {"p.c": LARGE_ARGUMENT}, "--entry", "spin", "--no-witness", "--max-branches", "5000").summary
    assert [(bug["kind"], bug["function"], bug["line"]) for bug in summary["bugs"]] == [("hang", "spin", 3)]
    assert (summary["stopped"], summary["paths"]) == ("exhausted", 3)


LINKS = """
struct owner;
struct child { struct owner *parent; unsigned char key; };
struct owner { struct child *first; unsigned char key; };
int back(struct owner *o) { return o->first->parent == o ? 1 : 2; }
int sum(const unsigned char *values, int n) { int s = 0; for (int i = 0; i < n; i++) s += values[i] > 15; return s; }
int named(const char *version, int stream_size) { return stream_size == 5 && version[9] == 7; }
"""


def test_a_member_that_is_compared_may_lead_back(tmp_path: Path) -> None:
    summary = explore(tmp_path, {"p.c": LINKS}, "--entry", "back", "--no-witness").summary
    assert bugs(summary) == []
    assert summary["coverage"] == {"branches_total": 8, "branches_covered": 2}  # of all three functions


def test_a_range_of_elements(tmp_path: Path) -> None:
    hints = "functions:\n  sum:\n    values: {count: n, size: 3}\n    '*values': {range: [0, 15]}\n"
    run = explore(tmp_path, {"p.c": LINKS, "score-hints.yaml": hints}, "--entry", "sum", "--no-witness")
    assert "*values from 0 to 15" in json.dumps(run.summary)
    assert run.bug_kinds == []


@pytest.mark.parametrize("size", [5, 0])
def test_a_count_that_is_named_after_something_else_is_a_guess(size: int, tmp_path: Path) -> None:
    """Also where there is no element."""
    text = LINKS.replace("stream_size == 5", f"stream_size == {size}")
    summary = explore(tmp_path, {"p.c": text}, "--entry", "named", "--no-witness").summary
    assert bugs(summary) == [("out-of-bounds", 7, ["stream_size says how many version has"])]


def test_so_it_is_behind_many_inputs(tmp_path: Path) -> None:
    members = "; ".join(f"int m{number}" for number in range(90))
    text = f"struct many {{ {members}; }};\n{LINKS}".replace("(const char *version", "(struct many *m, const char *version")
    text = text.replace("stream_size == 5 &&", "m->m89 != 7 && stream_size == 5 &&")
    summary = explore(tmp_path, {"p.c": text}, "--entry", "named", "--no-witness").summary
    assert [rests for _, _, rests in bugs(summary)] == [["stream_size says how many version has"]]


ALLOCATORS = """
#include <stddef.h>
struct alloc {
    void *(*get)(struct alloc *, size_t n);
    void *(*more)(struct alloc *, void *old, size_t was, size_t now);
    void *(*zeroed)(void *opaque, unsigned n, unsigned size);
};
int fits(struct alloc *a, unsigned char n) { char *p = a->get(a, n + 1); if (!p) return 1; p[n] = 0; return 2; }
int grown(struct alloc *a, unsigned char n) { char *p = a->more(a, 0, 0, n + 1); if (!p) return 1; p[n] = 0; return 2; }
int table(struct alloc *a, unsigned char n) { int *p = a->zeroed(a, n + 1, sizeof *p); if (!p) return 1; p[n] = 0; return 2; }
int one_less(struct alloc *a, unsigned char n) { char *p = a->get(a, n + 1); if (!p) return 1; p[n + 1] = 0; return 2; }
"""


@pytest.mark.parametrize("function", ["fits", "grown", "table", "one_less"])
def test_a_stub_that_is_asked_for_memory_gives_so_much(function: str, tmp_path: Path) -> None:
    run = explore(tmp_path, {"p.c": ALLOCATORS}, "--entry", function, "--no-witness", "--max-tests", "40")
    assert run.bug_kinds == (["out-of-bounds"] if function == "one_less" else [])
    assert run.summary["paths"] > 2


def test_a_large_structure_leaves_objects_for_the_parameters_behind_it(tmp_path: Path) -> None:
    members = [f"leaf{n}" for n in range(20)]
    looks = " + ".join(f"*b->{name}->{way}" for name in members for way in "pqrs")
    source = f"""
struct leaf {{ int *p, *q, *r, *s; }};
struct large {{ {" ".join(f"struct leaf *{name};" for name in members)} }};
int sum(struct large *b) {{ return {looks}; }}
int search(struct large *b, const unsigned char *buf, struct leaf *leaf)
{{
    if (!b || !buf) return 0;
    if (buf[0] == 3 && *leaf->q == 4) return 1;
    return 2;
}}
"""
    summary = explore(tmp_path, {"p.c": source}, "--entry", "search", "--no-witness").summary
    assert (summary["stopped"], summary["bugs"]) == ("exhausted", [])
    assert summary["coverage"]["branches_covered"] == 8
