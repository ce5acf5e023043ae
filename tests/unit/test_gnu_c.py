"""GNU C through the parser and the printer: what is printed compiles to the same assembly as what was read.

The compiler is the judge: no expected text is written down here. Snippets cover one construct each; then come
every standard header of glibc and newlib, jsmn, and csmith programs.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from compilers import assembly, assert_same_code
from pycparser import c_ast

from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.gnu_ast import Asm, GnuAttribute, LabelAddress, ValueRange
from score_embed.frontend.c.names import outside_names
from score_embed.frontend.c.parse import names_written, parse, system_files
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.c.printer import to_c

COMPILERS = ["gcc", "arm-none-eabi-gcc"]


def needs(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")


# One complete translation unit a line.
SNIPPETS = (Path(__file__).parent / "gnu_snippets.txt").read_text().splitlines()


def test_there_are_enough_snippets() -> None:
    assert len(SNIPPETS) >= 60


@pytest.mark.parametrize("compiler", COMPILERS)
def test_snippets_compile_to_the_same_code(compiler: str) -> None:
    needs(compiler)
    failures = []
    for snippet in SNIPPETS:
        try:
            printed = to_c(parse(snippet, "snippet.c"))
            same = assembly(compiler, snippet + "\n") == assembly(compiler, printed)
            stable = to_c(parse(printed, "printed.c")) == printed
        except (AssertionError, BuildError) as error:
            failures.append(f"{snippet}\n  {error}")
        else:
            if not (same and stable):
                failures.append(f"{snippet}\n  {printed}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_pragmas_survive(compiler: str, tmp_path: Path) -> None:
    needs(compiler)
    source = tmp_path / "pragma.c"
    source.write_text(
        "#pragma pack(push, 1)\nstruct A { char a; int b; };\n#pragma pack(pop)\nstruct B {\n"
        "char a;\n#pragma pack(1)\nint b; };\nint x = sizeof(struct A) * 100 + sizeof(struct B);\n"
        'int f(int a) {\n#pragma GCC diagnostic push\n_Pragma("GCC diagnostic ignored \\"-Wall\\"")\n'
        "if (a)\n#pragma GCC diagnostic pop\n  return 1;\nreturn 2; }\n"
    )
    assert_same_code(compiler, source)


STANDARD = [
    *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits"),
    *("locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef"),
    *("stdint", "stdio", "stdlib", "stdnoreturn", "string", "tgmath", "time", "wchar", "wctype"),
]
GLIBC = [
    *("threads", "uchar", "arpa/inet", "netinet/in", "sys/socket", "sys/types", "sys/stat", "sys/time"),
    "unistd",
    *("fcntl", "pthread", "poll", "dirent", "dlfcn", "getopt", "glob", "grp", "pwd"),
    *("regex", "sched", "search", "semaphore", "spawn", "strings", "termios", "sys/mman", "sys/select"),
    "sys/wait",
]
NEWLIB = [
    *("reent", "malloc", "sys/types", "sys/time", "sys/stat", "unistd", "fcntl", "strings", "machine/endian"),
    *("sys/cdefs", "sys/queue"),
]


@pytest.mark.parametrize(
    ("compiler", "header"),
    [
        *(("gcc", h) for h in STANDARD + GLIBC),
        *(("arm-none-eabi-gcc", h) for h in STANDARD + NEWLIB),
        *(
            (c, h)
            for c in ("arm-linux-gnueabihf-gcc", "aarch64-linux-gnu-gcc")
            for h in ("tgmath", "signal", "ucontext")
        ),
    ],
)
def test_headers(compiler: str, header: str, tmp_path: Path) -> None:
    needs(compiler)
    source = tmp_path / "user.c"
    source.write_text(f"#define _GNU_SOURCE\n#include <stddef.h>\n#include <{header}.h>\nint x;\n")
    assert_same_code(compiler, source)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_jsmn(compiler: str, tmp_path: Path) -> None:
    needs(compiler)
    header = Path("/usr/include/jsmn.h")
    if not header.exists():
        pytest.skip("libjsmn-dev is not installed")
    shutil.copy(header, tmp_path)
    source = tmp_path / "user.c"
    source.write_text('#include "jsmn.h"\nint f(jsmn_parser *p) { return jsmn_parse(p, "{}", 2, 0, 0); }\n')
    assert_same_code(compiler, source)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("seed", range(1, 6))
def test_csmith(compiler: str, seed: int, tmp_path: Path) -> None:
    needs(compiler)
    needs("csmith")
    headers = Path("/usr/include/csmith")
    if not headers.exists():
        pytest.skip("libcsmith-dev is not installed")
    source = tmp_path / "random.c"
    command = ["csmith", "--seed", str(seed), "--no-float", "--max-block-size", "3", "--max-funcs", "6"]
    source.write_bytes(subprocess.run(command, capture_output=True, timeout=60, check=True).stdout)
    assert_same_code(compiler, source, (f"-I{headers}",))


# -- shapes that the type checker and the lowering rely on --


def function(text: str) -> c_ast.FuncDef:
    found = parse(text, "shape.c").ext[-1]
    assert isinstance(found, c_ast.FuncDef)
    return found


def test_attributes_do_not_hide_qualifiers() -> None:
    decl = parse("const int __attribute__((unused)) x __attribute__((aligned(4))) = 1;", "a.c").ext[0]
    assert [qual for qual in decl.quals if not qual.startswith("__attribute__")] == ["const"]
    assert [attribute.text for attribute in decl.attributes] == ["__attribute__((aligned(4)))"]
    assert isinstance(decl.attributes[0], GnuAttribute)


def test_shapes_of_gnu_nodes() -> None:
    body = function(
        'int f(int a) { void *p = &&l; a = a ?: 3; asm("nop"); switch (a) { case 1 ... 2: l: return 1; } }'
    ).body.block_items
    assert isinstance(body[0].init, LabelAddress)
    assert body[1].rvalue.iftrue is None
    assert isinstance(body[2], Asm)
    assert body[2].outputs is None
    assert isinstance(body[3].stmt.block_items[0].expr, ValueRange)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("[[gnu::packed]]", ["__attribute__((packed))"]),
        ("[[__gnu__ :: aligned ( 2 * 8 ), nodiscard, noreturn]]", ["__attribute__((aligned( 2 * 8 ),noreturn))"]),
        ('[ [_Noreturn] ] [[gnu::section("a]],")]]', ["__attribute__((noreturn))", '__attribute__((section("a]],")))']),
        ('[[]] [[deprecated("("), fallthrough, clang::x([,])]]', []),
    ],
)
def test_attributes_in_brackets(written: str, kept: list[str]) -> None:
    (found,) = parse(f"{written} extern int x;\n", "good.c").ext
    assert found.quals == kept
    # A place in an array that comes from another array begins with no bracket.
    assert function("int f(int *a) { int b[] = {[0] = 1}; return a[b[0]]; }").body.block_items[1].expr.subscript


def test_knr_definition() -> None:
    node = function("f(a, b) char a; { return a; }")
    assert node.decl.type.type.type.names == ["int"]
    assert [param.name for param in node.decl.type.args.params] == ["a", "b"]
    assert [decl.name for decl in node.param_decls] == ["a"]


def test_coordinates_are_the_users(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    (tmp_path / "own.h").write_text("int from_header(int a);\n")
    source.write_text('#include <stddef.h>\n#include "own.h"\n\nint f(int a)\n{\n    return a;\n}\n')
    text = preprocess("gcc", (), source)
    tree = parse(text, str(source))
    places = {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}
    assert (places["f"].coord.file, places["f"].coord.line) == (str(source), 4)
    assert places["f"].body.block_items[0].coord.line == 6
    system = system_files(text)
    assert any(name.endswith("stddef.h") for name in system)
    assert str(source) not in system
    assert str(tmp_path / "own.h") not in system


def test_the_names_that_somebody_wrote(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    (tmp_path / "own.h").write_text("static int from_header(void) { return puts(\"x\"); }\n")
    source.write_text('#include <stdio.h>\n#include "own.h"\nint last(void) { return from_header(); }\n')
    names = names_written(preprocess("gcc", (), source))
    assert {"from_header", "puts", "last"} <= names
    assert "fscanf" not in names  # only stdio.h has it


# -- errors --


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("int x = ;\n", "bad.c:1:9", "expression expected before ';'"),
        ("int f(void)\n{\n  return 1\n}\n", "bad.c:4:1", "syntax error before '}'"),
        ("int f(void) {\n", "bad.c", "unexpected end of file"),
        ("int f(void) { int g(void) { return 1; } return g(); }\n", "bad.c:1:19", "nested functions"),
        ("double _Complex z = 1.0i;\n", "bad.c:1:21", "imaginary constants"),
        ("double _Complex z = 1.0iF;\n", "bad.c:1:21", "imaginary constants"),
        ("int a<:3:>;\n", "bad.c:1:6", "digraphs"),
        ("[[gnu::noinline] int f(void);\n", "bad.c:1:1", "']]' expected"),
        ("[[gnu::noinline\n", "bad.c:1:1", "']]' expected"),
        ("int x __attribute__;\n", "bad.c:1:7", "'((' expected after __attribute__"),
        ("int x = 08;\n", "bad.c:1:9", "octal"),
        ('# 40 "user.h" 1\nint y;\nint 3;\n', "user.h:41:1", "invalid declaration"),
        ("unknown_t x;\n", "bad.c:1:1", "unknown type name 'unknown_t'"),
    ],
)
def test_errors_name_the_place(text: str, where: str, what: str) -> None:
    with pytest.raises(BuildError) as caught:
        parse(text, "bad.c")
    assert caught.value.where == where
    assert what in caught.value.what


def test_deep_nesting_is_no_traceback() -> None:
    parse("int x = " + "(" * 2000 + "1" + ")" * 2000 + ";", "deep.c")
    chain = "else if (a == 1) a = 2; " * 1500
    parse(f"int f(int a) {{ if (a) a = 1; {chain} return a; }}", "deep.c")
    with pytest.raises(BuildError, match="nested too deeply"):
        parse("int x = " + "(" * 200_000 + "1" + ")" * 200_000 + ";", "deep.c")


def test_preprocessor_errors(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text('int x;\n#include "missing.h"\n')
    with pytest.raises(BuildError) as build:
        preprocess("gcc", (), source)
    assert build.value.where.startswith(f"{source}:2")
    assert "missing.h" in build.value.what
    with pytest.raises(UsageError, match="no-such-cc"):
        preprocess("no-such-cc", (), source)
    with pytest.raises(UsageError, match="no such source file"):
        preprocess("gcc", (), tmp_path / "absent.c")


def test_score_embed_is_defined(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text("int x = SCORE_EMBED;\n")
    assert "int x = 1;" in preprocess("gcc", (), source)


@pytest.mark.parametrize(
    ("files", "outside"),
    [
        (["long time(void *); long f(void) { return time(0); }"], {"time"}),
        (["long time(void *); long (*f)(void *) = time;"], {"time"}),
        (["long f(void) { extern long time(void *); return g(time); }"], {"time", "g"}),
        (["static long time(void *p) { return 0; } long f(void) { return time(0); }", "long g(void) { return time(0); }"], {"time"}),
        (["long time(void *p) { return 0; }", "long g(void) { return time(0); }"], set()),
        (["long f(long (*time)(void *)) { return time(0); }"], set()),
        (["long f(time) long (*time)(void *); { return time(0); }"], set()),
        (["long f(long (*g)(long time)) { return g(time(0)); }"], {"time"}),
        (["long time(void *); struct s { int time; } s = {.time = 1}; long f(struct s *p) { return p->time; }"], set()),
        (["long time(void *); struct s { int time; }; long f(void) { return __builtin_offsetof(struct s, time); }"], set()),
        (['# 1 "h.h" 1 3\nextern inline int open(int n) { return opened(n); }\n# 2 "a.c" 2\nint f(void) { return open(1); }'], {"open", "opened"}),
        (["struct f; extern struct f *stdin; int f(void) { return g(stdin); }"], {"g", "stdin"}),
        (["struct f; extern struct f *stdin; int f(void) { int stdin = 0; return stdin; }"], set()),
        (["int sc_main(int argc, char **argv) { return argc > 1; }"], {"argv"}),
        (["int sc_main(int argc, char **argv) { return 1; } int f(int argc) { return argc; }"], set()),
        (["int sc_main(n, list) int n; char **list; { return list[1][0]; }"], {"argv"}),
        (["int sc_main(int argc, char **argv) { char *score_list_[2]; argv = score_list_; return argc; }"], set()),
        (["int sc_main(void) { return 0; }"], set()),
        (['# 1 "h.h" 1 3\nstatic inline int g(void) { return time(0); }\n# 2 "a.c" 2\nint f(void) { return 1; }'], set()),
    ],
)  # fmt: skip
def test_which_functions_are_from_outside(files: list[str], outside: set[str]) -> None:
    trees = [parse(text, "a.c") for text in files]
    assert outside_names(zip(trees, map(system_files, files), strict=True)) == outside


def test_words_for_the_object_file_are_left_out() -> None:
    (ext,) = parse('#ident "$Id$"\n# sccs "x"\nint a;\n', "a.c").ext
    assert (ext.name, ext.coord.line) == ("a", 3)
