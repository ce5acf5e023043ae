"""Tests and bugs as JUnit XML: one suite for a campaign, one case for each kept test; a bug is a failure."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import NamedTuple

from score_embed.report import fingerprints, text
from score_embed.report.findings import Findings
from score_embed.results.bugs import Bug
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import ended

# XML 1.0 has no way to write most of these, not even escaped; the others would do things to who looks at the file.
_ILLEGAL = re.compile(
    "[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]"
)


class _Shown(NamedTuple):
    """A bug that a test shows; `is_known`: to the baseline."""

    bug: Bug
    is_known: bool


def document(found: Findings) -> str:
    """The XML text."""
    bugs: dict[int, list[_Shown]] = {}
    for bug, is_known in zip(found.bugs, fingerprints.known(found), strict=True):
        bugs.setdefault(bug.test, []).append(_Shown(bug, is_known))
    failing = sum(any(not one.is_known for one in shown) for shown in bugs.values())
    summary = found.summary
    counts = {
        "tests": str(len(found.kept)),
        "failures": str(failing),
        "errors": "0",
        "time": f"{summary.seconds:.3f}",
    }
    root = ET.Element("testsuites", {"name": "score-embed", **counts})
    name = f"{found.program.name} on {found.program.board}"
    began = found.program.began.removesuffix("Z")  # the schema's time has no zone; it is UTC
    skipped = {"skipped": str(len(bugs) - failing)}
    more = {"package": "score-embed", "id": "0", "timestamp": _legal(began), "hostname": "localhost", **skipped}
    suite = ET.SubElement(root, "testsuite", {"name": _legal(name), **counts, **more})
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(found).items():
        ET.SubElement(properties, "property", {"name": _legal(key), "value": _legal(value)})
    for test in found.kept:
        _case(suite, found, test, bugs.get(test.number, []))
    lines = [*text.short_reasons(summary), *text.incomplete(summary)]
    ET.SubElement(suite, "system-out").text = _legal("\n".join([text.headline(summary), *lines]) + "\n")
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(found: Findings) -> dict[str, str]:
    summary = found.summary
    return {
        "board": summary.board,
        "strategy": summary.strategy,
        "seed": str(summary.seed),
        "stopped": summary.stopped,
        "runs": str(summary.runs),
        "paths": str(summary.paths),
        **({"within": ", ".join(summary.within)} if summary.within else {}),
        "branches_covered": str(summary.coverage.branches_covered),
        "branches_total": str(summary.coverage.branches_total),
        **found.versions,
    }


def _case(suite: ET.Element, found: Findings, test: TestRow, bugs: Sequence[_Shown]) -> None:
    """A test that ended in a bug may show another one to the second witness. One whose bugs the baseline knows, all of
    them, is skipped."""
    shown = (f"{bug.kind} in {bug.place.function or '?'} ({bug.place})" for bug, _ in bugs)
    name = ", ".join(shown) or f"test {test.stem}"
    # How long a single test took is not known.
    case = ET.SubElement(
        suite, "testcase", {"name": _legal(name), "classname": _legal(found.program.name), "time": "0"}
    )
    lines = [f"verdict: {ended(test.verdict, test.code)}", *(f"{key} = {value}" for key, value in test.inputs.items())]
    for bug, is_known in bugs:
        message = (
            f"{bug.kind} at {bug.place}: {text.inputs(bug.inputs, found.arrays) or 'any input'}{text.witness(bug)}"
        )
        if is_known:
            lines.append(f"the baseline knows: {message}")
            continue
        failure = ET.SubElement(case, "failure", {"type": _legal(bug.kind), "message": _legal(message)})
        failure.text = _legal("\n".join(text.bug(bug, found.sources, found.folder, found.arrays)) + "\n")
    if bugs and all(one.is_known for one in bugs):
        message = "the baseline knows: " + ", ".join(f"{bug.kind} at {bug.place}" for bug, _ in bugs)
        ET.SubElement(case, "skipped", {"message": _legal(message)})
    if test.output:
        lines.append(f"output: {test.output}")
    ET.SubElement(case, "system-out").text = _legal("\n".join(lines) + "\n")


def _legal(value: str) -> str:
    return _ILLEGAL.sub(lambda found: found[0].encode("unicode_escape").decode(), value)
