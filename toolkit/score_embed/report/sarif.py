"""Bugs as SARIF 2.1.0, the format that code review and editors show beside the source.

A result has the fingerprint by which it is known again (`fingerprints.py`), and with a baseline whether it is new.
"""

from __future__ import annotations

import os
import urllib.parse
from pathlib import Path

from score_embed import __version__
from score_embed.contract.judged import Judged
from score_embed.contract.words import Stop
from score_embed.report import fingerprints, kinds, text
from score_embed.report.findings import Findings
from score_embed.report.sarif_records import (
    Artifact,
    BugProperties,
    CodeFlow,
    Driver,
    FlowStep,
    Folder,
    Frame,
    Invocation,
    Level,
    Location,
    Log,
    Logical,
    Message,
    Named,
    Notification,
    Physical,
    Region,
    Result,
    Rule,
    Run,
    RunProperties,
    Stack,
    Suppression,
    ThreadFlow,
    Tool,
)
from score_embed.results.bugs import Bug
from score_embed.results.json_text import indented
from score_embed.results.summary import NotFollowed

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"
FINGERPRINT = "scoreEmbed/v1"
_FAILED = frozenset({Stop.ERROR, Stop.KILLED})


def document(found: Findings) -> str:
    """The JSON text."""
    names = list(dict.fromkeys(bug.kind for bug in (*found.bugs, *(bug for bug, _ in found.judged))))
    said: list[tuple[Bug, Judged | None]] = [*((bug, None) for bug in found.bugs), *found.judged]
    summary = found.summary
    run = Run(
        tool=Tool(Driver("score-embed", found.versions.get("score-embed", __version__), list(map(_rule, names)))),
        automation_details=Named(f"score-embed/{found.program.name}/{found.program.board}/"),
        original_uri_base_ids={ROOT: _folder(Path(found.sources.root))},
        column_kind="utf16CodeUnits",
        invocations=[_invocation(found)],
        results=[
            _result(found, bug, line, names.index(bug.kind), fingerprint)
            for (bug, line), fingerprint in zip(said, fingerprints.of_all(found), strict=True)
        ],
        properties=RunProperties(
            summary.program,
            summary.board,
            summary.strategy,
            summary.seed,
            summary.stopped,
            summary.within,
            summary.runs,
            summary.paths,
            summary.coverage,
        ),
    )
    return indented(Log(SCHEMA, "2.1.0", [run])) + "\n"


def _rule(kind: str) -> Rule:
    what, advice = kinds.rule(kind)
    return Rule(
        kind,
        "".join(word.capitalize() for word in kind.split("-")),
        Message(what),
        Message(f"{what} score-embed found an input that leads here and ran it on the target."),
        Message(advice),
        Level("error"),
    )


def _invocation(found: Findings) -> Invocation:
    return Invocation(
        found.summary.stopped not in _FAILED,
        found.program.began,
        _folder(Path(found.sources.root)),
        [_notification(found, row) for row in found.summary.incomplete],
    )


def _notification(found: Findings, row: NotFollowed) -> Notification:
    """Something that could not be followed. Functions left as written (count 0) lose nothing by themselves."""
    often = f" ({text.times(row.count)})" if row.count else ""
    is_users = not found.is_generated(row.file)
    return Notification(
        "warning" if row.count else "note",
        Message(f"{row.what}{often}"),
        [Location(physical_location=_physical(found, row.file, row.line))] if is_users else None,
    )


def _result(found: Findings, bug: Bug, line: Judged | None, rule: int, fingerprint: str) -> Result:
    """`line`: by which the user has accepted or refused it."""
    sure = f"{text.witness(bug)}{text.doubt(bug)}"
    given = text.inputs(bug.inputs, found.arrays) or "any input"
    command = f"score-embed replay {found.folder} {bug.test}"
    frames = _frames(found, bug)
    outside_in = [FlowStep(at, n) for n, at in enumerate(reversed(frames), 1)]
    stack = Stack(Message("functions entered"), list(map(Frame, frames)))
    return Result(
        rule_id=bug.kind,
        rule_index=rule,
        level="error" if bug.confirmed else "warning",
        message=Message(f"{bug.kind} in {bug.function or '?'} with {given}{sure}. Again: {command}"),
        partial_fingerprints={FINGERPRINT: fingerprint},
        baseline_state=_state(found, fingerprint),
        occurrence_count=bug.count,
        properties=BugProperties(bug.inputs, bug.test, bug.confirmed, bug.witness),
        locations=frames[:1] or None,
        stacks=[stack] if frames else None,
        code_flows=[CodeFlow([ThreadFlow(outside_in)])] if frames else None,
        suppressions=_suppressed(line),
    )


def _state(found: Findings, fingerprint: str) -> str:
    if found.baseline is None:
        return ""
    return "unchanged" if fingerprint in found.baseline else "new"


def _suppressed(line: Judged | None) -> list[Suppression] | None:
    """Of a bug that the user has accepted or refused: viewers leave it out."""
    return [Suppression("external", "accepted", f"{line.word}: {line.why}")] if line is not None else None


def _frames(found: Findings, bug: Bug) -> list[Location]:
    """Locations from the bug outwards. Of the callers only the function is known, so they point to its beginning."""
    frames: list[Location] = []
    for depth, function in enumerate(bug.stack or ((bug.function,) if bug.function else ())):
        if depth == 0:
            file, line, message = bug.file, bug.line, bug.kind
        else:
            at = found.sources.definition(function)
            file, line, message = (at.file, at.line, f"in {function}") if at else ("", 0, f"in {function}")
        physical = _physical(found, file, line) if not found.is_generated(file) else None
        frames.append(Location([Logical(function, "function")], physical, Message(message)))
    if not frames and not found.is_generated(bug.file):
        frames = [Location(None, _physical(found, bug.file, bug.line), Message(bug.kind))]
    return frames


def _physical(found: Findings, file: str, line: int) -> Physical:
    path, root = found.absolute(file), Path(found.sources.root)
    if path.is_relative_to(root):
        artifact = Artifact(urllib.parse.quote(os.fsencode(path.relative_to(root))), ROOT)
    else:
        artifact = Artifact(path.as_uri())
    if line <= 0:
        return Physical(artifact)
    source = found.sources.text(file, line)
    return Physical(artifact, Region(line, Message(source) if source else None))


def _folder(path: Path) -> Folder:
    return Folder(path.as_uri().rstrip("/") + "/")
