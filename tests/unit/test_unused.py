"""Which declarations are left out as prototypes of functions that nobody names."""

from __future__ import annotations

import pytest

from score_embed.frontend.c.parse import without_unused_prototypes

LEFT_OUT = [
    "int f(void);",
    "int f();",
    "static inline const char *f(const char *, ...);",
    "extern int *f (int (*compare)(const void *, const void *), int x[static 2]) ;",
    'extern int f (int) __asm__ ("" "__f64") __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((nonnull (1, 2)));',
    "__extension__ extern __attribute__((format(printf, 1, (2)))) word **f(struct s *) ;",
    "int\nf(\n  int a,\n  int b\n);",
]
KEPT = [
    "int f(void) { return 0; }",
    "int f(void), g;",
    "int x, f(void);",
    "int (*f)(void);",
    "int (f)(void);",
    "int (*f(int))(void);",
    "typedef int f(void);",
    'extern int f(void) __attribute__((alias("other")));',
    'static int f(void) __attribute__((weakref("other")));',
    "int f = sizeof(int);",
    "int f[sizeof(int)];",
    "struct s { int (*f)(void); };",
    "struct s { int a; } f(void);",
    '_Static_assert(sizeof(int) > 1, "int f(void);");',
    "int f(void) int a;",
    "f(void);",
    'extern int f asm("name");',
    'extern int f __attribute__((section("name")));',
]
USES = [
    "int g(void) { return f(); }",
    "int (*p)(void) = f;",
    "int f(void) { return 1; }",
    "#pragma weak f",
    '__asm__("bl f");',
]


@pytest.mark.parametrize("text", LEFT_OUT)
def test_a_prototype_is_left_out(text: str) -> None:
    found = without_unused_prototypes(f'# 1 "a.h"\nchar *a = ";{{";\n{text}\nint b;\n', "a.c")
    assert found.split() == ["#", "1", '"a.h"', "char", "*a", "=", '";{";', "int", "b;"]
    assert found.count("\n") == text.count("\n") + 4


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_lone_prototype_stays(text: str) -> None:
    text = f'# 1 "a.h"\nint a;\n{text}\nint b;\n'
    assert without_unused_prototypes(text, "a.c") == text


@pytest.mark.parametrize("use", USES)
def test_a_prototype_stays_if_its_name_occurs(use: str) -> None:
    text = f'# 1 "a.h"\nint f(void);\n# 2 "a.c"\n{use}\n'
    assert without_unused_prototypes(text, "a.c") == text


@pytest.mark.parametrize(
    "result", ["struct s *", "const struct s *const ", "union s ", "__attribute__((pure)) struct\ns **"]
)
def test_a_struct_that_is_returned_stays_declared(result: str) -> None:
    text = (
        f'# 1 "a.h"\n{result}f(struct other *o);\n{result}g(struct s *s);\n# 2 "a.c"\nint h(void) {{ return !g(0); }}\n'
    )
    stays = "\n" * result.count("\n") + (" union s;" if "union" in result else " struct s;")
    assert without_unused_prototypes(text, "a.c") == text.replace(f"{result}f(struct other *o);", stays)


def test_the_compiler_judges_what_the_user_wrote() -> None:
    text = '# 1 "a.c"\n# 1 "/h.h" 1\nint f(itn);\n# 2 "a.c" 2\nint g(itn);\n'
    assert without_unused_prototypes(text, "a.c") == text.replace("int f(itn);", "")


def test_what_the_preprocessor_says_of_lines_stays() -> None:
    text = '# 1 "a.h" 1 3\nint f(\n# 7 "a.h" 3\nint a); /* no */ int b;\n# 2 "a.c" 2\n'
    assert without_unused_prototypes(text, "a.c") == '# 1 "a.h" 1 3\n\n# 7 "a.h" 3\n /* no */ int b;\n# 2 "a.c" 2\n'
