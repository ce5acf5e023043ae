"""The same bug found from several functions: a caller that brings real arguments confirms what a function shows alone.

Explored alone a function gets every argument that its type allows, and a bug may rest on one that nobody passes. If a function
that calls it shows the same bug at the same place, with the caller's own arguments and preconditions, it is `confirmed in context`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from score_embed.unit.rows import Found, Row

Key = tuple[str, str, int, str]  # kind and place of a bug


def confirm(rows: Sequence[Row]) -> None:
    """Write to each bug which other functions show it, too, by calling the one that it was found in."""
    shown: dict[Key, list[tuple[Row, Found]]] = {}
    for row in rows:
        for bug in row.found:
            shown.setdefault(_key(bug), []).append((row, bug))
    for both in shown.values():
        for row, bug in both:
            callers = [other for other, seen in both if other is not row and row.function in seen.stack]
            bug.context = tuple(dict.fromkeys(caller.function for caller in callers))
            bug.firm = any(
                not seen.rests_on for other, seen in both if other is not row and row.function in seen.stack
            )


def ranked(rows: Iterable[Row]) -> list[tuple[Row, Found]]:
    """Each bug once, where the fewest calls lead to it: first those that a caller confirms whose arguments rest on nothing, then the
    others that one confirms, then those that rest on nothing themselves."""
    nearest: dict[Key, tuple[Row, Found]] = {}
    for row in rows:
        for bug in row.found:
            known = nearest.get(_key(bug))
            if known is None or len(bug.stack) < len(known[1].stack):
                nearest[_key(bug)] = (row, bug)
    return sorted(nearest.values(), key=lambda one: (not one[1].firm, not one[1].context, bool(one[1].rests_on)))


def _key(bug: Found) -> Key:
    return bug.kind, bug.file, bug.line, bug.function
