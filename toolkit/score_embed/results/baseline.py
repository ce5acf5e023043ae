"""The bugs that a project knows already: the file of their fingerprints (a baseline), and which bugs are still open.

A fingerprint is a bug's identity (judging.py), and a number where several have the same. What the user has judged, or the
baseline knows, ends no campaign.
"""

from __future__ import annotations

import re
from pathlib import Path

from score_embed import userfile
from score_embed.config import Settings
from score_embed.contract.judged import Judged
from score_embed.errors import UsageError
from score_embed.results.bugs import Bug, Place
from score_embed.results.judging import identity, meaning
from score_embed.results.sourcemap import SourceMap

_MOST_BYTES = 16 << 20
_LINE = re.compile(r"([0-9a-f]{32}:[1-9][0-9]*)(\s.*)?")


def read_baseline(path: Path) -> frozenset[str]:
    """The fingerprints of a baseline. Raises UsageError."""
    hint = "Make one of your campaigns: score-embed report DIR… --write-baseline FILE. An empty file knows no bug."
    data = userfile.read(path, "the baseline", _MOST_BYTES, hint)
    made: set[str] = set()
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise UsageError("this is no fingerprint", f"{path}:{number}", hint)
        made.add(match[1])
    return frozenset(made)


def known_to(settings: Settings) -> frozenset[str]:
    """What the baseline of a session knows. Raises UsageError."""
    return read_baseline(settings.baseline) if settings.baseline is not None else frozenset()


class OpenBugs:
    """Tells while a campaign runs which bugs are open."""

    def __init__(self, sources: SourceMap, judged: tuple[Judged, ...], known: frozenset[str]) -> None:
        self._sources, self._judged, self._known = sources, judged, known
        self._alike: dict[str, set[tuple[str, Place]]] = {}

    def has(self, bug: Bug) -> bool:
        """Whether it is open. Of several that are alike the baseline knows how many there were: one more is open."""
        ident = identity(bug, self._sources)
        alike = self._alike.setdefault(ident, set())
        alike.add((bug.kind, bug.place))
        if meaning(bug, self._judged, self._sources) is not None:
            return False
        return any(f"{ident}:{number}" not in self._known for number in range(1, len(alike) + 1))
