"""summary.json: the totals of a campaign under fixed keys, for scripts and for `--json`.

The keys are a contract with the user's tools: add, never rename, and raise `v` when a meaning changes.
"""

from __future__ import annotations

import json
import resource
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from score_embed.contract.judged import Judged
from score_embed.contract.outcome import Verdict
from score_embed.contract.words import Layer, Note, Stop
from score_embed.errors import UsageError
from score_embed.explore.pair import Pair
from score_embed.results import criteria, witnessed
from score_embed.results.bugs import Bug
from score_embed.results.coverage import Coverage
from score_embed.results.known_bugs import short_id, sort_out
from score_embed.results.pairs import MOST_SHOWN, LostTest
from score_embed.results.parts import CONFINED, FLEET, JUDGED, PROGRAM, PROGRESS, REFUSED, WITNESS
from score_embed.results.sourcemap import SourceMap
from score_embed.results.store import Store

FILE = "summary.json"
_REFUSED_SHOWN = 8  # calls


def host_rss() -> int:
    """The largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def of(record: Store) -> dict[str, Any]:
    """The summary of a campaign as plain values: of its last commit, if it still runs or was killed."""
    program, progress = record.get(PROGRAM), record.get(PROGRESS)
    if program is None or progress is None:
        hint = "It runs since a moment ago: try again." if record.running else "Start a new campaign."
        raise UsageError("the campaign in this folder has run no test yet", str(record.folder), hint)
    sources, totals, tally = record.sources(), progress.totals, progress.tally
    solver = tally.solver
    coverage = Coverage(sources.directions, record.coverage(), sources.marks)
    passed = coverage.covered | coverage.passed
    confined, refused = record.get(CONFINED), record.get(REFUSED) or ()
    state, fleet = record.get(WITNESS), record.get(FLEET)
    lost = list(record.lost.all())
    stopped = Stop.RUNNING if record.running else progress.stopped or Stop.KILLED
    vectors = criteria.recorded(record)
    said = record.get(JUDGED)
    bugs = sort_out(witnessed.all_bugs(record.bugs(), record.found_by_witness()), said or (), sources)
    reasons = {(index, reason): count for index, reason, count in tally.unflipped}
    return {
        "v": 1,
        "program": program.name,
        "board": program.board,
        "strategy": program.strategy,
        "seed": program.seed,
        "stopped": stopped,
        "within": [*program.within, *(confined.beyond if confined else ()), *_beyond(refused)],
        "seconds": round(progress.seconds, 3),
        "runs": totals.runs,
        "paths": totals.paths,
        "redundant": totals.redundant,
        "mispredicted": totals.mispredicted,
        "re_asked": totals.re_asked,
        "unchecked": totals.unchecked,
        "retried": totals.retried,
        "lost": len(lost),
        "lost_tests": [_lost_test(test) for test in lost],
        "divergences": tally.divergences,
        "concretized": tally.concretized,
        "forks": _forks(sources, tally.forks),
        "conditions": {"mean": round(totals.conditions / max(1, totals.paths), 2), "max": totals.longest},
        "solver": {
            "sat": solver.sat,
            "unsat": solver.unsat,
            "unknown": solver.unknown,
            "seconds": round(solver.seconds, 3),
            "by": {layer: solver.by.get(layer, 0) for layer in Layer},
            "seconds_by": {layer: round(solver.seconds_by.get(layer, 0.0), 3) for layer in Layer},
            "gave_up": {layer: solver.gave_up[layer] for layer in Layer if layer in solver.gave_up},
        },
        "coverage": {"branches_total": coverage.total, "branches_covered": len(coverage.covered)},
        # Empty: nobody wanted statements, vectors, or a goal.
        "statements": criteria.of_statements(sources, passed, stopped),
        "mcdc": criteria.of_decisions(sources, vectors, stopped) if vectors else {},
        "goal": criteria.goal(program.goal, sources, passed, vectors, stopped) if program.goal else {},
        "bugs": [_bug(bug, sources) for bug in bugs.open],
        "judged": [{**_bug(bug, sources), **_line(line)} for bug, line in bugs.judged],
        "judged_unmatched": [_line(line) for line in bugs.unmatched],
        "unflipped": coverage.unflipped(reasons, _waiting(record, coverage)),
        "incomplete": _incomplete(sources, progress.notes, tally.notes, lost),
        "link": to_builtins(progress.link),
        # Empty: no target is a process of this machine.
        "confined": {"active": list(confined.active), "missing": list(confined.missing)} if confined else {},
        "refused": [
            {"call": call, "file": file, "line": line, "count": count} for call, file, line, count in refused
        ],
        "memory": to_builtins(progress.memory),
        "fleet": fleet.summary() if fleet else {},  # empty: there was none
        # empty: none was wanted
        "witness": witnessed.summary(record.witness_counts(totals.paths), state) if state else {},
    }


def _beyond(refused: Iterable[tuple[str, str, int, int]]) -> tuple[str, ...]:
    """What lies beyond an exploration whose program was refused calls: each call once, with its first place."""
    first: dict[str, str] = {}
    for call, file, line, _ in refused:
        first[call] = first.get(call) or (f" at {file}:{line}" if file else "")
    if not first:
        return ()
    said = [call + at for call, at in first.items()]
    more = [f"{len(said) - _REFUSED_SHOWN} more"] if len(said) > _REFUSED_SHOWN else []
    return (f"what a confined target may do (refused: {', '.join([*said[:_REFUSED_SHOWN], *more])})",)


def _bug(bug: Bug, sources: SourceMap) -> dict[str, Any]:
    """`id`: by which `score-hints.yaml` may name it."""
    made = to_builtins(bug)
    del made["objects"], made["held"]  # the latter is part of what it rests on
    return {**made, "rests_on": bug.rests_on, "id": short_id(bug, sources)}


def _line(line: Judged) -> dict[str, Any]:
    """What the user said: `accept` or `refuse`, of what, why, and where that is written."""
    return {"judged": line.word, "as": line.what, "why": line.why, "at": line.at}


def _lost_test(lost: LostTest) -> dict[str, Any]:
    """`test`: its number, null if it had none; `input`: its first bytes in hexadecimal; `bytes`: how many there are."""
    shown = lost.input[:MOST_SHOWN].hex()
    return {
        "test": lost.test,
        "input": shown,
        "bytes": len(lost.input),
        "file": lost.file,
        "line": lost.line,
        "why": lost.why,
    }


def _waiting(record: Store, coverage: Coverage) -> set[int]:
    """Directions that no test took yet, although one that should is known and only has to run."""
    missing = coverage.directions.keys() - coverage.covered
    found: set[int] = set()
    if not missing:
        return found
    for data in (*record.pairs.without_inputs(), *(lost.pair for lost in record.lost.all())):
        found.update(missing.intersection(Pair.from_bytes(data).targets))
    return found


def _incomplete(
    sources: SourceMap,
    noted: Iterable[tuple[str, str, int, int]],
    escaped: Iterable[tuple[str, int, int]],
    lost: Iterable[LostTest],
) -> list[dict[str, Any]]:
    """What makes the result incomplete. Functions left as written lose nothing by themselves (count 0): only calls
    with symbolic data do."""
    counts = Counter({(what, file, line): count for what, file, line, count in noted})
    counts.update((Note.ENDED.of(Verdict.LOST, test.why), test.file, test.line) for test in lost)
    for what, ident, count in escaped:
        at = sources.sites.get(ident)
        counts[what, at.file if at else "", at.line if at else 0] += count
    counts.update(sources.losses)
    return [
        {"what": what, "file": file, "line": line, "count": counts[what, file, line]}
        for what, file, line in sorted({*counts, *sources.notes})
    ]


def _forks(sources: SourceMap, forks: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
    """The tests that were made for other values of what a path has forked on, by place."""
    counts: Counter[tuple[str, int]] = Counter()
    for site, count in forks:
        at = sources.sites.get(site)
        counts[at.file if at else "", at.line if at else 0] += count
    return [{"file": file, "line": line, "tests": counts[file, line]} for file, line in sorted(counts)]


def write(summary: Mapping[str, Any], folder: Path) -> None:
    """Replace the file as a whole: a reader never sees half of it."""
    fresh = folder / (FILE + ".new")
    fresh.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    fresh.replace(folder / FILE)
