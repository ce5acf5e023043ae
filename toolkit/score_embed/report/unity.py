"""Tests of a campaign as a C file of regression tests for Unity, which builds without score-embed, and a Makefile for
such files.

The file includes the source that defines `main` (or the function of `--entry`), so that static functions and the file's
own types are within reach and the program's main does not clash with that of the tests. The Makefile builds each file
with the sources of the program beside the one that it includes. The program's own flags are written as they were given;
files of it that define main get another name for that.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from score_embed.contract.entry import Array, Entry
from score_embed.contract.program import REPLACED
from score_embed.errors import UsageError
from score_embed.report import ctext, text
from score_embed.report.findings import Findings
from score_embed.report.inputs import data_of
from score_embed.results.test_rows import TestRow

_DRIVER = "unity_driver.c"
_NORMAL = frozenset({"return", "exit"})
# Also what only checks see: a build without probes goes on.
_NO_TEST = frozenset(
    {"assumption", "watchdog", "device-wait", "lost", "out-of-bounds", "overflow", "shift-range", "unreachable"}
    | {"use-after-free", "double-free", "invalid-free", "heap-corruption", "reset", "lock-up", "corrupted"}
)
_MOST_COMMENT = 200
_INCLUDE = re.compile(r'#include "([^"]*)"')
_BYTES = """static void __score_bytes(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    volatile unsigned char *to = (volatile unsigned char *)object;
    (void)name;
    while (size--) *to++ = __score_next();
}
"""
# What a harness calls, each where it does. Numbers of the input have the low byte first.
_INPUTS = {
    "__score_bytes": _BYTES,
    "__score_text": _BYTES.replace("__score_bytes", "__score_text"),
    "__score_symbolic": """static void __score_symbolic(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    static const unsigned short one = 1;
    volatile unsigned char *to = (volatile unsigned char *)object;
    __SIZE_TYPE__ i;
    (void)name;
    for (i = 0; i < size; i++) to[*(const unsigned char *)&one ? i : size - 1 - i] = __score_next();
}
""",
    "__score_boolean": """static void __score_boolean(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    (void)name;
    (void)size; /* of a _Bool, or of a byte */
    *(volatile unsigned char *)object = (unsigned char)(__score_next() & 1);
}
""",
    "__score_sized": """static void __score_sized(const volatile void *object, const __SIZE_TYPE__ *bytes)
{
    (void)object;
    (void)bytes;
}
""",
}
_SPECIAL = re.compile(r"([$#])")


def document(found: Findings, tests: Iterable[TestRow], path: Path) -> str:
    """The C text; `path`: where it will lie."""
    entry, harness = found.program.entry, None
    if entry is not None and entry.harness:
        entry, harness = None, entry
    elif entry is not None:
        ctext.require_entry(entry, found.folder)
    rows = [test for test in tests if test.verdict not in _NO_TEST and test.number not in found.witnessed]
    usable = [test for test in rows if entry is None or _has_arguments(test, entry)]
    names = {test.number: _name(found, test) for test in usable}
    parts = [
        _head(found, path, entry or harness, len(rows) - len(usable)),
        resources.files(__package__).joinpath(_DRIVER).read_text(encoding="utf-8").lstrip(),
        _stubs(found, path),
        "" if entry else _call_of_main(found) if harness is None else _call_of_harness(harness),
        *(_test(test, names[test.number], entry, found.arrays) for test in usable),
        _runner(names.values()),
    ]
    return "\n".join(part for part in parts if part)


def _has_arguments(test: TestRow, entry: Entry) -> bool:
    """A run that went elsewhere than predicted sends no names: its input is not known by argument."""
    return all(argument.name in test.inputs for argument in entry.arguments)


def _name(found: Findings, test: TestRow) -> str:
    kind = "" if test.verdict in _NORMAL else f"_bug_{ctext.identifier(test.verdict)}"
    return f"test_{ctext.identifier(found.program.name)}_{test.number:06d}{kind}"


def _head(found: Findings, path: Path, entry: Entry | None, left_out: int) -> str:
    sources = [found.absolute(source) for source in found.program.sources]
    included = found.absolute(entry.file) if entry else _main_file(found, sources)
    folder = os.path.realpath(path.parent)
    others = "".join(f" {_beside(source, folder)}" for source in sources if source != included)
    made_by = found.versions.get("score-embed", "")
    lines = [
        f"Regression tests of {found.program.name}, made by score-embed {made_by} from what it",
        f"ran on the board {found.program.board}. They need Unity, and the sources of the program as they are built otherwise:",
        "",
        f"    cc -I UNITY {path.name}{others} UNITY/unity.c -o tests && ./tests",
        "",
        "and the -I, -D … of the program, -I for score.h if it includes that. Do not name the source that is included below.",
        "A test runs the program with a recorded input and expects what it did then: the value it returned or gave to",
        "exit(), and, where tests run in processes of their own, the first line that it printed. A test called _bug_ has an",
        "input with which the program crashed, failed an assertion or did not end: it passes when the program ends by itself.",
        "With SCORE_NO_MAIN the file has no main: for a runner that finds the tests by their names.",
    ]
    if left_out:
        lines.append(f"{left_out} tests are left out, because the arguments of their runs were not recorded.")
    shown = "\n".join(f" * {ctext.comment(line.replace('…', '...'))}".rstrip() for line in lines)
    return f"""/*{shown[2:]} */
#ifndef SCORE_PROGRAM
#define SCORE_PROGRAM {ctext.included(_beside(included, folder))}
#endif
void score_exit(int status) __attribute__((noreturn));
void __score_assume_fail(void) __attribute__((noreturn));
void __score_assert_fail(const char *condition, const char *file, int line) __attribute__((noreturn));
unsigned char __score_next(void);

