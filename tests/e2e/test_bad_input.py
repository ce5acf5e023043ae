"""What a user can do wrong: one clear message (what, where, what to do), the right exit code, nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SYMBOLIC = '#include "score.h"\nint main(void) {{ unsigned char x; SYM_U8(x); {body} return 0; }}\n'
GOOD = SYMBOLIC.format(body="if (x > 7) return 1;")


def score_embed(
    *words: str, folder: Path, path: str | None = None, deadline: float = 120, **environ: str
) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("SCORE_EMBED_")} | environ
    if path is not None:
        env["PATH"] = path
    return subprocess.run(
        [sys.executable, "-m", "score_embed.cli.main", *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=deadline,
        check=False,
    )


def check(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    for word in words:
        assert word in done.stderr, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len([line for line in lines if "error:" in line]) == 1, done.stderr  # one message
    assert len(lines) >= 2 or code == 3, "a hint says what to do; at an error of the C it is plain"


def write(folder: Path, text: str, name: str = "p.c") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_syntax_error(tmp_path: Path) -> None:
    source = write(tmp_path, "int main(void)\n{\n    int x = ;\n}\n")
    check(score_embed("run", source, folder=tmp_path), 3, "p.c:3")
    assert not list(tmp_path.glob("score-out/*")), "nothing was built: nothing is left behind"


def test_an_error_is_where_the_user_wrote_it(tmp_path: Path) -> None:
    """Not where it is in what is printed of a function that could not be instrumented."""
    source = write(tmp_path, "/* one line */ int main(void) { int x = 1; return y; }\n")
    check(score_embed("run", source, folder=tmp_path), 3, "p.c:1:51: error: ", "y")
    source = write(tmp_path, "int main(void)\n{\n    int x = 1;\n\n    /* two\n     * lines */\n\n    return y;\n}\n")
    check(score_embed("run", source, folder=tmp_path), 3, "p.c:8:12: error: ", "y")


def test_a_file_given_twice(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    check(score_embed("run", source, f"./{source}", folder=tmp_path), 2, "p.c: error: this file is given twice")
    write(tmp_path, GOOD, "q.c")
    check(score_embed("run", source, "q.c", folder=tmp_path), 3, "`main' is defined twice")


def test_type_error_found_by_the_compiler(tmp_path: Path) -> None:
    check(
        score_embed("run", write(tmp_path, "int main(void)\n{\n    return y;\n}\n"), folder=tmp_path),
        3,
        "p.c:3",
    )


def test_missing_header(tmp_path: Path) -> None:
    source = write(tmp_path, '#include "no_such_header.h"\nint main(void) { return 0; }\n')
    check(score_embed("run", source, folder=tmp_path), 3, "p.c:1", "no_such_header.h", "-I")


def test_undefined_function(tmp_path: Path) -> None:
    source = write(tmp_path, "int f(void);\nint main(void) { return f(); }\n")
    check(score_embed("run", source, folder=tmp_path), 3, "undefined reference", "f")


@pytest.mark.parametrize(("size", "what"), [(4000, "there is no room for the program's stack"), (5600, "bytes")])
def test_a_program_that_is_too_large(size: int, what: str, tmp_path: Path) -> None:
    """By a little, the stack is where there is no more room; only the linker script of our own notices."""
    source = write(tmp_path, f"static char room[{size}];\nint main(int n, char **v) {{ return room[n]; }}\n")
    check(score_embed("run", "--board", "arduino-mega2560", source, folder=tmp_path), 3, "RAM is too small", what)


def test_missing_source(tmp_path: Path) -> None:
    check(score_embed("run", "nothing.c", folder=tmp_path), 2, "nothing.c")
    check(score_embed("run", folder=tmp_path), 2, "no source file")


def bare_path(folder: Path, *tools: str) -> str:
    """A PATH with only these tools (and what gcc itself calls)."""
    place = folder / "tools"
    place.mkdir()
    for tool in tools:
        found = shutil.which(tool)
        assert found
        (place / tool).symlink_to(found)
    return str(place)


def test_missing_compiler(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    done = score_embed("run", source, folder=tmp_path, path=bare_path(tmp_path, "ls"))
    check(done, 2, "'gcc'", "apt-get install gcc")


def test_another_compiler(tmp_path: Path) -> None:
    """clang says what it is; one is made of gcc here, which need not be installed."""
    compiler = tmp_path / "my-clang"
    compiler.write_text('#!/bin/sh\nexec gcc -D__clang__=1 "$@"\n')
    compiler.chmod(0o755)
    write(tmp_path, f"extends: native\ncompiler: {compiler}\n", "b.yaml")
    done = score_embed("run", "--board", "b.yaml", write(tmp_path, GOOD), folder=tmp_path)
    check(done, 3, "my-clang", "needs gcc", "`compiler`")


def test_missing_qemu(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    path = bare_path(tmp_path, "arm-none-eabi-gcc")
    done = score_embed("run", "--board", "mps2-an385", source, folder=tmp_path, path=path)
    check(done, 2, "'qemu-system-arm'", "apt-get install qemu-system-arm")


def test_unknown_board(tmp_path: Path) -> None:
    done = score_embed("run", "--board", "mps2-an358", write(tmp_path, GOOD), folder=tmp_path)
    check(done, 2, "mps2-an358", "'mps2-an38")


def test_unknown_keys(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    write(tmp_path, "compiler: gcc\nruntme: x86\n", "b.yaml")
    check(score_embed("run", "--board", "b.yaml", source, folder=tmp_path), 2, "b.yaml:2", "'runtime'")
    write(tmp_path, "sources: p.c\nbaord: native\n", "score-embed.yaml")
    check(score_embed("run", folder=tmp_path), 2, "score-embed.yaml:2", "'board'")


def test_unknown_option_and_command(tmp_path: Path) -> None:
    check(score_embed("run", "--bord", "native", write(tmp_path, GOOD), folder=tmp_path), 2, "--bord")
    check(score_embed("explore", folder=tmp_path), 2, "explore")
    check(score_embed("run", "p.c", folder=tmp_path, SCORE_EMBED_SED="1"), 2, "SCORE_EMBED_SEED")


def test_nothing_symbolic(tmp_path: Path) -> None:
    source = write(tmp_path, "int main(int argc, char **argv) { (void)argv; return argc > 3; }\n")
    check(score_embed("run", source, folder=tmp_path), 5, "no symbolic input", "SYM_INT")


def test_crash_before_the_first_symbolic_input(tmp_path: Path) -> None:
    body = "int *volatile p = 0; *p = 1;"
    source = write(
        tmp_path, f'#include "score.h"\nint main(void)\n{{\n {body}\n int x; SYM_INT(x); return x > 1;\n}}\n'
    )
    done = score_embed("run", "--json", source, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (bug,) = json.loads(done.stdout)["bugs"]
    assert (bug["kind"], Path(bug["file"]).name, bug["line"]) == ("null-dereference", "p.c", 4)
    assert bug["confirmed"]


@pytest.mark.parametrize("garbage", ["head -c 100000 /dev/urandom >&$2; exec sleep 60", "exit 3", "exec sleep 60"])
def test_a_target_that_is_none(garbage: str, tmp_path: Path) -> None:
    """The image of a campaign is replaced by something else: garbage, silence, a sudden end."""
    source = write(tmp_path, GOOD)
    assert score_embed("run", "--out", "o", source, folder=tmp_path).returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "o").glob("tests/*")}
    fake = f"#!/bin/bash\n{garbage}\n"
    image = (tmp_path / "o" / "image.elf").read_bytes()
    launcher = tmp_path / "launcher"
    launcher.write_text(fake, encoding="utf-8")
    launcher.chmod(0o755)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from score_embed.device import native\n"
        "from score_embed.cli.main import main\n"
        "start = native.NativeTarget.__init__\n"
        "def init(self, elf, *others, **named):\n"
        "    start(self, Path(sys.argv[1]), *others, **named | {'confined': False})\n"
        "native.NativeTarget.__init__ = init\n"
        "sys.exit(main(['replay', 'o']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(launcher)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    check(done, 4)
    assert (tmp_path / "o" / "image.elf").read_bytes() == image
    assert {path: path.read_bytes() for path in (tmp_path / "o").glob("tests/*")} == before


def test_another_programs_image_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    assert score_embed("run", "--out", "o", source, folder=tmp_path).returncode == 0
    shutil.copy("/bin/true", tmp_path / "o" / "image.elf")
    check(score_embed("replay", "o", folder=tmp_path), 74, "image.elf", "is not the one")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 KiB. Needs the right to mount."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)],
        capture_output=True,
        timeout=30,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("not allowed to mount a small disk here")
    yield place
    subprocess.run(["umount", "-l", str(place)], timeout=30, check=False)


MANY = SYMBOLIC.replace("unsigned char x; SYM_U8(x);", "unsigned char b[12]; SYM_BYTES(b, 12);").format(
    body="int n = 0; for (int i = 0; i < 12; i++) if (b[i] == 'a' + i) n++;"
)


def test_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """The campaign stops with 74; with room again it goes on and ends as if nothing had happened."""
    source = write(tmp_path, MANY)
    plain = score_embed("run", "--json", "--out", "whole", source, folder=tmp_path)
    assert plain.returncode == 0, plain.stderr
    out = small_disk / "o"
    image = sum(path.stat().st_size for path in (tmp_path / "whole").glob("*.elf"))  # the second witness's, too
    subprocess.run(["mount", "-o", f"remount,size={image + 300_000}", small_disk], check=True, timeout=30)
    check(score_embed("run", "--out", str(out), source, folder=tmp_path), 74, "full", "--resume")
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True, timeout=30)
    resumed = score_embed("run", "--json", "--resume", str(out), folder=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["paths"] == json.loads(plain.stdout)["paths"]
    assert json.loads(resumed.stdout)["stopped"] == "exhausted"


def test_unwritable_folder(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    locked = tmp_path / "locked"
    locked.mkdir()
    if os.geteuid() == 0:  # permissions do not stop root: a read-only file system does
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(locked)],
            capture_output=True,
            timeout=30,
            check=False,
        )
        if mounted.returncode:
            pytest.skip("not allowed to mount here")
    else:
        locked.chmod(0o555)
    try:
        check(score_embed("run", "--out", str(locked / "o"), source, folder=tmp_path), 74, str(locked), "--out")
        (tmp_path / "file").write_text("", encoding="utf-8")
        check(score_embed("run", "--out", "file", source, folder=tmp_path), 2, "file")
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", "-l", str(locked)], timeout=30, check=False)


def test_wrong_first_test(tmp_path: Path) -> None:
    source = write(tmp_path, GOOD)
    write(tmp_path, '{"inputs": {"y": 1}}', "first.json")
    check(score_embed("run", "--first", "first.json", source, folder=tmp_path), 2, "'y'", "x")
    check(score_embed("run", "--first", "none.json", source, folder=tmp_path), 2, "none.json")


def test_replay_of_nothing(tmp_path: Path) -> None:
    check(score_embed("replay", "nowhere", folder=tmp_path), 2, "nowhere")
    assert score_embed("run", "--out", "o", write(tmp_path, GOOD), folder=tmp_path).returncode == 0
    check(score_embed("replay", "o", "999", folder=tmp_path), 2, "999")
    check(score_embed("replay", "o", "first", folder=tmp_path), 2, "'first'")
    check(score_embed("run", "--out", "o", "p.c", folder=tmp_path), 2, "--resume")


def test_resume_takes_no_other_program(tmp_path: Path) -> None:
    assert score_embed("run", "--out", "o", write(tmp_path, GOOD), folder=tmp_path).returncode == 0
    check(score_embed("run", "--resume", "o", "--seed", "3", folder=tmp_path), 2, "seed")
    check(score_embed("run", "--resume", "nowhere", folder=tmp_path), 2, "nowhere")


def test_all_errors_of_all_files_with_their_notes(tmp_path: Path) -> None:
    """In gcc's words, also of what our parser met first; a file that is only linked with them, too."""
    syntax = write(tmp_path, "int g(void) { return 1 }\nint h( { return 2; }\n", "s.c")
    types = write(tmp_path, "int f(int);\nint f(long x) { return y; }\nint k(void) { return zz; }\n", "t.c")
    native = write(tmp_path, "int n(void) { return nn; }\n", "n.c")
    done = score_embed("run", write(tmp_path, GOOD), syntax, types, "--native", native, folder=tmp_path)
    assert done.returncode == 3
    places = [line.split(": error: ")[0] for line in done.stderr.splitlines() if ": error: " in line]
    assert [place.rpartition(":")[0] for place in places] == ["s.c:1", "s.c:2", "t.c:2", "t.c:2", "t.c:3", "n.c:1"]
    assert "\n  t.c:1:5: note: previous declaration" in done.stderr


def test_what_only_our_parser_refuses_is_said_beside_the_compilers_errors(tmp_path: Path) -> None:
    nested = write(tmp_path, SYMBOLIC.format(body="int f(void) { return x; } return f();"))
    bad = write(tmp_path, "int g(void) { return y; }\n", "q.c")
    done = score_embed("run", nested, bad, folder=tmp_path)
    assert done.returncode == 3
    assert "p.c:2:" in done.stderr
    assert "nested functions" in done.stderr
    assert "q.c:1:" in done.stderr
