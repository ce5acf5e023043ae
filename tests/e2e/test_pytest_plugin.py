"""The plugin as somebody meets it who runs pytest in a project with C: through its entry point, in a process of its
own."""

from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from runner import score_embed

import score_embed as toolkit

pytest_plugins = ["pytester"]

BUGGY = """
#include <stdio.h>
#include "score.h"
int main(void)
{
    unsigned char a, b;
    SYM_U8(a);
    SYM_U8(b);
    printf("%d\\n", a > 3);
    if (a == 7) return 100 / (b - 9);
    if (b > 200) return 2;
    return 0;
}
"""
MENDED = BUGGY.replace("b - 9", "b + 9")
# The inputs lie elsewhere, and one path returns something else.
CHANGED = MENDED.replace("SYM_U8(a);\n    SYM_U8(b);", "SYM_U8(b);\n    SYM_U8(a);").replace("return 2", "return 3")
# What is ignored comes of a toolkit that is installed in place, which is known by its entry point already.
INI = """[pytest]
addopts = --strict-markers -p no:cacheprovider
filterwarnings =
    error
    ignore:Module already imported so cannot be rewritten; _editable
"""
DECLARED = "sources: [../src/prog.c]\ntime: 30s\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project's folder, where the toolkit of this checkout is installed as pytest knows it: by its entry point."""
    site = pytester.path / "site"
    known = site / "pytest_of_score_embed-0.dist-info"
    known.mkdir(parents=True)
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-of-score-embed\nVersion: 0\n")
    (known / "entry_points.txt").write_text("[pytest11]\nscore_embed = score_embed.pytest_plugin.plugin\n")
    (known / "RECORD").write_text("score_embed/__init__.py,,\nscore_embed/pytest_plugin/plugin.py,,\n")
    place = Path(toolkit.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(place)]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "")
    pytester.makeini(INI)
    (pytester.path / "src").mkdir()
    (pytester.path / "tests").mkdir()
    return pytester


def write(project: pytest.Pytester, program: str, declared: str = DECLARED) -> None:
    (project.path / "src" / "prog.c").write_text(program)
    (project.path / "tests" / "test_prog.score.yaml").write_text(declared)


def test_a_bug_fails_with_the_report(project: pytest.Pytester) -> None:
    write(project, BUGGY)
    result = project.runpytest_subprocess("--junitxml=junit.xml")
    result.assert_outcomes(failed=1)
    line = "src/prog.c:10: error: an integer is divided by zero in main: a = 7, b = 9 [[]division-by-zero[]]"
    again = "  seen once; id ????????; again: score-embed replay score-out/pytest/tests_test_prog.score.yaml-native *"
    result.stdout.fnmatch_lines([line, "*return 100 / (b - 9);", again, "*bugs 1"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.fnmatch_lines(["FAILED tests/test_prog.score.yaml::explore[[]native[]] - src/prog.c:10: error:*"])
    (failure,) = ET.parse(project.path / "junit.xml").getroot().iter("failure")
    assert failure.get("message", "").startswith("src/prog.c:10: error:")
    done = score_embed("replay", "score-out/pytest/tests_test_prog.score.yaml-native", cwd=project.path)
    assert done.returncode == 0, done.stderr


def test_bugs_of_the_baseline_do_not_fail(project: pytest.Pytester) -> None:
    write(project, BUGGY)
    assert score_embed("run", "--out", "nightly", "src/prog.c", cwd=project.path).returncode == 1
    done = score_embed("report", "nightly", "--write-baseline", "tests/known.txt", cwd=project.path)
    assert done.returncode == 0, done.stderr
    worse = BUGGY.replace("if (b > 200)", "if (b > 200 && 1000 / (a - 30))")
    write(project, BUGGY, DECLARED + "baseline: known.txt\n")
    result = project.runpytest_subprocess("-rA")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["bugs that the baseline knows: 1"])
    write(project, worse, DECLARED + "baseline: known.txt\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["src/prog.c:11: error: an integer is divided by zero in main: a = 30, *"])
    result.stdout.no_fnmatch_line("src/prog.c:10: error: *")


def test_a_goal_that_is_not_reached_fails(project: pytest.Pytester) -> None:
    write(project, MENDED, DECLARED + "goal: branch\nmax-tests: 1\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["goal branch: not reached, * missing"])
    write(project, MENDED, DECLARED + "goal: branch\n")
    project.runpytest_subprocess().assert_outcomes(passed=1)


def test_options_choose_boards_time_and_folder(project: pytest.Pytester) -> None:
    write(project, MENDED, DECLARED + "board: [native, native32]\n")
    result = project.runpytest_subprocess("--collect-only", "-q")
    result.stdout.fnmatch_lines(["*::explore[[]native[]]", "*::explore[[]native32[]]"])
    words = ("--score-board=mps2-an385", "--score-time=20s", "--score-out=found", "-rA", "-m", "score_embed")
    result = project.runpytest_subprocess(*words)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["prog on mps2-an385: exhausted *"])
    assert (project.path / "found" / "tests_test_prog.score.yaml-mps2_an385" / "campaign.db").is_file()
    project.runpytest_subprocess("-m", "not score_embed").assert_outcomes(deselected=2)
    result = project.runpytest_subprocess("--score-time=soon")
    result.stderr.fnmatch_lines(["*--score-time: A time is a number more than zero*"])


def test_kept_tests_run_on_the_program_as_it_is_now(project: pytest.Pytester) -> None:
    write(project, BUGGY)
    done = score_embed("run", "--out", "nightly", "src/prog.c", cwd=project.path)
    assert done.returncode == 1, done.stderr
    write(project, CHANGED, DECLARED + "regress: ../nightly\n")
    result = project.runpytest_subprocess("-k", "regress", "-rA", "--score-board=native", "--score-board=mps2-an385")
    result.assert_outcomes(passed=6, failed=2, deselected=2)
    said = "nightly: error: test *: it was return 2, prints '1'; it is return 3, prints '1': * [[]changed[]]"
    result.stdout.fnmatch_lines([said])
    write(project, BUGGY, DECLARED + "regress: ../nightly\n")
    result = project.runpytest_subprocess("-k", "regress")
    result.assert_outcomes(passed=3, failed=1, deselected=1)
    result.stdout.fnmatch_lines(["src/prog.c:10: error: *", "  test * of ../nightly; it was: division-by-zero"])


def test_a_program_without_those_inputs_is_said_to_be_another(project: pytest.Pytester) -> None:
    """A test must not pass because nothing of it is left."""
    write(project, MENDED)
    assert score_embed("run", "--out", "nightly", "src/prog.c", cwd=project.path).returncode == 0
    write(
        project,
        MENDED.replace("a)", "c)").replace("b)", "d)").replace("a, b", "c, d").replace("a ", "c ").replace("b ", "d "),
    )
    done = score_embed("run", "--regress", "nightly", "src/prog.c", cwd=project.path)
    assert done.returncode == 1
    assert "it asks for other inputs: c, d" in done.stdout


def test_what_cannot_run_fails_in_one_line(project: pytest.Pytester) -> None:
    write(project, "int main(void) { return oops; }\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*prog.c:1:*error:*oops*", "in tests: score-embed run --board=native --time=30s *"])
    result.stdout.no_fnmatch_line("*Traceback*")
    write(project, MENDED, "sources: [../src/prog.c]\nentri: f\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_prog.score.yaml:2: error: unknown key 'entri'", "*Did you mean 'entry'?"])
    write(project, MENDED, DECLARED + "regress: nowhere\n")
    result = project.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*nowhere*error: *"])


