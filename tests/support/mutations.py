"""Bad input by the number: real C sources, YAML files and command lines, each changed as its seed says."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = tuple(sorted((ROOT / "tests" / "programs").glob("*.c")))
SETTINGS = tuple(sorted([*(ROOT / "boards").rglob("*.yaml"), *(ROOT / "simulators").glob("*.yaml")]))
_MOST = 300_000  # characters of what comes out: longer ones only take longer
MOST_BYTES = 60_000  # of a source that is mutated: others take long only because they are long

_C_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|[\d.][\w.]*|\n|[ \t]+|.', re.S)
_YAML_TOKEN = re.compile(r"[A-Za-z_][\w-]*|\d[\w.]*|\n|[ ]+|.", re.S)
_C_ODD = (
    *(
        "0",
        "-1",
        "9" * 30,
        "9" * 5000,
        "1e999999999",
        "0x1p-99999999f",
        "'\\xfffffffff'",
        '"',
        "'",
        "/*",
        "*/",
        "//",
        "\\\n",
    ),
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        "?",
        ":",
        "...",
        "#",
        "##",
        "\x00",
        "\xff",
        "\u00e9",
        "\ufeff",
        "\x1b[31m",
    ),
    *(
        "sizeof",
        "typeof(",
        "__attribute__((",
        "_Generic(",
        "({",
        "})",
        "goto *",
        "&&",
        "struct",
        "union",
        "enum {",
        "case",
    ),
    *(
        "static",
        "extern",
        "typedef",
        "register",
        "volatile",
        "_Atomic",
        "__int128",
        "double",
        "long long",
        "_Bool",
        "void",
    ),
    *(
        "asm volatile(",
        "return",
        "while (1)",
        "for (;;)",
        "__builtin_va_arg(",
        "__builtin_choose_expr(",
        "<<",
        ">>",
        "%",
    ),
    *(
        "#include __FILE__\n",
        '#include "/dev/null"\n',
        "\n#if 1\n",
        "\n#endif\n",
        '\n#line 7 "\x1b.c"\n',
        "\n#define int long\n",
    ),
    *(
        "SYM_INT(",
        "SYM_BYTES(",
        "main",
        "[1 << 30]",
        "[-1]",
        ": 3",
        "__label__ x;",
        '_Static_assert(0, "");',
        "'ab'",
        'L""',
    ),
)
_YAML_ODD = (
    *(
        "&a",
        "*a",
        "<<:",
        "!!int",
        "!!python/object:os.system",
        "? ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "|",
        ">",
        "%YAML 9.9",
        "---",
    ),
    *(
        "0x",
        "0x_",
        "1_",
        "9" * 50,
        "9" * 5000,
        "1e400",
        ".nan",
        ".inf",
        "-1",
        "~",
        "null",
        "yes",
        "2020-99-99",
        "1:2:3",
        "010",
    ),
    *('"\\0"', '"\\ud800"', '"\\U00110000"', "\x00", "\x07", "\t", "\ufeff", "\u2028", "'", '"', "#", "@", "`", "\r"),
    *(
        "native",
        "run: serial",
        "run: qemu",
        "extends: native",
        "compiler: /bin/true",
        "memory: {ram: {at: 0, size: 0}}",
    ),
    *(
        "board",
        "sources: p.c",
        "devices:",
        "port: /dev/null",
        "x" * 3000,
        "/" * 300,
        "../" * 50,
        "**/*",
        "a\nb: c",
        "4096 K",
    ),
)
_ODD_WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "2",
        "9" * 20,
        "9" * 5000,
        str(2**64),
        "0x",
        "nan",
        "inf",
        "1e400",
        "-0.0",
        "1,2",
        ",",
    ),
    *(
        "x" * 300,
        "x" * 5000,
        "a/" * 3000,
        "\udcff",
        "\udcff\udcfe.c",
        "a\nb",
        "\x1b[31m",
        "\u202e",
        "%s",
        "*",
        "[",
        "(" * 2000,
        "~",
    ),
    *(
        "fifo",
        "folder",
        "loop",
        "file",
        "nothing",
        "/dev/zero",
        "/dev/null",
        "/dev/full",
        "/proc/self/mem",
        "/",
        ".",
        "..",
        "p.c",
    ),
    *(
        "bad.yaml",
        "bomb.yaml",
        "native",
        "tcp://127.0.0.1:1",
        "socket://127.0.0.1:1",
        "dfs",
        "all",
        "f",
        "first.json",
        "0.001s",
    ),
)
_OPTIONS = (
    *(
        "--board",
        "--run",
        "--port",
        "--out",
        "--resume",
        "--first",
        "--time",
        "--max-tests",
        "--until-bug",
        "--clients",
    ),
    *(
        "--max-branches",
        "--strategy",
        "--max-depth",
        "--loop-bound",
        "--fork-values",
        "--fork-arguments",
        "--seed",
        "--entry",
    ),
    *(
        "--assume",
        "--globals",
        "--hints",
        "--nulls",
        "--argv",
        "--stdin-bytes",
        "--native",
        "--instrument",
        "--compile-commands",
        "--check",
        "--no-witness",
        "--verify",
    ),
    *("--json", "--test", "--tests", "--corpus", "--csv", "--unity", "--board-input", "--file"),
    *("--html", "--lcov", "--gcovr", "--junit", "--sarif"),
    *("--server", "--keys", "--where", "--client", "--no-such", "-x", "--help"),
)
# Those that would wait for others, or work for long, get a word that nobody knows.
_ENDLESS = ("server", "client", "simulate", "experiment", "doctor")
_COMMANDS = ("run", "run", "run", "new", "report", "export", "replay", "boards", "lab", "fleet", "keys", *_ENDLESS)


def mutated_c(seed: int, more: Sequence[Path] = ()) -> tuple[str, Path]:
    """A source, and the file that it was; `more`: further files to choose from."""
    choose = random.Random(f"c {seed}")
    path = choose.choice(more if more and choose.random() < 0.4 else PROGRAMS)  # whole programs run, too
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return _mutated(text, _C_TOKEN, _C_ODD, choose), path


def mutated_yaml(seed: int) -> str:
    choose = random.Random(f"yaml {seed}")
    text = choose.choice(SETTINGS).read_text(encoding="utf-8")
    return _mutated(text, _YAML_TOKEN, _YAML_ODD, choose)


def _mutated(text: str, token: re.Pattern[str], odd: Sequence[str], choose: random.Random) -> str:
    tokens = token.findall(text)
    for _ in range(choose.choice((1, 1, 1, 2, 3, 5, 30))):
        at = choose.randrange(len(tokens) + 1)
        other = choose.randrange(len(tokens) + 1)
        match choose.randrange(18):
            case 0 | 1:
                tokens.insert(at, choose.choice(odd))
            case 2:
                tokens[at : at + choose.choice((1, 1, 3, 40))] = []
            case 3:
                tokens[at : at + 1] = [choose.choice(odd)]
            case 4:
                tokens[at:at] = tokens[other : other + choose.choice((1, 5, 30))]
            case 5:
                tokens[at : at + 1] = tokens[other : other + 1]
            case 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17:  # by another of its kind: the more so it may mean something
                alike = [token for token in tokens if at < len(tokens) and _kind(token) == _kind(tokens[at])]
                tokens[at : at + 1] = choose.choices(alike) if alike else []
            case 6:
                tokens[at:at] = [choose.choice(odd)] * choose.choice((2, 10, 300, 3000))
            case 7:
                tokens[at:at] = tokens[at : at + choose.choice((1, 2, 6))] * choose.choice((2, 50, 400))
            case _:
                del tokens[at if choose.random() < 0.1 else len(tokens) :]
        tokens = tokens or [""]
    return "".join(tokens)[:_MOST]


def _kind(token: str) -> str:
    first = token[:1]
    return (
        "word"
        if first.isalpha() or first == "_"
        else "number"
        if first.isdigit()
        else "blank"
        if first.isspace()
        else ""
    )


def command_line(seed: int) -> list[str]:
    choose = random.Random(f"words {seed}")
    command = choose.choice(_COMMANDS)
    words = [command] if choose.random() < 0.95 else []
    for _ in range(choose.choice((0, 1, 1, 2, 4))):
        words.append(choose.choice(_OPTIONS))
        if choose.random() < 0.8:
            words.append(choose.choice(_ODD_WORDS))
    words += choose.choices(_ODD_WORDS, k=choose.choice((0, 0, 1, 2)))
    if choose.random() < 0.6:
        words.append("p.c" if command == "run" else "out")
    if choose.random() < 0.1:
        choose.shuffle(words)
    if any(word in _ENDLESS for word in words):
        words.append("--no-such")
    if "run" in words:
        words += ["--time", "2", "--max-tests", "3"]
    if choose.random() < 0.1:
        words += ["--", choose.choice(_ODD_WORDS)]
    return words
