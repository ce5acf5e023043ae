"""Hints in comments above functions: which comments are whose, and that they are checked as those in YAML are."""

from __future__ import annotations

import pytest

from score_embed.errors import UsageError
from score_embed.frontend.harness import beside
from score_embed.frontend.harness.hints import Hint, Hints

FILE = """\
/* score: x range 1..2 */
int before;
#define MACRO { /* score: x range 3..4 */
/* score: buf count len size 32, name string 20; cfg->mode in 0 .. 3
 *        cfg->next nullable no, out alias in
 *        assume (len > 0, len < 9), globals state other, call first init(cfg, 3); */
static __attribute__((noinline)) int
parse(const unsigned char *buf, size_t len, const char *name, struct config *cfg,
      int *out, int *in)
{
    int score = "}"[0]; /* score: 7 points */
    return score;
}

// score: n in 0..16
//        v value (1 << 3) + VERSION
int next(int n, int v) { return n; }

/* The score: not for us */
int plain(int n) { /* score: n in 0..16 */ return n; }
"""


def test_whose_a_comment_is() -> None:
    assert beside.read(FILE, "a.c", "parse") == Hints(
        {
            "buf": Hint(count="len", size=32),
            "name": Hint(string=20),
            "cfg->mode": Hint(low="0", high="3"),
            "cfg->next": Hint(nullable=False),
            "out": Hint(alias=("in",)),
        },
        assume=("(len > 0, len < 9)",),
        call_first=("init(cfg, 3)",),
        globals=("state", "other"),
    )
    assert beside.read(FILE, "a.c", "next") == Hints(
        {"n": Hint(low="0", high="16"), "v": Hint(value="(1 << 3) + VERSION")}
    )
    assert beside.read(FILE, "a.c", "plain") == Hints()
    assert beside.read(FILE, "a.c", "nobody") == Hints()


def test_where_it_stands_is_kept() -> None:
    found = beside.read(FILE, "a.c", "parse").arguments
    assert (found["name"].at, found["cfg->next"].at) == ("a.c:4", "a.c:5")


@pytest.mark.parametrize(
    ("clause", "what"),
    [
        ("buf cuont len", "unknown hint 'cuont' for 'buf'"),
        ("buf count", "count of 'buf' has no value"),
        ("buf", "nothing is said of 'buf'"),
        ("buf size 9999999", "is too many"),
        ("buf size many", "is not a number"),
        ("n in 0", "'range' has a first and a last value"),
        ("p nullable perhaps", "'nullable' is yes or no"),
        ("n in 0..3, n size 4", "'n' has hints twice"),
    ],
)
def test_mistakes_have_their_line(clause: str, what: str) -> None:
    text = f"int x;\n/* score: len in 0..9\n * {clause} */\nint f(int n) {{ return n; }}\n"
    with pytest.raises(UsageError, match=what) as error:
        beside.read(text, "a.c", "f")
    assert error.value.where == "a.c:3"


def test_yaml_wins_over_a_comment() -> None:
    yaml = Hints({"n": Hint(size=1)}, assume=("a",))
    both = yaml.over(Hints({"n": Hint(size=2), "m": Hint(size=3)}, assume=("b",), globals=("g",)))
    assert both == Hints({"n": Hint(size=1), "m": Hint(size=3)}, assume=("b", "a"), globals=("g",))
