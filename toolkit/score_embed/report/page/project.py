"""The page of a project: several campaigns, what they took together, and the bugs that any of them found."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from score_embed.report import branches as all_branches
from score_embed.report import fingerprints, kinds, text
from score_embed.report.branches import Branch
from score_embed.report.findings import Findings
from score_embed.report.page import bugs, coverage
from score_embed.report.page.bugs import ShownJudged
from score_embed.report.page.campaign import FILE, TONES
from score_embed.report.page.coverage import gaps, shown_functions
from score_embed.report.page.render import page
from score_embed.report.page.sources import Remark, Sources, sources
from score_embed.results.bugs import Bug
from score_embed.results.known_bugs import identity

_MOST_SEEN = 5  # campaigns and callers that are named with a bug
_MOST_INPUT = 200  # characters
_MOST_PROGRAMS = 4


@dataclass(frozen=True)
class Seen:
    campaign: str
    callers: str
    inputs: str
    rests_on: list[str]
    command: str


@dataclass
class Defect:
    """One line where something happens, whoever found it, and whoever called the function."""

    ident: str
    kind: str
    title: str
    function: str
    file: str
    line: int
    confirmed: bool
    is_known: bool  # to the baseline of each campaign that found it
    anchor: str = ""
    seen: list[Seen] = field(default_factory=list)
    more: int = 0  # that are not named


@dataclass
class _Texts:
    """The text of each file that is shown, and the files of which there are others. Names are absolute."""

    shown: dict[str, tuple[str, ...]]
    older: set[str]


def document(campaigns: Sequence[Findings], beside: Path) -> str:
    """The HTML text. `beside`: the folder that the page is written to; links to the campaigns' own pages start
    there."""
    texts = _texts(campaigns)
    names = _short(texts.shown)
    branches = all_branches.merged([_branches(found, texts, names) for found in campaigns])
    defects = _defects(campaigns, names)
    remarks: dict[tuple[str, int], list[Remark]] = {}
    for one in defects:
        if one.file and one.line > 0:
            remarks.setdefault((one.file, one.line), []).append(Remark("bug", one.kind, one.title, one.ident))
    shown = sources({names[file]: lines for file, lines in texts.shown.items()}, branches, remarks)
    for one in defects:
        one.anchor = shown.anchor(one.file, one.line)
    sides = [side for branch in branches for side in branch.sides]
    apart = _judged(campaigns, names, shown)
    values: dict[str, object] = {
        "campaigns": [_campaign(found, beside) for found in campaigns],
        "programs": _programs(campaigns),
        "taken": sum(side.taken for side in sides),
        "total": len(sides),
        "reasons": Counter(side.reason for side in sides if not side.taken).most_common(),
        "words": coverage.REASONS,
        "told": coverage.MEANING,
        "older": sorted(names[file] for file in texts.older),
        "bugs": defects,
        "judged": apart,
        "said_apart": bugs.judged_count(apart),
        "unmatched": (),  # a line may mean a bug of another campaign
        "sources": shown,
        "functions": shown_functions(branches, shown, Counter((one.file, one.function) for one in defects), _no_lines),
        "gaps": gaps(branches, shown),
    }
    return page("project.html", values)


def _no_lines(_file: str, _function: str) -> int:
    """Where functions begin is known of each program, not of all together."""
    return 0


def _texts(campaigns: Sequence[Findings]) -> _Texts:
    """The newest of each file."""
    made = _Texts({}, set())
    for found in sorted(campaigns, key=lambda each: each.program.began, reverse=True):
        for file, lines in found.sources.texts.items():
            if not found.is_generated(file):
                known = made.shown.setdefault(str(found.absolute(file)), lines)
                if known != lines:
                    made.older.add(str(found.absolute(file)))
    return made


def _short(files: Mapping[str, object]) -> dict[str, str]:
    """Without the folders that all have in common."""
    root = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return {file: os.path.relpath(file, root) for file in files}


def _branches(found: Findings, texts: _Texts, names: dict[str, str]) -> list[Branch]:
    """Those of the text that is shown, under the names of the page."""
    called: dict[str, str] = {}  # looked up once a file: a project's campaigns have thousands of branches each
    made = []
    for branch in all_branches.of(found):
        if branch.file not in called:
            called[branch.file] = _called(found, branch.file, texts, names)
        if name := called[branch.file]:
            made.append(replace(branch, file=name))
    return made


def _called(found: Findings, file: str, texts: _Texts, names: dict[str, str]) -> str:
    """What the page calls a file of a campaign; empty if it was generated, or its text is not the one that is shown."""
    absolute = str(found.absolute(file))
    if found.is_generated(file) or found.sources.texts.get(file, ()) != texts.shown.get(absolute, ()):
        return ""
    return names.setdefault(absolute, absolute)


def _defects(campaigns: Sequence[Findings], names: Mapping[str, str]) -> list[Defect]:
    """The bugs of the newest text first: an older one's lines have other numbers."""
    made: dict[tuple[object, ...], Defect] = {}
    for found in sorted(campaigns, key=lambda each: each.program.began, reverse=True):
        for bug, is_known in zip(found.bugs, fingerprints.known(found), strict=True):
            absolute = str(found.absolute(bug.file)) if bug.file else ""
            file = names.get(absolute, absolute)
            title = kinds.happened(bug.kind)
            fresh = Defect(
                f"bug-{len(made) + 1}", bug.kind, title, bug.function, file, bug.line, bug.confirmed, is_known
            )
            one = made.setdefault(_line_of(found, bug, file), fresh)
            one.confirmed |= bug.confirmed
            one.is_known &= is_known
            if len(one.seen) < _MOST_SEEN:
                one.seen.append(_seen(found, bug))
            else:
                one.more += 1
    return list(made.values())


