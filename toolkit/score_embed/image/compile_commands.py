"""What a project's own build knows of its files: compile_commands.json, as build systems write it.

Taken from an entry is what decides what the C means: include folders, macros, the dialect, and the `-f` flags that
change types. Machine, optimisation and warnings are the board profile's and score-embed's.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from score_embed import userfile
from score_embed.errors import UsageError

_FOLDER = ("-I", "-isystem", "-iquote", "-idirafter")
_FILE = ("-include", "-imacros")
_MACRO = ("-D", "-U")
_WITH_VALUE = (*_FOLDER, *_FILE, *_MACRO)  # the value is the rest of the word, or the next one
_TYPES = frozenset(
    f"-f{name}"
    for name in (
        "signed-char",
        "no-signed-char",
        "unsigned-char",
        "no-unsigned-char",
        "signed-bitfields",
        "unsigned-bitfields",
        "short-enums",
        "no-short-enums",
        "short-wchar",
        "pack-struct",
        "ms-extensions",
        "plan9-extensions",
        "gnu89-inline",
        "freestanding",
        "hosted",
        "no-builtin",
    )
)
_MOST = 64 << 20  # bytes of the file
_HARNESS = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]score\.h[">]', re.MULTILINE)
_AGAIN = "Have the build write the file again (with CMake: -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)."


def read_flags(file: Path, sources: Iterable[Path]) -> dict[Path, tuple[str, ...]]:
    """The flags of each source. A harness, a file that includes score.h, need not be known to the build.

    Of several entries for one source the first counts. Raises UsageError if the file is damaged or a source missing.
    """
    entries = _entries(file)
    flags: dict[Path, tuple[str, ...]] = {}
    for source in sources:
        entry = entries.get(os.path.realpath(source))
        if entry is not None:
            flags[source] = tuple(_flags(_words(entry, file), _folder(entry, file)))
        elif _is_harness(source):
            flags[source] = ()
        else:
            raise UsageError(f"there is no entry for {source}", str(file), f"{_AGAIN} Or leave the option away.")
    return flags


def known_sources(file: Path) -> list[Path]:
    """The C files that the build compiles and that are there, as they are seen from the working folder. Raises
    UsageError."""
    found = [Path(name) for name in _entries(file) if name.endswith(".c") and os.path.isfile(name)]
    if not found:
        raise UsageError("it names no C file that is there", str(file), _AGAIN)
    here = os.path.realpath(".")
    return [Path(os.path.relpath(path, here)) if path.is_relative_to(here) else path for path in found]


def defining(file: Path, function: str) -> tuple[Path, ...]:
    """The C files of the build that define a function, as their text shows. Raises UsageError if none does."""
    definition = re.compile(rf"\b{re.escape(function)}\s*\([^;{{}}]*\)\s*\{{")
    found = tuple(path for path in known_sources(file) if definition.search(path.read_text(errors="replace")))
    if not found:
        what = f"no C file of this build defines {userfile.shown(function)}, as far as their text shows"
        raise UsageError(what, str(file), "Correct the name, or name the file that does among the sources.")
    return found


def dropped_flags(file: Path, sources: Iterable[Path]) -> list[str]:
    """The flags of these sources that are not taken over, each once: they are for another machine, or change no
    meaning."""
    entries = _entries(file)
    found: dict[str, None] = {}
    for source in sources:
        entry = entries.get(os.path.realpath(source))
        if entry is not None:
            words = _words(entry, file)
            kept = set(_flags(words, _folder(entry, file)))
            found |= dict.fromkeys(_left_out(words[1:], kept))
    return list(found)


def _left_out(words: Sequence[str], kept: Set[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in ("-o", "-MF", "-MT", "-MQ", "-x", "-arch", "-target", "--param", "-Xclang"):
            value = next(rest, "")
            if word not in ("-o", "-MF", "-MT", "-MQ"):
                yield f"{word} {value}"
        elif word in _WITH_VALUE:
            next(rest, "")
        elif word.startswith("-") and word not in kept and not word.startswith((*_WITH_VALUE, "-c", "-M")):
            yield word


def _entries(file: Path) -> dict[str, Mapping[str, Any]]:
    """The first entry of each file it names, by its real name."""
    try:
        plain = json.loads(userfile.read(file, "this file", _MOST, "Check its name."))
    except json.JSONDecodeError as error:
        raise UsageError(f"this is not valid JSON: {error.msg}", f"{file}:{error.lineno}", _AGAIN) from None
    except (ValueError, RecursionError):
        raise UsageError("this is not valid JSON", str(file), _AGAIN) from None
    if not isinstance(plain, list) or not all(isinstance(entry, dict) for entry in plain):
        raise UsageError("this is no list of compile commands", str(file), _AGAIN)
    entries: dict[str, Mapping[str, Any]] = {}
    for entry in plain:
        entries.setdefault(os.path.realpath(_folder(entry, file) / _text(entry, "file", file)), entry)
    return entries


def _text(entry: Mapping[str, Any], key: str, file: Path) -> str:
    try:
        return _word(entry.get(key))
    except ValueError:
        raise UsageError(f"an entry has no text {key!r}: {json.dumps(entry)[:100]}", str(file), _AGAIN) from None


def _word(value: Any) -> str:
    """Raises ValueError if it is no word for a command."""
    if not isinstance(value, str):
        raise ValueError
    return userfile.text(value)


def _folder(entry: Mapping[str, Any], file: Path) -> Path:
    """Where the command is run: what relative names begin at."""
    return file.absolute().parent / _text(entry, "directory", file)


def _words(entry: Mapping[str, Any], file: Path) -> Sequence[str]:
    words = entry.get("arguments")
    try:
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            return [_word(word) for word in words]
        return shlex.split(_text(entry, "command", file))
    except ValueError as error:
        name = _text(entry, "file", file)
        raise UsageError(f"the command of {name} cannot be read: {error}", str(file), _AGAIN) from None


def _flags(words: Sequence[str], folder: Path) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        flag = next((flag for flag in _WITH_VALUE if word.startswith(flag)), "")
        if flag:
            value = word.removeprefix(flag) or next(rest, "")
            yield from (flag, _placed(flag, value, folder))
        elif word in _TYPES or word == "-ansi" or word.startswith(("-std=", "-fpack-struct=")):
            yield word


def _placed(flag: str, value: str, folder: Path) -> str:
    """`value`, if it is a path, seen from any folder. A file to include may also lie on the search path."""
    if flag in _MACRO or (flag in _FOLDER and value.startswith(("=", "$SYSROOT"))):
        return value
    place = folder / value
    return value if flag in _FILE and not place.is_file() else str(place)


def _is_harness(source: Path) -> bool:
    try:
        return bool(_HARNESS.search(source.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False  # its absence is reported where sources are read
