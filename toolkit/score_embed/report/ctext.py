"""Values and texts as C source, whatever is in them: a record may come from somebody else."""

from __future__ import annotations

import re
from pathlib import Path

from score_embed.contract.entry import Entry
from score_embed.errors import StorageError, UsageError

_ROW = 16
_MOST = 2**63


def identifier(text: str) -> str:
    """A part of a C name."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def number(value: int) -> str:
    """An integer constant of a type that holds it."""
    if value < -_MOST + 1:
        return f"(-{_MOST - 1}LL - 1)"
    if value >= _MOST:
        return f"{value}ULL"
    return str(value) if abs(value) < 2**15 else f"{value}LL"


def array(data: bytes, indent: str) -> str:
    """An initialiser of unsigned char; C has no empty one, so that at least a zero stands there."""
    data = data or b"\0"
    if len(data) <= _ROW:
        return "{" + ", ".join(f"0x{byte:02x}" for byte in data) + "}"
    rows = (data[i : i + _ROW] for i in range(0, len(data), _ROW))
    lines = "".join(f"{indent}    {', '.join(f'0x{byte:02x}' for byte in row)},\n" for row in rows)
    return "{\n" + lines + indent + "}"


def string(text: str) -> str:
    """A string literal. What is not plain ASCII is written in octal, which cannot run into the next character."""
    return '"' + "".join(_character(byte) for byte in text.encode("utf-8", "backslashreplace")) + '"'


def _character(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"


def comment(text: str) -> str:
    """Text for inside a comment: ASCII, one line, and it does not end the comment."""
    plain = "".join(c if " " <= c < "\x7f" else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")


def included(file: str) -> str:
    """The name of a file to include. Raises UsageError if C has no way to write it: there are no escapes there."""
    if re.search(r'["\\]|\?\?[=/\'()!<>-]', file) or not file.isprintable():
        raise UsageError("C cannot include a file of this name", file, "Rename it, and explore it anew.")
    return f'"{file}"'


_NAME = r"[A-Za-z_]\w*"
_WORDS = rf"{_NAME}(?:\s+{_NAME}|\s*\*)*"  # a type without its declarator
_BOUNDS = r"(?:\s*\[\s*\w*\s*\])*"
_TYPE = rf"{_WORDS}\s*(?:\(\s*\*+\s*\)\s*(?:{_BOUNDS}|\([\w\s*,]*\)))?"


def require_entry(entry: Entry, folder: Path) -> None:
    """The function of `--entry` and its arguments are names, declarations and addresses of objects, and no other C.

    They become code as they stand in the record. Raises StorageError.
    """
    texts = [(entry.name, _NAME)]
    for argument in entry.arguments:
        name = re.escape(argument.name)
        declarator = (
            rf"(?:{name}{_BOUNDS}|\(\s*\*+\s*(?:{_NAME}\s+)?{name}{_BOUNDS}\s*\)\s*(?:{_BOUNDS}|\([\w\s*,]*\)))"
        )
        texts += [
            (argument.name, _NAME),
            (argument.declaration, rf"{_WORDS}\s*{declarator}"),
            (argument.passed, rf"(?:\({_TYPE}{_BOUNDS}\)\s*)?&?{name}"),
        ]
    for text, form in texts:
        if not re.fullmatch(form, text, re.ASCII):
            what = f"the record says of {entry.name!r} what is no C of ours: {text!r}"
            raise StorageError(what, str(folder), "Write the test by hand: its input is in the .json file.")
