"""bench/mutants.py: which tests are a room's, and what it tells mutmut. That it runs is seen every night."""

from __future__ import annotations

import tomllib
from pathlib import Path

import mutants
import pytest


@pytest.mark.parametrize("room", mutants.ROOMS)
def test_a_room_s_tests_are_those_that_name_it(room: str) -> None:
    found = mutants.tests_of(room)
    assert all((mutants.ROOT / path).exists() for path in found)
    assert {Path(path).parent.name for path in found} == {"unit", "property"}
    assert not {"test_fleet_process.py", "test_fleet_transport.py"} & {Path(path).name for path in found}
    assert all((mutants.ROOT / "tests" / "support" / f"{helper}.py").exists() for helper in mutants.HELPERS[room])


def test_every_module_of_a_room_has_tests_that_name_it() -> None:
    """Else its mutants live because nobody looks, and the score says nothing."""
    assert "tests/unit/test_vectors.py" in mutants.tests_of("trace")
    assert "tests/unit/test_fleet_recorded.py" in mutants.tests_of("fleet")


def test_what_mutmut_is_told(tmp_path: Path) -> None:
    mutants.lay_out(tmp_path, "fleet", 7)
    told = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    changed = {Path(path) for path in told["only_mutate"]}
    assert all((tmp_path / path).exists() for path in changed)
    assert {path.parent.name for path in changed} == {"fleet", "client", "server", "simulation"}
    assert all((tmp_path / path).exists() for path in (*told["also_copy"], *told["pytest_add_cli_args_test_selection"]))
    assert told["pytest_add_cli_args"][-2:] == ["--share", "7"]


def test_of_a_difference_the_lines_that_differ_are_shown() -> None:
    shown = "# name: survived\n--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"
    assert mutants.changed(shown) == "@@ -1,2 +1,2 @@\n-    return 1\n+    return 2"
