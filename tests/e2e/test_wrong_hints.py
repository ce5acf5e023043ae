"""Hints that would do nothing are errors at their own line: a hint that is passed over leaves its author believing that
it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner import explore, score_embed

PROGRAM = """
struct cfg { int mode; unsigned flag : 3; struct cfg *next; unsigned char *data; int n; char name[8]; void *any; };
int parse(const unsigned char *buf, unsigned len, struct cfg *cfg, int *out, int *in, void (*call)(int))
{
    if (len > 2 && buf[0] == 3 && cfg->mode == 2) { *out = 1; return *in; }
    if (cfg->flag > 5 || cfg->name[2] == 'x' || !cfg->any) call(cfg->n);
    return cfg->next ? cfg->data[0] : 0;
}
int same(int *out, int *in) { *out = 1; *in = 2; return *out == 2 ? 3 : 4; }
int each(char **names, int count) { return count == 2 && names[1][3] == 'q' && names[1][4] ? 1 : 0; }
int flags(struct cfg *cfg) { return cfg->flag == 6 ? 1 : cfg->name[6] == 'z' ? 2 : 0; }
"""


def made(folder: Path, function: str, hints: str) -> tuple[int, str, str]:
    """The end of `new`, what it says, and the harness."""
    (folder / "p.c").write_text(PROGRAM)
    (folder / "score-hints.yaml").write_text(hints)
    done = score_embed("new", function, "p.c", "--to", "h.c", cwd=folder)
    return done.returncode, done.stderr, (folder / "h.c").read_text() if done.returncode == 0 else ""


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("cfg->nope: {range: [0, 3]}", "cfg has no member 'nope'"),
        ("cfg->next->nxt: {depth: 3}", "cfg->next has no member 'nxt'"),
        ("cfg.mode: {range: [0, 3]}", "Write `cfg->mode`"),
        ("len->x: {size: 3}", "len is no structure"),
        ("config: {depth: 3}", "parse has no argument 'config'"),
        ("cfg->mode: {string: 4}", "'string' of 'cfg->mode': it is no text"),
        ("cfg->mode: {depth: 4}", "'depth' of 'cfg->mode': it is no pointer to a structure"),
        ("len: {size: 4}", "'size' of 'len'"),
        ("len: {nullable: no}", "'nullable' of 'len': it is no pointer"),
        ("buf: {range: [0, 3]}", "'range' of 'buf': it is no number"),
        ("call: {size: 3}", "'size' of 'call'"),
        ("cfg: {string: 3}", "'string' of 'cfg'"),
        ("out: {alias: nosuch}", "no pointer 'nosuch'"),
        ("buf: {count: nosuch}", "'nosuch' is no number here"),
        ("buf: {count: cfg}", "'cfg' is no number here"),
        ("cfg->data: {count: m}", "'m' is no number of that structure"),
        ("cfg->name: {string: 8}", "cfg->name has room for a text of 7 characters"),
        ("call first: ['parse_init()']", "call first: the file of parse declares no function parse_init"),
        ("globals: [nosuch]", "there is no variable 'nosuch'"),
    ],
)
def test_a_hint_of_nothing(hint: str, said: str, tmp_path: Path) -> None:
    code, errors, _ = made(tmp_path, "parse", f"functions:\n  same: {{}}\n  parse:\n    {hint}\n")
    assert (code, errors.startswith("score-hints.yaml:4: error: "), said in errors) == (2, True, True), errors


def test_a_member_that_a_type_does_not_have(tmp_path: Path) -> None:
    code, errors, _ = made(tmp_path, "parse", "types:\n  cfg.nxt: {depth: 3}\n")
    assert code == 2
    assert errors.startswith("score-hints.yaml:2: error: there is no member 'cfg.nxt'")
    assert "'next'" in errors
    assert made(tmp_path, "parse", "types:\n  other.nxt: {depth: 3}\n")[0] == 0  # a type of another file


def test_what_lies_beyond_the_harness_is_no_mistake(tmp_path: Path) -> None:
    hints = "functions:\n  parse:\n    cfg->next->next->next->mode: {range: [0, 3]}\n    cfg->any->x: {range: [0, 1]}\n"
    assert made(tmp_path, "parse", hints)[0] == 0


@pytest.mark.parametrize("hint", ["out: {alias: in}", "in: {alias: out}", "out: {alias: in}\n    in: {alias: out}"])
def test_pointers_may_be_the_same_in_any_order(hint: str, tmp_path: Path) -> None:
    """Once the hint was passed over where the other pointer is a later parameter."""
    files = {"p.c": PROGRAM, "score-hints.yaml": f"functions:\n  same:\n    {hint}\n"}
    assert explore(tmp_path, files, "--entry", "same", "--no-witness").summary["paths"] == 2


BACK = """
struct state;
struct stream { struct state *state; int key; };
struct state { struct stream *owner; int mode; };
int step(struct stream *s)
{
    if (!s->state || s->state->owner != s) return -1;
    return s->state->mode == 4 ? s->key : 0;
}
"""


def test_a_pointer_may_lead_back(tmp_path: Path) -> None:
    """As the states of libraries do; once only pointers that were complete could be named."""
    hints = "functions:\n  step:\n    s->state->owner: {alias: s}\n    assume: ['!s->state || s->state->owner == s']\n"
    summary = explore(tmp_path, {"p.c": BACK, "score-hints.yaml": hints}, "--entry", "step", "--no-witness").summary
    assert (summary["stopped"], summary["paths"], summary["bugs"]) == ("exhausted", 3, [])
    (tmp_path / "plain").mkdir()
    assert explore(tmp_path / "plain", {"p.c": BACK}, "--entry", "step", "--no-witness").summary["paths"] == 4


def test_what_is_said_of_an_array_is_not_said_of_its_elements(tmp_path: Path) -> None:
    """`size` of a table of texts once made each text so long, and without an end."""
    files = {"p.c": PROGRAM, "score-hints.yaml": "functions:\n  each:\n    names: {size: 2}\n"}
    summary = explore(tmp_path, files, "--entry", "each", "--no-witness").summary
    assert (summary["bugs"], "names[1] ≤ 15 characters" in summary["within"]) == ([], True)
    files["score-hints.yaml"] = "functions:\n  each:\n    names: {size: 2}\n    '*names': {string: 3}\n"
    (tmp_path / "short").mkdir()
    summary = explore(tmp_path / "short", files, "--entry", "each", "--no-witness").summary
    assert "names[1] ≤ 3 characters" in summary["within"]


def test_bit_fields_and_arrays_of_characters_have_hints(tmp_path: Path) -> None:
    hints = "functions:\n  flags:\n    cfg->flag: {range: [1, 4]}\n    cfg->name: {string: 4}\n"
    summary = explore(tmp_path, {"p.c": PROGRAM, "score-hints.yaml": hints}, "--entry", "flags", "--no-witness").summary
    assert {"cfg->flag from 1 to 4", "cfg->name ≤ 4 characters"} <= set(summary["within"])
    assert (summary["stopped"], summary["paths"]) == ("exhausted", 1)


def test_the_name_in_the_complaint_says_which_hint_is_meant(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "score-hints.yaml").write_text("functions:\n  parse:\n    cfg->mode: {range: [0, nosuch]}\n")
    done = score_embed("run", "--entry", "parse", "--no-witness", "p.c", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("score-hints.yaml:3: error: "), done.stderr
    assert "in 'nosuch'" in done.stderr


def test_what_is_assumed_of_an_object_says_nothing_where_there_is_none(tmp_path: Path) -> None:
    """Once the assumption itself used the null pointer, and was a bug of the harness's."""
    files = {"p.c": BACK}
    options = ("--assume", "s->state->mode == 4", "--no-witness")
    summary = explore(tmp_path, files, "--entry", "step", *options).summary
    assert (summary["stopped"], summary["bugs"], summary["paths"]) == ("exhausted", [], 3)


