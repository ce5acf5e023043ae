"""Fingerprints of bugs, by which they are known again, and the file of those that a project knows already (a baseline).

A fingerprint is a bug's identity (results/known_bugs.py), and a number where several have the same. A baseline is text
that is committed beside the sources: a fingerprint a line, and behind it what a person wants to know of it
(results/known_bugs.py reads it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from score_embed.errors import printable
from score_embed.report.findings import Findings
from score_embed.results.bugs import Bug
from score_embed.results.known_bugs import identity

_HEAD = (
    "# Bugs that are known: score-embed does not fail because of them. Made by `score-embed report --write-baseline`.\n"
)


def of_all(found: Findings) -> list[str]:
    """One for each bug, and behind them one for each that the user has judged. Bugs that are alike in all that counts
    are numbered from the top of the file, whatever is said of them."""
    bugs = [*found.bugs, *(bug for bug, _ in found.judged)]
    keys = [identity(bug, found.sources) for bug in bugs]
    order = sorted(range(len(keys)), key=lambda i: bugs[i].place.line)
    seen: Counter[str] = Counter()
    result = [""] * len(keys)
    for i in order:
        seen[keys[i]] += 1
        result[i] = f"{keys[i]}:{seen[keys[i]]}"
    return result


def of(found: Findings) -> list[str]:
    """One for each bug of which the user has said nothing."""
    return of_all(found)[: len(found.bugs)]


def known(found: Findings) -> list[bool]:
    """Of each bug, whether it stands in the baseline."""
    return [each in (found.baseline or ()) for each in of(found)]


def new(found: Findings) -> list[Bug]:
    """The bugs that do not."""
    return [bug for bug, is_known in zip(found.bugs, known(found), strict=True) if not is_known]


def baseline(campaigns: Iterable[Findings]) -> str:
    """The text of a baseline that knows all bugs of these campaigns."""
    lines: dict[str, str] = {}
    for found in campaigns:
        for bug, fingerprint in zip(found.bugs, of(found), strict=True):
            lines.setdefault(
                fingerprint, printable(f"{bug.kind} in {bug.function or '?'} ({Path(bug.file).name or '?'})")
            )
    return _HEAD + "".join(
        f"{fingerprint}  {what}\n" for fingerprint, what in sorted(lines.items(), key=lambda one: one[::-1])
    )
