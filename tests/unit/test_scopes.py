"""Names of blocks become unique: by C's scope rules, and nothing else changes."""

from __future__ import annotations

import time

import pytest

from score_embed.frontend.c.bindings import Binding, rename
from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.c.scopes import separate


def separated(code: str) -> str:
    tree = parse(code, "t.c")
    separate(tree)
    return " ".join(to_c(tree).split())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # a name that is alone stays; one that means something else outside gets a number
        ("int g; int f(int a) { int b = a; return b; }", "int b = a; return b;"),
        ("int g; int f(int g) { return g; }", "int f(int g_2) { return g_2; }"),
        ("int f(int a) { { int a = 1; a++; } return a; }", "{ int a_2 = 1; a_2++; } return a;"),
        ("void f(void) { { int a; } { int a; int a_2; } }", "{ int a; } { int a_2; int a_2_2; }"),
        ("void f(void) { int sc_m = 1; sc_m++; }", "int sc_m_2 = 1; sc_m_2++;"),
        # a name begins after its declarator, a tag at once, an enumerator after its value
        ("int x; void f(void) { int x = x; }", "int x_2 = x_2;"),
        ("int x; void f(void) { char x[sizeof x]; }", "char x_2[sizeof(x)];"),
        ("struct s { int a; }; void f(void) { struct s { struct s *n; } v; }", "struct s_2 { struct s_2 *n; } v;"),
        ("enum { N = 2 }; void f(void) { enum { N = N + 1, M = N }; }", "N_2 = N + 1, M = N_2"),
        ("typedef int T; void f(void) { typedef T T; T v; }", "typedef T T_2; T_2 v;"),
        ("struct s { int a; }; void f(void) { struct s; struct s *p; }", "struct s_2; struct s_2 *p;"),
        ("struct s { int a; }; void f(void) { struct s *p; }", "{ struct s *p; }"),
        # what has linkage keeps its name, and others make room for it
        ("void f(void) { { extern int z; z++; } { int z = 4; z++; } }", "{ extern int z; z++; } { int z_2 = 4; z_2++; }"),
        ("void f(void) { { int h = 1; } { int h(int); h(1); } }", "{ int h_2 = 1; } { int h(int); h(1); }"),
        ("typedef int F(int); void f(void) { { F h; h(1); } { int h = 1; } }", "{ F h; h(1); } { int h_2 = 1; }"),
        ("void f(void) { h(1); { int h = 1; } }", "h(1); { int h_2 = 1; }"),
        # members, designators and labels are no names of a scope
        ("int a; struct s { int a; }; int f(struct s *p) { int a = p->a; return a; }", "int a_2 = p->a; return a_2;"),
        ("int a; struct s { int a; }; void f(void) { int a; struct s v = { .a = 1 }; }", "struct s v = {.a = 1};"),
        (
            "int a, i; struct s { int a[9]; }; int f(int a) { int i = 1; return __builtin_offsetof(struct s, a[i]); }",
            "__builtin_offsetof(struct s, a[i_2])",
        ),
        ("int l; void f(void) { int l; l: l = 1; goto l; }", "l: l_2 = 1; goto l;"),
        # scopes that have no braces
        ("void f(int i) { for (int i = 0; i < 3; i++) { int i; } i++; }", "for (int i_2 = 0; i_2 < 3; i_2++) { int i_3; } i++;"),
        ("int f(int (*g)(int g), int n) { return g(n); }", "int f(int (*g_2)(int g), int n) { return g_2(n); }"),
        ("int x; int f(int n, int x[n]) { return x[0]; }", "int f(int n, int x_2[n]) { return x_2[0]; }"),
        ("int x; int f(x) char x; { return x; }", "int f(x_2) char x_2; { return x_2; }"),
        # the arguments of attributes are names, the attributes are not
        (
            "enum { N = 1 }; void f(void) { enum { N = 8 }; int packed; int a __attribute__((aligned(N))); }",
            "int a __attribute__((aligned(N_2)));",
        ),
        ("int aligned; void f(int aligned) { int a __attribute__((aligned(8))); }", "int a __attribute__((aligned(8)));"),
        # main, wherever it is named
        ("int main(void); void *t = main; int main(void) { return t != main; }", "void *t = sc_main; int sc_main(void) {"),
        ("int main(void) { int main_2 = 1; return main(); }", "int main_2 = 1; return sc_main();"),
        ("int f(void) { int main = 1; return main; }", "int main = 1; return main;"),
        (
            "int main(void) { return __func__[0]; } int f(void) { return __func__[0]; }",
            'static const char sc_func[] = "main"; return sc_func[0]; } int f(void) { return __func__[0]; }',
        ),
    ],
)  # fmt: skip
def test_names(code: str, expected: str) -> None:
    assert expected in separated(code)


def test_a_name_in_many_blocks_is_numbered_in_one_pass() -> None:
    new: list[str] = []
    many = 50_000
    began = time.process_time()
    rename([Binding("i", [new.append]) for _ in range(many)], {"i_2", f"i_{many + 1}"})
    assert time.process_time() - began < 10  # minutes, if each began to count at 2
    assert new[:2] == ["i_3", "i_4"]
    assert new[-1] == f"i_{many + 2}"
    assert len(set(new)) == many - 1  # the first keeps its name
