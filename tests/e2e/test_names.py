"""Nothing of the runtime collides with what a program calls its files, functions, variables, types or macros."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from runner import explore, score_embed

from score_embed.board.profile import known_boards, load_board
from score_embed.errors import UsageError
from score_embed.image.compiling import runtime_objects
from score_embed.image.toolchain import Toolchain

RUNTIME = Path(__file__).parents[2] / "runtime"
BOARDS = ("native", "mps2-an385", "riscv32-virt", "arduino-mega2560")
# All headers of ours but score.h: a program's own are found, wherever it has them.
HEADERS = sorted({path.stem for path in RUNTIME.rglob("*.h")} - {"score", "stdio", "ctype"})
FUNCTIONS = (
    "begin",
    "find",
    "next",
    "place",
    "step",
    "mark",
    "take",
    "report",
    "compare",
    "flush",
    "put",
    "say",
    "leave",
)
VARIABLES = (
    "sc",
    "line",
    "bits",
    "groups",
    "shadow",
    "input",
    "output",
    "fill",
    "pending",
    "heap_end",
    "out",
    "end",
    "__put_x",
)

MAIN = "\n".join(
    [
        *(f'#include "{name}.h"' for name in HEADERS),
        *(f"#include <{name}.h>" for name in HEADERS[:3]),
        '#include "score.h"',
        '#include "lib.h"',
        *(f"int {name}(int x) {{ return x + {n}; }}" for n, name in enumerate(FUNCTIONS)),
        *(f"int {name} = {n};" for n, name in enumerate(VARIABLES)),
        "int fork(void) { return 7; }",
        "int main(void)",
        "{",
        "    unsigned char sc_in;",
        "    SYM_UCHAR(sc_in);",
        f"    if (({' + '.join(f'HAVE_{name}' for name in HEADERS)}) != {len(HEADERS)}) return 1;",
        f"    if (({' + '.join(f'{name}(0)' for name in FUNCTIONS)}) != {sum(range(len(FUNCTIONS)))}) return 2;",
        f"    if (({' + '.join(VARIABLES)}) != {sum(range(len(VARIABLES)))}) return 3;",
        "    if (fork() != 7) return 4;",
        "    if (sc_main(sc_in) == 9) SCORE_ASSERT(sc_in == 77);",
        '    return sc_log("", 0);',
        "}",
    ]
)
LIB_H = """
#define SC_LO(x) ((x) & 15)
typedef unsigned char sc_u8;
typedef struct sc_frame { sc_u8 sc_any; int m; } sc_frame;
enum { SC_NONE = 3, SC_ROM = 4, SC_MEMORY };
int sc_main(int x);
int sc_log(const char *what, int n);
int sc_cond(int x);
extern int sc_any, sc_event;
"""
LIB = r"""
#include "lib.h"
int sc_any = 2;
int sc_log(const char *what, int n) { static int sc_count; (void)what; return sc_count += n; }
int sc_enter(sc_frame *sc_f, int sc_at) { sc_f->sc_any += (sc_u8)sc_at; return sc_f->sc_any > 'a' ? SC_NONE : SC_MEMORY; }
int sc_leave(sc_frame *f, int at) __attribute__((alias("sc_enter")));
static int (*const sc_table[2])(sc_frame *, int) = {sc_enter, sc_leave};
int sc_main(int x)
{
    sc_frame sc_a = {.sc_any = 1, .m = 2};
    sc_a.sc_any += x;
    if (SC_LO(x) + sc_event + sc_any == 12) return 9;
    return sc_table[1](&sc_a, 1) + sc_log("sc_log \" sc_x", 2) + SC_ROM + sc_cond(1);
}
"""
NATIVE = "int sc_event = 1;\nextern int sc_any;\nint sc_log(const char *, int);\nint sc_cond(int x) { return x + sc_any + sc_log(0, 1); }\n"


@pytest.mark.parametrize("board", BOARDS)
def test_a_program_may_call_its_things_as_the_runtime_does(board: str, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    for name in HEADERS:
        (tmp_path / "inc" / f"{name}.h").write_text(f"#define HAVE_{name} 1\n")
    (tmp_path / "inc" / "lib.h").write_text(LIB_H)
    (tmp_path / "native.c").write_text(NATIVE)
    sources = {"main.c": MAIN, "lib.c": LIB}
    found = explore(
        tmp_path, sources, "--board", board, "--native", "native.c", "--keep", cflags=(f"-I{tmp_path / 'inc'}",)
    )
    assert found.bug_kinds == ["assertion"]
    assert set(found.summary["bugs"][0]["inputs"]) == {"sc_in"}
    (bug,) = found.summary["bugs"]
    assert bug["inputs"]["sc_in"] & 15 == 9
    verdicts = [json.loads(path.read_text())["verdict"] for path in (found.folder / "tests").glob("*.json")]
    assert {"return", "assertion"} >= set(verdicts)
    said = score_embed("report", str(found.folder), cwd=tmp_path).stdout
    assert "sc_enter" in said
    assert "sc_own" not in said + (found.folder / "summary.json").read_text()


def test_a_function_of_such_a_name_can_be_the_entry(tmp_path: Path) -> None:
    (tmp_path / "lib.h").write_text(LIB_H)
    (tmp_path / "native.c").write_text(NATIVE)
    found = explore(tmp_path, {"lib.c": LIB}, "--entry", "sc_enter", "--native", "native.c")
    assert found.summary["paths"] == 2
    done = score_embed("export", str(found.folder), "--unity", "u.c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "u.c").read_text()
    assert "sc_own" not in text
    assert "sc_enter(sc_f, sc_at)" in text
    done = score_embed("run", "--entry", "sc_nothing", "lib.c", cwd=tmp_path)
    assert "no function 'sc_nothing'" in done.stderr


def test_a_programs_own_score_h_is_its_own(tmp_path: Path) -> None:
    """A game's, say; the harness then is in a folder that does not see it."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "score.h").write_text("static inline int points(int x) { return x > 3 ? 1 : 2; }\n")
    (tmp_path / "game.c").write_text('#include "score.h"\nint play(int x) { return points(x); }\n')
    done = score_embed("run", "--entry", "play", "game.c", "--json", "--", "-Iinc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["paths"] == 2


# Symbols without our prefix: what compilers, C libraries and processors look for under these names.
EXPECTED = (
    r"__wrap_\w+",  # --wrap of the linker
    r"\w+\.c\.[0-9a-f]{8}",  # of gcc -flto -r: the names of files
    r"main",  # a process begins there; the program's is called otherwise
    r"fork|vfork",  # a child would be a second target on the link
    r"_(sbrk|write|read|close|open|fstat|isatty|lseek|kill|getpid|exit|init|fini)|abort|exit",  # newlib's system calls
    r"sbrk|kill|getpid|stdin|stdout|stderr",  # picolibc's
    r"__assert(_func|_fail)?",
    r"__aeabi_[il]div0",  # libgcc's hooks
    r"__vectors|__vector_\d+|__bad_interrupt",  # of avr-gcc
    r"__clz[ds]i2|__usmulhisi3(_tail)?|toupper|tolower",  # QEMU's AVR goes astray in the library's (avr/library.S)
)


@pytest.mark.parametrize("name", sorted(known_boards()))
def test_every_symbol_of_the_runtime_has_its_prefix(name: str) -> None:
    board = load_board(known_boards()[name])
    try:
        objects = runtime_objects(Toolchain(board), verify=False, heap=True)
    except UsageError:
        pytest.skip(f"{board.cc} is not installed")
    command = [
        f"{board.cc}-nm",
        "-g",
        "--defined-only",
        *map(str, objects),
    ]  # it reads what gcc has not yet compiled, too
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    names = {line.split()[-1] for line in done.stdout.splitlines() if len(line.split()) == 3}
    assert len(names) > 100
    ours = re.compile(r"(sc|__score)_\w+")
    assert {name for name in names if not ours.fullmatch(name) and not re.fullmatch("|".join(EXPECTED), name)} == set()


def test_linker_scripts_define_what_is_ours_or_a_librarys() -> None:
    found = {
        name
        for script in RUNTIME.rglob("*.ld")
        for name in re.findall(r"(?:^|[\s(;])([A-Za-z_]\w*) = ", script.read_text())
    }
    librarys = re.compile(
        r"__(pre|fini_|both)?init_array_(start|end)|__fini_array_(start|end)|__exidx_(start|end)|__heap_(start|end)"
        r"|__do_\w+|__(start|stop)_sc_\w+|__\w*(tls|tdata|tbss|data|arm32)\w*|__global_pointer\$?"
    )
    ours = re.compile(r"(__)?sc_\w+|__put_\w+|[A-Z_]+")
    assert {name for name in found if not ours.fullmatch(name) and not librarys.fullmatch(name)} == set()


def test_the_entry_may_take_enums_without_a_name(tmp_path: Path) -> None:
    text = """
        typedef enum { RED, GREEN, BLUE } colour;
        int pick(const colour c, colour *p, const colour *list, int n)
        {
            if (c == GREEN) return 1;
            if (*p == BLUE) return 2;
            return n == 3 && list[2] == RED ? 3 : 4;
        }
    """
    found = explore(tmp_path, {"e.c": text}, "--entry", "pick")
    assert found.summary["coverage"] == {"branches_total": 8, "branches_covered": 8}


@pytest.mark.parametrize("name", ["red\x1b[31m.c", "é.c", "next\x85line.c", "two words.c", "tab\t.c"])
def test_any_characters_in_a_source_s_name(name: str, tmp_path: Path) -> None:
    """C has no `\\u001b` and no `\\u0085`: an error named a line of a file that nobody had written."""
    source = tmp_path / name
    source.write_text(
        "#include <score.h>\nint main(void) { unsigned char c; SYM_UCHAR(c); if (c == 7) return 1; return 0; }\n"
    )
    done = score_embed("run", "--no-witness", "--out", str(tmp_path / "out"), str(source), cwd=tmp_path)
    assert (done.returncode, "2 paths in 2 tests" in done.stdout) == (0, True), done.stdout + done.stderr
