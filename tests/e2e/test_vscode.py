"""The problem matchers of the example's tasks.json, on what score-embed really prints."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runner import score_embed

EXAMPLE = Path(__file__).parents[2] / "integrations" / "example"
TASK: dict[str, Any] = json.loads((EXAMPLE / ".vscode" / "tasks.json").read_text(encoding="utf-8"))["tasks"][0]
SEVERITIES = {"error", "warning", "note"}  # VS Code takes a note as information
Problem = tuple[str, str, int, str, str]  # owner, file, line, severity, message

IN_NODE = """
const [patterns, lines] = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(patterns.map(p => lines.map(line => { const m = new RegExp(p).exec(line); return m && [...m]; }))));
"""


def problems(printed: str) -> list[Problem]:
    """As the editor reads them: line by line, each matcher for itself."""
    found: list[Problem] = []
    for line in printed.splitlines():
        for matcher in TASK["problemMatcher"]:
            pattern = matcher["pattern"]
            match = re.search(pattern["regexp"], line)
            if match:
                assert match[pattern["severity"]] in SEVERITIES
                message = match[pattern["message"]]
                severity = match[pattern["severity"]]
                found.append((matcher["owner"], match[pattern["file"]], int(match[pattern["line"]]), severity, message))
    agrees_with_node(printed.splitlines())
    return found


def agrees_with_node(lines: list[str]) -> None:
    """The editor's regular expressions are JavaScript's."""
    node = shutil.which("node")
    if node is None:
        return
    patterns = [matcher["pattern"]["regexp"] for matcher in TASK["problemMatcher"]]
    done = subprocess.run(
        [node, "-e", IN_NODE],
        input=json.dumps([patterns, lines]),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    ours = [[[m[0], *m.groups()] if (m := re.search(p, line)) else None for line in lines] for p in patterns]
    assert json.loads(done.stdout) == ours


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "my project")
    return tmp_path / "my project"


def run(project: Path, *options: str, limit: str = "FRAME_MOST+1") -> str:
    words = [word.replace("=FRAME_MOST", f"={limit}") for word in TASK["args"]]
    done = score_embed(words[0], *options, *words[1:], cwd=project)
    return done.stdout + done.stderr


def test_a_bug(project: Path) -> None:
    ((owner, file, line, severity, message),) = problems(run(project))
    assert (owner, file, line, severity) == ("score-embed", "src/frame.c", 17, "error")
    assert (project / file).is_file()
    assert message.startswith("an object is accessed beyond its end in frame_parse: data = ")


def test_a_known_bug_is_information(project: Path) -> None:
    run(project, "--out", "out")
    assert score_embed("report", "out", "--write-baseline", "known", cwd=project).returncode == 0
    ((owner, file, line, severity, _),) = problems(run(project, "--baseline", "known"))
    assert (owner, file, line, severity) == ("score-embed", "src/frame.c", 17, "note")


def test_no_bug_is_no_problem(project: Path) -> None:
    assert problems(run(project, limit="FRAME_MOST")) == []


def test_what_does_not_build(project: Path) -> None:
    said = run(project, limit="")
    ((owner, file, line, severity, message),) = problems(said)
    assert (owner, file, line, severity) == ("score-embed-build", "src/frame.c", 11, "error")
    assert message.startswith("expected expression before ")


def test_in_a_terminal(project: Path) -> None:
    """Where the editor runs tasks: there is a status line, and the window is narrow."""
    leader, follower = pty.openpty()
    words = [word.replace("=FRAME_MOST", "=FRAME_MOST+1") for word in TASK["args"]]
    command = [sys.executable, "-m", "score_embed.cli.main", *words]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "40"}
    with subprocess.Popen(
        command, cwd=project, stdin=follower, stdout=follower, stderr=follower, env=environment
    ) as process:
        os.close(follower)
        printed = b""
        with contextlib.suppress(OSError):  # the last one has closed it
            while piece := os.read(leader, 4096):
                printed += piece
        os.close(leader)
        assert process.wait(60) == 1
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.decode())
    ((_, file, line, _, _),) = problems("\n".join(re.split(r"[\r\n]+", text)))
    assert (file, line) == ("src/frame.c", 17)


def test_brackets_at_the_end_of_a_line() -> None:
    lines = "a b.c:7: error: x in f: y [signal-11]\nc.c:3:5: error: unused variable 'x' [-Werror=unused]\n  x.c: error: no\n"
    ours, theirs = problems(lines)
    assert ours == ("score-embed", "a b.c", 7, "error", "x in f: y")
    assert theirs == ("score-embed-build", "c.c", 3, "error", "unused variable 'x' [-Werror=unused]")
