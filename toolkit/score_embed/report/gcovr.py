"""Coverage as gcovr's JSON, from which gcovr writes Cobertura, Sonar, Coveralls, LCOV, HTML and more.

As in the lcov tracefile, a count is 1 or 0 (how often is not known), and only lines with branches are there. A campaign
that recorded vectors has its decisions there, too, as GCC's condition coverage. Functions are left out: which ones
without a branch were entered, the record does not say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec import field as renamed

from score_embed.errors import printable
from score_embed.report import branches
from score_embed.report.branches import Branch, Decision
from score_embed.report.findings import Findings
from score_embed.results.json_text import indented

VERSION = "0.15"  # of the format: gcovr takes no other


class _Sided(Struct, frozen=True):
    branchno: int
    count: int
    fallthrough: bool = False
    throw: bool = False


class _Decided(Struct, frozen=True):
    """What gcovr calls a condition is a decision."""

    conditionno: int
    count: int
    covered: int
    not_covered_true: list[int]
    not_covered_false: list[int]


class _WrittenLine(Struct, frozen=True, omit_defaults=True):
    line_number: int
    function_name: str
    count: int
    branches: list[_Sided]
    conditions: list[_Decided] | None = None


class _File(Struct, frozen=True):
    file: str
    lines: list[_WrittenLine]
    functions: list[str] = []


class _Document(Struct, frozen=True):
    version: str = renamed(name="gcovr/format_version")
    files: list[_File]


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
    written = [
        _File(file, [_line(at, one) for at, one in sorted(lines.items()) if at > 0])
        for file, lines in sorted(files.items())
    ]
    return indented(_Document(VERSION, written), 1) + "\n"


def _name(found: Findings, file: str) -> str:
    """From the folder where `run` was started, if it lies below: gcovr's `--root`."""
    path, root = found.absolute(file), Path(found.sources.root)
    return printable(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _line(number: int, one: _Line) -> _WrittenLine:
    sides = [side for branch in one.branches for side in branch.sides]
    reached = any(each.is_reached for each in one.branches) or any(each.is_reached for each in one.decisions)
    return _WrittenLine(
        number,
        printable(one.function),
        int(reached),
        [_Sided(at, int(side.taken)) for at, side in enumerate(sides)],
        [_decided(at, decision) for at, decision in enumerate(one.decisions)] or None,
    )


def _decided(number: int, decision: Decision) -> _Decided:
    never = {truth: decision.missing(truth) for truth in (True, False)}
    total = 2 * len(decision.conditions)
    return _Decided(number, total, total - sum(map(len, never.values())), never[True], never[False])
