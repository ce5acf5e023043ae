"""The first test of a campaign: its bytes, and the proof that the program is deterministic.

Bytes that nobody chose come from the campaign's seed (`explore/prf.py`), as many as the program asks for. Those of
arguments are digits: a program that reads numbers would see none in other bytes, and each digit would have to be found
by a test of its own before the number itself is symbolic.

A first test written by hand names its inputs; where their bytes lie only a run can tell, and another value may let the
program ask for other inputs, so the layout is found by running until it stays. Then the first test runs three times:
if it does not always take the same path, nothing the explorer predicts would hold, and the user is told where. If the
target dies of it, that is a bug of the first test; where nothing else can be derived from it, the campaign gets another
first test beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from score_embed import config
from score_embed.campaign.describing import Describer
from score_embed.campaign.judging import is_doubtful
from score_embed.campaign.running import Runner
from score_embed.campaign.worker import Worker
from score_embed.contract.entry import Usual
from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.errors import NothingToExplore, TargetError, UsageError, printable
from score_embed.explore.prf import digits, grow, number, prf
from score_embed.image.image import Image
from score_embed.results.testcase import First, Named, read_first, read_own
from score_embed.results.work import DEATHS, WorkNotes
from score_embed.trace.trail import Trail

ROUNDS = 16
REPEATS = 3

_THE_FIRST = b"the first test".ljust(16)  # as if it were a pair's id
_OTHERS = 16  # inputs that are tried when the first one ends the target

Complete = Callable[[bytes], tuple[Run, Finished]]  # runs an input with as much as the program asks for
Layout = Callable[[Finished, bytes], Sequence[Named]]


class Difference(Struct, frozen=True):
    """Two runs of the same input parted here."""

    file: str
    line: int


def find(
    worker: Worker, settings: config.Settings, image: Image, work: WorkNotes
) -> tuple[tuple[bytes, ...], Difference | None]:
    """The first test's input; and where its runs differed, if they did, of which the user has been told.

    Behind it another one, if the target died of the first before any condition from which tests could be derived.
    Raises TargetError if the host has died of it.
    """
    if not work.begin(_THE_FIRST):
        what = f"{DEATHS} processes of score-embed were killed while they ran the first test"
        hint = "Begin a new campaign with another one (--first FILE), or try it again: --resume DIR --retry-lost."
        raise TargetError(what, image.program, hint)
    found = _find(worker.runner, settings, image, worker.describer)
    work.rest()
    return found


def _find(
    runner: Runner, settings: config.Settings, image: Image, describer: Describer
) -> tuple[tuple[bytes, ...], Difference | None]:
    def layout(finished: Finished, data: bytes) -> tuple[Named, ...]:
        trail = Trail(image.sites, image.verify, image.constants)
        trail.follow(finished.events, data)
        return describer.named(trail.objects)

    data = unchosen(settings)
    if settings.have is not None:
        data = read_own(settings.have).data
    if settings.first is not None:
        first = read_first(settings.first)
        data = place(first, runner.complete, layout) if first.values else first.data
    elif settings.have is None and image.entry is not None and image.entry.usual:
        data = _settled(image.entry.usual, runner.complete, layout)
    test, finished = runner.complete(data)
    if not finished.input_used and not finished.verdict.is_bug:
        raise _nothing_asked(finished, image.program)
    firsts = [test.input]
    if _leads_nowhere(finished):
        other = _another(runner, settings.seed, test, image.program, finished)
        if other is not None:
            test, finished = other
            firsts.append(test.input)
    if is_doubtful(finished) or finished.verdict is Verdict.LOST:
        return tuple(firsts), None  # it ran several times already
    difference = check_deterministic(runner.try_out, image, test)
    if difference is not None:
        where = printable(f"{difference.file}:{difference.line}: ") if difference.file else ""
        print(
            f"{where}warning: the same input does not always take the same path here; results may be wrong\n"
            "  Something besides the input decides: time, random numbers, addresses, uninitialised memory.",
            file=sys.stderr,
        )
    return tuple(firsts), difference


def unchosen(settings: config.Settings) -> bytes:
    """How the first test begins if nobody says: with the bytes of standard input and of the arguments."""
    begin = settings.stdin_bytes
    end = begin + sum(config.lengths(settings.argv))
    return prf(settings.seed, 0, begin) + digits(settings.seed, begin, end)


def _leads_nowhere(finished: Finished) -> bool:
    """The target died, and no test can be derived from this one."""
    return (is_doubtful(finished) or finished.verdict is Verdict.LOST) and not finished.conditions


def _another(runner: Runner, seed: int, first: Run, program: str, why: Finished) -> tuple[Run, Finished] | None:
    """A first test that leads somewhere; None if there is none, and the end of the first is at least known.

    Raises TargetError if the target is lost with each.
    """
    for trial in range(_OTHERS if first.input else 0):
        data = grow(number(seed, b"first %d" % trial), b"", len(first.input))
        test, finished = runner.complete(data)
        if not _leads_nowhere(finished):
            return test, finished
    if why.verdict.is_bug:
        return None
    what = f"the target is lost with each of {_OTHERS + 1} inputs: {why.why_lost or why.verdict.value}"
    raise TargetError(what, program, "Run it without score-embed to see why.")


def seeds(settings: config.Settings) -> tuple[bytes, ...]:
    """What is to be run besides: the other files of a folder of first tests."""
    return read_first(settings.first).others if settings.first is not None else ()


def raw(path: Path) -> bytes:
    """The bytes of a first test for a program that cannot be run here. Raises UsageError if it names its inputs."""
    first = read_first(path)
    if first.values:
        hint = "Give the test's .bin file: where named inputs lie only a run of the program tells."
        raise UsageError("there is no target here to place these inputs", str(path), hint)
    return first.data


def _nothing_asked(finished: Finished, program: str) -> TargetError | NothingToExplore:
    if finished.verdict in (Verdict.LOST, Verdict.WATCHDOG):
        what = f"the program ended with {finished.verdict.value!r} before it asked for input"
        if finished.why_lost:
            what += f": {finished.why_lost}"
        return TargetError(what, program, "Run it without score-embed to see why.")
    hint = "Declare inputs with SYM_INT(x), SYM_BYTES(buffer, n) … of score.h, or use --entry FUNC, or --argv and --stdin-bytes."
    return NothingToExplore("the program has no symbolic input", program, hint)


def place(first: First, complete: Complete, layout: Layout) -> bytes:
    """The bytes of a first test whose inputs are given by name."""
    data, objects = _placed(first.fill, complete, layout)
    unknown = first.unknown(objects)
    if unknown:
        names = ", ".join(dict.fromkeys(named.name for named in objects)) or "none"
        what = f"the program does not ask for an input called {unknown[0]!r}"
        raise UsageError(what, str(first.path), f"It asks for: {names}.")
    return data


def _settled(usual: Sequence[Usual], complete: Complete, layout: Layout) -> bytes:
    """The bytes of a first test in which nothing is larger than usual: from a long one long ones follow."""
    known = {one.name: one for one in usual}

    def fill(data: bytes, objects: Sequence[Named]) -> bytes:
        result = bytearray(data)
        for named in objects:
            one = known.get(named.name)
            if one is not None and one.is_text:
                result[named.offset + one.most : named.offset + named.size] = bytes(max(0, named.size - one.most))
            elif one is not None:
                result[named.offset : named.offset + named.size] = one.most.to_bytes(named.size, "little")
        return bytes(result)

    return _placed(fill, complete, layout)[0]


def _placed(
    fill: Callable[[bytes, Sequence[Named]], bytes], complete: Complete, layout: Layout
) -> tuple[bytes, Sequence[Named]]:
    """Bytes that have been written over where the inputs lie, and these."""
    data = b""
    objects: Sequence[Named] = ()
    for _ in range(ROUNDS):
        test, finished = complete(data)
        said = layout(finished, test.input)
        if objects and not said:
            break  # the target died of these inputs, and cannot say where they lie
        objects = said
        placed = fill(test.input, objects)
        if placed == data:
            break
        data = placed
    return data, objects


def check_deterministic(attempt: Callable[[Run], Finished], image: Image, test: Run) -> Difference | None:
    """Run the first test three times; None if all runs agree."""
    tried = [attempt(test) for _ in range(REPEATS)]
    runs = [run for run in tried if run.verdict is not Verdict.LOST]  # what died on its way says nothing
    for other in runs[1:]:
        if (other.path_hash, other.events) != (runs[0].path_hash, runs[0].events):
            return _where(image, runs[0], other, test.input)
    return None


def _where(image: Image, one: Finished, other: Finished, data: bytes) -> Difference:
    """The first event in which they differ; if only the untraced branches differ, where they ended."""
    site = one.site
    if one.events != other.events:
        shorter, longer = sorted((one.events, other.events), key=len)
        offset = next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
        site = Trail(image.sites, image.verify, image.constants).site_at(longer, data, offset)
    found = image.sites.sites.get(site)
    return Difference(found.file, found.line) if found else Difference("", 0)
