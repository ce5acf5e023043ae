"""score.h without score-embed: strict C99 on both compilers, several files, and the replay of an input."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from images import PUBLIC, compile_c

STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{PUBLIC}"]
WORDS = {"CHAR": "char", "SHORT": "short", "INT": "int", "LONG": "long", "LLONG": "long long"}
TYPES = {
    **WORDS,
    **{f"U{name}": f"unsigned {word}" for name, word in WORDS.items()},
    "SCHAR": "signed char",
    **{f"U{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"I{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
}
ALL_MACROS = (
    '#include <stdint.h>\n#include "score.h"\nvoid f(void);\nvoid f(void)\n{\n'
    + "".join(
        f"    {{ {t} x; volatile {t} v; SYM_{n}(x); SYM_{n}(v); SCORE_ASSUME(x == v); SCORE_ASSERT(x == v); }}\n"
        for n, t in TYPES.items()
    )
    + "    { _Bool b; char s[3]; SYM_BOOL(b); SYM_BYTES(s, sizeof s); }\n}\n"
)

MAIN = """
#include <stdio.h>
#include "score.h"
int second(void);
int main(void)
{
    int x; unsigned char b[4]; _Bool q; short h;
    SYM_INT(x); SYM_BYTES(b, 4); SYM_BOOL(q); SYM_SHORT(h);
    SCORE_ASSUME(x > 0);
    printf("%d %d %d %d %d\\n", x, b[0], b[3], q, h);
    SCORE_ASSERT(h != 5);
    return second();
}
"""
SECOND = '#include "score.h"\nint second(void);\nint second(void) { char c; SYM_CHAR(c); return c; }\n'


@pytest.mark.parametrize("compiler", [["gcc"], ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb"]])
@pytest.mark.parametrize("embedded", [False, True])
def test_compiles_without_a_warning(tmp_path: Path, compiler: list[str], embedded: bool) -> None:
    source = tmp_path / "all.c"
    source.write_text(ALL_MACROS)
    flags = ["-DSCORE_EMBED", "-std=gnu11"] if embedded else []  # instrumented files are GNU C
    compile_c([*compiler, *STRICT, *flags, "-c", str(source), "-o", str(tmp_path / "all.o")])


@pytest.mark.parametrize("embedded", [False, True])
def test_an_object_of_another_size_does_not_compile(tmp_path: Path, embedded: bool) -> None:
    source = tmp_path / "wrong.c"
    source.write_text('#include "score.h"\nvoid f(void);\nvoid f(void) { char x; SYM_INT(x); }\n')
    flags = ["-DSCORE_EMBED"] if embedded else []
    done = subprocess.run(
        ["gcc", f"-I{PUBLIC}", *flags, "-c", str(source), "-o", str(tmp_path / "wrong.o")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "SYM_INT" in done.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("score")
    (folder / "main.c").write_text(MAIN)
    (folder / "second.c").write_text(SECOND)
    compile_c(["gcc", *STRICT, str(folder / "main.c"), str(folder / "second.c"), "-o", str(folder / "a.out")])
    return folder / "a.out"


@pytest.mark.parametrize(
    ("data", "output", "code"),
    [
        (b"\1\2\0\0abcd\3\6\0\7", "513 97 100 1 6\n", 7),
        (b"\1", "1 0 0 0 0\n", 0),
        (b"", "", 0),
        (b"\0\0\0\x80", "", 0),
        (b"\1\0\0\0abcd\0\5\0", "1 97 100 0 5\n", -6),
    ],
)
def test_replay(program: Path, tmp_path: Path, data: bytes, output: str, code: int) -> None:
    (tmp_path / "in").write_bytes(data)
    done = subprocess.run(
        [str(program)], env={"SCORE_INPUT": str(tmp_path / "in")}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (output, code)


def test_input_that_cannot_be_read(program: Path) -> None:
    done = subprocess.run(
        [str(program)], env={"SCORE_INPUT": "/nowhere/x"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "/nowhere/x" in done.stderr


def test_linked_input(program: Path, tmp_path: Path) -> None:
    source = tmp_path / "input.c"
    source.write_text(
        "extern const unsigned char score_input[];\nextern const __SIZE_TYPE__ score_input_size;\n"
        "const unsigned char score_input[] = {9, 0, 0, 0, 1};\nconst __SIZE_TYPE__ score_input_size = 5;\n"
    )
    objects = [str(program.parent / "main.c"), str(program.parent / "second.c"), str(source)]
    compile_c(["gcc", *STRICT, *objects, "-o", str(tmp_path / "a.out")])
    done = subprocess.run([str(tmp_path / "a.out")], env={}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("9 1 0 0 0\n", 0)
