"""`score-embed export`: what it writes builds without score-embed's runtime and does what the campaign recorded."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from runner import BOARDS, score_embed

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT / "runtime" / "include"
SHIM = ROOT / "tests" / "support" / "unity_shim"
WARN = ("-Wall", "-Wextra", "-Werror")
CROSS = ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "--specs=rdimon.specs", "-Wl,--section-start=.vectors=0")
EMULATOR = ("qemu-system-arm", "-machine", "mps2-an385", "-nographic", "-semihosting", "-kernel")

# A program as a user may have it: state in a static, exit() in both files, every kind of end, output that is not text.
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "score.h"
#include "other.h"
static int calls;
int main(int argc, char **argv)
{
    short x;
    unsigned char b[3];
    SYM_SHORT(x);
    SYM_BYTES(b, sizeof b);
    SCORE_ASSUME(x != 77 || b[0] == 3);
    printf("%d args \"%s\" ü \x01 \xff*/\n", argc, argv[1] ? argv[1] : "?\\?/");
    if (calls++)
        return 99;
    if (x == -300)
        exit(7);
    if (x == 1000)
        leave(5);
    SCORE_ASSERT(x != 12);
    if (b[0] == 'h')
        for (;;)
            if (b[1] == 200)
                b[1] = 200;
    if (b[2] == 9)
        abort();
    return x > 0 ? 300 : -4;
}
"""
OTHER = '#include <stdlib.h>\n#include "other.h"\nvoid leave(int code) { exit(code); }\n'
ENTRY = """
#include <stdint.h>
typedef struct { int mode; uint16_t key[2]; } state;
static int helper(const state *s) { return s->key[1] == 513; }
static int check(const uint8_t *data, unsigned len, state *s, long long limit, const int16_t *words, int n, _Bool on)
{
    if (len < 2)
        return -1;
    if (data[0] == 0x55 && helper(s))
        return limit == -9223372036854775807 - 1 && s->mode == 4 && !on ? 100 / (s->mode - 4) : 1;
    return n == 2 && words[1] == -2 ? 70000 : 0;
}
int unused(void) { return check(0, 0, 0, 0, 0, 0, 0); }
"""


