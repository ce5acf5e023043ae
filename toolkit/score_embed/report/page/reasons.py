"""The reasons for which a direction of a branch was not taken, as pages name and explain them."""

from __future__ import annotations

from score_embed.contract.words import Unflipped

# In a word or two.
WORDS: dict[str, str] = {
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
