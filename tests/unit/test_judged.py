"""`accept` and `refuse` of score-hints.yaml: which bug a line means, and which condition never holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.contract import judged
from score_embed.contract.judged import Judged
from score_embed.errors import UsageError
from score_embed.frontend.harness import hints
from score_embed.frontend.harness.hints import Hint, where_it_can_be, where_it_is
from score_embed.results.bugs import Bug
from score_embed.results.known_bugs import identity, short_id, sort_out
from score_embed.results.sourcemap import SourceMap

TEXT = ("int f(int x)", "{", "    return 1 / x;", "}")


def sources(text: tuple[str, ...] = TEXT) -> SourceMap:
    return SourceMap("/p", {}, {}, (), 0, (), (), {"src/a.c": text})


def bug(line: int = 3, kind: str = "division-by-zero") -> Bug:
    return Bug(kind, "src/a.c", line, "f", ("f", "main"), {"x": 0}, 1)


@pytest.mark.parametrize(
    ("what", "meant"),
    [
        ("a.c:3", True),
        ("src/a.c:3", True),
        ("./src/a.c:3", True),
        ("a.c:3 division-by-zero", True),
        ("a.c:3 out-of-bounds", False),
        ("a.c:4", False),
        ("ba.c:3", False),
        ("other/a.c:3", False),
        (short_id(bug(), sources()), True),
        (identity(bug(), sources()), True),
        ("0123456789", False),
    ],
)
def test_which_bug_a_line_means(what: str, meant: bool) -> None:
    line = Judged("accept", what, "known", "h.yaml:2")
    found = sort_out([bug()], [line], sources())
    assert (found.judged == ((found.judged[0][0], line),) if meant else found.judged == ()) is True
    assert (len(found.open), found.unmatched) == ((0, ()) if meant else (1, (line,)))


def test_an_id_outlives_edits_of_other_lines() -> None:
    moved = sources(("/* new */", *TEXT))
    assert identity(bug(4), moved) == identity(bug(), sources())
    assert identity(bug(4, "abort"), moved) != identity(bug(), sources())


def test_the_reason_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "h.yaml"
    path.write_text("accept:\n  12345678: issue 4\n  a.c:3: 7\nrefuse:\n  f(x == 0): never\n")
    assert judged.read(path) == (
        Judged("accept", "12345678", "issue 4", f"{path}:2"),
        Judged("accept", "a.c:3", "7", f"{path}:3"),
        Judged("refuse", "f(x == 0)", "never", f"{path}:5"),
    )


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("accept:\n  a.c:3:\n", 2, "has no reason"),
        ("accept:\n  a.c: known\n", 2, "names no bug"),
        ("accept:\n\n  f(x == 0): known\n", 3, "is no bug but a condition"),
        ("refuse:\n  f: known\n", 2, "names no bug"),
        ("refuse:\n  - f\n", 1, "must be a group of keys"),
        ("refuse:\n  a.c:3: [x]\n", 2, "must be one word"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, line: int, what: str, tmp_path: Path) -> None:
    path = tmp_path / "h.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=what) as error:
        judged.read(path)
    assert error.value.where == f"{path}:{line}"


@pytest.mark.parametrize(
    ("condition", "pointer"),
    [
        ("p == NULL", "p"),
        ("p->next==0", "p->next"),
        ("!p", "p"),
        ("! p->a.b", "p->a.b"),
        ("p != NULL", ""),
        ("p == NULL && n > 3", ""),
        ("!(a || b)", ""),
        ("n > 3", ""),
    ],
)
def test_which_pointer_is_never_null(condition: str, pointer: str) -> None:
    assert judged.never_null(condition) == pointer


@pytest.mark.parametrize(
    ("condition", "guarded"),
    [
        ("n > 3", "(n > 3)"),
        ("p->n > 3", "p && (p->n > 3)"),
        ("p->q->n > r->n", "p && p->q && r && (p->q->n > r->n)"),
        ("*p == 3", "p && (*p == 3)"),
        ("a * b > 3", "(a * b > 3)"),
        ("p == 0 || p->n > 3", "(p == 0 || p->n > 3)"),
        ("!p || p->q->n > 3", "(!(p) || p->q) && (!p || p->q->n > 3)"),
    ],
)
def test_a_condition_that_cannot_be_looked_at_does_not_hold(condition: str, guarded: str) -> None:
    assert where_it_is(condition) == guarded


@pytest.mark.parametrize(
    "condition",
    [
        "p && p->n > 3",
        "(p != 0) && (p->n > 3)",
        "((void *)0) != p && p->n",
        "n == 1 || (p && p->n > 3)",
        "p ? p->n > 3 : n",
        "pp != NULL && *pp > 3",
        "p->q && p->q->n > 3 || !p",
    ],
)
def test_what_a_condition_asks_itself_is_not_asked_before(condition: str) -> None:
    """`p && p->n > 3` does say something of a pointer that is null: that it is not."""
    assert where_it_can_be(condition) == (condition if "q" not in condition else f"!(p) || ({condition})")


@pytest.mark.parametrize(
    ("condition", "guarded"),
    [
        ("q == p || p->n > 3", "!(p) || (q == p || p->n > 3)"),
        ("f(p) ? p->n > 3 : 0", "!(p) || (f(p) ? p->n > 3 : 0)"),
        ("p->n > 3 && p", "(!(p) || (p->n > 3)) && (p)"),
        ("pp && p->n", "(pp) && (!(p) || (p->n))"),
        ("n > 0 && c->m != '&' && (a || b[c->m])", "(n > 0) && (!(c) || (c->m != '&')) && (!(c) || ((a || b[c->m])))"),
        ("n > 0 && p->n || q", "!(p) || (n > 0 && p->n || q)"),
    ],
)
def test_what_stands_beside_a_null_pointer_holds_all_the_same(condition: str, guarded: str) -> None:
    assert where_it_can_be(condition) == guarded


def test_a_refused_null_is_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "h.yaml"
    path.write_text(
        "functions:\n  f:\n    p: {size: 3}\nrefuse:\n  f(p == NULL): never\n  f(n > 3): few\n  g(p == NULL): x\n"
    )
    found = hints.read(path, "f")
    assert found.arguments == {"p": Hint(size=3, nullable=False)}
    assert [(one.condition, one.null, one.at) for one in found.never] == [
        ("p == NULL", "p", f"{path}:5"),
        ("n > 3", "", f"{path}:6"),
    ]
