"""Exported tests with Unity itself, as the source package of a JSON parser brings it, in builds without score-embed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from parsers import FETCHED
from runner import explore, score_embed

UNITY = FETCHED / "cjson" / "tests" / "unity" / "src"
EXAMPLE = Path(__file__).parents[2] / "integrations" / "example"

SENSOR = """
#include "bus.h"
struct node { struct node *next; int v; };
static int total(const struct node *n) { int s = 0; for (; n; n = n->next) s += n->v == 5 ? 2 : 1; return s; }
int sensor(const struct node *list, const char *name, unsigned char channel)
{
    unsigned char b[2];
    int tries = 0;
    if (!name || name[0] != 's') return -1;
    while (bus_read(channel, b, 2) < 0) if (++tries == 2) bus_fatal("twice %d", tries);
    if (b[0] == 0x7e) return 100 / (b[1] - 3);
    return total(list) + (bus_name() ? 10 : 0);
}
"""
BUS = """
#ifndef BUS_H
#define BUS_H
int bus_read(unsigned char channel, unsigned char *data, unsigned len);
const char *bus_name(void);
void bus_fatal(const char *format, ...) __attribute__((noreturn));
#endif
"""


def built(folder: Path, *words: str) -> dict[str, str]:
    """The exported tests that were run, and how they ended."""
    if not (UNITY / "unity.c").is_file():
        pytest.skip("Unity was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    flags = ["-std=gnu99", "-Wall", "-Wno-unused-function", "-Werror", "-I", str(UNITY), "-DSCORE_SECONDS=3"]
    command = ["gcc", *flags, *words, str(UNITY / "unity.c"), "-o", "tests"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said = subprocess.run(["./tests"], cwd=folder, capture_output=True, text=True, timeout=120, check=False).stdout
    return dict(re.findall(r":(test_\w+):(PASS|FAIL)", said))


def test_objects_and_stubs_are_made_again(tmp_path: Path) -> None:
    found = explore(tmp_path, {"bus.h": BUS, "p.c": SENSOR}, "--entry", "sensor", "--no-witness")
    assert found.bug_kinds == ["division-by-zero"]
    done = score_embed("export", "out", "--unity", "sub.c", "--tests", "paths", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ends = built(tmp_path, "sub.c")
    assert len(ends) == found.summary["paths"]
    assert {name for name, end in ends.items() if end == "FAIL"} == {name for name in ends if "_bug_" in name}
    # The program changes: then tests that came by there fail, and the mended bug's pass.
    (tmp_path / "changed.c").write_text(SENSOR.replace("n->v == 5", "n->v == 6").replace("100 /", "3 +"))
    changed = built(tmp_path, '-DSCORE_PROGRAM="changed.c"', "sub.c")
    assert all(changed[name] == "PASS" for name in ends if "_bug_" in name)
    assert any(changed[name] == "FAIL" for name in ends if "_bug_" not in name)


def test_the_folder_that_unit_writes(tmp_path: Path) -> None:
    other = '#include "bus.h"\nint twice(int x) { return x > 3 ? 2 * bus_read(1, 0, 0) : x; }\nint main(void) { return twice(2); }\n'
    for name, text in {"bus.h": BUS, "p.c": SENSOR, "q.c": other}.items():
        (tmp_path / name).write_text(text)
    done = score_embed("unit", "p.c", "q.c", "--out", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    tests = tmp_path / "out" / "tests"
    assert {path.name for path in tests.iterdir()} == {"Makefile", "test_sensor.c", "test_total.c", "test_twice.c"}
    if not (UNITY / "unity.c").is_file():
        pytest.skip("Unity was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    command = ["make", "-k", "-C", str(tests), f"UNITY={UNITY}"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    ends = dict(re.findall(r":(test_\w+):(PASS|FAIL)", said.stdout))
    assert len(ends) > 8, said.stdout + said.stderr
    assert {name for name, end in ends.items() if end == "FAIL"} == {name for name in ends if "_bug_" in name}


def test_a_runner_that_finds_the_tests_by_their_names(tmp_path: Path) -> None:
    """As Ceedling makes one: the file has no main, the program is found in the folders of sources, and the runner includes
    what the file includes by name, each without its folder."""
    shutil.copytree(EXAMPLE / "src", tmp_path / "src")
    words = ("--out", "out", "--entry", "frame_parse", "src/frame.c", "--", "-Isrc", "-DFRAME_LIMIT=FRAME_MOST")
    assert score_embed("run", *words, cwd=tmp_path).returncode == 0
    done = score_embed("export", "out", "--unity", "test_frame_regression.c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "test_frame_regression.c").read_text()
    names = list(dict.fromkeys(re.findall(r"^void (test_\w+)\(void\)", text, re.MULTILINE)))
    runs = "".join(f"extern void {name}(void);\n" for name in names)
    calls = "".join(f'    UnityDefaultTestRun({name}, "{name}", 1);\n' for name in names)
    main = f'int main(void) {{\n    UnityBegin("test_frame_regression.c");\n{calls}    return UnityEnd();\n}}\n'
    headers = re.findall(r"^\s*#\s*include\s+[<\"](?:.*/)?(.*\.h)[>\"]", text, re.MULTILINE)
    assert "unity.h" in headers
    included = "".join(f'#include "{header}"\n' for header in headers)
    (tmp_path / "runner.c").write_text(f"{included}{runs}{main}")
    flags = ("-DSCORE_NO_MAIN", "-DSCORE_PROGRAM=<frame.c>", "-Isrc", "-DFRAME_LIMIT=FRAME_MOST")
    found = built(tmp_path, *flags, "test_frame_regression.c", "runner.c")
    assert found == dict.fromkeys(names, "PASS")
    source = tmp_path / "src" / "frame.c"
    source.write_text(source.read_text().replace("return -1;", "return -2;"))
    assert "FAIL" in built(tmp_path, *flags, "test_frame_regression.c", "runner.c").values()


DIVIDES = """
struct node { int key; struct node *next; };
int share(const unsigned char *buf, unsigned len, const struct node *other, const char *name)
{
#ifdef MENDED
    if (len > 5 && buf[5] == 0) return 0;
#endif
    if (len > 5 && buf[3] == 0x2a && name[0] == 'x')
        return 100 / buf[5] + (other ? other->key : 0);
    return 0;
}
"""


def test_tests_of_bugs_have_the_simpler_input(tmp_path: Path) -> None:
    """What does not matter is zero in them; they fail as long as the bug is there."""
    found = explore(tmp_path, {"p.c": DIVIDES}, "--entry", "share", "--no-witness")
    (bug,) = found.summary["bugs"]
    row = f"{bug['test']:06d}"
    small = next((found.folder / "bugs").glob(f"{row}-small.bin")).read_bytes()
    plain = next(path for path in (found.folder / "bugs").glob(f"{row}-*.bin") if "small" not in path.name).read_bytes()
    assert small != plain
    made = score_embed("export", "out", "--unity", "t.c", "--corpus", "c", "--tests", "kept", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "t.c").read_text()
    test = text[text.index("_bug_division_by_zero(void)\n{") :].partition("}\n")[0]
    numbers = re.findall(r"\w+", test.partition("input[] = {")[2].partition("}")[0])
    assert bytes(int(number, 0) for number in numbers) == small
    assert next((tmp_path / "c").glob(f"{row}-*.bin")).read_bytes() == small
    for flags, failures in (((), 1), (("-DMENDED",), 0)):
        command = ["gcc", "-w", *flags, "-I", str(UNITY), "t.c", str(UNITY / "unity.c"), "-o", "t"]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
        done = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert f" {failures} Failures" in done.stdout, done.stdout
    assert score_embed("run", "--regress", "out", "p.c", "--entry", "share", cwd=tmp_path).returncode == 1
    mended = score_embed("run", "--regress", "out", "p.c", "--entry", "share", "--json", "--", "-DMENDED", cwd=tmp_path)
    assert '"mended"' in mended.stdout, mended.stdout + mended.stderr
    board = score_embed("export", "out", "--board-input", "b.c", cwd=tmp_path)
    assert board.returncode == 0, board.stderr
    assert f"score_input_size = {len(small)};" in (tmp_path / "b.c").read_text()
