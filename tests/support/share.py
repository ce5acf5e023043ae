"""Which cases of a proof a run takes: a share that changes with each commit.

The tests that are no unit tests are families: programs x boards x strategies. Whoever changes the code waits for the
whole of them half an hour, and then starts no tests any more. So a run takes one case in `PARTS` of each family, and
the next commit takes others: after `PARTS` commits each case has run. Small families take turns: one with two cases
has a case in two shares of `PARTS`. Of the tests of a file that have no cases a run takes one in `ALONE`. A family of
hundreds, of generated programs say, has a mark of its own: with `@pytest.mark.parts(100)` it takes a hundred commits. A
number, the share, says which cases a run takes, so that it can be repeated on any commit.

`--all` takes all cases, but those of random programs by turns, too (`@pytest.mark.nights(6)`): they are endless, and
each night brings others. All cases together take hours. `--all --part K/N` runs them in N parts of the same size.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

SHARED = ("differential", "e2e", "property")  # folders of tests that run in shares
PARTS = 8
ALONE = 4  # of tests without cases


def share_of_commit(folder: Path) -> int:
    """The number of commits; of a clone that does not have them all, a number that the commit's hash gives; else 0."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        if git("rev-parse", "--is-shallow-repository") == "true":
            return int(git("rev-parse", "HEAD")[:4], 16)
        return int(git("rev-list", "--count", "HEAD") or 0)
    except (OSError, subprocess.TimeoutExpired):
        return 0


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    family: str  # its test function
    parts: int = PARTS


@dataclass(frozen=True, slots=True)
class Part:
    """The `number`th of `of` parts; each test is in one of them, whatever other tests there are."""

    number: int  # from 1
    of: int

    @classmethod
    def read(cls, text: str) -> Part:
        """Raises ValueError."""
        number, slash, of = text.partition("/")
        part = cls(int(number), int(of)) if slash else cls(0, 0)
        if not 1 <= part.number <= part.of:
            raise ValueError(f"{text!r} is not a part: K/N, with K from 1 to N")
        return part

    def __contains__(self, name: str) -> bool:
        return _hash(name) % self.of == self.number - 1


def case_of(name: str, file: Path, family: str, parts: int | None, has_cases: bool, whole: bool) -> Case:
    """`file`: below `tests`. `parts`: of a mark. `whole`: only what has a mark is shared.

    Tests without cases are the cases of their file.
    """
    if parts is not None:
        return Case(name, family, parts)
    if whole or file.parts[0] not in SHARED:
        return Case(name, family, 1)
    return Case(name, family, PARTS) if has_cases else Case(name, str(file), ALONE)


def in_share(cases: Iterable[Case], share: int) -> set[str]:
    """The names of the cases that run.

    A hash orders the cases of a family, because their own order has a period of its own: boards, say, would come alone.
    """
    families: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for case in cases:
        families[case.family, case.parts].append(case.name)
    return {name for (family, parts), names in families.items() for name in _part(family, names, share, parts)}


def _part(family: str, names: Sequence[str], share: int, parts: int) -> list[str]:
    """Each family begins elsewhere, so that small ones do not all come in the same shares."""
    first = (share - _hash(family)) % parts
    return sorted(names, key=_hash)[first::parts]


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