def _line_of(found: Findings, bug: Bug, file: str) -> tuple[object, ...]:
    """What tells bugs apart here: the line, and what happens there. Lines are told by their text, since edits elsewhere
    move them, and of those that are alike by their turn. Without a line it is the identity."""
    lines = found.sources.texts.get(bug.file, ())
    if not 0 < bug.line <= len(lines):
        return (identity(bug, found.sources),)
    here = lines[bug.line - 1].strip()
    turn = sum(line.strip() == here for line in lines[: bug.line])
    return (bug.kind, file, bug.function, here, turn)


def _seen(found: Findings, bug: Bug) -> Seen:
    command = f"score-embed replay {shlex.quote(str(found.folder))} {bug.test}"
    inputs = text.inputs(bug.inputs, found.arrays) or "any input"
    inputs = inputs if len(inputs) <= _MOST_INPUT else f"{inputs[:_MOST_INPUT]} …"
    return Seen(
        f"{found.program.name} on {found.program.board}", ", ".join(bug.stack[1:]), inputs, bug.rests_on, command
    )


def _judged(campaigns: Sequence[Findings], names: Mapping[str, str], shown: Sources) -> list[ShownJudged]:
    """Each once, with the line that was said last of it; none that is open in any campaign."""
    left = {identity(bug, found.sources) for found in campaigns for bug in found.bugs}
    made: dict[str, ShownJudged] = {}
    for found in sorted(campaigns, key=lambda each: each.program.began):
        for bug, line in found.judged:
            absolute = str(found.absolute(bug.file)) if bug.file else ""
            file = names.get(absolute, absolute)
            made[identity(bug, found.sources)] = bugs.judged_row(bug, line, file, shown.anchor(file, bug.line))
    return [row for ident, row in made.items() if ident not in left]


@dataclass(frozen=True)
class _Campaign:
    """A line of the table of campaigns."""

    program: str
    board: str
    folder: str
    link: str
    stopped: str
    within: str
    tone: str
    covered: int
    total: int
    paths: int
    runs: int
    seconds: float
    bugs: int
    judged: int


def _campaign(found: Findings, beside: Path) -> _Campaign:
    summary = found.summary
    page, own = Path(found.folder).absolute() / FILE, found.own_directions
    return _Campaign(
        program=summary.program,
        board=summary.board,
        folder=str(found.folder),
        link=quote(os.fsencode(os.path.relpath(page, beside.absolute()))) if page.is_file() else "",
        stopped=summary.stopped,
        within=", ".join(summary.within),
        tone=TONES.get(summary.stopped, "fair"),
        covered=sum(index in found.covered for index in own),
        total=len(own),
        paths=summary.paths,
        runs=summary.runs,
        seconds=summary.seconds,
        bugs=len(found.bugs),
        judged=len(found.judged),
    )


def _programs(campaigns: Sequence[Findings]) -> str:
    names = list(dict.fromkeys(found.program.name for found in campaigns))
    more = f" and {len(names) - _MOST_PROGRAMS} more" if len(names) > _MOST_PROGRAMS else ""
    return f"of {', '.join(names[:_MOST_PROGRAMS])}{more}"
