"""Bugs as SARIF 2.1.0, the format that code review and editors show beside the source.

A result has the fingerprint by which it is known again (`fingerprints.py`), and with a baseline whether it is new.
"""

from __future__ import annotations

import json
import os
import urllib.parse
from pathlib import Path
from typing import Any

from score_embed import __version__
from score_embed.contract.judged import Judged
from score_embed.contract.words import Stop
from score_embed.report import fingerprints, kinds, text
from score_embed.report.findings import Findings
from score_embed.results.bugs import Bug

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"
FINGERPRINT = "scoreEmbed/v1"
_FAILED = frozenset({Stop.ERROR, Stop.KILLED})

def document(found: Findings) -> str:
    """The JSON text."""
    root = Path(found.sources.root)
    names = list(dict.fromkeys(bug.kind for bug in (*found.bugs, *(bug for bug, _ in found.judged))))
    said: list[tuple[Bug, Judged | None]] = [*((bug, None) for bug in found.bugs), *found.judged]
    run = {
        "tool": {
            "driver": {
                "name": "score-embed",
                "version": found.versions.get("score-embed", __version__),
                "rules": [_rule(kind) for kind in names],
            }
        },
        "automationDetails": {"id": f"score-embed/{found.program.name}/{found.program.board}/"},
        "originalUriBaseIds": {ROOT: {"uri": _folder_uri(root)}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(found)],
        "results": [
            _result(found, bug, names.index(bug.kind), fingerprint) | _suppressed(line)
            for (bug, line), fingerprint in zip(said, fingerprints.of_all(found), strict=True)
        ],
        "properties": {
            key: found.summary[key]
            for key in ("program", "board", "strategy", "seed", "stopped", "within", "runs", "paths", "coverage")
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(kind: str) -> dict[str, Any]:
    what, advice = kinds.rule(kind)
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": what},
        "fullDescription": {"text": f"{what} score-embed found an input that leads here and ran it on the target."},
        "help": {"text": advice},
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(found: Findings) -> dict[str, Any]:
    return {
        "executionSuccessful": found.summary["stopped"] not in _FAILED,
        "startTimeUtc": found.program.began,
        "workingDirectory": {"uri": _folder_uri(Path(found.sources.root))},
        "toolExecutionNotifications": [_notification(found, row) for row in found.summary["incomplete"]],
    }


def _notification(found: Findings, row: dict[str, Any]) -> dict[str, Any]:
    """Something that could not be followed. Functions left as written (count 0) lose nothing by themselves."""
    often = f" ({text.times(row['count'])})" if row["count"] else ""
    plain: dict[str, Any] = {
        "level": "warning" if row["count"] else "note",
        "message": {"text": f"{row['what']}{often}"},
    }
    if not found.is_generated(row["file"]):
        plain["locations"] = [{"physicalLocation": _physical(found, row["file"], row["line"])}]
    return plain


def _result(found: Findings, bug: Bug, rule: int, fingerprint: str) -> dict[str, Any]:
    place = bug.place
    sure = f"{text.witness(bug)}{text.doubt(bug)}"
    given = text.inputs(bug.inputs, found.arrays) or "any input"
    command = f"score-embed replay {found.folder} {bug.test}"
    plain: dict[str, Any] = {
        "ruleId": bug.kind,
        "ruleIndex": rule,
        "level": "error" if bug.confirmed else "warning",
        "message": {"text": f"{bug.kind} in {place.function or '?'} with {given}{sure}. Again: {command}"},
        "partialFingerprints": {FINGERPRINT: fingerprint},
        **_state(found, fingerprint),
        "occurrenceCount": bug.count,
        "properties": {
            "inputs": dict(bug.inputs),
            "test": bug.test,
            "confirmed": bug.confirmed,
            **({"witness": bug.witness} if bug.witness else {}),
        },
    }
    frames = _frames(found, bug)
    if frames:
        plain["locations"] = frames[:1]
        plain["stacks"] = [{"message": {"text": "functions entered"}, "frames": [{"location": at} for at in frames]}]
        outside_in = [{"location": at, "executionOrder": n} for n, at in enumerate(reversed(frames), 1)]
        plain["codeFlows"] = [{"threadFlows": [{"locations": outside_in}]}]
    return plain


def _state(found: Findings, fingerprint: str) -> dict[str, str]:
    if found.baseline is None:
        return {}
    return {"baselineState": "unchanged" if fingerprint in found.baseline else "new"}


def _suppressed(line: Judged | None) -> dict[str, Any]:
    """Of a bug that the user has accepted or refused: viewers leave it out."""
    if line is None:
        return {}
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": f"{line.word}: {line.why}"}]}


def _frames(found: Findings, bug: Bug) -> list[dict[str, Any]]:
    """Locations from the bug outwards. Of the callers only the function is known, so they point to its beginning."""
    place = bug.place
    frames: list[dict[str, Any]] = []
    for depth, function in enumerate(place.stack or ((place.function,) if place.function else ())):
        frame: dict[str, Any] = {"logicalLocations": [{"name": function, "kind": "function"}]}
        if depth == 0:
            file, line, message = place.file, place.line, bug.kind
        else:
            at = found.sources.definition(function)
            file, line, message = (at.file, at.line, f"in {function}") if at else ("", 0, f"in {function}")
        if not found.is_generated(file):
            frame["physicalLocation"] = _physical(found, file, line)
        frames.append({**frame, "message": {"text": message}})
    if not frames and not found.is_generated(place.file):
        frames = [{"physicalLocation": _physical(found, place.file, place.line), "message": {"text": bug.kind}}]
    return frames


def _physical(found: Findings, file: str, line: int) -> dict[str, Any]:
    path, root = found.absolute(file), Path(found.sources.root)
    if path.is_relative_to(root):
        name = urllib.parse.quote(os.fsencode(path.relative_to(root)))
        artifact = {"uri": name, "uriBaseId": ROOT}
    else:
        artifact = {"uri": path.as_uri()}
    plain: dict[str, Any] = {"artifactLocation": artifact}
    if line > 0:
        region: dict[str, Any] = {"startLine": line}
        if source := found.sources.text(file, line):
            region["snippet"] = {"text": source}
        plain["region"] = region
    return plain


def _folder_uri(folder: Path) -> str:
    return folder.as_uri().rstrip("/") + "/"
