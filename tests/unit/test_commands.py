"""The commands of the command line, each of which is imported only when it is named."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from score_embed.cli.commands import COMMANDS, load, run


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_can_be_carried_out(name: str) -> None:
    sub = argparse.ArgumentParser()
    load(name).add_arguments(sub)
    below = [action for action in sub._actions if isinstance(action, argparse._SubParsersAction)]
    parsers = [sub] if sub.get_default("execute") else [one for action in below for one in action.choices.values()]
    assert parsers
    assert all(callable(one.get_default("execute")) for one in parsers)


SLOW = ("z3", "pycparser", "elftools", "rich", "jinja2")  # to import


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["keys", "--help"], ["run", "--help"]])
def test_what_is_not_named_is_not_imported(words: list[str]) -> None:
    program = (
        "import sys\nfrom score_embed.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {SLOW} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("run p.c --max-test=3", "Did you mean --max-tests? See `score-embed run --help`."),
        ("run p.c --budget 60s", "See `score-embed run --help`."),
        ("run -Iinclude -DTEST p.c", "Flags for the compiler come last, behind `--`."),
        ("lab scan -I x", "See `score-embed lab --help`."),
        ("fleet status --jsn", "See `score-embed fleet --help`."),
        ("--vers", "See `score-embed --help`."),
    ],
)
def test_what_an_unknown_option_may_have_meant(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split(), lambda: None) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("command line: error: ")
    assert said[1:] == [f"  {hint}"]
