"""The commands of the command line, each of which is imported only when it is named."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from score_embed.cli.commands import COMMANDS, load


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_can_be_carried_out(name: str) -> None:
    sub = argparse.ArgumentParser()
    load(name).add_arguments(sub)
    below = [action for action in sub._actions if isinstance(action, argparse._SubParsersAction)]
    parsers = [sub] if sub.get_default("execute") else [one for action in below for one in action.choices.values()]
    assert parsers
    assert all(callable(one.get_default("execute")) for one in parsers)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["keys", "--help"]])
def test_what_is_not_named_is_not_imported(words: list[str]) -> None:
    program = (
        "import sys\nfrom score_embed.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print('z3' in sys.modules, 'pycparser' in sys.modules, 'elftools' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False False False", done.stderr
