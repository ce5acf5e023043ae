"""The C of stubs: what is symbolic, what is left alone and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.board.profile import find_board
from score_embed.contract.program import Source
from score_embed.errors import UsageError
from score_embed.frontend.stubs import Stubs
from score_embed.frontend.types.data_model import DataModel
from score_embed.image.toolchain import Toolchain


@pytest.fixture(scope="module")
def model() -> DataModel:
    return Toolchain(find_board("native")).data_model(())


def stubbed(
    model: DataModel, declarations: str, call: str = "f()", *, replaced: tuple[str, ...] = ()
) -> tuple[str, list[str]]:
    text = f"{declarations}\nint main(void)\n{{\n    {call};\n    return 0;\n}}\n"
    stubs = Stubs([Source(Path("p.c"), text)], model)
    made = stubs.add(stubs.candidates(), replaced)
    return made.sources[0].text.partition("<stubs>")[2], list(made.within(stubs.reached())[1:])


@pytest.mark.parametrize(
    ("declaration", "call", "in_text", "within"),
    [
        ("int f(void);", "f()", '__score_symbolic(&result, sizeof result, "f()");', []),
        ("_Bool f(void);", "f()", '__score_boolean(&result, sizeof result, "f()");', []),
        ("void f(int *out);", "f(0)", 'if (out) {\n        __score_symbolic(&*out, sizeof (*out), "f(*out)");', []),
        ("void f(const int *in);", "f(0)", "void f(const int *in)\n{\n    static unsigned char calls;\n", []),
        ("void f(void *p);", "f(0)", "void f(void *p)\n{\n    static unsigned char calls;\n", ["f(*p) as it was"]),
        ("void f(char *p, unsigned len);", "f(0, 0)", "while (i < 16 && i < len) i++;", ["f(*p) ≤ 16 bytes"]),
        ("void f(int n, int *out);", "f(1, 0)", "if (out) {", []),
        ("void *f(unsigned size);", "f(1)", "__builtin_malloc(size)", []),
        ("const char *f(void);", "f()", "made1[15] = 0;", ["*f() < 16 characters"]),
        ("struct s; struct s *f(void);", "f()", "__builtin_malloc(16)", ["*f() = 16 bytes that nobody has written"]),
        ("int f(const char *format, ...);", "f(0)", 'sizeof result, "f()"', ["f leaves what its variable arguments lead to as it is"]),
        ("void f(void (*then)(int));", "f(0)", '__score_symbolic(&called, sizeof called, "f() called");', ["f does not call then"]),
        ("enum e { A = 2, B = 5 }; enum e f(void);", "f()", "if (!(result >= A && result <= B))", ["f() from A to B"]),
        ("void f(void) __attribute__((noreturn));", "f()", "exit(0);", ["f ends the test"]),
        ("void my_assert(void) __attribute__((noreturn));", "my_assert()", "abort();", ["my_assert aborts"]),
        ("extern int f;", "f = 1", "int f;", ["f = 0"]),
        ("extern int f[];", "f[0] = 1", "int f[16];", ["f = 16 zeros"]),
        ("typedef int of(int); of f;", "f(1)", 'sizeof result, "f()"', []),
    ],
)  # fmt: skip
def test_one_prototype(model: DataModel, declaration: str, call: str, in_text: str, within: list[str]) -> None:
    text, said = stubbed(model, declaration, call)
    assert in_text in text
    assert said == within


def test_only_what_main_comes_to_is_a_bound(model: DataModel) -> None:
    declarations = "char *f(void); char *g(void); int other(void) { return g() != 0; }"
    text, said = stubbed(model, declarations)
    assert "char *g(void)" in text  # for the link
    assert said == ["*f() < 16 characters"]


def test_who_calls_a_parameter_calls_no_function_of_that_name(model: DataModel) -> None:
    """`same` was a function that nobody declares, which returns an int."""
    declarations = "static int equal(int (*same)(int), int a) { return same(a); } int f(int a); int g(int a) { return equal(f, a); }"
    text, said = stubbed(model, declarations, "g(1)")
    assert "f(int a)" in text
    assert "same" not in text
    assert said == []


def test_a_body_is_found_among_other_braces(model: DataModel) -> None:
    declarations = """
static int f(int a);
struct s { int f; };
int g(void) { struct s s = { .f = '{' }; const char *t = "f(int a) {"; return s.f + t[0] + f(1); }
static int f(int a)
{
    if (a) { return '}'; }
    return 0;
}
int after = 3;"""
    text, said = stubbed(model, declarations, "f(2)", replaced=("f",))
    assert 'static int f(int a)\n\n# 1 "<stubs>"\n{\n    int result;' in text
    assert '# 10 ""\n\nint after = 3;' in text or "int after = 3;" in text
    assert "return '}'" not in text
    assert said == []


def test_a_name_that_nobody_knows_is_refused(model: DataModel) -> None:
    with pytest.raises(UsageError, match="'nothing'"):
        stubbed(model, "int f(void);", replaced=("nothing",))
