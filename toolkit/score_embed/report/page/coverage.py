"""Coverage on a page: a row for each function, one for each gap, and the reasons why a direction was not taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from score_embed.contract.words import Unflipped
from score_embed.report import branches as all_branches
from score_embed.report.branches import Branch, Function
from score_embed.report.page.sources import Sources, directions

MOST_ROWS = 2_000  # of a table
# In a word or two.
REASONS: dict[str, str] = {
    Unflipped.UNSAT: "impossible",
    Unflipped.FIXED: "fixed by value",
    Unflipped.CONCRETE: "concrete",
    Unflipped.UNKNOWN: "solver gave up",
    Unflipped.MISPREDICTED: "mispredicted",
    Unflipped.DIVERGED: "diverged",
    Unflipped.BOUND: "bound",
    Unflipped.WAITING: "waiting",
    Unflipped.NOT_REACHED: "not reached",
}
# What it means, and what to do.
MEANING: dict[str, tuple[str, str]] = {
    Unflipped.UNSAT: (
        "The solver proved it impossible on every path that led to the branch.",
        "Nothing: dead code or a defensive check. If the campaign is not exhausted, other paths may still allow it.",
    ),
    Unflipped.FIXED: (
        "The path has forked on a value that the program uses as it is, and this value leaves no other side.",
        "The same: other values have tests of their own.",
    ),
    Unflipped.CONCRETE: (
        "Whenever it was reached, its value did not depend on symbolic input.",
        "Make the value symbolic, or take it from an instrumented file.",
    ),
    Unflipped.UNKNOWN: (
        "The solver gave up.",
        "Cut the formula: fewer symbolic bytes, a table instead of a product.",
    ),
    Unflipped.MISPREDICTED: (
        "Inputs were made for it, but the program went elsewhere.",
        "Look for this line under “Not followed”.",
    ),
    Unflipped.DIVERGED: (
        "The target did not do what the formulas say.",
        "The same; often it is uninitialised memory or a data race.",
    ),
    Unflipped.BOUND: ("It was cut off by --max-depth or --loop-bound.", "Raise the bound."),
    Unflipped.WAITING: ("An input is known, but the campaign ended first.", "Continue it: run --resume DIR."),
    Unflipped.NOT_REACHED: ("No test came to this branch.", "Look at the branch above it."),
}


class Gap(Struct, frozen=True):
    """Directions of a line that no test took, for one reason."""

    file: str
    line: int
    function: str
    anchor: str
    names: str
    reason: str
    why: str


class ShownFunction(Struct, frozen=True):
    of: Function
    anchor: str
    bugs: int
    missing: list[tuple[str, int]]  # reason, directions


def shown_functions(
    branches: Sequence[Branch], shown: Sources, bugs: Mapping[tuple[str, str], int], entry: Callable[[str, str], int]
) -> list[ShownFunction]:
    """`bugs`: how many by file and function; `entry`: the line where a function begins, 0 if that is not known."""
    missing: dict[tuple[str, str], Counter[str]] = {}
    for branch in branches:
        missing.setdefault((branch.file, branch.function), Counter()).update(
            side.reason for side in branch.sides if not side.taken
        )
    made = []
    for key, function in all_branches.functions(branches).items():
        anchor = shown.anchor(function.file, entry(*key)) or shown.anchor(function.file, function.line)
        made.append(ShownFunction(function, anchor, bugs.get(key, 0), missing[key].most_common()))
    return made


def gaps(branches: Sequence[Branch], shown: Sources) -> list[Gap]:
    """Of functions that were reached: of the others the table of functions says enough."""
    reached = {(branch.file, branch.function) for branch in branches if branch.is_reached}
    rows: dict[tuple[str, int, str, str, str], Counter[str]] = {}
    for branch in branches:
        if (branch.file, branch.function) in reached:
            for side in branch.sides:
                if not side.taken:
                    key = branch.file, branch.line, branch.function, side.reason, side.why
                    rows.setdefault(key, Counter())[side.name] += 1
    return [
        Gap(file, line, function, shown.anchor(file, line), directions(names), reason, why)
        for (file, line, function, reason, why), names in list(rows.items())[:MOST_ROWS]
    ]
