"""What an image's section `.sc_meta` says, as JSON: places of sites, decisions, and stretches of statements.

The front-end writes these records, the site reader reads them. Their rows are arrays: a program has thousands. Files
and functions are named by where they stand in the lists of the same text; of one unit there may be several texts.
"""

from __future__ import annotations

import json

import msgspec
from msgspec import Struct


class SiteRow(Struct, array_like=True, frozen=True):
    site: int
    file: int
    line: int
    function: int
    name: str


class ConditionRow(Struct, array_like=True, frozen=True):
    """`site`: of its branch, 0 if it has none; `literal`: its value if it is one."""

    site: int
    text: str
    literal: bool | None


class DecisionRow(Struct, array_like=True, frozen=True):
    """`postfix`: the tree, as `coverage.Decision` has it."""

    file: int
    line: int
    function: int
    postfix: list[int | str]
    conditions: list[ConditionRow]


class StretchRow(Struct, array_like=True, frozen=True):
    """`enter`: the site of its function; `lines`: file and line of each statement; the rest is as `coverage.Stretch`
    has it, `beside` as 0 or 1."""

    enter: int
    function: int
    lines: list[tuple[int, int]]
    sure: int
    begun: list[int]
    ended: list[int]
    beside: int


class UnitText(Struct, omit_defaults=True):
    file: str = ""
    sites: list[SiteRow] = []
    decisions: list[DecisionRow] = []
    statements: list[StretchRow] = []
    files: list[str] = []
    functions: list[str] = []


def written(record: Struct) -> str:
    """In ASCII: it becomes a text of C, and a file's name need not be UTF-8."""
    return json.dumps(msgspec.to_builtins(record), separators=(",", ":"))


def read(text: bytes) -> UnitText:
    """Raises ValueError if it is no such text."""
    try:
        return msgspec.convert(json.loads(text), UnitText)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error