def test_others_do_not_notice_the_plugin(project: pytest.Pytester) -> None:
    """Nothing of ours is imported where no file is ours, a project file of `run` starts nothing, nothing warns."""
    (project.path / "score-embed.yaml").write_text("sources: [a.c]\n")
    (project.path / "prog.score.yaml").write_text("sources: [a.c]\n")  # not a test by its name
    project.makepyfile(
        test_ours="""
        import sys

        def test_modules(pytestconfig):
            assert pytestconfig.pluginmanager.has_plugin("score_embed")
            ours = {name for name in sys.modules if name.startswith("score_embed")}
            assert ours == {"score_embed", "score_embed.pytest_plugin", "score_embed.pytest_plugin.plugin"}
        """
    )
    project.runpytest_subprocess().assert_outcomes(passed=1)
    # Where the package was imported before pytest looks at its plugins, as `coverage run` does it.
    (project.path / "site" / "sitecustomize.py").write_text("import score_embed\n")
    project.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_example(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    example = project.path / "example"
    shutil.copytree(Path(__file__).parents[2] / "integrations" / "example", example)
    (example / "pytest.ini").write_text("[pytest]\n")
    declared = example / "tests" / "test_frame.score.yaml"
    monkeypatch.chdir(example)
    project.runpytest_subprocess("--rootdir", ".").assert_outcomes(passed=2)
    declared.write_text(declared.read_text().replace("LIMIT=FRAME_MOST", "LIMIT=FRAME_MOST+1"))
    result = project.runpytest_subprocess("--rootdir", ".", "--score-board", "native")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["src/frame.c:17: error: an object is accessed beyond its end in frame_parse: *"])


def test_kept_tests_that_end_in_bugs_of_the_baseline_do_not_fail(project: pytest.Pytester) -> None:
    write(project, BUGGY)
    assert score_embed("run", "--out", "nightly", "src/prog.c", cwd=project.path).returncode == 1
    done = score_embed("report", "nightly", "--write-baseline", "tests/known.txt", cwd=project.path)
    assert done.returncode == 0, done.stderr
    write(project, BUGGY, DECLARED + "regress: ../nightly\n")
    assert project.runpytest_subprocess("-k", "regress").parseoutcomes()["failed"] == 1
    write(project, BUGGY, DECLARED + "regress: ../nightly\nbaseline: known.txt\n")
    outcomes = project.runpytest_subprocess("-k", "regress").parseoutcomes()
    assert outcomes["passed"] > 1
    assert "failed" not in outcomes
