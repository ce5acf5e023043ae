"""Coverage as gcovr's JSON, from which gcovr writes Cobertura, Sonar, Coveralls, LCOV, HTML and more.

As in the lcov tracefile, a count is 1 or 0 (how often is not known), and only lines with branches are there. A campaign
that recorded vectors has its decisions there, too, as GCC's condition coverage. Functions are left out: which ones
without a branch were entered, the record does not say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from score_embed.errors import printable
from score_embed.report import branches
from score_embed.report.branches import Branch, Decision
from score_embed.report.findings import Findings

VERSION = "0.15"  # of the format: gcovr takes no other


@dataclass(slots=True)
class _Line:
    function: str
    branches: list[Branch] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)


def document(found: Findings) -> str:
    """The JSON text."""
    files: dict[str, dict[int, _Line]] = {}

    def line(of: Branch | Decision) -> _Line:
        return files.setdefault(_name(found, of.file), {}).setdefault(of.line, _Line(of.function))

    for branch in branches.of(found):
        if not found.is_generated(branch.file):
            line(branch).branches.append(branch)
    for decision in branches.decisions_of(found):
        line(decision).decisions.append(decision)
    plain = {
        "gcovr/format_version": VERSION,
        "files": [
            {"file": file, "lines": [_line(at, one) for at, one in sorted(lines.items()) if at > 0], "functions": []}
            for file, lines in sorted(files.items())
        ],
    }
    return json.dumps(plain, indent=1) + "\n"


def _name(found: Findings, file: str) -> str:
    """From the folder where `run` was started, if it lies below: gcovr's `--root`."""
    path, root = found.absolute(file), Path(found.sources.root)
    return printable(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _line(number: int, one: _Line) -> dict[str, Any]:
    sides = [side for branch in one.branches for side in branch.sides]
    reached = any(each.is_reached for each in one.branches) or any(each.is_reached for each in one.decisions)
    plain = {
        "line_number": number,
        "function_name": printable(one.function),
        "count": int(reached),
        "branches": [
            {"branchno": at, "count": int(side.taken), "fallthrough": False, "throw": False}
            for at, side in enumerate(sides)
        ],
    }
    if one.decisions:
        plain["conditions"] = [_condition(at, decision) for at, decision in enumerate(one.decisions)]
    return plain


def _condition(number: int, decision: Decision) -> dict[str, Any]:
    """What gcovr calls a condition is a decision."""
    never = {truth: decision.missing(truth) for truth in (True, False)}
    total = 2 * len(decision.conditions)
    return {
        "conditionno": number,
        "count": total,
        "covered": total - sum(map(len, never.values())),
        "not_covered_true": never[True],
        "not_covered_false": never[False],
    }
