"""The extra script for PlatformIO, with what it has of SCons there replaced: its environment, and the target it adds.

PlatformIO itself fetches its parts from a registry of its own when it builds, so tests do not run it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "integrations" / "platformio" / "score_embed.py"


class Environment(dict[str, Any]):
    """Of SCons, as PlatformIO 6.2 fills it."""

    def __init__(self, folder: Path, options: dict[str, str], **values: Any) -> None:
        super().__init__(PROJECT_DIR=str(folder), PIOENV="explore", **values)
        self.options = options
        self.targets: dict[str, dict[str, Any]] = {}

    def subst(self, text: str) -> str:
        return re.sub(r"\$(\w+)", lambda found: str(self[found[1]]), text)

    def GetProjectOption(self, name: str, default: str) -> str:
        return self.options.get(name, default)

    def AddCustomTarget(self, name: str, **values: Any) -> None:
        self.targets[name] = values


def explore(environment: Environment, monkeypatch: pytest.MonkeyPatch, codes: list[int]) -> tuple[int, list[list[str]]]:
    """What the target returns, and the commands it gives, which end with these codes."""
    given: list[list[str]] = []

    def call(words: list[str], cwd: str) -> int:
        assert cwd == environment["PROJECT_DIR"]
        given.append(words)
        return codes[len(given) - 1]

    exec(compile(SCRIPT.read_text(), SCRIPT, "exec"), {"Import": lambda name: None, "env": environment})
    monkeypatch.setattr(subprocess, "call", call)
    (action,) = environment.targets["score-embed"]["actions"]
    return action(target=[], source=[], env=environment), given


def test_what_the_build_knows_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "custom_score_embed_sources": "test/a.c 'my src/b.c'",
        "custom_score_embed_board": "native boards/mine.yaml",
        "custom_score_embed_options": "--time 5s --entry f",
    }
    definitions = [("PLATFORMIO", 60200), "PLAIN", ("LIMIT", "MOST"), ("TEXT", '\\"a b\\"'), ("NONE",)]
    environment = Environment(tmp_path, options, CPPPATH=["$PROJECT_DIR/src", "/hal"], CPPDEFINES=definitions)
    old = tmp_path / ".pio" / "score-embed" / "explore-mine"
    old.mkdir(parents=True)
    (old / "campaign.db").touch()
    code, (first, second) = explore(environment, monkeypatch, [1, 0])
    assert code == 1
    out = tmp_path / ".pio" / "score-embed"
    flags = [f"-I{tmp_path}/src", "-I/hal", "-DPLATFORMIO=60200", "-DPLAIN", "-DLIMIT=MOST", '-DTEXT="a b"', "-DNONE"]
    rest = ["--time", "5s", "--entry", "f", "test/a.c", "my src/b.c", "--", *flags]
    assert first == ["score-embed", "run", "--board", "native", "--out", f"{out}/explore-native", *rest]
    assert second == ["score-embed", "run", "--board", "boards/mine.yaml", "--out", f"{out}/explore-mine", *rest]
    assert not old.exists()


def test_what_nobody_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"custom_score_embed_sources": "a.c"}
    code, (only,) = explore(Environment(tmp_path, options), monkeypatch, [0])
    assert code == 0
    assert only[2:4] == ["--board", "native"]
    assert only[6:] == ["--time", "60s", "a.c", "--"]
