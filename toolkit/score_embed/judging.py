"""A test whose target died: is that what the program does, or did something else end it?

The target cannot say how such a test ended, nor which way it took. So the test runs again on a fresh target, which this time
says all at once: each event and each branch that is covered. The same end after the same events, twice, is a verdict like any
other, and the path is known as far as the target lived; a test that ends differently is LOST.
"""

from __future__ import annotations

from hashlib import blake2b

from score_embed.build.image import Image
from score_embed.target.base import Finished, Run, Target, Verdict
from score_embed.trace.trail import Trail

_TRIALS = 2  # of a test that died, on fresh targets
_ROOM = 1 << 16  # bytes of 0 that a program may read behind its input
NOT_AGAIN = "it did not end like that again"


def is_doubtful(finished: Finished) -> bool:
    """The target did not live to tell, or was not itself any more."""
    return finished.partial or finished.verdict is Verdict.CORRUPTED


class Judge:
    def __init__(self, target: Target, image: Image) -> None:
        self._target, self._image = target, image

    def judge(self, test: Run, first: Finished) -> Finished:
        """How a test ends whose `first` run is doubtful; it is sent from the beginning, and not compared with a prediction.

        Raises TargetError if the target cannot be started again.
        """
        runs = [self._read(test, first)]
        eager = test._replace(predicted=0, condition_hash=0, prefix=b"", eager=True)
        for _ in range(_TRIALS):
            self._target.restart()
            again = self._target.run(eager)
            if not is_doubtful(again):
                reason = first.why_lost or first.verdict.value
                return again._replace(verdict=Verdict.LOST, code=0, why_lost=f"{reason}; {NOT_AGAIN}")
            again = self._read(test, again)
            if any(_same(before, again) for before in runs):
                self._target.restart()
                return again._replace(why_lost="") if again.verdict is not Verdict.LOST else again
            runs.append(again)
        self._target.restart()
        most = max(runs, key=lambda run: len(run.events))
        return most._replace(
            verdict=Verdict.LOST, code=0, why_lost=f"{first.why_lost or first.verdict.value}; {NOT_AGAIN}"
        )

    def _read(self, test: Run, finished: Finished) -> Finished:
        """What its events say, as far as they make sense: the target had no time to, or nobody can believe it."""
        image, data = self._image, test.input + bytes(_ROOM)
        trail = Trail(image.sites, image.verify, image.constants)
        known = finished.events[: trail.sound(finished.events, data)]
        trail.follow(known, data)
        return finished._replace(
            pc=0,
            stack=(),
            site=_last_place(trail),
            events=known,
            conditions=len(trail.conditions),
            condition_match=True,
            operand_hash=trail.operand_hash,
            path_hash=_path(trail, finished),
            input_used=trail.consumed,
        )


def _same(one: Finished, other: Finished) -> bool:
    """The same end, after the same events as far as both are known."""
    known = min(len(one.events), len(other.events))
    return (one.verdict, one.code) == (other.verdict, other.code) and one.events[:known] == other.events[:known]


def _last_place(trail: Trail) -> int:
    """The site of the last event, or of the last condition if that was one of the runtime's own."""
    if trail.last_site in trail.table.sites:
        return trail.last_site
    return trail.conditions[-1].site if trail.conditions else 0


def _path(trail: Trail, finished: Finished) -> int:
    """Names the path by its conditions and its end: the target's own hash is not known, or not to be trusted."""
    decisions = trail.condition_hash(len(trail.conditions)).to_bytes(8, "little")
    return int.from_bytes(
        blake2b(decisions + f"{finished.verdict.value} {finished.code}".encode(), digest_size=8).digest(), "little"
    )
