"""Branch coverage as gcovr's JSON, from which gcovr writes Cobertura, Sonar, Coveralls, LCOV, HTML and more.

As in the lcov tracefile, a count is 1 or 0 (how often is not known), and only lines with branches are there. Conditions
(MC/DC) and functions are left out: which conditions form a decision, and which functions without a branch were entered, the
record does not say.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from score_embed.errors import printable
from score_embed.report import branches
from score_embed.report.branches import Branch
from score_embed.report.findings import Findings

VERSION = "0.15"  # of the format: gcovr takes no other


def document(found: Findings) -> str:
    """The JSON text."""
    files: dict[str, dict[int, list[Branch]]] = {}
    for branch in branches.of(found):
        if not found.is_generated(branch.file):
            files.setdefault(_name(found, branch.file), {}).setdefault(branch.line, []).append(branch)
    plain = {
        "gcovr/format_version": VERSION,
        "files": [
            {"file": file, "lines": [_line(at, some) for at, some in sorted(lines.items()) if at > 0], "functions": []}
            for file, lines in sorted(files.items())
        ],
    }
    return json.dumps(plain, indent=1) + "\n"


def _name(found: Findings, file: str) -> str:
    """From the folder where `run` was started, if it lies below: gcovr's `--root`."""
    path, root = found.absolute(file), Path(found.sources.root)
    return printable(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _line(number: int, some: list[Branch]) -> dict[str, Any]:
    sides = [side for branch in some for side in branch.sides]
    return {
        "line_number": number,
        "function_name": printable(some[0].function),
        "count": int(any(branch.is_reached for branch in some)),
        "branches": [
            {"branchno": at, "count": int(side.taken), "fallthrough": False, "throw": False}
            for at, side in enumerate(sides)
        ],
    }
