"""A Makefile for a folder of exported tests: each file with the sources of the program beside the one that it includes.

The program's own flags are written as they were given; files of it that define main get another name for that.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

_SPECIAL = re.compile(r"([$#])")


def text(
    tests: Sequence[str], sources: Mapping[Path, Sequence[str]], included: Mapping[str, Path], folder: Path
) -> str:
    """`tests`: the files' names without their ending; `sources`: the program's C files and the flags of each; `included`: by
    test, the source that it includes; `folder`: where the Makefile will lie."""
    at = os.path.realpath(folder)
    here = os.path.relpath(os.getcwd(), at)
    objects = {path: f"program{number}.o" for number, path in enumerate(sources)}
    head = [
        "# make UNITY=FOLDER: build and run all tests; FOLDER has unity.c and unity.h.",
        "CC ?= cc",
        "UNITY ?= unity",
        f"TESTS = {' '.join(tests)}",
        f"SOURCES = {_word(here)}",
        "",
        "all: $(TESTS:=.run)",
        "%.run: %",
        "\t./$<",
        "unity.o: $(UNITY)/unity.c",
        "\t$(CC) -I$(UNITY) -c $< -o $@",
        "",
    ]
    for path, name in objects.items():
        file = _prerequisite(os.path.relpath(os.path.realpath(path), at))
        head += [
            f"{name}: {file}",
            f"\tcd $(SOURCES) && $(CC) {_words(sources[path])} -w -Dmain=score_other_main -c "
            f"{_word(str(path))} -o $(CURDIR)/$@",
            "",
        ]
    for test in tests:
        own = included[test]
        others = " ".join(name for path, name in objects.items() if path != own)
        head += [
            f"{test}: {test}.c unity.o {others}",
            f"\tcd $(SOURCES) && $(CC) -I$(UNITY) {_words(sources.get(own, ()))} -w $(CURDIR)/$< "
            f"$(CURDIR)/unity.o {' '.join(f'$(CURDIR)/{name}' for name in others.split())} -o $(CURDIR)/$@",
            "",
        ]
    return "\n".join([*head, "clean:", "\trm -f *.o $(TESTS)", ".PHONY: all clean", ""])


def _words(flags: Sequence[str]) -> str:
    return " ".join(map(_word, flags))


def _prerequisite(name: str) -> str:
    """A file's name for make alone."""
    return re.sub(r"([ #%:])", r"\\\1", name).replace("$", "$$")


def _word(word: str) -> str:
    """For make and for the shell."""
    return _SPECIAL.sub(lambda m: "$$" if m[1] == "$" else "\\#", shlex.quote(word))
