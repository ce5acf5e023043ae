"""The commands of README.md and docs/tutorial.md work as printed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHORT = "2s"  # instead of the tutorial's twenty seconds
MAY_FIND_BUGS = "examples/checksum.c"
CACHE = "~/.cache"
FETCHED = f"{CACHE}/score-embed/parsers"  # the lines that use it have tests of their own


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        line.removeprefix("$ ")
        for language, block in BLOCK.findall(text)
        if not language
        for line in block.splitlines()
    ]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a user sees: the examples, the runtime's headers, and `score-embed` on the path."""
    for name in ("examples", "runtime"):
        shutil.copytree(ROOT / name, tmp_path / name)
    tools = tmp_path / "bin"
    tools.mkdir()
    launcher = tools / "score-embed"
    launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m score_embed.cli.main "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    return tmp_path


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def test_tutorial(checkout: Path) -> None:
    lines = [line for line in commands("docs/tutorial.md") if not line.startswith(("tools/setup.sh", ". .venv/"))]
    lines = [line for line in lines if FETCHED not in line]
    assert len(lines) >= 9
    for line in lines:
        done = run(line.replace("20s", SHORT), checkout)
        expected = 0
        if "score-embed run" in line and MAY_FIND_BUGS in line:
            expected = 1
        elif "./checksum" in line:
            expected = -signal.SIGFPE
        assert done.returncode == expected, f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr


def parser_examples() -> list[tuple[str, str]]:
    """Each command of the tutorial on fetched parsers, with the output printed below it."""
    blocks = BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    return [
        (command.strip(), output)
        for (language, command), (next_language, output) in pairwise(blocks)
        if not language and next_language == "text" and FETCHED in command
    ]


def test_every_parser_of_the_tutorial_has_its_output() -> None:
    assert len(parser_examples()) == len([line for line in commands("docs/tutorial.md") if FETCHED in line]) == 4


@pytest.mark.parametrize(("line", "output"), parser_examples())
def test_parsers_of_the_tutorial(line: str, output: str, checkout: Path) -> None:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(CACHE)
    if not Path(FETCHED.replace(CACHE, cache)).is_dir():
        pytest.skip("no parsers: tools/fetch-parsers.sh needs a Debian mirror")
    done = run(line.replace(CACHE, cache), checkout)
    assert done.returncode == 1, done.stdout + done.stderr
    place, _, _ = output.replace(CACHE, cache).partition(" = ")  # another input may show the same bug
    assert f"\n{place} = " in done.stdout


def test_the_corrected_program_has_no_bug(checkout: Path) -> None:
    source = checkout / MAY_FIND_BUGS
    text = source.read_text(encoding="utf-8")
    fixed = text.replace(
        "    return (int)average", "    if (count == skipped)\n        return -4;\n    return (int)average"
    )
    assert fixed != text
    source.write_text(fixed, encoding="utf-8")
    done = run(f"score-embed run {MAY_FIND_BUGS}", checkout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_bug_of_the_readme(checkout: Path) -> None:
    """The program, the command and what it says, as printed; the seconds are what they are."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (name, program), *_ = re.findall(r"^```c\n(?=/\* (\w+\.c))(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (checkout / name).write_text(program, encoding="utf-8")
    (line,) = [line for line in commands("README.md") if line.endswith(f" {name}")]
    (output,) = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    done = run(line, checkout)
    assert done.returncode == 1, done.stdout + done.stderr
    said = re.sub(r"after [\d.]+ s", "after 0.2 s", done.stdout)
    assert all(f"{printed}\n" in said for printed in output.splitlines())


def test_readme_commands_exist() -> None:
    for line in commands("README.md"):
        word = line.split()[0]
        assert word == "score-embed" or os.access(ROOT / word, os.X_OK), line


def test_the_project_file_of_the_tutorial(checkout: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (yaml,) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (checkout / "score-embed.yaml").write_text(yaml.replace("5m", SHORT), encoding="utf-8")
    (checkout / "include").mkdir()
    (checkout / "include" / "limit.h").write_text("#define LIMIT 7\n", encoding="utf-8")
    (checkout / "parser.c").write_text('#include "limit.h"\nint parse(int x) { return x > LIMIT; }\n', encoding="utf-8")
    (checkout / "harness.c").write_text(
        '#include "score.h"\nint parse(int x);\nint main(void) { int x; SYM_INT(x); if (parse(x)) return 1; return 0; }\n',
        encoding="utf-8",
    )
    done = run("score-embed run", checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mps2-an385" in done.stdout
