"""The lexer's way past pycparser's for what is frequent: the same tokens at the same places as without it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pycparser.c_lexer import Token

from score_embed.frontend.c.gnu_lexer import GnuLexer

PIECES = st.sampled_from(
    [
        *(
            "int",
            "x",
            "_y1",
            "$z",
            "L",
            "u8",
            "U",
            "LL",
            "0x1fUL",
            "1.5e-3",
            "08",
            "1i",
            ".5",
            "...",
            ".",
            "->",
            "--",
            "-",
            "~",
            "?",
        ),
        *(
            "(",
            ")",
            "[",
            "[[",
            "]]",
            "]",
            "{",
            "}",
            ",",
            ";",
            ":",
            "::",
            "<:",
            "%:",
            "<",
            "<<=",
            "#",
            "##",
            "@",
            "\\",
            "`",
        ),
        *(
            "'a'",
            "L'b'",
            '"c"',
            'L"d"',
            'u8"e"',
            '"',
            "'",
            "''",
            "'\\x41'",
            "while",
            "asm",
            "typeof",
            "__attribute__((a(1)))",
        ),
        *(
            "__extension__",
            "__attribute",
            "é",
            "\\u00e9",
            "#pragma once\n",
            '# 7 "other.h" 1 3\n',
            "#line 9\n",
            "/",
            "//",
            "/*",
        ),
        *(" ", "\t", "\n", "\n\n  \n", "\f", "\v", "  "),
    ]
)


class Plain(GnuLexer):
    def _skip_blanks(self) -> None:
        pass

    def _frequent(self) -> Token | None:
        return None


def tokens(lexer: type[GnuLexer], text: str) -> list[tuple[object, ...]]:
    said: list[tuple[object, ...]] = []
    made = lexer(lambda *words: said.append(words))
    made.input(text, "f.c")
    while token := made.token():
        said.append((token.type, token.value, token.lineno, token.column, token.filename))
    return said


@given(st.lists(PIECES, max_size=30).map("".join))
def test_random_texts(text: str) -> None:
    assert tokens(GnuLexer, text) == tokens(Plain, text)


def test_real_texts() -> None:
    texts = [path.read_text() for path in sorted((Path(__file__).parents[2] / "runtime").rglob("*.[ch]"))]
    assert len(texts) > 100
    for text in texts:
        assert tokens(GnuLexer, text) == tokens(Plain, text)
