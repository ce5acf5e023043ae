"""Runs the shell steps of a GitHub Action as a runner does, here: one composite action, with what it is given.

Expressions (`${{ … }}`) are a small part of GitHub's language; whatever this does not know is an error, as is a
reference to an input or a step that is not there. Steps with `uses` are noted, not carried out: the test stands in for
the cache and the artefacts. What installs something (`sudo`, `pip`) is replaced by programs that only say so.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
DEADLINE = 300
INSTALLS = """#!/bin/sh
echo "$(basename "$0") $*" >> "$INSTALLED"
"""
VENV = """#!/bin/sh
# `python3 -m venv FOLDER` makes one whose pip only says what it would install.
case "$1 $2" in
"-m venv") mkdir -p "$3/bin"; cp "$(dirname "$0")/sudo" "$3/bin/pip" ;;
*) exec {python} "$@" ;;
esac
"""


@dataclass
class Job:
    """What one job leaves: `code` of the first step that failed, outputs of steps, the steps with `uses` and their
    words."""

    code: int = 0
    said: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    installed: str = ""


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


class Runner:
    """A machine with a folder of its own. `matched`: the key of the cache that was restored."""

    def __init__(self, folder: Path, workspace: Path, matched: str = "") -> None:
        self.temp, self.workspace, self.matched = folder, workspace, matched
        self._tools = folder / "tools"
        self._tools.mkdir(parents=True, exist_ok=True)
        for name, text in {"sudo": INSTALLS, "python3": VENV.format(python=sys.executable)}.items():
            (self._tools / name).write_text(text)
            (self._tools / name).chmod(0o755)

    def run(self, action: Path, given: Mapping[str, str]) -> Job:
        """The steps of `action`/action.yml. Raises KeyError for what is referred to and is not there."""
        document = load(action / "action.yml")
        inputs = {name: str(each.get("default", "")) for name, each in document["inputs"].items()}
        missing = [name for name, each in document["inputs"].items() if each.get("required") and name not in given]
        assert not missing
        assert set(given) <= set(inputs), set(given) - set(inputs)
        names = {f"inputs.{name}": value for name, value in {**inputs, **given}.items()}
        names |= {"github.action_path": str(action), "github.run_id": "17", "runner.temp": str(self.temp)}
        job = Job()
        for step in document["runs"]["steps"]:
            self._step(step, names, job)
        log = self.temp / "installed"
        job.installed = log.read_text() if log.exists() else ""
        return job

    def _step(self, step: dict[str, Any], names: dict[str, str], job: Job) -> None:
        condition = str(step.get("if", "success()"))
        if not self._holds(condition, names, job):
            return
        ident = step.get("id", "")
        if "uses" in step:
            job.used[step["name"]] = {key: self._filled(str(value), names) for key, value in step["with"].items()}
            if ident:
                names[f"steps.{ident}.outputs.cache-matched-key"] = self.matched
            return
        assert step["shell"] == "bash"
        output = self.temp / "output"
        output.write_text("")
        path = self.temp / "path"
        path.touch()
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(self._tools), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_PATH": str(path),
            "RUNNER_TEMP": str(self.temp),
            "INSTALLED": str(self.temp / "installed"),
            **{key: self._filled(str(value), names) for key, value in step.get("env", {}).items()},
        }
        assert not EXPRESSION.search(step["run"])  # whose text would be taken for shell
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            words, cwd=self.workspace, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        job.said += done.stdout + done.stderr
        job.code = job.code or done.returncode
        job.ran.append(step["name"])
        made = dict(line.split("=", 1) for line in output.read_text().splitlines())
        job.outputs[ident] = made
        names |= {f"steps.{ident}.outputs.{key}": value for key, value in made.items()}

    def _filled(self, text: str, names: Mapping[str, str]) -> str:
        return EXPRESSION.sub(lambda found: self._value(found[1], names), text)

    def _value(self, expression: str, names: Mapping[str, str]) -> str:
        if expression.startswith("hashFiles("):
            patterns = re.findall(r"'([^']*)'", expression)
            files = sorted({path for each in patterns for path in self.workspace.glob(each) if path.is_file()})
            return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
        if re.fullmatch(r"steps\.explore\.outputs\.\w+", expression):
            return names.get(expression, "")  # it may not have come so far
        return names[expression]

    def _holds(self, condition: str, names: Mapping[str, str], job: Job) -> bool:
        return all(self._term(term.strip(), names, job) for term in condition.split("&&"))

    def _term(self, term: str, names: Mapping[str, str], job: Job) -> bool:
        if term in ("always()", "success()"):
            return term == "always()" or not job.code
        name, _, value = term.partition(" == ")
        return self._value(name, names) == value.strip("'")