def build(*words: str | Path, cwd: Path) -> None:
    done = subprocess.run([str(w) for w in words], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def results(*words: str | Path, cwd: Path) -> dict[str, str]:
    """The verdict of each test."""
    command = [str(w) for w in words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    lines = [line.rpartition(":") for line in done.stdout.splitlines()]
    found = {name: verdict for name, _, verdict in lines if name.startswith("test_")}
    assert f"{len(found)} Tests " in done.stdout, done.stdout + done.stderr
    return found


def export(folder: Path, *words: str, code: int = 0) -> str:
    done = score_embed("export", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture(scope="module", params=BOARDS)
def campaign(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ex port")
    (folder / "the prog.c").write_text(MAIN, encoding="utf-8")
    (folder / "other.c").write_text(OTHER, encoding="utf-8")
    (folder / "other.h").write_text("void leave(int code);\n", encoding="utf-8")
    words = ("--board", request.param, "--out", "o", "--max-tests", "60", "--max-branches", "2000")
    done = score_embed("run", *words, "the prog.c", "other.c", cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr
    (folder / "sub").mkdir()
    return folder


def test_unity_on_this_machine(campaign: Path) -> None:
    export(campaign, "o", "--unity", "sub/test_prog.c", "--tests", "paths")
    text = (campaign / "sub" / "test_prog.c").read_bytes()
    assert text.isascii()
    flags = ("-I", PUBLIC, "-I", SHIM, "-DSCORE_SECONDS=2", "-funsigned-char")
    build("gcc", "-std=gnu99", *WARN, *flags, "sub/test_prog.c", "other.c", "-o", "tests", cwd=campaign)
    found = results("./tests", cwd=campaign)
    bugs = {name.rpartition("_bug_")[2] for name in found if "_bug_" in name}
    assert bugs == {"assertion", "hang", "abort"}
    for name, verdict in found.items():
        assert verdict == ("FAIL" if "_bug_" in name else "PASS"), name
    assert sum(verdict == "PASS" for verdict in found.values()) >= 4
    # The program changes: only then do other tests fail, and the mended bug's passes.
    source = campaign / "changed.c"
    source.write_text(MAIN.replace("exit(7)", "exit(8)").replace("abort()", "return 1"), encoding="utf-8")
    define = '-DSCORE_PROGRAM="../changed.c"'
    build("gcc", "-w", *flags, define, "sub/test_prog.c", "other.c", "-o", "changed", cwd=campaign)
    changed = results("./changed", cwd=campaign)
    differing = {name for name in found if found[name] != changed[name]}
    assert {name.rpartition("_bug_")[2] for name in differing if "_bug_" in name} == {"abort"}
    assert len([name for name in differing if "_bug_" not in name]) >= 1


def test_unity_on_a_board(campaign: Path) -> None:
    """Without processes: state is reset by SCORE_RESET, and tests that crash are left to the host."""
    export(campaign, "o", "--unity", "board.c", "--tests", "kept")
    text = (campaign / "board.c").read_text(encoding="utf-8")
    bugs = [line for line in text.splitlines() if "RUN_TEST" in line and "_bug_" in line]
    assert bugs
    (campaign / "normal.c").write_text("\n".join(line for line in text.splitlines() if line not in bugs) + "\n")
    vectors(campaign)
    flags = ("-w", "-I", PUBLIC, "-I", SHIM, "-DSCORE_RESET()=(calls=0)", "-Dleave=score_exit", "-funsigned-char")
    build(*CROSS, *flags, "normal.c", "vectors.c", "-o", "tests.elf", cwd=campaign)
    found = results(*EMULATOR, "tests.elf", cwd=campaign)
    assert len(found) >= 2
    assert set(found.values()) == {"PASS"}


def vectors(folder: Path) -> None:
    """All that a program for the emulated board needs besides newlib."""
    (folder / "vectors.c").write_text(
        'void _start(void);\n__attribute__((section(".vectors"), used)) const void *const vectors[2] = '
        "{(void *)0x400000, (void *)_start};\n"
    )


@pytest.mark.parametrize("board", BOARDS)
def test_unity_calls_an_entry_function(tmp_path: Path, board: str) -> None:
    (tmp_path / "p.c").write_text(ENTRY, encoding="utf-8")
    words = ("--board", board, "--entry", "check", "--out", "o", "--seed", "3", "p.c")
    assert score_embed("run", *words, cwd=tmp_path).returncode == 1
    export(tmp_path, "o", "--unity", "t.c", "--tests", "all")
    text = (tmp_path / "t.c").read_text(encoding="utf-8")
    for part in ("    return (int) check(data, len, s, limit,", "limit = -9223372036854775808,", "70000, "):
        assert part in text
    assert set(re.findall(r"_Bool on = (.*);", text)) <= {"0", "1"}
    build("gcc", *WARN, "-DSCORE_NO_FORK", "-O2", "-I", SHIM, "t.c", "-o", "tests", cwd=tmp_path)
    build("gcc", *WARN, "-std=c99", "-pedantic", "-I", SHIM, "t.c", "-o", "tests", cwd=tmp_path)
    found = results("./tests", cwd=tmp_path)
    assert len(found) > 5
    for name, verdict in found.items():
        assert verdict == ("FAIL" if name.endswith("_bug_division_by_zero") else "PASS"), name


def test_corpus(campaign: Path) -> None:
    export(campaign, "o", "--corpus", "c")
    files = list((campaign / "c").iterdir())
    assert all(len(file.read_bytes()) == 5 for file in files)
    export(campaign, "o", "--corpus", "c1", "--test", "1")
    assert [file.name.partition("-")[0] for file in (campaign / "c1").iterdir()] == ["000001"]
    export(campaign, "o", "--corpus", "all", "--tests", "all")
    assert {file.read_bytes() for file in files} <= {file.read_bytes() for file in (campaign / "all").iterdir()}
    assert len(list((campaign / "all").iterdir())) > len(files)  # also of tests that failed an assumption


def test_board_input(campaign: Path) -> None:
    export(campaign, "o", "--board-input", "in put.c")  # the first bug
    build("gcc", "-w", "-I", PUBLIC, "the prog.c", "other.c", "in put.c", "-o", "plain", cwd=campaign)
    assert subprocess.run([campaign / "plain"], timeout=60, check=False, capture_output=True).returncode not in (0, 1)
    export(campaign, "o", "--board-input", "first.c", "--test", "1")
    vectors(campaign)
    flags = ("-w", "-I", PUBLIC, "-funsigned-char")
    build(*CROSS, *flags, "the prog.c", "other.c", "first.c", "vectors.c", "-o", "board.elf", cwd=campaign)
    words = [*EMULATOR, str(campaign / "board.elf")]
    done = subprocess.run(words, capture_output=True, timeout=60, check=False)
    assert b" args " in done.stdout, done


def test_a_board_without_files(tmp_path: Path) -> None:
    """SCORE_NO_FILES needs nothing of a C library."""
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nint main(void) { short x; SYM_SHORT(x); SCORE_ASSUME(x); SCORE_ASSERT(x != 1); return x; }\n'
    )
    words = (
        "gcc",
        "-std=c99",
        "-pedantic",
        *WARN,
        "-DSCORE_NO_FILES",
        "-ffreestanding",
        "-I",
        str(PUBLIC),
        "-c",
        "p.c",
    )
    build(*words, cwd=tmp_path)
    symbols = subprocess.run(["nm", "-u", tmp_path / "p.o"], capture_output=True, text=True, timeout=60, check=True)
    assert {line.split()[-1] for line in symbols.stdout.splitlines()} <= {
        "score_input", "score_input_size", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_",
    }  # fmt: skip
    (tmp_path / "in.c").write_text(
        "const unsigned char score_input[] = {42, 0};\nconst __SIZE_TYPE__ score_input_size = 2;\n"
    )
    build("gcc", "p.o", "in.c", "-o", "p", cwd=tmp_path)
    assert subprocess.run([tmp_path / "p"], timeout=60, check=False).returncode == 42


def test_what_cannot_be_exported(campaign: Path, tmp_path: Path) -> None:
    assert "nothing to export" in export(campaign, "o", code=2)
    assert "no campaign" in export(tmp_path, ".", "--corpus", "c", code=2)
    assert "no test 4711" in export(campaign, "o", "--board-input", "x.c", "--test", "4711", code=2)
    assert "cannot make this folder" in export(campaign, "o", "--corpus", "other.c", code=74)
    assert "cannot write" in export(campaign, "o", "--unity", "none/x.c", code=74)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assert score_embed("run", "--out", "m", "examples/max3.c", cwd=tmp_path).returncode == 0
    assert "--test N" in export(tmp_path, "m", "--board-input", "x.c", code=2)
