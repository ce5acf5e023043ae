"""A test whose target died: is that what the program does, or did something else end it?

The target cannot say how such a test ended, nor which way it took. So the test runs again on a fresh target, which this
time says all at once: each event and each branch that is covered. If that one lives, somebody else has ended the first:
the test ended as the second run says. If it dies, too, further runs decide: two whole accounts of the same end after
the same events are a verdict like any other, and the path is known as far as the target lived. What ends in another way
each time is LOST. SIGKILL is what the OOM killer and people use, so it takes four accounts.

A stack can be used up while an event is written. Then the target lives and says so, and only the last event is lost.

The first run is no witness of its end. Its last events were still in the target, so an end from outside, at whatever
moment, would look like any other that came later.
"""

from __future__ import annotations

import signal
from hashlib import blake2b

from score_embed.contract.outcome import Finished, Run, Target, Verdict
from score_embed.contract.sites import MODEL
from score_embed.image.image import Image
from score_embed.trace.trail import Trail

_ALIKE, _MOST = 2, 3  # accounts of the same end, of so many at most
_KILLS, _MOST_KILLED = 4, 6  # … if it is the end that others bring about
_NEVER = 0xFFFFFFFF
_BEFORE = 512  # bytes of events: in them lies, mostly, the call of the function that did the harm
_ROOM = 1 << 16  # bytes of 0 that a program may read behind its input
NOT_AGAIN = "it did not end like that again"


def is_doubtful(finished: Finished) -> bool:
    """The target did not live to tell, or was not itself any more."""
    return finished.partial or finished.verdict is Verdict.CORRUPTED


class Judge:
    def __init__(self, target: Target, image: Image) -> None:
        self._target = target
        self._trail = Trail(image.sites, image.verify, image.constants)

    def makes_sense(self, test: Run, finished: Finished) -> bool:
        """Whether all its events can be read."""
        return self._trail.sound(finished.events, test.input) == len(finished.events)

    def judge(self, test: Run, first: Finished) -> Finished:
        """How a test ends whose `first` run is doubtful. It is told from the beginning, and compared with no
        prediction.

        Raises TargetError if the target cannot be started again.
        """
        known = self._read(test, first)
        missing = len(first.events) - len(known.events)
        if first.verdict is Verdict.STACK_OVERFLOW and not first.partial and missing < _BEFORE:
            if not missing:
                return first
            return known._replace(pc=first.pc, stack=first.stack, site=first.site)
        runs: list[Finished] = []  # that said all at once, and died
        try:
            while len(runs) < (_MOST_KILLED if any(map(_is_kill, (first, *runs))) else _MOST):
                # Behind what is known it says where it is. That may take long: the others go without.
                again = self._run_again(test, _NEVER if runs else max(0, len(known.events) - _BEFORE))
                if not is_doubtful(again):
                    return again._replace(retried=True)
                runs.append(again)
                alike = [run for run in runs if _same(run, again)]
                if again.verdict is not Verdict.LOST and len(alike) >= (_KILLS if _is_kill(again) else _ALIKE):
                    return self._named(alike[0]._replace(why_lost=""))
        finally:
            self._target.restart()
        return _lost(max((known, *runs), key=lambda run: len(run.events)), first)

    def _named(self, finished: Finished) -> Finished:
        """An end that is sure, by its cause: whoever reads where the image has nothing is no object's reader, and has
        overwritten nothing."""
        if finished.verdict is Verdict.CORRUPTED and self._trail.nothing_there:
            return finished._replace(verdict=Verdict.OUT_OF_BOUNDS)
        return finished

    def _run_again(self, test: Run, tell_from: int) -> Finished:
        """On a fresh target. What it cannot have meant makes the end doubtful, whatever it is."""
        self._target.restart()
        again = self._target.run(test._replace(predicted=0, condition_hash=0, prefix=b"", tell_from=tell_from))
        known = self._read(test, again)
        if is_doubtful(again):
            return known
        if len(known.events) < len(again.events):
            return known._replace(verdict=Verdict.CORRUPTED, code=0)
        return again

    def _read(self, test: Run, finished: Finished) -> Finished:
        """What its events say, as far as they make sense: the target had no time to, or nobody can believe it."""
        trail, data = self._trail, test.input + bytes(_ROOM)
        known = finished.events[: trail.sound(finished.events, data)]
        trail.follow(known, data)
        return finished._replace(
            pc=0,
            stack=(),
            site=_last_place(trail, finished),
            events=known,
            conditions=trail.counted,
            condition_match=True,
            operand_hash=trail.operand_hash,
            path_hash=_path(trail, finished),
            coverage=finished.taken,
            input_used=trail.consumed,
        )


def _lost(finished: Finished, first: Finished) -> Finished:
    why = f"{first.why_lost or first.verdict.value}; {NOT_AGAIN}"
    return finished._replace(verdict=Verdict.LOST, code=0, why_lost=why)


def _is_kill(finished: Finished) -> bool:
    """Nobody but the program itself or somebody else does that; of an emulator only somebody else."""
    kill = signal.SIGKILL
    return (finished.verdict, finished.code) in ((Verdict.SIGNAL, kill), (Verdict.LOST, -kill))


def _same(one: Finished, other: Finished) -> bool:
    """The same end, after the same events."""
    return (one.verdict, one.code, one.events) == (other.verdict, other.code, other.events)


def _last_place(trail: Trail, finished: Finished) -> int:
    """The last site that is known, if possible one of the user's: not in a model of the C library.

    What was said behind the events that make sense was said by somebody else.
    """
    sites, end = trail.table.sites, len(trail.events)
    passed = [ident for ident, before in finished.passed if before <= end]
    conditions = (condition.site for condition in reversed(trail.conditions))
    known = [ident for ident in (*reversed(passed), trail.last_site, *conditions) if ident in sites]
    return next((ident for ident in known if not sites[ident].function.startswith(MODEL)), known[0] if known else 0)


def _path(trail: Trail, finished: Finished) -> int:
    """Names the path by its conditions and its end: the target's own hash is not known, or not to be trusted."""
    decisions = trail.condition_hash(len(trail.conditions)).to_bytes(8, "little")
    return int.from_bytes(
        blake2b(decisions + f"{finished.verdict.value} {finished.code}".encode(), digest_size=8).digest(), "little"
    )
