"""Source files as a page shows them: each line with what became of its branches, and why.

A page stays small and quick whatever the program is. So of large programs only the lines near branches, bugs and losses
are shown, and what is left out is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from score_embed.contract.words import Unflipped
from score_embed.report.branches import Branch

MOST_LINES = 25_000  # of all files together, whole; else only lines near what is said of them
MOST_SHOWN = 60_000  # of these
NEAR = 3
LONGEST = 2_000  # characters of a line
BLOCK = 100  # lines that a browser lays out together
LARGE = 3_000  # lines: then a browser lays out only what is looked at
OPEN_LINES = 1_500  # files are open if all together have no more

FULL, PART, NONE = "full", "part", "none"  # directions taken: all, some, none
_RANK = {FULL: 0, NONE: 1, PART: 2}


class Remark(Struct, frozen=True):
    """What is said below a line. `kind`: a reason of `Unflipped`, or "bug", "lost"."""

    kind: str
    what: str  # in a word or two
    text: str
    anchor: str = ""  # more of it


class Line(Struct):
    """`number` 0: some lines are left out here. `state`: of its branches, empty if it has none."""

    number: int
    text: str
    state: str = ""
    remarks: tuple[Remark, ...] = ()


class SourceFile(Struct):
    """`blocks`: its lines; `counts`: directions not taken by reason."""

    ident: str
    name: str
    taken: int = 0
    total: int = 0
    bugs: int = 0
    is_generated: bool = False
    is_open: bool = False
    is_known: bool = True  # its text was kept
    blocks: list[list[Line]] = field(default_factory=list)


class Sources(Struct):
    files: list[SourceFile]
    left_out: int  # lines
    is_large: bool
    others: list[str]  # files in which there is nothing to see
    _idents: dict[str, str]
    _shown: set[tuple[str, int]]

    def add(self, name: str, lines: Sequence[Line], all_lines: int) -> None:
        """The next file, of which these lines are shown."""
        file = SourceFile(self._idents[name], name, is_generated=name.startswith("<"), is_known=all_lines > 0)
        file.blocks = _blocks(lines, all_lines)
        file.bugs = sum(remark.kind == "bug" for line in lines for remark in line.remarks)
        self.files.append(file)
        self._shown.update((name, line.number) for line in lines)

    def count(self, branches: Iterable[Branch]) -> None:
        """All files are there: what is theirs is added up."""
        by_name = {file.name: file for file in self.files}
        for branch in branches:
            by_name[branch.file].taken += branch.taken
            by_name[branch.file].total += len(branch.sides)
        total = sum(len(block) for file in self.files for block in file.blocks)
        self.is_large = total > LARGE
        for file in self.files:
            file.is_open = not file.is_generated and total <= OPEN_LINES

    def anchor(self, file: str, line: int) -> str:
        """Of a line that is shown; else empty."""
        return f"{self._idents[file]}-{line}" if (file, line) in self._shown else ""


def sources(
    texts: Mapping[str, Sequence[str]],
    branches: Sequence[Branch],
    remarks: Mapping[tuple[str, int], Sequence[Remark]],
) -> Sources:
    """All files of a program. `texts`: the lines of each; `remarks`: bugs and losses by file and line."""
    by_line: dict[tuple[str, int], list[Branch]] = {}
    for branch in branches:
        by_line.setdefault((branch.file, branch.line), []).append(branch)
    reached = {(branch.file, branch.function) for branch in branches if branch.is_reached}
    names = sorted({*(branch.file for branch in branches), *(file for file, _ in remarks if file)}, key=_order)
    marked: dict[str, set[int]] = {name: set() for name in names}
    for name, number in (*by_line, *remarks):
        if name and number > 0:
            marked[name].add(number)
    whole = sum(len(texts.get(name, ())) for name in names) <= MOST_LINES
    others = sorted(texts.keys() - set(names))
    made = Sources([], 0, False, others, {name: f"s{number}" for number, name in enumerate(names)}, set())
    room = MOST_SHOWN
    for name in names:
        kept = texts.get(name, ())
        kept = kept[:-1] if kept and not kept[-1] else kept  # behind the last line's end
        numbers = _numbers(len(kept), marked[name], whole and bool(kept))[:room]
        room -= len(numbers)
        made.left_out += max(0, len(kept) - len(numbers))
        lines = [_line(at, kept, by_line.get((name, at), ()), remarks.get((name, at), ()), reached) for at in numbers]
        made.add(name, lines, len(kept))
    made.count(branches)
    return made


def _order(name: str) -> tuple[bool, str]:
    """What was generated comes last."""
    return name.startswith("<"), name


def _numbers(lines: int, marked: Iterable[int], whole: bool) -> list[int]:
    if whole:
        return list(range(1, lines + 1))
    if not lines:
        return sorted(marked)
    near = {at for line in marked for at in range(line - NEAR, line + NEAR + 1)}
    return sorted(at for at in near if 0 < at <= lines)


def _blocks(lines: Sequence[Line], last: int) -> list[list[Line]]:
    """With a line that counts those that are left out, wherever there are any."""
    made: list[Line] = []
    before = 0
    for line in lines:
        if missing := line.number - before - 1:
            made.append(_gap(missing))
        made.append(line)
        before = line.number
    if last > before and made:
        made.append(_gap(last - before))
    return [made[at : at + BLOCK] for at in range(0, len(made), BLOCK)]


def _gap(lines: int) -> Line:
    return Line(0, "1 line" if lines == 1 else f"{lines} lines")


def _line(
    number: int,
    texts: Sequence[str],
    branches: Sequence[Branch],
    remarks: Sequence[Remark],
    reached: set[tuple[str, str]],
) -> Line:
    text = texts[number - 1] if number <= len(texts) else ""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} … ({len(text) - LONGEST} characters more)"
    states = [FULL if each.taken == len(each.sides) else PART if each.taken else NONE for each in branches]
    state = max(states, key=_RANK.__getitem__, default="")
    if NONE in states and any(each.taken for each in branches):
        state = PART
    gaps = _gaps(branches) if any((each.file, each.function) in reached for each in branches) else ()
    return Line(number, text.rstrip("\r"), state, (*gaps, *remarks))


def _gaps(branches: Sequence[Branch]) -> tuple[Remark, ...]:
    """Directions that were not taken, those with one reason together."""
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for side in (side for branch in branches for side in branch.sides if not side.taken):
        reasons.setdefault((side.reason, side.why), Counter())[side.name] += 1
    if len(reasons) == 1 and not any(branch.is_reached for branch in branches):
        ((reason, why),) = reasons
        if reason == Unflipped.NOT_REACHED:
            return (Remark(reason, "not reached", why),)
    return tuple(Remark(reason, f"never {directions(names)}", why) for (reason, why), names in reasons.items())


def directions(names: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({n} branches)" if n > 1 else name for name, n in names.items())