/* The program, with its main and its exit() under other names. */
#define SCORE_DRIVER
#define main score_program
#define exit score_exit
#include SCORE_PROGRAM
#undef main
#undef exit
"""


def _beside(source: Path, folder: str) -> str:
    """How a file in `folder` names a source."""
    return os.path.relpath(os.path.realpath(source), folder)


def _main_file(found: Findings, sources: list[Path]) -> Path:
    at = found.sources.definition("main")
    file = found.absolute(at.file) if at and not found.is_generated(at.file) else None
    return file if file in sources else sources[0]


def _call_of_harness(entry: Entry) -> str:
    """The harness's main, which makes the arguments of the input: it stands behind the functions that it calls."""
    main = f"#define main score_harness\n{entry.harness}#undef main\n"
    return f"{main}\nstatic int score_call(void)\n{{\n    return score_harness();\n}}\n"


def _stubs(found: Findings, path: Path) -> str:
    """What takes input in the program's place: what stood in for functions, and what that and the harness call."""
    entry, stubs = found.program.entry, found.program.stubs
    harness = entry.harness if entry is not None else ""
    called = "\n".join(text for name, text in _INPUTS.items() if f"{name}(" in harness + stubs)
    if REPLACED in stubs:
        hint = "Write the test by hand: the input is in the .json file. Or leave the function out of the sources."
        raise UsageError("a test cannot replace a function that is defined (--stub)", str(found.folder), hint)
    inputs = f"\n#ifndef SCORE_H /* the program does not include it */\n{called}#endif\n" if called else ""
    if not stubs:
        return inputs
    folder = os.path.realpath(path.parent)
    lines = "\n".join(_included(found, line, folder) for line in stubs.split("\n"))
    return f"{inputs}\n#define exit score_exit\n{lines}\n#undef exit\n"


def _included(found: Findings, line: str, folder: str) -> str:
    """A line of the stubs; the header that it names as the test's file sees it."""
    named = _INCLUDE.fullmatch(line)
    return f"#include {ctext.included(_beside(found.absolute(named[1]), folder))}" if named else line


def _call_of_main(found: Findings) -> str:
    if not found.sources.main_parameters:
        return "static int score_call(void)\n{\n    return score_program();\n}\n"
    return (
        "static int score_call(void)\n{\n"
        '    static char name[] = "program";\n    static char *arguments[] = {name, 0};\n'
        "    return score_program(1, arguments);\n}\n"
    )


def _test(test: TestRow, name: str, entry: Entry | None, arrays: Sequence[Array]) -> str:
    call = "score_call"
    lines: list[str] = []
    shown = ctext.comment(text.inputs(test.inputs, arrays))
    lines.append(f"/* {shown if len(shown) <= _MOST_COMMENT else shown[:_MOST_COMMENT] + ' ...'} */")
    if entry:
        call = f"call_{test.number:06d}"
        lines += _call_of_entry(test, call, entry)
    lines += [f"void {name}(void);", f"void {name}(void)", "{"]
    if not entry:
        lines.append(f"    static const unsigned char input[] = {ctext.array(test.input, '    ')};")
        lines += ["    score_data = input;", f"    score_size = {len(test.input)};"]
    if test.verdict in _NORMAL:
        lines.append(f"    score_expect({call}, {test.code}, {ctext.string(_printed(test))});")
    else:
        where = f" at {test.place}" if test.place else ""
        lines.append(f"    score_expect_end({call}); /* was: {ctext.comment(test.verdict + where)} */")
    return "\n".join([*lines, "}", ""])


def _call_of_entry(test: TestRow, call: str, entry: Entry) -> Iterator[str]:
    yield f"static int {call}(void)\n{{"
    copies: list[str] = []
    for argument in entry.arguments:
        name, declaration, value = argument.name, argument.declaration, test.inputs[argument.name]
        if isinstance(value, float):
            yield f"    {declaration} = {value.hex()};"
        elif isinstance(value, int):
            yield f"    {declaration} = {ctext.number(value)};"
        elif argument.kind == "bytes":
            yield f"    {declaration} = {ctext.array(data_of(test, argument.name), '    ')};"
        else:
            yield f"    {declaration};"
            yield f"    static const unsigned char score_{name}[] = {ctext.array(data_of(test, argument.name), '    ')};"
            copies.append(
                f"    memcpy(&{name}, score_{name}, sizeof {name} < sizeof score_{name} ? sizeof {name} : sizeof score_{name});"
            )
    yield from copies
    called = f"{entry.name}({', '.join(argument.passed for argument in entry.arguments)})"
    yield f"    return (int){called};\n}}" if entry.returns else f"    {called};\n    return 0;\n}}"


def _printed(test: TestRow) -> str:
    """The beginning of the first line, as far as it is kept without loss."""
    return test.output.partition("\\")[0].partition("\0")[0]


def _runner(names: Iterable[str]) -> str:
    runs = "".join(f"    RUN_TEST({name});\n" for name in names)
    return f"#ifndef SCORE_NO_MAIN\nint main(void)\n{{\n    UNITY_BEGIN();\n{runs}    return UNITY_END();\n}}\n#endif\n"


def makefile(
    tests: Sequence[str], sources: Mapping[Path, Sequence[str]], included: Mapping[str, Path], folder: Path
) -> str:
    """`tests`: the files' names without their ending; `sources`: the program's C files and the flags of each;
    `included`: by test, the source that it includes; `folder`: where the Makefile will lie."""
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
