"""What the preprocessor marks in the middle of lines goes, and each token stays where it was."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from score_embed.errors import BuildError
from score_embed.frontend.c.preprocess import preprocess, whole_lines

_MARKER = re.compile(r'# (\d+) "(.*)"')

HEADER = '#define LIMIT 65535\n#define TWICE(x) ((x) + (x))\n#define BEGIN _Pragma("GCC diagnostic push")\n'
SOURCE = """#include <limits_of.h>
static const unsigned t[] = { LIMIT, 1, LIMIT,
    LIMIT, 2 };
int f(int a)
{
    BEGIN int b = LIMIT; int c = TWICE(a) + TWICE(
        b) + LIMIT;
    return b + c + LIMIT;
}
LIMIT_OF_LINES
"""


def tokens(text: str) -> list[tuple[str, str, int]]:
    """Each word with its file and line."""
    found, file, number = [], "", 0
    for line in text.split("\n"):
        number += 1
        marker = _MARKER.match(line)
        if marker:
            file, number = marker[2], int(marker[1]) - 1
        else:
            found += [(word, file, number) for word in re.findall(r"\w+|[^\w\s]", line)]
    return found


def columns(text: str, word: str) -> list[int]:
    return [match.start() for line in text.split("\n") for match in re.finditer(rf"\b{word}\b", line)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "limits_of.h").write_text(HEADER)
    made = tmp_path / "t.c"
    made.write_text(SOURCE)
    return made


def test_words_stay_in_their_lines(source: Path) -> None:
    flags = ("-isystem", str(source.parent / "system"))
    raw = subprocess.run(["gcc", "-E", *flags, source], check=True, capture_output=True, text=True).stdout
    made = preprocess("gcc", flags, source)
    assert tokens(made) == tokens(raw)
    assert made == whole_lines(raw)
    inside = [line for line in raw.split("\n") if line.startswith("# ") and line.endswith(" 3 4")]
    assert len(inside) > 5  # or gcc marks no more what this test is about
    assert len(made.split("\n")) < len(raw.split("\n")) - 10


def test_columns_stay_where_names_are_as_long_as_what_they_stand_for(source: Path) -> None:
    made = preprocess("gcc", ("-isystem", str(source.parent / "system")), source)
    assert columns(made, "return") == [4]
    last = made.rstrip("\n").split("\n")[-1]
    assert last == "LIMIT_OF_LINES"
    (line,) = (line for line in made.split("\n") if line.startswith("    return"))
    assert line == "    return b + c + 65535 ;"


def test_words_are_not_joined() -> None:
    """`-LESS`, with `#define LESS -1` in a system header."""
    assert whole_lines('# 3 "a.c"\n-\n# 3 "a.c" 3 4\n -1\n# 3 "a.c"\n     ;') == '# 3 "a.c"\n- -1 ;'


def test_pragmas_keep_lines_of_their_own() -> None:
    text = '# 1 "a.c"\n\n# 1 "a.c"\n#pragma GCC x\n# 1 "a.c"\n  int a; \n# 1 "a.c"\n#pragma GCC y\n# 1 "a.c"\n int b;\n'
    made = whole_lines(text)
    assert [line.strip() for line in made.split("\n") if line and not line.startswith("# ")] == [
        "#pragma GCC x",
        "int a;",
        "#pragma GCC y",
        "int b;",
    ]


def test_headers_begin_and_end() -> None:
    """A header of the same name and line is another file's beginning, not the same line."""
    text = '# 1 "a.h"\nint a;\n# 1 "a.h" 1\nint b;\n# 2 "a.h" 2\nint c;\n'
    assert whole_lines(text) == text


def test_what_ends_in_the_middle_of_a_line() -> None:
    assert whole_lines('# 3 "a.c"\nint a = \n# 3 "a.c" 3 4\n        7') == '# 3 "a.c"\nint a = 7'
    assert whole_lines("") == ""


def test_a_table_of_a_system_header_s_macros(tmp_path: Path) -> None:
    """32,000 fields: gcc makes some 70 MB of it, of which 68 are blanks."""
    source = tmp_path / "table.c"
    rows = "{" + "UINT16_MAX, " * 64 + "},\n"
    source.write_text("#include <stdint.h>\nconst uint16_t table[500][64] = {\n" + rows * 500 + "};\n")
    made = preprocess("gcc", (), source)
    assert len(made) < 1 << 20
    assert made.count("65535") == 32_000


def test_what_is_too_large_is_refused_all_the_same(tmp_path: Path) -> None:
    source = tmp_path / "table.c"
    rows = "{" + "UINT16_MAX, " * 900 + "},\n"
    source.write_text("#include <stdint.h>\nconst uint16_t table[500][900] = {\n" + rows * 500 + "};\n")
    with pytest.raises(BuildError, match="more than 24 MiB"):
        preprocess("gcc", (), source)
