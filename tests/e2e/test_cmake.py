"""Campaigns as tests of CTest: integrations/cmake/score_embed.cmake with the real cmake and ctest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
DEADLINE = 300

# What a target has from others, files that the build makes, a definition that a shell would not leave alone.
CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(p C)
add_library(base INTERFACE)
target_include_directories(base INTERFACE "base include")
target_compile_definitions(base INTERFACE BASE=7 "TEXT=\\"a b $c\\"")
add_custom_command(OUTPUT made.h made.c
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/made.h.in made.h
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/made.c.in made.c
    DEPENDS made.h.in made.c.in)
add_library(lib sub.c made.c made.h)
target_link_libraries(lib PUBLIC base)
target_include_directories(lib PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
set_target_properties(lib PROPERTIES C_STANDARD 11)
enable_testing()
include(${MODULE})
score_embed_add_test(NAME whole TARGET lib SOURCES main.c TIME 20s LABELS mine)
score_embed_add_test(NAME part TARGET lib ENTRY sub TIME 1m OPTIONS --max-tests 50 BOARD native native32)
"""
FILES = {
    "CMakeLists.txt": CMAKE,
    "base include/base.h": "int sub(int x);\nint made(int x);\n",
    "made.h.in": "#define MADE 3\n",
    "made.c.in": "int made(int x) { return x > MADE_LIMIT; }\n",
    "sub.c": """
#include "base.h"
#include "made.h"
_Static_assert(sizeof TEXT == 7, "a b $c");
_Static_assert(__STDC_VERSION__ == 201112L, "C11");
int sub(int x) { return x == BASE + MADE ? DIVIDEND / (x - 10) : made(x); }
""",
    "main.c": """
#include "base.h"
#include "score.h"
int main(void) { int x; SYM_INT(x); return sub(x); }
""",
}


def run(*words: str, cwd: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path or found}
    return subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def configure(folder: Path, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    module = f"-DMODULE={INTEGRATIONS / 'cmake' / 'score_embed.cmake'}"
    return run("cmake", "-S", ".", "-B", "build", module, *words, cwd=folder, path=path)


def test_all_that_the_target_has_is_taken(project: Path) -> None:
    made = project / "made.c.in"
    made.write_text(made.read_text().replace("MADE_LIMIT", "3"))
    (project / "sub.c").write_text(FILES["sub.c"].replace("DIVIDEND / (x - 10)", "BASE"))
    done = configure(project)
    assert done.returncode == 0, done.stderr
    listed = run("ctest", "-N", "-L", "^mine$", cwd=project / "build").stdout
    assert "whole" in listed
    assert "Total Tests: 2" in listed  # with the build that it needs
    listed = run("ctest", "-N", "-L", "score-embed", cwd=project / "build").stdout
    for name in ("score-embed-build-lib", "whole", "part-native", "part-native32"):
        assert name in listed
    for _ in range(2):  # results of the last time make way
        done = run("ctest", "--output-on-failure", "-j2", cwd=project / "build")
        assert done.returncode == 0, done.stdout
    assert "100% tests passed, 0 tests failed out of 4" in done.stdout
    for name in ("whole", "part-native", "part-native32"):
        assert (project / "build" / "score-embed" / name / "report.html").is_file()


def test_a_bug_and_a_build_error_fail(project: Path) -> None:
    assert configure(project).returncode == 0
    done = run("ctest", "--output-on-failure", "-R", "whole", cwd=project / "build")
    assert done.returncode
    assert "undeclared" in done.stdout  # the target does not build, so nothing is explored
    assert "Not Run" in done.stdout
    made = project / "made.c.in"
    made.write_text(made.read_text().replace("MADE_LIMIT", "3"))
    sub = project / "sub.c"
    sub.write_text(sub.read_text().replace("DIVIDEND", "100"))
    done = run("ctest", "--output-on-failure", "-R", "whole", cwd=project / "build")
    assert done.returncode
    assert f"{sub}:6: error: an integer is divided by zero in sub: x = 10 [division-by-zero]" in done.stdout
    assert "score-embed ended with 1" in done.stdout


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("NAME x TARGET nothing", "there is no target nothing"),
        ("NAME x", "say NAME, and TARGET or SOURCES"),
        ("NAME x SOURCES main.c TIME soon", "TIME is 90, 60s, 5m or 2h, not soon"),
        ("NAME x SOURCES main.c ENTRI f", "ENTRI is no file"),
        ("NAME x ENTRI f SOURCES main.c", "not understood: ENTRI;f"),
        ("NAME x SOURCES main.c ENTRY", "not understood"),
    ],
)
def test_a_wrong_call_is_an_error(call: str, said: str, project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        CMAKE.partition("score_embed_add_test")[0] + f"score_embed_add_test({call})\n"
    )
    done = configure(project)
    assert done.returncode
    assert said in " ".join(done.stderr.split())


def test_without_score_embed_it_says_so(project: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cmake", "make", "gcc", "cc", "ar", "ranlib", "ld", "as"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = configure(project, "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", path=str(tools))
    assert done.returncode
    assert "put it on PATH" in " ".join(done.stderr.split())


def test_the_example(tmp_path: Path) -> None:
    shutil.copytree(INTEGRATIONS, tmp_path / "integrations")
    example = tmp_path / "integrations" / "example"
    done = run("cmake", "-S", ".", "-B", "build", cwd=example)
    assert done.returncode == 0, done.stderr
    done = run("ctest", "--output-on-failure", cwd=example / "build")
    assert done.returncode == 0, done.stdout
    assert run("cmake", "-DFRAME_LIMIT=FRAME_MOST+1", "build", cwd=example).returncode == 0
    done = run("ctest", "--output-on-failure", "-R", "frames-native", cwd=example / "build")
    assert done.returncode
    assert f"{example}/src/frame.c:17: error: an object is accessed beyond its end" in done.stdout
