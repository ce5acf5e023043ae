"""What the harness calls before the function: a test without a harness would not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from score_embed.contract.program import Source
from score_embed.errors import UsageError
from score_embed.frontend.harness.entry import Harness, harness_of
from score_embed.frontend.harness.hints import Hints
from score_embed.frontend.types.data_model import DataModel

TEXT = """static int kept;
static void init(int n) { kept = n; }
int f(int n, int m) { init(1); return kept == n + m; }
int g(void (*each)(int), int n) { each(n); return n == 3; }
"""


def harness(function: str, *call_first: str) -> Harness:
    macros = subprocess.run(["gcc", "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True, check=True)
    hints = Hints(call_first=call_first, places=tuple((each, "h.yaml:3") for each in call_first))
    return harness_of([Source(Path("s.c"), TEXT)], function, DataModel.from_macros(macros.stdout), hints)


def test_a_test_makes_no_arguments_without_the_harness() -> None:
    plain, after = harness("f").entry, harness("f", "init(n)").entry
    assert ([one.name for one in plain.arguments], plain.harness) == (["n", "m"], "")
    assert after.arguments == ()
    assert "    init(n);\n" in after.harness


def test_what_the_harness_may_call() -> None:
    for called in (
        "each(sizeof(int))",
        "if (n > 2) init(n)",
        "__builtin_trap()",
        'init("return o(}"[0])',
        "{ init(2); }",
    ):
        assert f"    {called};\n" in harness("g", called).text
    for called, name in (("eech(n)", "eech"), ("init(ini(n))", "ini"), ("other()", "other")):
        with pytest.raises(UsageError, match=f"declares no function {name}\n") as error:
            harness("g", called)
        assert error.value.where == "h.yaml:3"


@pytest.mark.parametrize("called", ["", " ", "}", "if (n) {", "return 3", "if (n) return n; init(n)", "goto end"])
def test_what_is_no_call(called: str) -> None:
    with pytest.raises(UsageError, match="is no call\n") as error:
        harness("g", called)
    assert error.value.where == "h.yaml:3"
