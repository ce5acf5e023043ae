"""Lexer for preprocessed GNU C, on top of pycparser's.

Alternate spellings (`__const`, `__signed__`, …) become the plain keyword, `__extension__` disappears, and a
whole `__attribute__((…))` becomes one token whose type is that of a qualifier: the parser then takes it
wherever it takes `const`, which is nearly everywhere GNU C allows it. So does a `[[…]]` of C23, which gcc knows in
older C, too, if it says more than a warning does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pycparser.c_lexer import CLexer, Dialect, Token

ATTRIBUTE = "__attribute__"

# Spelling in the source -> (token type, value the parser sees). Names in capitals that pycparser does not
# know (ASM, GNU_…) are handled in gnu_parser.py.
_KEYWORDS: dict[str, tuple[str, str]] = {
    "__const": ("CONST", "const"),
    "__const__": ("CONST", "const"),
    "__volatile": ("VOLATILE", "volatile"),
    "__volatile__": ("VOLATILE", "volatile"),
    "__restrict": ("RESTRICT", "restrict"),
    "__restrict__": ("RESTRICT", "restrict"),
    "__inline": ("INLINE", "inline"),
    "__inline__": ("INLINE", "inline"),
    "__signed": ("SIGNED", "signed"),
    "__signed__": ("SIGNED", "signed"),
    "__thread": ("_THREAD_LOCAL", "__thread"),
    "__complex": ("_COMPLEX", "_Complex"),
    "__complex__": ("_COMPLEX", "_Complex"),
    "__alignof": ("_ALIGNOF", "__alignof__"),
    "__alignof__": ("_ALIGNOF", "__alignof__"),
    "typeof": ("TYPEOF", "__typeof__"),
    "__typeof": ("TYPEOF", "__typeof__"),
    "__typeof__": ("TYPEOF", "__typeof__"),
    "asm": ("ASM", "__asm__"),
    "__asm": ("ASM", "__asm__"),
    "__asm__": ("ASM", "__asm__"),
    "__label__": ("GNU_LABEL", "__label__"),
    "__real": ("GNU_COMPLEX_PART", "__real__"),
    "__real__": ("GNU_COMPLEX_PART", "__real__"),
    "__imag": ("GNU_COMPLEX_PART", "__imag__"),
    "__imag__": ("GNU_COMPLEX_PART", "__imag__"),
    "__builtin_offsetof": ("OFFSETOF", "__builtin_offsetof"),
    # Basic types beyond C11: any simple type specifier's token type does.
    **{
        name: ("VOID", name)
        for name in (
            *("__auto_type", "__fp16", "__bf16", "__float80", "__float128", "__ibm128"),
            *("_Float16", "_Float32", "_Float64", "_Float128", "_Float32x", "_Float64x"),
            *("_Decimal32", "_Decimal64", "_Decimal128"),
        )
    },
}
_SKIPPED = frozenset({"__extension__"})
_ATTRIBUTE_WORDS = frozenset({"__attribute", "__attribute__"})
_NUMBERS = frozenset(
    {"INT_CONST_DEC", "INT_CONST_OCT", "INT_CONST_HEX", "INT_CONST_BIN", "FLOAT_CONST", "HEX_FLOAT_CONST"}
)
# Most of a file is blanks, names and these, which begin no longer token. pycparser tries some thirty expressions before
# it knows a name: a quarter of the time that parsing took.
_BLANKS = re.compile(r"[ \t\f\v\n]*")
_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*(?![\w$'\"])", re.ASCII)  # not what stands before a text: L"…"
_ALONE = {
    "(": "LPAREN", ")": "RPAREN", "{": "LBRACE", "}": "RBRACE", "]": "RBRACKET",
    ",": "COMMA", ";": "SEMI", "?": "CONDOP", "~": "NOT",
}
_NEVER_RETURNS = frozenset({"noreturn", "__noreturn__", "_Noreturn", "___Noreturn__"})
_TIGHT = frozenset("(),")  # no space around these, so that the text of an attribute is easy to match
_DIGRAPH = re.compile(r"<[:%](?!:)|%:")
_UCN = r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}"
_EXTENDED = re.compile(rf"(?:[A-Za-z_$]|[^\x00-\x7f]|{_UCN})(?:[\w$]|[^\x00-\x7f]|{_UCN})*")  # a name beyond ASCII
_NOT_ASCII = re.compile(rf"[^\x00-\x7f]|{_UCN}")
_IMAGINARY = re.compile(r"[ijIJ][fFlL]?\b")


def is_attribute(token: Token | None) -> bool:
    return token is not None and token.type == "CONST" and token.value.startswith(ATTRIBUTE)


class GnuLexer(CLexer):  # type: ignore[misc]
    _pos: int
    _lexdata: str
    _lineno: int
    _line_start: int
    _in_attribute: bool
    _keyword_map: dict[str, str]

    def __init__(self, error_func: Callable[[str, int, int], None], *, dialect: Dialect = "legacy") -> None:
        super().__init__(error_func, dialect=dialect)
        # gcc -E leaves no `offsetof` behind: the name is free for the user's own functions.
        del self._keyword_map["offsetof"]
        self._plain = True  # no name has characters beyond ASCII
        for word, (kind, _) in _KEYWORDS.items():
            self._keyword_map[word] = kind

    def token(self) -> Token | None:
        self._skip_blanks()
        token = super().token()
        if token is None:
            return None
        if token.type == "ID":
            if token.value in _SKIPPED:
                return self.token()
            if token.value in _ATTRIBUTE_WORDS:
                return self._attribute(token)
        elif token.value in _KEYWORDS:
            token.value = _KEYWORDS[token.value][1]
        elif token.type == "ATTRIBUTE_BEGIN":
            return self._in_brackets(token)
        elif token.type in _NUMBERS and _IMAGINARY.match(self._lexdata, self._pos):
            self.error_func("imaginary constants are not supported", token.lineno, token.column)
        elif token.value in "<%" and _DIGRAPH.match(self._lexdata, self._pos - 1):
            self.error_func("digraphs are not supported", token.lineno, token.column)
        return token

    def input(self, text: str, filename: str = "") -> None:
        super().input(text, filename)
        self._plain = text.isascii() and "\\u" not in text and "\\U" not in text

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self._lexdata, self._pos)
        assert blanks is not None  # none are blanks, too
        start, end = blanks.span()
        lines = self._lexdata.count("\n", start, end)
        if lines:
            self._lineno += lines
            self._line_start = self._lexdata.rindex("\n", start, end) + 1
        self._pos = end

    def _match_token(self) -> Token | None:
        if self._plain:
            return self._frequent() or super()._match_token()
        start, text = self._pos, self._lexdata
        if text[start] <= "\x7f" and text[start] != "\\":
            token = super()._match_token()
            end = self._pos
            if token is None or end >= len(text) or not _NOT_ASCII.match(text, end):
                return token
            if not (token.value[0].isalpha() or token.value[0] in "_$") or token.value[-1] in "'\"":
                return token
        found = _EXTENDED.match(text, start)
        if found is None:
            return super()._match_token()
        self._pos = found.end()
        return self._make_token("ID", _NOT_ASCII.sub(_universal, found[0]), start)

    def _frequent(self) -> Token | None:
        """A name, a keyword or punctuation that begins no longer token; None: something else."""
        start = self._pos
        if self._in_attribute:
            return None
        if found := _PLAIN_NAME.match(self._lexdata, start):
            value, self._pos = found[0], found.end()
            return self._make_token(self._keyword_map.get(value, "ID"), value, start)
        value = self._lexdata[start]
        if value not in _ALONE:
            return None
        self._pos += 1
        return self._make_token(_ALONE[value], value, start)

    def _attribute(self, start: Token) -> Token:
        """Gather the balanced tokens after `__attribute__`: tokens, as linemarkers may lie among them."""
        words: list[str] = []
        depth = 0
        while True:
            token = super().token()
            if token is None or (not words and token.value != "("):
                self.error_func("'((' expected after __attribute__", start.lineno, start.column)
                break
            if words and words[-1] not in _TIGHT and token.value not in _TIGHT:
                words.append(" ")
            words.append(token.value)
            depth += {"(": 1, ")": -1}.get(token.value, 0)
            if depth == 0:
                break
        if words[:2] != ["(", "("] or words[-2:] != [")", ")"]:
            self.error_func("'((' expected after __attribute__", start.lineno, start.column)
        return Token("CONST", ATTRIBUTE + "".join(words), start.lineno, start.column, start.filename)


    def _in_brackets(self, start: Token) -> Token | None:
        """`[[…]]` as an `__attribute__`. What the standard knows besides `noreturn` warns or helps the optimiser, and
        what is other compilers' gcc ignores: without more than that it is nothing, and the token after it comes
        next."""
        listed: list[list[Token]] = [[]]
        while (token := super().token()) is not None and token.type != "ATTRIBUTE_END":
            if token.type == "COMMA":
                listed.append([])
            else:
                listed[-1].append(token)
        if token is None:
            self.error_func("']]' expected at the end of an attribute", start.lineno, start.column)
        kept = [text for tokens in listed if (text := _as_gnu(tokens))]
        if not kept:
            return self.token()
        return Token("CONST", f"{ATTRIBUTE}(({','.join(kept)}))", start.lineno, start.column, start.filename)


def _as_gnu(tokens: Sequence[Token]) -> str:
    """What `__attribute__` calls it; empty if that is nothing."""
    words = [f"({token.value})" if token.type == "ATTRIBUTE_ARGUMENTS" else token.value for token in tokens]
    if words[1:2] == ["::"]:
        return "".join(words[2:]) if words[0] in ("gnu", "__gnu__") else ""
    return "noreturn" if words[:1] and words[0] in _NEVER_RETURNS else ""


def _universal(found: re.Match[str]) -> str:
    """One spelling for one character, which every compiler and every encoding of the emitted file knows."""
    text = found[0]
    code = int(text[2:], 16) if text.startswith("\\") else ord(text)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
