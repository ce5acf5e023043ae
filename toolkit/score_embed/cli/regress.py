"""What `run --regress DIR` prints: the tests that do not pass, as compilers write errors, and how many of each kind."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from score_embed import config
from score_embed.campaign import regressing
from score_embed.campaign.regressing import Regressed, Regression, State
from score_embed.cli.console import Printer, plain
from score_embed.cli.output import readers_may_leave
from score_embed.report import text
from score_embed.report.regression import RegressionDocument, RegressionTest
from score_embed.results.json_text import indented


def execute(settings: config.Settings, folder: Path) -> int:
    """Run the kept tests of a campaign again; returns the exit code."""
    found = regressing.run(settings, folder)
    with readers_may_leave():
        if settings.json:
            print(indented(_document(found)))
        else:
            console = Printer(highlight=False)
            for line in _lines(found):
                console.print(plain(line), soft_wrap=True)
    return int(any(test.is_failure for test in found.tests))


def _document(found: Regression) -> RegressionDocument:
    tests = (
        RegressionTest(
            one.test.number,
            one.test.stem,
            one.state.value,
            one.was,
            one.now,
            one.bug.file if one.bug else "",
            one.bug.line if one.bug else 0,
            tuple(_told(found, one)),
        )
        for one in found.tests
    )
    return RegressionDocument(str(found.folder), found.sources.root, tuple(tests))


def _lines(found: Regression) -> Iterator[str]:
    for one in found.tests:
        if one.is_failure or one.state is State.LOST:
            yield from _told(found, one)
    counts = Counter(one.state for one in found.tests)
    before = sum(one.is_as_before for one in found.tests if one.state is State.BUG)
    beside = {State.BUG: f" ({before} as before)"} if before else {}
    told = ", ".join(f"{counts[state]} {state}{beside.get(state, '')}" for state in State if counts[state])
    yield f"{len(found.tests)} tests of {found.folder} on the program as it is now: {told}"
    unseen = sum(one.by_witness for one in found.tests)
    if unseen:
        yield f"{unseen} of them had bugs that only the second witness saw; it does not look here"


def _told(found: Regression, one: Regressed) -> Iterator[str]:
    inputs = text.inputs(one.test.inputs) or "any input"
    if one.bug is not None:
        *lines, _ = text.bug(one.bug, found.sources, found.folder, is_known=one.state is State.KNOWN)
        yield from lines
        yield f"  test {one.test.number} of {shlex.quote(str(found.folder))}; it was: {one.was}"
    else:
        level = "error" if one.is_failure else "note"
        yield f"{found.folder}: {level}: test {one.test.number}: it was {one.was}; it is {one.now}: {inputs} [{one.state}]"
    if one.by_witness:
        yield "  its bug was one that only the second witness saw; it does not look here"