def test_hints_of_a_project(tmp_path: Path) -> None:
    """`unit` says the line, too, and which names it knows nothing of."""
    (tmp_path / "p.c").write_text(PROGRAM)
    hints = "functions:\n  same:\n    assume:\n      - '*in > &&'\n  smae:\n    in: {size: 1}\ntypes:\n  config.next: {depth: 3}\n"
    (tmp_path / "score-hints.yaml").write_text(f"{hints}refuse:\n  flog(cfg->n == 0): never\n")
    done = score_embed("unit", "--json", "--no-witness", "--function", "same", "--out", "o", "p.c", cwd=tmp_path)
    state = json.loads(done.stdout)
    assert state["rows"][0]["why"].startswith("score-hints.yaml:4: its harness does not compile: expected ")
    assert [note.partition(":")[2].partition(":")[0] for note in state["notes"]] == ["10", "5", "8"], state["notes"]
    assert "no source names 'smae'" in state["notes"][1]


def test_assumptions_that_nothing_fulfils(tmp_path: Path) -> None:
    """It once was `exhausted`, with exit code 0 and no path."""
    (tmp_path / "p.c").write_text(PROGRAM)
    for options in ([], ["--clients", "2"]):
        done = score_embed(
            *("run", "--entry", "same", "--assume", "*in > 3 && *in < 2", "--no-witness", *options), "p.c", cwd=tmp_path
        )
        assert done.returncode == 5, done.stderr
        assert "nothing explored, no input fulfils what is assumed of it" in done.stdout
    done = score_embed("unit", "--json", "--no-witness", "--function", "same", "--out", "o", "p.c", cwd=tmp_path)
    assert json.loads(done.stdout)["rows"][0]["stopped"] == "exhausted"
    (tmp_path / "score-hints.yaml").write_text("functions:\n  same:\n    '*in': {range: [3, 2]}\n")
    done = score_embed("unit", "--json", "--no-witness", "--function", "same", "--out", "o2", "p.c", cwd=tmp_path)
    row = json.loads(done.stdout)["rows"][0]
    assert (row["stopped"], row["why"]) == ("no input", "no input fulfils what is assumed of it")
