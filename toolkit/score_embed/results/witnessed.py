"""What the second witness said, beside the bugs of the tests themselves.

Each test that was run again has a row of its own in the record, and a finding stays as it was made: which findings are
bugs that nobody else has found is computed when somebody reads, from all rows. So the order in which tests and
findings came makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from score_embed.results.bugs import Bug, BugList, Place
from score_embed.results.testcase import Named, Value

CLEAN, FOUND, AGAIN, LOST = "clean", "found", "again", "lost"  # AGAIN: a finding that an earlier test has

# Kinds that the two witnesses may give to the same fault: where one sees the object, the other the address.
_FAMILIES = (
    frozenset({"out-of-bounds", "invalid-memory-access", "heap-corruption", "stack-overflow"}),
    frozenset({"null-dereference", "invalid-memory-access"}),
    frozenset({"use-after-free", "double-free", "invalid-free", "heap-corruption", "invalid-memory-access"}),
    frozenset({"use-after-scope", "use-after-return", "invalid-memory-access"}),
    frozenset({"division-by-zero", "overflow"}),  # INT_MIN / -1
    frozenset({"illegal-instruction", "unreachable"}),
)

_WILD_CALLS = ("null-dereference", "invalid-memory-access")  # what a call through a wrong pointer ends in


def alike(kind: str, other: str) -> bool:
    """Whether two kinds at one place are the same fault."""
    return kind == other or any(kind in family and other in family for family in _FAMILIES)


class Finding(Struct, frozen=True):
    """What a sanitizer reported. `witness`: which one; `small`: the simpler input that it reports the same of, empty if
    none was found, None if nobody has looked; `depends`: as of a bug."""

    kind: str
    file: str
    line: int
    function: str
    stack: tuple[str, ...]
    witness: str
    confirmed: bool = False
    small: bytes | None = None
    depends: tuple[str, ...] | None = None

    @staticmethod
    def at(place: Place, kind: str, witness: str) -> Finding:
        return Finding(kind, place.file, place.line, place.function, place.stack, witness)

    @property
    def place(self) -> Place:
        return Place(self.file, self.line, self.function, self.stack)


class WitnessState(Struct, frozen=True):
    """`seconds`: that its process was busy; `missing`: why there is none; `past`: distinct paths up to this test were
    its."""

    seconds: float
    missing: str
    past: int = 0


class Found(Struct, frozen=True):
    """A finding, the test it was made in, and how that test had ended for us (`place`: empty if not in a bug).
    `inputs`: of the simpler input, if there is one."""

    finding: Finding
    test: int
    inputs: Mapping[str, Value]
    verdict: str
    place: str
    objects: tuple[Named, ...] = ()  # of the simpler input


class Counts(Struct, frozen=True):
    """Tests: run again; of these without an answer; kept and not run again; other distinct paths not run again."""

    witnessed: int
    lost: int
    kept_left: int
    paths_left: int


def all_bugs(own: Iterable[Bug], found: Iterable[Found]) -> list[Bug]:
    """The bugs of the tests, and those that only the second witness saw: first those that rest on nothing, by test."""
    ours = list(own)
    others = BugList()
    for one in found:
        if not _is_known(ours, one):
            finding = one.finding
            seen = finding.confirmed, finding.witness, finding.depends
            bug = Bug.at(finding.place, finding.kind, one.inputs, one.test, *seen)
            bug.small, bug.objects = (finding.small or b"").hex(), one.objects
            others.add(bug)
    return sorted([*ours, *others], key=lambda bug: (bool(bug.rests_on), bug.test))


def _is_known(ours: Iterable[Bug], one: Found) -> bool:
    """A bug of ours at that line; or the one that this test ended with, if that is in the same function: where an
    expression has several lines, the two may name different ones. What code without probes does with its arguments we
    find where it is called: then it is of the same kind, in a function that called the witness's. Who calls what is no
    function has no frame below the caller's own, and the witness, which walks up from there, misses that one. A stack
    that is overwritten leads to no place at all."""
    finding = one.finding
    at = str(finding.place)
    if one.place == at:
        return True
    for bug in ours:
        if not alike(bug.kind, finding.kind):
            continue
        if str(bug.place) == at:
            return True
        ended_here = (bug.kind, str(bug.place)) == (one.verdict, one.place)
        if ended_here and (not finding.file or bug.place.function == finding.place.function):
            return True
        if ended_here and bug.kind == finding.kind and bug.place.function in finding.place.stack:
            return True
        if ended_here and finding.kind in _WILD_CALLS and finding.place.stack == bug.place.stack[1:]:
            return True
    return False


class Witnessed(Struct, frozen=True):
    """How many tests were run again and how many were not, for summary.json."""

    witnessed: int
    not_witnessed: int
    kept_not_witnessed: int
    lost: int
    seconds: float
    missing: str

    @staticmethod
    def of(counts: Counts, state: WitnessState) -> Witnessed:
        """`state`: what the record says of the witness itself."""
        left, kept_left = counts.kept_left + counts.paths_left, counts.kept_left
        return Witnessed(counts.witnessed, left, kept_left, counts.lost, round(state.seconds, 3), state.missing)


def lines(found: Witnessed | None) -> Iterator[str]:
    """The same for people; nothing if there is no second witness."""
    if found is None:
        return
    if found.missing:
        yield f"there was none: {found.missing}"
    if found.witnessed:
        yield f"{found.witnessed} tests run again under gcc's sanitizers in {found.seconds:.2f} s"
    if found.lost:
        yield f"{found.lost} of them did not end in time, took too much memory, or killed their process"
    if found.not_witnessed:
        kept = found.kept_not_witnessed
        which = f"{kept} of them brought coverage or a bug" if kept else "none of them brought coverage or a bug"
        yield f"not run again: {found.not_witnessed} distinct paths; {which}"
