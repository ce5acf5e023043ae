"""How a test ended: as the target's END says, or in the host's own verdict where the target told no end.

What a verdict leaves of the target is said here, too: after some of them its memory may be anything. That a test waits
for a device says the target itself (`find_device` of `runtime/loop.c`).
"""

from __future__ import annotations

from typing import NamedTuple

from score_embed.contract.outcome import Finished, Verdict
from score_embed.contract.wire import VERDICTS, EndFlag
from score_embed.link.session import Result

RESTARTED = "the target started again by itself; if a watch-dog does it, `feed` of its profile feeds it"
# After these the instance's memory may be anything, though its canary is alive.
SUSPECT = frozenset(
    {
        Verdict.INVALID_MEMORY_ACCESS,
        Verdict.ILLEGAL_INSTRUCTION,
        Verdict.STACK_OVERFLOW,
        Verdict.WATCHDOG,
        Verdict.CORRUPTED,
    }
)
# What a runtime that was overwritten may say of any end. Others say themselves what is wrong.
UNSPECIFIC = frozenset(
    {Verdict.RETURN, Verdict.EXIT, Verdict.ASSUMPTION, Verdict.ASSERTION, Verdict.HANG, Verdict.WATCHDOG}
)
SILENT = "no answer, also when the watch-dog's time was over"
OVERWRITTEN = "the program overwrote what the probes keep in memory"


class Ending(NamedTuple):
    """The host's own verdict on a test whose target told no end."""

    verdict: Verdict
    code: int = 0
    why: str = ""


class Known(NamedTuple):
    """What has arrived of a test that has told no end, as the session says it."""

    events: bytes  # from the first one to the first that is missing
    coverage: tuple[int, ...]
    output: bytes
    sites: tuple[tuple[int, int], ...]  # where it came by, of a test that is eager, and how many event bytes before


def as_told(result: Result) -> Finished:
    """A test whose target told its end."""
    return Finished(
        verdict=VERDICTS[result.verdict],
        code=result.code,
        pc=result.pc,
        address=result.address,
        site=result.site,
        stack=result.stack,
        path_hash=result.path_hash,
        conditions=result.conditions,
        condition_match=bool(result.flags & EndFlag.MATCHED),
        operand_hash=result.operand_hash,
        events=result.events,
        coverage=result.coverage,
        branches=result.branches,
        input_used=result.input_used,
        output=result.output,
        unchecked=result.unchecked,
    )


def judged(ending: Ending, known: Known) -> Finished:
    """A test whose target told no end."""
    return Finished(
        verdict=ending.verdict,
        code=ending.code,
        pc=0,
        address=0,
        site=0,
        stack=(),
        path_hash=0,
        conditions=0,
        condition_match=False,
        operand_hash=0,
        events=known.events,
        coverage=(),
        branches=0,
        input_used=0,
        output=known.output,
        why_lost=ending.why,
        partial=True,
        taken=known.coverage,
        passed=known.sites,
    )
