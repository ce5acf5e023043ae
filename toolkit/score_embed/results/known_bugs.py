"""Bugs that are known already: what the user has said of them, and the file of those that a project knows (a baseline).

A bug's identity is made of what stays when code around it is edited or moved to another folder: kind, file name,
function, callers and the text of the line; never of line numbers, inputs or the campaign. A fingerprint is the
identity, and a number where several have the same. What the user has judged, or the baseline knows, ends no campaign.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from score_embed import userfile
from score_embed.config import Settings
from score_embed.contract.judged import ACCEPT, SHORT, Judged
from score_embed.errors import UsageError
from score_embed.results.bugs import Bug, Place
from score_embed.results.sourcemap import SourceMap

_MOST_BYTES = 16 << 20
_LINE = re.compile(r"([0-9a-f]{32}:[1-9][0-9]*)(\s.*)?")


class Sorted(Struct, frozen=True):
    """`open`: bugs of which nothing was said; `judged`: the others, with the line that says so; `unmatched`: lines that
    no bug of this campaign is meant by."""

    open: tuple[Bug, ...]
    judged: tuple[tuple[Bug, Judged], ...]
    unmatched: tuple[Judged, ...]

    @property
    def accepted(self) -> int:
        return sum(line.word == ACCEPT for _, line in self.judged)

    @property
    def refused(self) -> int:
        return len(self.judged) - self.accepted


def sort_out(bugs: Iterable[Bug], lines: Sequence[Judged], sources: SourceMap) -> Sorted:
    """Bugs in their order. A condition that never holds is in the harness; it means no bug."""
    left: list[Bug] = []
    judged: list[tuple[Bug, Judged]] = []
    for bug in bugs:
        line = meaning(bug, lines, sources) if lines else None
        if line is None:
            left.append(bug)
        else:
            judged.append((bug, line))
    used = {line for _, line in judged}
    unmatched = tuple(line for line in lines if line not in used and not line.is_condition)
    return Sorted(tuple(left), tuple(judged), unmatched)


def meaning(bug: Bug, lines: Iterable[Judged], sources: SourceMap) -> Judged | None:
    """The first line that is of a bug."""
    ident = identity(bug, sources)
    return next((line for line in lines if line.means(ident, bug.file, bug.line, bug.kind)), None)


def identity(bug: Bug, sources: SourceMap) -> str:
    """What is the same of a bug in any campaign, in hexadecimal."""
    place = bug.place
    line = "".join(sources.text(place.file, place.line).split())
    parts = [bug.kind, Path(place.file).name, place.function, *place.stack, line]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def short_id(bug: Bug, sources: SourceMap) -> str:
    """As much of it as people write."""
    return identity(bug, sources)[:SHORT]


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


def baseline_of(settings: Settings) -> frozenset[str] | None:
    """What the baseline of a session knows; None without one. Raises UsageError."""
    return read_baseline(settings.baseline) if settings.baseline is not None else None


def known_to(settings: Settings) -> frozenset[str]:
    """The same of a session without a baseline, too: nothing."""
    return baseline_of(settings) or frozenset()


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
